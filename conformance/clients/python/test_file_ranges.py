"""Ranges of files: writes and clears at any place, sparse files of terabytes, what changed since a snapshot, ranges from other files and blobs."""
import datetime
import hashlib
import os

import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobSasPermissions, generate_blob_sas
from azure.storage.fileshare import FileSasPermissions, generate_file_sas
from conftest import refused_with

KIB, MIB, GIB = 1024, 1024 ** 2, 1024 ** 3


@pytest.fixture
def file(share):
    return share.get_file_client('file')


def ranges(file, **how):
    return [(item.start, item.end) for item in file.list_ranges(**how)]


def hour():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)


def signed(target, file):
    sas = generate_file_sas(target.account, file.share_name, file.file_path, account_key=target.key, permission=FileSasPermissions(read=True), expiry=hour())
    return '%s?%s' % (file.url.split('?')[0], sas)


def test_writes(file):
    file.create_file(4 * KIB)
    content = os.urandom(1000)
    told = file.upload_range(content, offset=100, length=1000, validate_content=True)
    assert told['content_md5'] == bytearray(hashlib.md5(content).digest()) and told['etag'] == file.get_file_properties().etag
    file.upload_range(b'xx', offset=4 * KIB - 2, length=2)
    expected = bytes(100) + content + bytes(4 * KIB - 1102) + b'xx'
    assert file.download_file().readall() == expected
    with refused_with(416, 'InvalidRange'):
        file.upload_range(b'xx', offset=4 * KIB - 1, length=2)
    assert file.download_file().readall() == expected


def test_too_much_at_once(file):
    file.create_file(8 * MIB)
    file.upload_range(b'x' * (4 * MIB), offset=0, length=4 * MIB)
    with refused_with(413, 'RequestBodyTooLarge'):
        file.upload_range(b'x' * (4 * MIB + 1), offset=0, length=4 * MIB + 1)


def test_clears(file):
    content = os.urandom(4 * KIB)
    file.upload_file(content)
    file.clear_range(KIB, KIB)
    assert file.download_file().readall() == content[:KIB] + bytes(KIB) + content[2 * KIB:]
    assert ranges(file) == [(0, KIB - 1), (2 * KIB, 4 * KIB - 1)]
    assert ranges(file, offset=512, length=KIB) == [(512, KIB - 1)]
    assert ranges(file, offset=KIB, length=KIB) == []


