"""Who may: signatures of every kind, their times and permissions, and nobody in particular."""
import datetime
import http.client
import uuid
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.storage.blob import (AccessPolicy, AccountSasPermissions, BlobClient, BlobSasPermissions, BlobServiceClient,
                                ContainerClient, ContainerSasPermissions, ResourceTypes, Services, generate_account_sas,
                                generate_blob_sas, generate_container_sas)
from conftest import ONE_TRY, refused_with

HOUR = datetime.timedelta(hours=1)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@pytest.fixture
def filled(container):
    container.upload_blob('blob', b'content')
    return container


def account_sas(target, permission='rwdlac', resource='sco', services='b', expiry=HOUR, **more):
    return generate_account_sas(target.account, target.key, ResourceTypes.from_string(resource),
                                AccountSasPermissions.from_string(permission), now() + expiry,
                                services=Services.from_string(services), **more)


def blob_sas(target, container, permission='r', expiry=HOUR, name='blob', **more):
    return generate_blob_sas(target.account, container.container_name, name, account_key=target.key,
                             permission=BlobSasPermissions.from_string(permission), expiry=now() + expiry, **more)


def container_sas(target, container, permission='rl', expiry=HOUR, **more):
    return generate_container_sas(target.account, container.container_name, account_key=target.key,
                                  permission=ContainerSasPermissions.from_string(permission), expiry=now() + expiry, **more)


def with_sas(target, sas, container, name='blob'):
    return BlobClient(target.endpoint, container.container_name, name, credential=AzureSasCredential(sas), **ONE_TRY)


def test_account_sas(target, filled):
    service = BlobServiceClient(target.endpoint, credential=account_sas(target), **ONE_TRY)
    assert filled.container_name in [item.name for item in service.list_containers()]
    blob = service.get_blob_client(filled.container_name, 'blob')
    assert blob.download_blob().readall() == b'content'
    blob.upload_blob(b'more', overwrite=True)


@pytest.mark.parametrize('how,code', [
    ({'permission': 'wl'}, 'AuthorizationPermissionMismatch'),
    ({'resource': 'sc'}, 'AuthorizationResourceTypeMismatch'),
    ({'services': 'q'}, 'AuthorizationServiceMismatch'),
    ({'expiry': -HOUR}, 'AuthenticationFailed'),
    ({'start': datetime.datetime.now(datetime.timezone.utc) + HOUR / 2}, 'AuthenticationFailed'),
])
def test_account_sas_that_does_not_reach(target, filled, how, code):
    with refused_with(403, code):
        with_sas(target, account_sas(target, **how), filled).download_blob()


def test_blob_sas(target, filled):
    read = with_sas(target, blob_sas(target, filled), filled)
    assert read.download_blob().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        read.upload_blob(b'x', overwrite=True)
    other = blob_sas(target, filled, name='other')
    with refused_with(403, 'AuthenticationFailed'):
        with_sas(target, other, filled).download_blob()
    with refused_with(403, 'AuthenticationFailed'):
        with_sas(target, blob_sas(target, filled, expiry=-HOUR), filled).download_blob()


def test_create_permission_does_not_overwrite(target, filled):
    sas = blob_sas(target, filled, 'c')
    with refused_with(403, 'UnauthorizedBlobOverwrite'):
        with_sas(target, sas, filled).upload_blob(b'x', overwrite=True)
    assert filled.download_blob('blob').readall() == b'content'
    with_sas(target, blob_sas(target, filled, 'c', name='new'), filled, 'new').upload_blob(b'x')
    with_sas(target, blob_sas(target, filled, 'w'), filled).upload_blob(b'x', overwrite=True)


def test_snapshot_sas(target, filled):
    blob = filled.get_blob_client('blob')
    snapshot = blob.create_snapshot()['snapshot']
    blob.upload_blob(b'newer', overwrite=True)
    sas = blob_sas(target, filled, snapshot=snapshot)
    old = BlobClient(target.endpoint, filled.container_name, 'blob', snapshot=snapshot, credential=AzureSasCredential(sas), **ONE_TRY)
    assert old.download_blob().readall() == b'content'


