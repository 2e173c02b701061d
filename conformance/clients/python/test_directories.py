"""Directories: life, metadata, what SMB knows of them, listing by pages, names that differ in case, names with dots at their end."""
import datetime
import os
import uuid

import pytest
from azure.storage.fileshare import NTFSAttributes, ShareClient, ShareDirectoryClient
from conftest import ONE_TRY, refused_with
from test_shares import SDDL

MOMENT = datetime.datetime(2021, 3, 4, 5, 6, 7, 890123, tzinfo=datetime.timezone.utc)


def names(listed):
    """Sorted: the client tells the directories of a page before its files."""
    return sorted(item.name for item in listed)


def test_create_and_delete(share):
    directory = share.get_directory_client('dir')
    made = directory.create_directory(metadata={'colour': 'blue'})
    assert made['file_id'] and made['file_attributes'] == 'Directory'
    assert directory.exists()
    with refused_with(409, 'ResourceAlreadyExists'):
        directory.create_directory()
    with refused_with(404, 'ParentNotFound'):
        share.get_directory_client('no/such').create_directory()
    sub = directory.create_subdirectory('sub', metadata={'deep': 'yes'})
    assert sub.get_directory_properties().metadata == {'deep': 'yes'}
    with refused_with(409, 'DirectoryNotEmpty'):
        directory.delete_directory()
    directory.upload_file('file', b'content')
    with refused_with(409, 'ResourceTypeMismatch'):
        directory.get_file_client('sub').create_file(1)
    with refused_with(409, 'ResourceAlreadyExists'):
        directory.get_subdirectory_client('file').create_directory()
    directory.delete_file('file')
    directory.delete_subdirectory('sub')
    directory.delete_directory()
    assert not directory.exists()
    with refused_with(404, 'ResourceNotFound'):
        directory.delete_directory()
    with refused_with(404, 'ResourceNotFound'):
        directory.get_directory_properties()


def test_the_root(share):
    root = share.get_directory_client()
    assert root.exists() and root.get_directory_properties().file_id == '0'
    share.create_directory('one')
    root.upload_file('file', b'x')
    assert names(root.list_directories_and_files()) == names(share.list_directories_and_files()) == ['file', 'one']
    share.delete_directory('one')


def test_metadata(share):
    directory = share.get_directory_client('dir')
    first = directory.create_directory()
    changed = directory.set_directory_metadata({'one': '1', 'two': '2'})
    told = directory.get_directory_properties()
    assert (told.metadata, told.etag) == ({'one': '1', 'two': '2'}, changed['etag'])
    assert changed['etag'] != first['etag']
    directory.set_directory_metadata({})
    assert directory.get_directory_properties().metadata == {}


def test_what_smb_knows(share):
    directory = share.get_directory_client('dir')
    directory.create_directory(file_attributes=NTFSAttributes(hidden=True, directory=True), file_creation_time=MOMENT,
                               file_last_write_time=MOMENT + datetime.timedelta(days=1), file_permission=SDDL)
    told = directory.get_directory_properties()
    assert set(told.file_attributes.replace(' ', '').split('|')) == {'Hidden', 'Directory'}
    assert (told.creation_time, told.last_write_time) == (MOMENT, MOMENT + datetime.timedelta(days=1))
    assert told.permission_key == share.create_permission_for_share(SDDL)
    assert told.change_time and told.file_id and told.parent_id == '0'
    directory.set_http_headers(file_attributes='System', file_creation_time=MOMENT - datetime.timedelta(days=1),
                               file_change_time=MOMENT + datetime.timedelta(days=2))
    after = directory.get_directory_properties()
    assert set(after.file_attributes.replace(' ', '').split('|')) == {'System', 'Directory'}
    assert after.creation_time == MOMENT - datetime.timedelta(days=1) and after.change_time == MOMENT + datetime.timedelta(days=2)
    assert (after.last_write_time, after.permission_key, after.file_id) == (told.last_write_time, told.permission_key, told.file_id)
    with refused_with(400, 'InvalidHeaderValue'):
        directory.set_http_headers(file_attributes='Nonsense')


@pytest.fixture
def filled(share):
    for name in ('alpha', 'beta', 'gamma'):
        share.create_directory(name)
    for number in range(4):
        share.get_file_client('file%d' % number).upload_file(b'x' * number)
    return share


def test_listing(filled):
    listed = sorted(filled.list_directories_and_files(), key=lambda item: item.name)
    assert names(listed) == ['alpha', 'beta', 'file0', 'file1', 'file2', 'file3', 'gamma']
    assert [item.is_directory for item in listed] == [True, True, False, False, False, False, True]
    assert [item.size for item in listed if not item.is_directory] == [0, 1, 2, 3]
    assert all(item.file_id for item in listed) and len({item.file_id for item in listed}) == 7
    assert names(filled.list_directories_and_files(name_starts_with='file')) == ['file0', 'file1', 'file2', 'file3']
    assert names(filled.list_directories_and_files(name_starts_with='FILE')) == ['file0', 'file1', 'file2', 'file3']
    pages = [names(page) for page in filled.list_directories_and_files(results_per_page=3).by_page()]
    assert pages == [['alpha', 'beta', 'file0'], ['file1', 'file2', 'file3'], ['gamma']]
    with refused_with(404, 'ResourceNotFound'):
        list(filled.list_directories_and_files('nothing'))


