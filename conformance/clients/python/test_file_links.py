"""Shares for NFS: owners, groups and modes, hard links, symbolic links."""
import uuid

import pytest
from conftest import refused_with, remove


@pytest.fixture
def nfs(shares):
    share = shares.get_share_client('n' + uuid.uuid4().hex)
    share.create_share(protocols='NFS', root_squash='RootSquash')
    yield share
    remove(share)


def test_the_share_says_what_it_is(nfs):
    told = nfs.get_share_properties()
    assert (told.protocols, told.root_squash) == (['NFS'], 'RootSquash')
    nfs.set_share_properties(root_squash='AllSquash', quota=5)
    assert nfs.get_share_properties().root_squash == 'AllSquash'


def test_owners_and_modes(nfs):
    directory = nfs.get_directory_client('dir')
    directory.create_directory(owner='345', group='123', file_mode='7777')
    told = directory.get_directory_properties()
    assert (told.owner, told.group, told.file_mode) == ('345', '123', '7777')
    directory.set_http_headers(owner='1', group='2', file_mode='0755')
    told = directory.get_directory_properties()
    assert (told.owner, told.group, told.file_mode) == ('1', '2', '0755')
    file = directory.get_file_client('file')
    file.create_file(10, owner='3', group='4', file_mode='0640')
    told = file.get_file_properties()
    assert (told.owner, told.group, told.file_mode, told.link_count, told.nfs_file_type) == ('3', '4', '0640', 1, 'Regular')
    assert file.download_file().properties.owner == '3'


def test_hard_links(nfs):
    directory = nfs.create_directory('dir')
    first = directory.upload_file('first', b'content')
    second = directory.get_file_client('second')
    made = second.create_hardlink('dir/first')
    assert made['link_count'] == 2 and made['file_id'] == first.get_file_properties().file_id
    second.upload_range(b'CON', 0, 3)
    assert first.download_file().readall() == b'CONtent'
    assert first.get_file_properties().link_count == second.get_file_properties().link_count == 2
    with refused_with(409, 'ResourceAlreadyExists'):
        second.create_hardlink('dir/first')
    first.delete_file()
    assert second.download_file().readall() == b'CONtent' and second.get_file_properties().link_count == 1
    with refused_with(404, 'ResourceNotFound'):
        directory.get_file_client('third').create_hardlink('dir/nothing')


def test_symbolic_links(nfs):
    directory = nfs.create_directory('dir')
    directory.upload_file('file', b'content')
    link = directory.get_file_client('link')
    made = link.create_symlink('dir/file', metadata={'a': 'b'}, owner='7', group='8')
    assert (made['owner'], made['group']) == ('7', '8')
    assert link.get_symlink()['link_text'] == 'dir/file'
    with refused_with(409, 'ResourceTypeMismatch'):
        directory.get_file_client('file').get_symlink()
    with refused_with(404, 'ResourceNotFound'):
        directory.get_file_client('nothing').get_symlink()
    assert sorted(item.name for item in directory.list_directories_and_files()) == ['file', 'link']


def test_links_are_not_for_smb(share):
    share.get_file_client('file').upload_file(b'content')
    with refused_with(400, 'InvalidInput'):
        share.get_file_client('link').create_hardlink('file')
    with refused_with(400, 'InvalidInput'):
        share.get_file_client('link').create_symlink('file')
