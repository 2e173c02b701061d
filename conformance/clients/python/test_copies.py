"""Copies within the server: with one account and with two, by key and by signature, of bases and of snapshots."""
import datetime
import time

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, BlobBlock, BlobSasPermissions, generate_blob_sas
from conftest import ONE_TRY, refused_with

LARGE = bytes(range(256)) * 40_000


def signed(target, blob, letters='r', snapshot=None):
    """The address of a blob with a signature on it."""
    expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    token = generate_blob_sas(blob.account_name, blob.container_name, blob.blob_name, account_key=target.key,
                              snapshot=snapshot, permission=BlobSasPermissions.from_string(letters), expiry=expiry)
    base = blob.url.split('?')[0]
    return base + ('?snapshot=%s&' % snapshot if snapshot else '?') + token


@pytest.fixture
def source(container):
    blob = container.get_blob_client('source')
    blob.upload_blob(LARGE, metadata={'n': '1'}, tags={'colour': 'red'})
    return blob


def test_start_copy_from_url(container, source):
    copy = container.get_blob_client('copy')
    told = copy.start_copy_from_url(source.url)
    assert told['copy_status'] == 'success'
    properties = copy.get_blob_properties()
    assert (properties.copy.id, properties.copy.status) == (told['copy_id'], 'success')
    assert properties.copy.progress == '%d/%d' % (len(LARGE), len(LARGE))
    assert properties.copy.source == source.url
    assert properties.metadata == {'n': '1'}
    assert properties.tag_count is None
    assert copy.download_blob().readall() == LARGE
    listed = {blob.name: blob.copy for blob in container.list_blobs(include=['copy'])}
    assert (listed['copy'].id, listed['source'].id) == (told['copy_id'], None)
    with refused_with(409, 'NoPendingCopyOperation'):
        copy.abort_copy(told['copy_id'])
    source.delete_blob()
    assert copy.download_blob().readall() == LARGE
    copy.set_blob_metadata({'a': 'b'})
    assert copy.get_blob_properties().copy.id is None


def test_a_copy_with_requires_sync(target, container, source):
    copy = container.get_blob_client('copy')
    told = copy.start_copy_from_url(signed(target, source), requires_sync=True, metadata={'own': 'yes'}, tags={'a': 'b'})
    assert told['copy_status'] == 'success'
    assert copy.download_blob().readall() == LARGE
    assert copy.get_blob_properties().metadata == {'own': 'yes'}
    assert copy.get_blob_tags() == {'a': 'b'}
    assert 'sig=' not in copy.get_blob_properties().copy.source
    with refused_with(401, 'CannotVerifyCopySource'):
        copy.start_copy_from_url(source.url, requires_sync=True)
    with refused_with(403, 'CannotVerifyCopySource'):
        copy.start_copy_from_url(signed(target, source, 'w'), requires_sync=True)


def test_upload_blob_from_url(target, container, source):
    copy = container.get_blob_client('copy')
    copy.upload_blob_from_url(signed(target, source))
    assert copy.download_blob().readall() == LARGE
    assert copy.get_blob_properties().copy.id is None
    with refused_with(409, 'BlobAlreadyExists'):
        copy.upload_blob_from_url(signed(target, source))
    copy.upload_blob_from_url(signed(target, source), overwrite=True, include_source_blob_properties=False)
    assert copy.get_blob_properties().content_settings.content_type == 'application/octet-stream'


def test_stage_block_from_url(target, container, source):
    copy = container.get_blob_client('copy')
    url = signed(target, source)
    copy.stage_block_from_url('1', url, source_offset=1000, source_length=5_000_000)
    copy.stage_block_from_url('2', url, source_offset=0, source_length=10)
    copy.commit_block_list([BlobBlock('1'), BlobBlock('2')])
    assert copy.download_blob().readall() == LARGE[1000:5_001_000] + LARGE[:10]


def test_conditions_on_either_side(container, source):
    copy = container.get_blob_client('copy')
    etag = source.get_blob_properties().etag
    with refused_with(412, 'SourceConditionNotMet'):
        copy.start_copy_from_url(source.url, source_etag=etag, source_match_condition=MatchConditions.IfModified)
    copy.start_copy_from_url(source.url, source_etag=etag, source_match_condition=MatchConditions.IfNotModified)
    with refused_with(412, 'TargetConditionNotMet'):
        copy.start_copy_from_url(source.url, etag='"0x1"', match_condition=MatchConditions.IfNotModified)
    lease = copy.acquire_lease(15)
    with refused_with(412, 'LeaseIdMissing'):
        copy.start_copy_from_url(source.url)
    with refused_with(412, 'InfiniteLeaseDurationRequired'):
        copy.start_copy_from_url(source.url, destination_lease=lease)
    lease.release()
    lease = copy.acquire_lease(-1)
    copy.start_copy_from_url(source.url, destination_lease=lease)
    assert copy.get_blob_properties().lease.status == 'locked'


def test_a_snapshot_over_its_base(target, source):
    snapshot = source.create_snapshot()
    source.upload_blob(b'new', overwrite=True)
    source.start_copy_from_url(source.url + '?snapshot=' + snapshot['snapshot'])
    assert source.download_blob().readall() == LARGE
    source.delete_blob(delete_snapshots='include')


def test_a_blob_over_itself(source):
    source.start_copy_from_url(source.url)
    assert source.download_blob().readall() == LARGE


def test_between_accounts(own_server):
    keys = {'one': 'b25l' * 8, 'two': 'dHdv' * 8}
    server = own_server('--accounts', ';'.join('%s:%s' % pair for pair in keys.items()))
    endpoint = server.connection_string.split('BlobEndpoint=')[1].split(';')[0].rsplit('/', 1)[0]
    services = {}
    for name, key in keys.items():
        services[name] = BlobServiceClient(endpoint + '/' + name, credential={'account_name': name, 'account_key': key},
                                           **ONE_TRY)
        services[name].create_container('box')
    source = services['one'].get_blob_client('box', 'source')
    source.upload_blob(LARGE)
    copy = services['two'].get_blob_client('box', 'copy')
    with refused_with(401, 'CannotVerifyCopySource'):
        copy.start_copy_from_url(source.url)
    expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    token = generate_blob_sas('one', 'box', 'source', account_key=keys['one'],
                              permission=BlobSasPermissions(read=True), expiry=expiry)
    copy.start_copy_from_url(source.url + '?' + token)
    assert copy.download_blob().readall() == LARGE


def test_a_copy_from_another_server_is_pending_and_then_there(target, own_server, source):
    """By address, on a list: without it the server asks nobody."""
    host = source.url.split('/')[2]
    allowed = own_server('--copySources', host)
    container = BlobServiceClient.from_connection_string(allowed.connection_string, **ONE_TRY).create_container('box')
    copy = container.get_blob_client('copy')
    told = copy.start_copy_from_url(signed(target, source))
    assert told['copy_status'] in ('pending', 'success')
    for _ in range(200):
        properties = copy.get_blob_properties()
        if properties.copy.status != 'pending':
            break
        time.sleep(0.05)
    assert (properties.copy.status, properties.metadata) == ('success', {'n': '1'})
    assert copy.download_blob().readall() == LARGE
    refusing = own_server()
    container = BlobServiceClient.from_connection_string(refusing.connection_string, **ONE_TRY).create_container('box')
    with pytest.raises(HttpResponseError) as refused:
        container.get_blob_client('copy').start_copy_from_url(signed(target, source))
    assert (refused.value.status_code, refused.value.error_code) == (403, 'CannotVerifyCopySource')