def test_container_sas(target, filled):
    container = ContainerClient(target.endpoint, filled.container_name,
                                credential=AzureSasCredential(container_sas(target, filled)), **ONE_TRY)
    assert [item.name for item in container.list_blobs()] == ['blob']
    assert container.download_blob('blob').readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        container.delete_blob('blob')


def test_response_headers_of_a_sas(target, filled):
    sas = blob_sas(target, filled, content_type='text/html', content_disposition='inline', cache_control='no-cache')
    told = with_sas(target, sas, filled).get_blob_properties().content_settings
    assert (told.content_type, told.content_disposition, told.cache_control) == ('text/html', 'inline', 'no-cache')


def test_stored_policy(target, filled):
    policy = AccessPolicy(ContainerSasPermissions(read=True), expiry=now() + HOUR)
    filled.set_container_access_policy({'reader': policy})
    sas = generate_blob_sas(target.account, filled.container_name, 'blob', account_key=target.key, policy_id='reader')
    blob = with_sas(target, sas, filled)
    assert blob.download_blob().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        blob.delete_blob()
    filled.set_container_access_policy({'reader': AccessPolicy(ContainerSasPermissions(read=True), expiry=now() - HOUR)})
    with refused_with(403, 'AuthenticationFailed'):
        blob.download_blob()
    filled.set_container_access_policy({})
    with refused_with(403, 'AuthenticationFailed'):
        blob.download_blob()


def test_a_wrong_key(target, filled):
    wrong = AzureNamedKeyCredential(target.account, 'd3Jvbmcga2V5')
    with refused_with(403, 'AuthenticationFailed'):
        BlobServiceClient(target.endpoint, credential=wrong, **ONE_TRY).get_service_properties()


def test_a_changed_signature(target, filled):
    sas = blob_sas(target, filled)
    with refused_with(403, 'AuthenticationFailed'):
        with_sas(target, sas.replace('sp=r', 'sp=rw'), filled).upload_blob(b'x', overwrite=True)


def test_nobody_in_particular(target, filled):
    nobody = BlobClient(target.endpoint, filled.container_name, 'blob', **ONE_TRY)
    with refused_with(401, 'NoAuthenticationInformation'):
        nobody.download_blob()
    filled.set_container_access_policy({}, public_access='blob')
    assert nobody.download_blob().readall() == b'content'
    everybody = ContainerClient(target.endpoint, filled.container_name, **ONE_TRY)
    with pytest.raises(Exception):
        list(everybody.list_blobs())
    filled.set_container_access_policy({}, public_access='container')
    assert [item.name for item in everybody.list_blobs()] == ['blob']
    with pytest.raises(Exception):
        nobody.upload_blob(b'x', overwrite=True)
    assert filled.download_blob('blob').readall() == b'content'


def test_a_browser_reads_a_public_blob(target, filled):
    """A plain GET with no header of the service at all."""
    filled.set_container_access_policy({}, public_access='blob')
    address = urlsplit(target.endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request('GET', '%s/%s/blob' % (address.path, filled.container_name))
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b'content')
    connection.close()


def test_account_by_host_name(target, filled):
    """The account in the host name, as in the real service, on the same port."""
    port = urlsplit(target.endpoint).port
    for host in ('%s.blob.localhost' % target.account, '%s.blob.core.example' % target.account):
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        sas = blob_sas(target, filled)
        connection.request('GET', '/%s/blob?%s' % (filled.container_name, sas), headers={'Host': '%s:%d' % (host, port)})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b'content')
        connection.close()


def test_ids_of_requests_are_told(target, filled):
    """What a client library needs to report an error: the id of the request, and its own id given back."""
    with refused_with(404, 'BlobNotFound') as caught:
        filled.get_blob_client('nothing').get_blob_properties()
    sent, told = caught.value.response.request.headers, caught.value.response.headers
    assert told['x-ms-client-request-id'] == sent['x-ms-client-request-id']
    assert uuid.UUID(told['x-ms-request-id'])
