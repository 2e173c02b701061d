"""Files with Entra tokens, which say that they mean a backup, the user delegation key, and signatures made with it."""
import base64
import datetime
import uuid

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import FileSasPermissions, ShareSasPermissions, ShareServiceClient, generate_file_sas, generate_share_sas
from conftest import ONE_TRY, refused_with
from lazuli_server import ACCOUNT, KEY
from test_delegation import TENANT, USER, Credential, hour, secure  # noqa: F401


def connect(secure, credential, **how):  # noqa: F811
    server, certificate = secure
    return ShareServiceClient(server.endpoint('file'), credential=credential, connection_verify=certificate, **ONE_TRY, **how)


def by_token(secure, **claims):  # noqa: F811
    return connect(secure, Credential(**claims), token_intent='backup')


@pytest.fixture(scope='module')
def filled(secure):  # noqa: F811
    share = by_token(secure).create_share('delegated')
    share.create_directory('dir').upload_file('file', b'content')
    return share


def test_a_token_works_on_files(secure, filled):  # noqa: F811
    service = by_token(secure)
    assert 'delegated' in [item.name for item in service.list_shares()]
    share = service.get_share_client('delegated')
    share.set_share_metadata({'a': 'b'})
    assert share.get_share_properties().metadata == {'a': 'b'}
    share.set_share_quota(7)
    key = share.create_permission_for_share('O:SYG:SYD:(A;;FA;;;SY)')
    assert share.get_permission_for_share(key)
    file = share.get_file_client('dir/other')
    file.upload_file(b'x' * 1000)
    file.clear_range(0, 512)
    file.set_file_metadata({'c': 'd'})
    lease = file.acquire_lease()
    file.resize_file(600, lease=lease)
    lease.release()
    moved = file.rename_file('dir/moved')
    assert moved.download_file().readall() == bytes(512) + b'x' * 88
    assert sorted(item.name for item in share.list_directories_and_files('dir')) == ['file', 'moved']
    moved.delete_file()


def test_a_token_must_say_what_it_is_for(secure, filled):  # noqa: F811
    """The client wants the intent too, so it is taken out of the request."""
    def without(request):
        request.http_request.headers.pop('x-ms-file-request-intent', None)

    file = by_token(secure).get_share_client('delegated').get_file_client('dir/file')
    with pytest.raises(HttpResponseError) as caught:
        file.get_file_properties(raw_request_hook=without)
    assert caught.value.status_code == 400


def test_tokens_that_are_none(secure, filled):  # noqa: F811
    for claims in ({'exp': 1}, {'aud': 'https://vault.azure.net'}):
        with pytest.raises(HttpResponseError) as caught:
            by_token(secure, **claims).get_share_client('delegated').get_file_client('dir/file').get_file_properties()
        assert caught.value.status_code in (401, 403)


@pytest.fixture(scope='module')
def delegation(secure, filled):  # noqa: F811
    now = datetime.datetime.now(datetime.timezone.utc)
    return by_token(secure).get_user_delegation_key(start=now - datetime.timedelta(minutes=5), expiry=now + datetime.timedelta(hours=1))


def test_the_key_says_whose_it_is(delegation):
    assert (delegation.signed_oid, delegation.signed_tid, delegation.signed_service) == (USER, TENANT, 'f')
    assert len(base64.b64decode(delegation.value)) == 32


def test_signatures_by_delegation(secure, delegation):  # noqa: F811
    sas = generate_file_sas(ACCOUNT, 'delegated', ['dir', 'file'], user_delegation_key=delegation, permission=FileSasPermissions(read=True), expiry=hour())
    file = connect(secure, sas).get_share_client('delegated').get_file_client('dir/file')
    assert file.download_file().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        file.upload_range(b'x', 0, 1)
    sas = generate_share_sas(ACCOUNT, 'delegated', user_delegation_key=delegation, permission=ShareSasPermissions(read=True, list=True), expiry=hour())
    share = connect(secure, sas).get_share_client('delegated')
    assert [item.name for item in share.list_directories_and_files('dir')] == ['file']
    forged = type(delegation)()
    forged.__dict__.update(delegation.__dict__)
    forged.signed_oid = str(uuid.uuid4())
    sas = generate_share_sas(ACCOUNT, 'delegated', user_delegation_key=forged, permission=ShareSasPermissions(read=True, list=True), expiry=hour())
    with refused_with(403, 'AuthenticationFailed'):
        list(connect(secure, sas).get_share_client('delegated').list_directories_and_files('dir'))


def test_shared_key_may_not_ask_for_a_delegation_key(secure, filled):  # noqa: F811
    service = connect(secure, {'account_name': ACCOUNT, 'account_key': KEY})
    with pytest.raises(HttpResponseError) as caught:
        service.get_user_delegation_key(start=datetime.datetime.now(datetime.timezone.utc), expiry=hour())
    assert caught.value.status_code in (401, 403)
