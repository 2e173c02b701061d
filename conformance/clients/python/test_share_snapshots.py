"""Snapshots of shares: what they keep, how they are read, listed and deleted, and that nobody writes into one."""
import os

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ShareClient
from conftest import ONE_TRY, refused_with
from shared_key import SharedKey


@pytest.fixture
def kept(target, share):
    """A share that changed after its snapshot, and a client of the snapshot."""
    share.set_share_metadata({'state': 'old'})
    share.get_directory_client('dir').create_directory(metadata={'state': 'old'})
    share.get_file_client('dir/file').upload_file(b'old content', metadata={'state': 'old'})
    share.get_file_client('dir/gone').upload_file(b'gone')
    snapshot = share.create_snapshot()['snapshot']
    share.set_share_metadata({'state': 'new'})
    share.get_file_client('dir/file').upload_file(b'new', metadata={'state': 'new'})
    share.get_file_client('dir/gone').delete_file()
    share.get_file_client('dir/new').upload_file(b'new')
    return share, ShareClient.from_connection_string(target.connection_string, share.share_name, snapshot=snapshot, **ONE_TRY)


def names(listed):
    return [item.name for item in listed]


def test_a_snapshot_is_read(kept):
    share, old = kept
    assert old.get_share_properties().metadata == {'state': 'old'}
    assert share.get_share_properties().metadata == {'state': 'new'}
    assert names(old.list_directories_and_files('dir')) == ['file', 'gone']
    assert names(share.list_directories_and_files('dir')) == ['file', 'new']
    assert old.get_directory_client('dir').get_directory_properties().metadata == {'state': 'old'}
    file = old.get_file_client('dir/file')
    told = file.get_file_properties()
    assert (told.metadata, told.size, told.snapshot) == ({'state': 'old'}, 11, old.snapshot)
    assert file.download_file().readall() == b'old content'
    assert file.download_file(offset=4, length=3).readall() == b'con'
    assert old.get_file_client('dir/gone').download_file().readall() == b'gone'
    assert not old.get_file_client('dir/new').exists()
    assert file.get_ranges() == [{'start': 0, 'end': 10}]


def test_nobody_writes_into_a_snapshot(target, kept):
    _, old = kept
    # The client leaves the snapshot out of requests that write, so these are our own.
    key = SharedKey(target, target.file_endpoint)
    path, query = '/%s/dir/file' % old.share_name, {'sharesnapshot': old.snapshot}
    for verb, more, headers in (
            ('PUT', {}, {'x-ms-type': 'file', 'x-ms-content-length': '3'}), ('DELETE', {}, {}), ('PUT', {'comp': 'metadata'}, {}),
            ('PUT', {'comp': 'properties'}, {}), ('PUT', {'comp': 'lease'}, {'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1'})):
        told = key.request(verb, path, {**query, **more}, headers)
        assert (told.status, told.code) in ((400, 'InvalidQueryParameterValue'), (400, 'ShareSnapshotOperationNotSupported')), (verb, more, told.body)
    assert old.get_file_client('dir/file').download_file().readall() == b'old content'


def test_many_snapshots_and_their_deletion(shares, share):
    moments = []
    for number in range(3):
        share.get_file_client('file').upload_file(b'%d' % number)
        moments.append(share.create_snapshot(metadata={'number': str(number)})['snapshot'])
    assert moments == sorted(set(moments))
    for number, moment in enumerate(moments):
        old = shares.get_share_client(share.share_name, snapshot=moment)
        assert old.get_file_client('file').download_file().readall() == b'%d' % number
        assert old.get_share_properties().metadata == {'number': str(number)}
    listed = [item.snapshot for item in shares.list_shares(share.share_name, include_snapshots=True)]
    assert sorted(listed, key=str) == sorted([*moments, None], key=str)
    with refused_with(409, 'ShareHasSnapshots'):
        share.delete_share()
    shares.get_share_client(share.share_name, snapshot=moments[1]).delete_share()
    gone = shares.get_share_client(share.share_name, snapshot=moments[1])
    with refused_with(404, 'ShareSnapshotNotFound'):
        gone.delete_share()
    with refused_with(404, 'ShareNotFound'):
        gone.get_share_properties()
    with refused_with(404, 'ShareNotFound'):
        gone.get_file_client('file').get_file_properties()
    assert shares.get_share_client(share.share_name, snapshot=moments[0]).get_file_client('file').download_file().readall() == b'0'
    share.delete_share(delete_snapshots=True)
    with pytest.raises(HttpResponseError) as caught:
        shares.get_share_client(share.share_name, snapshot=moments[0]).get_share_properties()
    assert caught.value.status_code == 404


def test_a_snapshot_of_a_sparse_file(shares, share):
    mib = 1024 * 1024
    file = share.get_file_client('sparse')
    file.create_file(1024 * mib)
    block = os.urandom(64 * 1024)
    file.upload_range(block, offset=512 * mib, length=len(block))
    moment = share.create_snapshot()['snapshot']
    file.clear_range(512 * mib, len(block))
    file.upload_range(b'x' * 512, offset=0, length=512)
    old = shares.get_share_client(share.share_name, snapshot=moment).get_file_client('sparse')
    assert old.get_ranges() == [{'start': 512 * mib, 'end': 512 * mib + len(block) - 1}]
    assert old.download_file(offset=512 * mib, length=len(block)).readall() == block
    assert file.download_file(offset=512 * mib, length=len(block)).readall() == bytes(len(block))
    written, cleared = file.get_ranges_diff(moment)
    assert written == [{'start': 0, 'end': 511}]
    assert cleared == [{'start': 512 * mib, 'end': 512 * mib + len(block) - 1}]
