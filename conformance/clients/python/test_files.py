"""Files: life, transfers of every size, ranges of reads, hashes, properties, what SMB knows of them, read-only files."""
import datetime
import hashlib
import io
import os

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ContentSettings, NTFSAttributes
from conftest import refused_with
from test_shares import SDDL

MIB = 1024 * 1024
MOMENT = datetime.datetime(2021, 3, 4, 5, 6, 7, 890123, tzinfo=datetime.timezone.utc)


@pytest.fixture
def file(share):
    return share.get_file_client('file')


def attributes(told):
    return set(told.file_attributes.replace(' ', '').split('|'))


def test_create_and_delete(share, file):
    made = file.create_file(1000, metadata={'colour': 'blue'})
    assert made['file_id'] and made['etag'] and file.exists()
    assert file.download_file().readall() == bytes(1000)
    replaced = file.create_file(5)
    assert replaced['etag'] != made['etag']
    told = file.get_file_properties()
    assert (told.size, told.metadata) == (5, {})
    file.delete_file()
    assert not file.exists()
    for asked in (file.delete_file, file.get_file_properties, file.download_file, lambda: file.resize_file(3), lambda: file.upload_range(b'x', 0, 1)):
        with refused_with(404, 'ResourceNotFound'):
            asked()
    below = share.get_file_client('no/such/file')
    for asked in (lambda: below.create_file(1), below.get_file_properties, below.delete_file):
        with refused_with(404, 'ParentNotFound'):
            asked()
    with refused_with(400, 'InvalidHeaderValue'):
        file.create_file(4 * 1024 * 1024 * MIB + 1)


@pytest.mark.parametrize('size', [0, 1, 511, 4 * MIB, 4 * MIB + 1, 9 * MIB + 17])
def test_there_and_back(file, size):
    content = os.urandom(size)
    file.upload_file(content, max_concurrency=3, content_settings=ContentSettings(content_md5=bytearray(hashlib.md5(content).digest())))
    told = file.get_file_properties()
    assert (told.size, bytes(told.content_settings.content_md5)) == (size, hashlib.md5(content).digest())
    assert file.download_file(max_concurrency=3).readall() == content
    assert file.download_file(validate_content=True).readall() == content
    into = io.BytesIO()
    assert file.download_file().readinto(into) == size and into.getvalue() == content
    assert b''.join(file.download_file().chunks()) == content


def test_uploads_of_streams_and_text(file):
    file.upload_file('näme\n')
    assert file.download_file(encoding='utf-8').readall() == 'näme\n'
    file.upload_file(io.BytesIO(b'x' * 100_000), length=50_000, validate_content=True)
    assert file.download_file().readall() == b'x' * 50_000
    file.upload_file((b'part%d' % number for number in range(3)), length=15)
    assert file.download_file().readall() == b'part0part1part2'


def test_a_file_with_its_first_content(file):
    """One request makes the file and fills it."""
    file.create_file(20, data=b'first bytes')
    assert file.download_file().readall() == b'first bytes' + bytes(9)


@pytest.mark.parametrize('offset,length,expected', [(0, 1, b'0'), (3, 4, b'3456'), (8, 100, b'89'), (9, None, b'9'), (0, None, b'0123456789')])
def test_ranges_of_reads(file, offset, length, expected):
    file.upload_file(b'0123456789')
    assert file.download_file(offset=offset, length=length).readall() == expected
    assert file.download_file(offset=offset, length=length, validate_content=True).readall() == expected


def test_a_read_behind_the_end(file):
    file.upload_file(b'0123456789')
    with refused_with(416, 'InvalidRange') as caught:
        file.download_file(offset=10, length=1).readall()
    assert caught.value.response.headers['content-range'] == 'bytes */10'


def test_a_read_does_not_mix_two_states(file):
    """A download in several requests ends with a failure when the file changes meanwhile."""
    large = os.urandom(40 * MIB)
    file.upload_file(large, max_concurrency=4)
    stream = file.download_file()
    file.upload_range(b'x', offset=39 * MIB, length=1)
    with pytest.raises(HttpResponseError) as caught:
        stream.readall()
    assert 'modified' in str(caught.value)


