"""The static website of an account, on a port of its own and by host name at the port of blobs."""
import http.client
from urllib.parse import urlsplit

from azure.storage.blob import ContentSettings, StaticWebsite
from conftest import Target


def get(address, path, **headers):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request('GET', path, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer.getheader('content-type'), text


def test_a_website(own_server):
    server = own_server('--webPort', '0')
    target = Target(server.connection_string, server.clock_url)
    service = target.service()
    service.set_service_properties(
        static_website=StaticWebsite(enabled=True, index_document='index.html', error_document404_path='lost.html'))
    told = service.get_service_properties()['static_website']
    assert (told.enabled, told.index_document, told.error_document404_path) == (True, 'index.html', 'lost.html')
    web = service.get_container_client('$web')
    for name, text in (('index.html', b'home'), ('lost.html', b'lost'), ('sub/index.html', b'sub')):
        web.upload_blob(name, text, content_settings=ContentSettings('text/html'))

    def by_port(path):
        return get(urlsplit(server.addresses['web']), '/%s%s' % (target.account, path))

    def by_host(path):
        return get(urlsplit(server.addresses['blob']), path, Host=target.account + '.web.localhost')

    for site in (by_port, by_host):
        assert site('/') == (200, 'text/html', b'home')
        assert site('/sub/') == (200, 'text/html', b'sub')
        assert site('/nowhere') == (404, 'text/html', b'lost')
    service.set_service_properties(static_website=StaticWebsite(enabled=False))
    assert by_host('/')[0] == 404