def test_listing_with_more(filled):
    wanted = ['timestamps', 'Etag', 'Attributes', 'PermissionKey']
    for item in filled.list_directories_and_files(include=wanted, include_extended_info=True):
        client = filled.get_directory_client(item.name) if item.is_directory else filled.get_file_client(item.name)
        told = client.get_directory_properties() if item.is_directory else client.get_file_properties()
        assert (item.file_id, item.permission_key, item.file_attributes) == (told.file_id, told.permission_key, told.file_attributes)
        for moment in ('creation_time', 'last_write_time', 'change_time'):
            assert getattr(item, moment)[:26] == getattr(told, moment).strftime('%Y-%m-%dT%H:%M:%S.%f'), moment
        assert item.etag.strip('"') == told.etag.strip('"') and item.last_access_time
    plain = next(iter(filled.list_directories_and_files()))
    assert not plain.permission_key and not plain.creation_time


def test_a_large_directory(share):
    directory = share.create_directory('large')
    made = sorted('%s-%03d' % (uuid.uuid4().hex[:6], number) for number in range(120))
    for name in made:
        directory.get_file_client(name).create_file(0)
    listed = directory.list_directories_and_files(results_per_page=50)
    assert [len(list(page)) for page in listed.by_page()] == [50, 50, 20]
    assert names(directory.list_directories_and_files()) == made


def test_names_differ_not_by_case(share):
    share.create_directory('Dir').upload_file('File.TXT', b'content')
    other = share.get_file_client('dIR/fILE.txt')
    assert other.download_file().readall() == b'content'
    with refused_with(409, 'ResourceAlreadyExists'):
        share.get_directory_client('DIR').create_directory()
    assert names(share.list_directories_and_files()) == ['Dir']
    assert names(share.list_directories_and_files('DIR')) == ['File.TXT']
    other.upload_file(b'replaced')
    assert len(list(share.list_directories_and_files('dir'))) == 1
    assert share.get_file_client('Dir/File.TXT').download_file().readall() == b'replaced'
    other.delete_file()
    assert list(share.list_directories_and_files('dir')) == []


def test_dots_at_the_end(target, share):
    plain = share.get_file_client('name..')
    plain.upload_file(b'plain')
    assert names(share.list_directories_and_files()) == ['name']
    how = {'allow_trailing_dot': True, 'allow_source_trailing_dot': True, **ONE_TRY}
    dotted = ShareClient.from_connection_string(target.connection_string, share.share_name, **how)
    dotted.get_file_client('name..').upload_file(b'dotted')
    assert (names(dotted.list_directories_and_files())) == ['name', 'name..']
    assert dotted.get_file_client('name').download_file().readall() == b'plain'
    assert dotted.get_file_client('name..').download_file().readall() == b'dotted'
    directory = dotted.create_directory('dir.')
    directory.upload_file('in.', b'in')
    assert names(dotted.list_directories_and_files('dir.')) == ['in.']
    dotted.get_file_client('name..').rename_file('dir./moved.')
    assert (names(dotted.list_directories_and_files('dir.'))) == ['in.', 'moved.']
    assert not share.get_directory_client('dir').exists()


@pytest.mark.parametrize('name', ['with space', 'per%20cent', 'plus+and&', "quote'", 'ünïcode', '文字', 'x' * 255, '(brackets) [square]', '~tilde!#$@^`{}=,;'])
def test_odd_names(share, name):
    directory = share.create_directory(name)
    directory.upload_file(name, b'content')
    assert names(share.list_directories_and_files()) == [name]
    assert names(directory.list_directories_and_files()) == [name]
    assert directory.get_file_client(name).download_file().readall() == b'content'
    moved = directory.get_file_client(name).rename_file('%s/moved' % name)
    assert moved.download_file().readall() == b'content'


@pytest.mark.parametrize('name', ['a:b', 'a|b', 'a<b', 'a*b', 'a"b', 'x' * 256])
def test_names_that_are_none(share, name):
    with refused_with(400, 'InvalidResourceName'):
        share.get_file_client(name).create_file(1)
    with refused_with(400, 'InvalidResourceName'):
        share.get_directory_client(name).create_directory()


def test_characters_that_xml_cannot_hold(share):
    """Names with a character that XML has no way to write are told percent-encoded."""
    name = 'odd\uffff'
    share.get_file_client(name).upload_file(b'content')
    assert names(share.list_directories_and_files()) == [name]
    assert names(share.list_directories_and_files(name_starts_with=name)) == [name]
    share.create_directory('sub' + name)
    assert list(share.list_directories_and_files('sub' + name)) == []


def test_a_tree_by_addresses(target, share):
    """A client made of an address and a key finds the same."""
    how = {'credential': {'account_name': target.account, 'account_key': target.key}, **ONE_TRY}
    directory = ShareDirectoryClient(target.file_endpoint, share.share_name, 'a', **how)
    directory.create_directory()
    content = os.urandom(1000)
    file = directory.upload_file('f', content)
    assert file.url.split('?')[0] == '%s/%s/a/f' % (target.file_endpoint, share.share_name)
    assert share.get_file_client('a/f').download_file().readall() == content