def test_content_settings(file):
    settings = dict(content_type='text/plain', content_language='de', content_encoding='gzip', content_disposition='inline', cache_control='no-cache')
    file.create_file(10, content_settings=ContentSettings(**settings), metadata={'a': 'b'})
    told = file.get_file_properties()
    assert {name: getattr(told.content_settings, name) for name in settings} == settings
    assert told.metadata == {'a': 'b'}
    file.set_http_headers(ContentSettings(content_type='text/csv'))
    told = file.get_file_properties()
    assert (told.content_settings.content_type, told.content_settings.content_language, told.metadata, told.size) == ('text/csv', None, {'a': 'b'}, 10)
    file.resize_file(3)
    told = file.get_file_properties()
    assert (told.content_settings.content_type, told.size) == ('text/csv', 3)


def test_metadata(file):
    file.create_file(10)
    changed = file.set_file_metadata({'One': '1', 'two': 'zwei'})
    told = file.get_file_properties()
    assert {name.lower(): value for name, value in told.metadata.items()} == {'one': '1', 'two': 'zwei'}
    assert told.etag == changed['etag']
    file.set_file_metadata()
    assert file.get_file_properties().metadata == {}
    for bad in ({'not-a-name': 'x'}, {'1st': 'x'}, {'a': 'x' * 9000}):
        with pytest.raises(HttpResponseError) as caught:
            file.set_file_metadata(bad)
        assert caught.value.status_code == 400


def test_what_smb_knows(share, file):
    later = MOMENT + datetime.timedelta(days=1)
    made = file.create_file(10, file_attributes=NTFSAttributes(hidden=True, archive=True), file_creation_time=MOMENT,
                            file_last_write_time=later, file_change_time=later, file_permission=SDDL)
    told = file.get_file_properties()
    assert attributes(told) == {'Hidden', 'Archive'}
    assert (told.creation_time, told.last_write_time, told.change_time) == (MOMENT, later, later)
    assert told.permission_key == made['file_permission_key'] == share.create_permission_for_share(SDDL)
    assert (told.file_id, told.parent_id) == (made['file_id'], '0')
    file.set_http_headers(ContentSettings(), file_attributes='System|Offline', file_last_write_time=MOMENT)
    after = file.get_file_properties()
    assert attributes(after) == {'System', 'Offline'}
    assert (after.creation_time, after.last_write_time, after.permission_key) == (MOMENT, MOMENT, told.permission_key)
    assert after.change_time > later
    file.upload_range(b'x', 0, 1, file_last_write_mode='preserve')
    assert file.get_file_properties().last_write_time == MOMENT
    file.upload_range(b'x', 0, 1)
    assert file.get_file_properties().last_write_time > later
    # A permission is either said or named.
    with pytest.raises(ValueError):
        file.create_file(10, file_permission=SDDL, permission_key=told.permission_key)


def test_restored_files_keep_what_they_were(share):
    """What brings files back from a backup may say the times and permission of a file that it fills."""
    file = share.get_file_client('restored')
    file.create_file(10, file_property_semantics='Restore', file_permission=SDDL, file_last_write_time=MOMENT, file_creation_time=MOMENT,
                     file_attributes='ReadOnly|Archive')
    told = file.get_file_properties()
    assert (told.last_write_time, attributes(told)) == (MOMENT, {'ReadOnly', 'Archive'})


def test_read_only(share, file):
    file.upload_file(b'content')
    file.set_http_headers(ContentSettings(), file_attributes='ReadOnly')
    for write in (lambda: file.upload_range(b'x', 0, 1), lambda: file.clear_range(0, 512), lambda: file.create_file(3), file.delete_file,
                  lambda: file.resize_file(3), lambda: file.set_file_metadata({'a': 'b'})):
        with refused_with(409, 'ReadOnlyAttribute'):
            write()
    assert file.download_file().readall() == b'content'
    file.set_http_headers(ContentSettings(), file_attributes='None')
    file.upload_range(b'C', 0, 1)
    assert file.download_file().readall() == b'Content'
    file.delete_file()


def test_an_upload_checked_by_structure(file):
    """The client wraps the body in a message with checksums of its own, and takes one apart."""
    content = os.urandom(9 * MIB)
    file.upload_file(content, validate_content='crc64', max_concurrency=2)
    assert file.download_file().readall() == content
    assert file.download_file(offset=MIB, length=5 * MIB, validate_content='crc64').readall() == content[MIB:6 * MIB]
    assert file.download_file(validate_content='crc64').readall() == content
