"""Copies of page and append blobs, what is written from a URL, and incremental copies."""
import datetime

from azure.storage.blob import BlobSasPermissions, BlobType, generate_blob_sas
from conftest import refused_with

PAGE = 512


def signed(target, blob, snapshot=None):
    """The address of a blob with a signature on it."""
    expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    token = generate_blob_sas(blob.account_name, blob.container_name, blob.blob_name, account_key=target.key,
                              snapshot=snapshot, permission=BlobSasPermissions(read=True), expiry=expiry)
    base = blob.url.split('?')[0]
    return base + ('?snapshot=%s&' % snapshot if snapshot else '?') + token


def page_blob(container, name='disk', pages=8):
    blob = container.get_blob_client(name)
    blob.create_page_blob(pages * PAGE, sequence_number=5)
    return blob


def test_a_page_blob_and_its_copy_go_on_alone(container):
    disk = page_blob(container)
    disk.upload_page(b'a' * PAGE, 0, PAGE)
    copy = container.get_blob_client('copy')
    assert copy.start_copy_from_url(disk.url)['copy_status'] == 'success'
    disk.upload_page(b'b' * PAGE, 0, PAGE)
    copy.upload_page(b'c' * PAGE, PAGE, PAGE)
    assert disk.download_blob().readall() == b'b' * PAGE + bytes(7 * PAGE)
    assert copy.download_blob().readall() == b'a' * PAGE + b'c' * PAGE + bytes(6 * PAGE)
    properties = copy.get_blob_properties()
    assert (properties.blob_type, properties.page_blob_sequence_number) == (BlobType.PAGEBLOB, 5)
    assert [(range.start, range.end) for range in disk.list_page_ranges()] == [(0, PAGE - 1)]


def test_an_append_blob_and_its_copy_go_on_alone(container):
    log = container.get_blob_client('log')
    log.create_append_blob()
    log.append_block(b'one ')
    copy = container.get_blob_client('copy')
    copy.start_copy_from_url(log.url)
    log.append_block(b'two')
    assert copy.append_block(b'three')['blob_committed_block_count'] == 2
    assert (log.download_blob().readall(), copy.download_blob().readall()) == (b'one two', b'one three')
    sealed = container.get_blob_client('sealed')
    sealed.start_copy_from_url(log.url, seal_destination_blob=True)
    with refused_with(409, 'BlobIsSealed'):
        sealed.append_block(b'more')


def test_blocks_and_pages_from_a_url(target, container):
    source = container.get_blob_client('source')
    source.upload_blob(b'x' * PAGE + b'y' * PAGE)
    log = container.get_blob_client('log')
    log.create_append_blob()
    log.append_block_from_url(signed(target, source), source_offset=PAGE - 1, source_length=2)
    assert log.download_blob().readall() == b'xy'
    disk = page_blob(container)
    disk.upload_pages_from_url(signed(target, source), offset=PAGE, length=PAGE, source_offset=PAGE)
    assert disk.download_blob().readall() == bytes(PAGE) + b'y' * PAGE + bytes(6 * PAGE)
    with refused_with(401, 'CannotVerifyCopySource'):
        log.append_block_from_url(source.url)


def test_incremental_copies(target, container):
    disk = page_blob(container)
    backup = container.get_blob_client('backup')
    taken = []
    for number in range(3):
        disk.upload_page(bytes([number + 1]) * PAGE, number * PAGE, PAGE)
        snapshot = disk.create_snapshot()['snapshot']
        backup.start_copy_from_url(signed(target, disk, snapshot), incremental_copy=True)
        properties = backup.get_blob_properties()
        assert (properties.copy.status, properties.copy.incremental_copy) == ('success', True)
        taken.append((properties.copy.destination_snapshot, disk.download_blob().readall()))
    for snapshot, content in taken:
        own = container.get_blob_client('backup', snapshot=snapshot)
        assert own.download_blob().readall() == content
    with refused_with(409, 'OperationNotAllowedOnIncrementalCopyBlob'):
        backup.download_blob()

    with refused_with(409, 'IncrementalCopySourceMustBeSnapshot'):
        backup.start_copy_from_url(signed(target, disk), incremental_copy=True)

