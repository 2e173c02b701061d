"""Page blobs: disks that are written in places, and what changed between two snapshots of one."""
import pytest
from azure.storage.blob import BlobType, PageRange, SequenceNumberAction
from conftest import refused_with

PAGE = 512


@pytest.fixture
def disk(blob):
    blob.create_page_blob(16 * PAGE, sequence_number=5)
    return blob


def write(disk, letter, first, count=1, **conditions):
    return disk.upload_page(letter * PAGE * count, first * PAGE, count * PAGE, **conditions)


def shown(ranges):
    """The first page and how many, with a minus for what was cleared."""
    found = []
    for one in ranges:
        start, end, cleared = (one.start, one.end, one.cleared) if isinstance(one, PageRange) else (*one, False)
        found.append('%s%d+%d' % ('-' if cleared else '', start // PAGE, (end + 1 - start) // PAGE))
    return sorted(found)


def test_pages_are_written_cleared_and_read(disk):
    write(disk, b'a', 2, 4)
    write(disk, b'b', 10)
    disk.clear_page(3 * PAGE, PAGE)
    assert shown(disk.list_page_ranges()) == ['10+1', '2+1', '4+2']
    assert shown(disk.list_page_ranges(offset=4 * PAGE, length=2 * PAGE)) == ['4+2']
    assert shown(disk.list_page_ranges(results_per_page=1)) == ['10+1', '2+1', '4+2']
    read = disk.download_blob(offset=2 * PAGE, length=9 * PAGE).readall()
    assert read == b'a' * PAGE + bytes(PAGE) + b'a' * 2 * PAGE + bytes(4 * PAGE) + b'b' * PAGE
    properties = disk.get_blob_properties()
    assert (properties.blob_type, properties.size, properties.page_blob_sequence_number) == (BlobType.PAGEBLOB, 16 * PAGE, 5)
    with refused_with(416, 'InvalidPageRange'):
        write(disk, b'x', 16)


def test_what_changed_since_a_snapshot(container, disk):
    write(disk, b'a', 0, 4)
    first = disk.create_snapshot()['snapshot']
    write(disk, b'b', 8)
    disk.clear_page(PAGE, PAGE)
    second = disk.create_snapshot()['snapshot']
    write(disk, b'c', 12)
    assert shown(disk.list_page_ranges(previous_snapshot=first)) == ['-1+1', '12+1', '8+1']
    assert shown(disk.list_page_ranges(previous_snapshot=second)) == ['12+1']
    at_second = container.get_blob_client(disk.blob_name, snapshot=second)
    assert shown(at_second.list_page_ranges(previous_snapshot=first)) == ['-1+1', '8+1']
    assert container.get_blob_client(disk.blob_name, snapshot=first).download_blob().readall()[:4 * PAGE] == b'a' * 4 * PAGE


def test_sequence_numbers(disk):
    assert disk.set_sequence_number(SequenceNumberAction.Increment)['blob_sequence_number'] == 6
    assert disk.set_sequence_number(SequenceNumberAction.Max, '4')['blob_sequence_number'] == 6
    assert disk.set_sequence_number(SequenceNumberAction.Update, '3')['blob_sequence_number'] == 3
    for passes in ({'if_sequence_number_eq': 3}, {'if_sequence_number_lt': 4}, {'if_sequence_number_lte': 3}):
        write(disk, b'a', 0, **passes)
    for fails in ({'if_sequence_number_eq': 4}, {'if_sequence_number_lt': 3}, {'if_sequence_number_lte': 2}):
        with refused_with(412, 'SequenceNumberConditionNotMet'):
            write(disk, b'b', 0, **fails)
    assert disk.download_blob(offset=0, length=PAGE).readall() == b'a' * PAGE


def test_a_disk_grows_and_shrinks(disk):
    write(disk, b'a', 0, 4)
    disk.resize_blob(2 * PAGE)
    disk.resize_blob(8 << 40)
    assert disk.get_blob_properties().size == 8 << 40
    assert disk.download_blob(offset=0, length=4 * PAGE).readall() == b'a' * 2 * PAGE + bytes(2 * PAGE)
    assert shown(disk.list_page_ranges()) == ['0+2']


def test_upload_blob_leaves_holes_out(blob):
    """The client writes only pages that are not all zeros."""
    data = bytes(4 << 20) + b'end' + bytes(PAGE - 3)
    blob.upload_blob(data, blob_type=BlobType.PAGEBLOB)
    assert blob.download_blob().readall() == data
    assert shown(blob.list_page_ranges()) == ['8192+1']
