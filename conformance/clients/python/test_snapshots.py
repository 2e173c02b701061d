"""Snapshots stay what they were; deleting is explicit about them."""
from azure.storage.blob import BlobClient
from conftest import refused_with
from shared_key import SharedKey


def at(blob, snapshot, target):
    return BlobClient.from_connection_string(
        target.connection_string, blob.container_name, blob.blob_name, snapshot=snapshot['snapshot'], retry_total=0)


def test_a_snapshot_keeps_content_and_metadata(target, blob):
    blob.upload_blob(b'one', metadata={'n': '1'})
    first = blob.create_snapshot()
    blob.upload_blob(b'two', overwrite=True, metadata={'n': '2'})
    second = blob.create_snapshot(metadata={'n': 'own'})
    blob.upload_blob(b'three', overwrite=True)
    assert first['snapshot'] < second['snapshot']
    for snapshot, content, metadata in ((first, b'one', {'n': '1'}), (second, b'two', {'n': 'own'})):
        old = at(blob, snapshot, target)
        assert old.download_blob().readall() == content
        assert old.get_blob_properties().metadata == metadata
    assert at(blob, first, target).get_blob_properties().etag == first['etag']


def test_a_snapshot_cannot_be_written(target, blob):
    blob.upload_blob(b'one')
    old = at(blob, blob.create_snapshot(), target)
    assert old.get_blob_properties().lease.state is None
    refused = SharedKey(target).request('PUT', '/%s/%s' % (blob.container_name, blob.blob_name),
                                        {'comp': 'metadata', 'snapshot': old.snapshot}, {'x-ms-meta-a': 'b'})
    assert (refused.status, refused.code) == (400, 'InvalidQueryParameterValue')
    assert old.get_blob_properties().metadata == {}


def test_deleting_with_snapshots(target, blob):
    blob.upload_blob(b'one')
    first = blob.create_snapshot()
    second = blob.create_snapshot()
    with refused_with(409, 'SnapshotsPresent'):
        blob.delete_blob()
    at(blob, first, target).delete_blob()
    with refused_with(404, 'BlobNotFound'):
        at(blob, first, target).download_blob()
    blob.delete_blob(delete_snapshots='only')
    assert blob.exists()
    with refused_with(404, 'BlobNotFound'):
        at(blob, second, target).download_blob()
    blob.create_snapshot()
    blob.delete_blob(delete_snapshots='include')
    assert not blob.exists()


def test_a_snapshot_of_a_leased_blob_needs_no_lease(blob):
    blob.upload_blob(b'one')
    lease = blob.acquire_lease(-1)
    blob.create_snapshot()
    blob.create_snapshot(lease=lease)
    with refused_with(412, 'LeaseIdMissing'):
        blob.delete_blob(delete_snapshots='include')