def test_a_sparse_file(file):
    size = 3 * KIB * GIB
    file.create_file(size // KIB)
    places = [0, 5 * MIB + 512, GIB + 1024, 3 * GIB - 512]
    for place in places:
        file.upload_range(b'y' * 512, offset=place, length=512)
    assert ranges(file) == [(place, place + 511) for place in places]
    assert file.download_file(offset=GIB, length=2048).readall() == bytes(1024) + b'y' * 512 + bytes(512)
    file.clear_range(0, 2 * GIB)
    assert ranges(file) == [(3 * GIB - 512, 3 * GIB - 1)]
    file.resize_file(GIB)
    file.resize_file(3 * GIB)
    assert ranges(file) == []
    assert file.download_file(offset=3 * GIB - 512, length=512).readall() == bytes(512)


def test_resize(file):
    file.upload_file(b'0123456789')
    file.resize_file(4)
    assert file.download_file().readall() == b'0123'
    file.resize_file(8)
    assert file.download_file().readall() == b'0123' + bytes(4), 'what was cut off does not come back'
    file.resize_file(0)
    assert file.download_file().readall() == b''


def test_pages_of_ranges(file):
    file.create_file(MIB)
    for number in range(10):
        file.upload_range(b'x' * 512, offset=number * 4 * KIB, length=512)
    pages = [[item.start // (4 * KIB) for item in page] for page in file.list_ranges(results_per_page=4).by_page()]
    assert pages == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [item['start'] for item in file.get_ranges()] == [number * 4 * KIB for number in range(10)]


def test_what_changed_since_a_snapshot(shares, share):
    file = share.create_directory('dir').get_file_client('file')
    file.create_file(64 * KIB)
    file.upload_range(b'a' * 8 * KIB, offset=0, length=8 * KIB)
    first = share.create_snapshot()['snapshot']
    file.upload_range(b'b' * KIB, offset=4 * KIB, length=KIB)
    file.clear_range(0, KIB)
    second = share.create_snapshot()['snapshot']
    file.upload_range(b'c' * KIB, offset=32 * KIB, length=KIB)

    def diff(client, since, **how):
        told = list(client.list_ranges_diff(since, **how))
        return ([(item.start, item.end) for item in told if not item.cleared], [(item.start, item.end) for item in told if item.cleared])

    assert diff(file, first) == ([(4 * KIB, 5 * KIB - 1), (32 * KIB, 33 * KIB - 1)], [(0, KIB - 1)])
    assert diff(file, second) == ([(32 * KIB, 33 * KIB - 1)], [])
    old = shares.get_share_client(share.share_name, snapshot=second).get_file_client('dir/file')
    assert diff(old, first) == ([(4 * KIB, 5 * KIB - 1)], [(0, KIB - 1)])
    assert diff(file, first, offset=0, length=5 * KIB) == ([(4 * KIB, 5 * KIB - 1)], [(0, KIB - 1)])
    moved = share.get_directory_client('dir').rename_directory('moved').get_file_client('file')
    assert diff(moved, first, include_renames=True) == ([(4 * KIB, 5 * KIB - 1), (32 * KIB, 33 * KIB - 1)], [(0, KIB - 1)])
    with refused_with(409, 'FileGenerationMismatch'):
        diff(moved, first)


def test_ranges_from_a_file(target, share, file):
    content = os.urandom(10 * KIB)
    source = share.get_file_client('source')
    source.upload_file(content)
    file.create_file(20 * KIB)
    file.upload_range_from_url(signed(target, source), offset=KIB, length=2 * KIB, source_offset=3 * KIB)
    assert file.download_file().readall() == bytes(KIB) + content[3 * KIB:5 * KIB] + bytes(17 * KIB)
    etag = source.get_file_properties().etag
    how = {'offset': 0, 'length': KIB, 'source_offset': 0}
    file.upload_range_from_url(signed(target, source), **how, file_last_write_mode='preserve')
    assert file.download_file(offset=0, length=KIB).readall() == content[:KIB]
    with refused_with(416, 'InvalidRange'):
        file.upload_range_from_url(signed(target, source), offset=20 * KIB - 1, length=2, source_offset=0)
    assert etag == source.get_file_properties().etag


def test_ranges_from_a_blob(target, container, file):
    content = os.urandom(8 * KIB)
    blob = container.upload_blob('blob', content)
    sas = generate_blob_sas(target.account, container.container_name, 'blob', account_key=target.key, permission=BlobSasPermissions(read=True), expiry=hour())
    file.create_file(8 * KIB)
    told = file.upload_range_from_url('%s?%s' % (blob.url, sas), offset=0, length=8 * KIB, source_offset=0)
    assert told['etag'] and file.download_file().readall() == content
    blob.delete_blob()
    with refused_with(404, 'CannotVerifyCopySource'):
        file.upload_range_from_url('%s?%s' % (blob.url, sas), offset=0, length=1, source_offset=0)


def test_conditions_are_for_sources(target, share, file):
    """The Put Range From URL of this service knows conditions on the checksum of the source; the client offers others for older ones."""
    source = share.get_file_client('source')
    source.upload_file(b'content')
    file.create_file(10)
    how = {'offset': 0, 'length': 7, 'source_offset': 0}
    file.upload_range_from_url(signed(target, source), **how, source_etag=source.get_file_properties().etag,
                               source_match_condition=MatchConditions.IfNotModified)
    assert file.download_file().readall() == b'content' + bytes(3)
