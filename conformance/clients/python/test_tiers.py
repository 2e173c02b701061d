"""Access tiers, and the way out of the archive."""
from conftest import Target, refused_with


def test_archive_and_rehydrate(container):
    blob = container.upload_blob('archived', b'data')
    etag = blob.get_blob_properties().etag
    blob.set_standard_blob_tier('Archive')
    with refused_with(409, 'BlobArchived'):
        blob.download_blob().readall()
    blob.set_standard_blob_tier('Cool', rehydrate_priority='High')
    found = blob.get_blob_properties()
    assert (found.blob_tier, found.archive_status, found.rehydrate_priority) == (
        'Archive', 'rehydrate-pending-to-cool', 'High')
    assert found.etag == etag
    listed = next(item for item in container.list_blobs() if item.name == 'archived')
    assert (listed.blob_tier, listed.archive_status) == ('Archive', 'rehydrate-pending-to-cool')
    with refused_with(409, 'BlobBeingRehydrated'):
        blob.download_blob().readall()


def test_rehydration_ends_by_the_clock(own_server):
    server = own_server('--rehydrationTime', '100')
    target = Target(server.connection_string, server.clock_url)
    container = target.service().create_container('tiers')
    blob = container.upload_blob('archived', b'data')
    blob.set_standard_blob_tier('Archive')
    blob.set_standard_blob_tier('Cold')
    target.advance(90)
    assert blob.get_blob_properties().archive_status == 'rehydrate-pending-to-cold'
    target.advance(20)
    assert blob.download_blob().readall() == b'data'
    found = blob.get_blob_properties()
    assert (found.blob_tier, found.archive_status) == ('Cold', None)
