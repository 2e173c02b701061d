"""Who may reach files: signatures for a share, a file, a directory, the account; stored policies; wrong keys; rules for browsers."""
import base64
import datetime
import hashlib
import hmac
import http.client
from urllib.parse import quote, urlsplit

import pytest
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import (AccessPolicy, AccountSasPermissions, CorsRule, FileSasPermissions, Metrics, ResourceTypes, RetentionPolicy,
                                     Services, ShareClient, ShareFileClient, ShareProtocolSettings, ShareSasPermissions, ShareServiceClient,
                                     ShareSmbSettings, SmbEncryptionInTransit, SmbMultichannel, generate_account_sas, generate_file_sas, generate_share_sas)
from conftest import ONE_TRY, refused_with

HOUR = datetime.timedelta(hours=1)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@pytest.fixture
def filled(share):
    share.create_directory('dir').upload_file('file', b'content')
    return share


def account_sas(target, permission='rwdlc', resource='sco', services='f', expiry=HOUR):
    return generate_account_sas(target.account, target.key, ResourceTypes.from_string(resource), AccountSasPermissions.from_string(permission),
                                now() + expiry, services=Services.from_string(services))


def share_sas(target, share, permission='rl', expiry=HOUR, **more):
    return generate_share_sas(target.account, share.share_name, account_key=target.key,
                              permission=ShareSasPermissions.from_string(permission), expiry=now() + expiry, **more)


def file_sas(target, share, permission='r', path=('dir', 'file'), expiry=HOUR, **more):
    return generate_file_sas(target.account, share.share_name, list(path), account_key=target.key,
                             permission=FileSasPermissions.from_string(permission), expiry=now() + expiry, **more)


def share_with(target, sas, share):
    return ShareClient(target.file_endpoint, share.share_name, credential=AzureSasCredential(sas), **ONE_TRY)


def file_with(target, sas, share, path='dir/file'):
    return ShareFileClient(target.file_endpoint, share.share_name, path, credential=AzureSasCredential(sas), **ONE_TRY)


def test_account_sas(target, filled):
    service = ShareServiceClient(target.file_endpoint, credential=account_sas(target), **ONE_TRY)
    assert filled.share_name in [item.name for item in service.list_shares()]
    share = service.get_share_client(filled.share_name)
    share.set_share_metadata({'a': 'b'})
    assert share.get_file_client('dir/file').download_file().readall() == b'content'
    share.get_file_client('dir/other').upload_file(b'x')
    share.get_file_client('dir/other').rename_file('dir/renamed')
    assert sorted(item.name for item in share.list_directories_and_files('dir')) == ['file', 'renamed']


@pytest.mark.parametrize('how,code', [
    ({'permission': 'wl'}, 'AuthorizationPermissionMismatch'), ({'resource': 'sc'}, 'AuthorizationResourceTypeMismatch'),
    ({'services': 'b'}, 'AuthorizationServiceMismatch'), ({'expiry': -HOUR}, 'AuthenticationFailed')])
def test_account_sas_that_does_not_reach(target, filled, how, code):
    with refused_with(403, code):
        file_with(target, account_sas(target, **how), filled).download_file()


def test_share_sas(target, filled):
    reader = share_with(target, share_sas(target, filled), filled)
    assert [item.name for item in reader.list_directories_and_files('dir')] == ['file']
    assert reader.get_file_client('dir/file').download_file().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        reader.get_file_client('dir/file').delete_file()
    with pytest.raises(HttpResponseError) as caught:
        reader.set_share_metadata({'a': 'b'})
    assert caught.value.status_code == 403
    writer = share_with(target, share_sas(target, filled, 'rcwdl'), filled)
    writer.get_directory_client('new').create_directory()
    writer.get_file_client('new/file').upload_file(b'x')
    writer.get_file_client('new/file').rename_file('new/moved')
    writer.get_file_client('new/moved').delete_file()
    writer.get_directory_client('new').delete_directory()


def test_file_sas(target, filled):
    reader = file_with(target, file_sas(target, filled), filled)
    assert reader.download_file().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        reader.upload_range(b'x', 0, 1)
    other = file_sas(target, filled, path=('dir', 'other'))
    with refused_with(403, 'AuthenticationFailed'):
        file_with(target, other, filled).download_file()
    with refused_with(403, 'AuthenticationFailed'):
        file_with(target, file_sas(target, filled, expiry=-HOUR), filled).download_file()
    with refused_with(403, 'AuthenticationFailed'):
        file_with(target, file_sas(target, filled).replace('sp=r', 'sp=rw'), filled).download_file()
    # To create is not to overwrite.
    creator = file_with(target, file_sas(target, filled, 'c'), filled)
    with refused_with(403, 'UnauthorizedBlobOverwrite'):
        creator.create_file(1)
    assert reader.download_file().readall() == b'content'
    file_with(target, file_sas(target, filled, 'c', ('dir', 'new')), filled, 'dir/new').create_file(1)
    file_with(target, file_sas(target, filled, 'w'), filled).create_file(1)


def test_headers_of_a_sas(target, filled):
    sas = file_sas(target, filled, content_type='text/html', content_disposition='inline', cache_control='no-cache', content_language='de')
    told = file_with(target, sas, filled).download_file().properties.content_settings
    assert (told.content_type, told.content_disposition, told.cache_control, told.content_language) == ('text/html', 'inline', 'no-cache', 'de')


def test_directory_sas(target, filled):
    """No client makes one: signed here as for a directory of blobs, so that a token for a file cannot become one."""
    filled.get_directory_client('dir/sub').create_directory()
    filled.get_file_client('dir/sub/deep').upload_file(b'deep')
    filled.get_file_client('outside').upload_file(b'outside')
    until, version = (now() + HOUR).strftime('%Y-%m-%dT%H:%M:%SZ'), '2023-11-03'
    text = '\n'.join(['rl', '', until, '/file/%s/%s/dir' % (target.account, filled.share_name), '', '', '', version, 'd', '', '', '', '', '', '', ''])
    signature = base64.b64encode(hmac.new(base64.b64decode(target.key), text.encode(), hashlib.sha256).digest()).decode()
    sas = 'sv=%s&sr=d&sdd=1&sp=rl&se=%s&sig=%s' % (version, quote(until), quote(signature, safe=''))
    assert file_with(target, sas, filled).download_file().readall() == b'content'
    assert file_with(target, sas, filled, 'dir/sub/deep').download_file().readall() == b'deep'
    with refused_with(403, 'AuthenticationFailed'):
        file_with(target, sas, filled, 'outside').download_file()


def test_stored_policy(target, filled):
    filled.set_share_access_policy({'reader': AccessPolicy(ShareSasPermissions(read=True), expiry=now() + HOUR)})
    sas = generate_share_sas(target.account, filled.share_name, account_key=target.key, policy_id='reader')
    file = file_with(target, sas, filled)
    assert file.download_file().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        file.delete_file()
    filled.set_share_access_policy({})
    with refused_with(403, 'AuthenticationFailed'):
        file.download_file()


def test_wrong_keys_and_nobody(target, filled):
    wrong = AzureNamedKeyCredential(target.account, 'd3Jvbmcga2V5')
    with refused_with(403, 'AuthenticationFailed'):
        ShareServiceClient(target.file_endpoint, credential=wrong, **ONE_TRY).get_service_properties()
    # There is nothing that anyone may read.
    address = urlsplit('%s/%s/dir/file' % (target.file_endpoint, filled.share_name))
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request('GET', address.path)
    assert connection.getresponse().status in (401, 403, 404)
    connection.close()


def test_account_by_host_name(target, filled):
    port = urlsplit(target.file_endpoint).port
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    connection.request('GET', '/%s/dir/file?%s' % (filled.share_name, file_sas(target, filled)),
                       headers={'Host': '%s.file.localhost:%d' % (target.account, port)})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b'content')
    connection.close()


@pytest.fixture
def restored(shares):
    yield shares
    shares.set_service_properties(hour_metrics=Metrics(enabled=False), minute_metrics=Metrics(enabled=False), cors=[])


def test_service_properties(restored):
    metrics = Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(enabled=True, days=5))
    rules = [CorsRule(['http://one.example'], ['GET', 'PUT'], allowed_headers=['x-ms-meta-*'], exposed_headers=['x-ms-*'], max_age_in_seconds=200)]
    restored.set_service_properties(hour_metrics=metrics, minute_metrics=metrics, cors=rules)
    told = restored.get_service_properties()
    assert (told['hour_metrics'].enabled, told['hour_metrics'].include_apis, told['hour_metrics'].retention_policy.days) == (True, True, 5)
    assert told['minute_metrics'].retention_policy.days == 5
    rule, = told['cors']
    assert (rule.allowed_origins, rule.allowed_methods, rule.max_age_in_seconds) == ('http://one.example', 'GET,PUT', 200)
    # What is not sent stays.
    restored.set_service_properties(cors=[])
    told = restored.get_service_properties()
    assert told['cors'] == [] and told['hour_metrics'].retention_policy.days == 5


def test_protocol_settings(restored):
    for enabled in (True, False):
        smb = ShareSmbSettings(multichannel=SmbMultichannel(enabled=enabled), encryption_in_transit=SmbEncryptionInTransit(required=enabled))
        restored.set_service_properties(protocol=ShareProtocolSettings(smb=smb))
        told = restored.get_service_properties()['protocol'].smb
        assert (told.multichannel.enabled, told.encryption_in_transit.required) == (enabled, enabled)


def test_a_browser_asks_first(target, restored, filled):
    restored.set_service_properties(cors=[CorsRule(['http://one.example'], ['GET'], allowed_headers=['*'], exposed_headers=['x-ms-*'], max_age_in_seconds=9)])
    address = urlsplit('%s/%s/dir/file' % (target.file_endpoint, filled.share_name))

    def asks(verb, path, origin, **headers):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.request(verb, path, headers={'Origin': origin, **headers})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, answer.getheader('Access-Control-Allow-Origin')

    method = {'Access-Control-Request-Method': 'GET'}
    assert asks('OPTIONS', address.path, 'http://one.example', **method) == (200, 'http://one.example')
    assert asks('OPTIONS', address.path, 'http://two.example', **method) == (403, None)
    read = '%s?%s' % (address.path, file_sas(target, filled))
    assert asks('GET', read, 'http://one.example') == (200, 'http://one.example')
    assert asks('GET', read, 'http://two.example') == (200, None)
