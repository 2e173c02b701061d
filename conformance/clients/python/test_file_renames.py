"""Renames of files and directories: what they take along, what they replace, leases on both ends."""
import datetime
import os

import pytest
from azure.storage.fileshare import ContentSettings
from conftest import refused_with
from test_shares import SDDL

MOMENT = datetime.datetime(2021, 3, 4, 5, 6, 7, 890123, tzinfo=datetime.timezone.utc)


def names(listed):
    return sorted(item.name for item in listed)


def test_a_file_is_renamed(share):
    content = os.urandom(100_000)
    file = share.get_file_client('old')
    file.upload_file(content, metadata={'a': 'b'}, content_settings=ContentSettings(content_type='text/plain'))
    before = file.get_file_properties()
    share.create_directory('dir')
    moved = file.rename_file('dir/new')
    assert not file.exists() and moved.download_file().readall() == content
    after = moved.get_file_properties()
    assert (after.metadata, after.content_settings.content_type, after.file_id) == ({'a': 'b'}, 'text/plain', before.file_id)
    assert after.parent_id == share.get_directory_client('dir').get_directory_properties().file_id
    assert (after.creation_time, after.last_write_time, after.permission_key) == (before.creation_time, before.last_write_time, before.permission_key)
    with refused_with(404, 'ResourceNotFound'):
        file.rename_file('other')
    with refused_with(404, 'ParentNotFound'):
        moved.rename_file('no/such/place')


def test_a_rename_changes_what_it_is_told_to(share):
    file = share.get_file_client('old')
    file.create_file(10, metadata={'a': 'b'})
    moved = file.rename_file('new', metadata={'c': 'd'}, file_permission=SDDL, file_attributes='Hidden', file_creation_time=MOMENT,
                             file_last_write_time=MOMENT, file_change_time=MOMENT, content_type='text/csv')
    told = moved.get_file_properties()
    assert (told.metadata, told.file_attributes, told.content_settings.content_type) == ({'c': 'd'}, 'Hidden', 'text/csv')
    assert (told.creation_time, told.last_write_time, told.change_time) == (MOMENT, MOMENT, MOMENT)
    assert told.permission_key == share.create_permission_for_share(SDDL)


def test_a_file_replaces_another(share):
    file, there = share.get_file_client('old'), share.get_file_client('there')
    file.upload_file(b'new')
    there.upload_file(b'replaced')
    with refused_with(409, 'ResourceAlreadyExists'):
        file.rename_file('there')
    there.set_http_headers(ContentSettings(), file_attributes='ReadOnly')
    with refused_with(409, 'ReadOnlyAttribute'):
        file.rename_file('there', overwrite=True)
    assert file.exists() and there.download_file().readall() == b'replaced'
    file.rename_file('there', overwrite=True, ignore_read_only=True)
    assert names(share.list_directories_and_files()) == ['there'] and there.download_file().readall() == b'new'
    share.create_directory('dir')
    with refused_with(409, 'ResourceTypeMismatch'):
        there.rename_file('dir', overwrite=True)


def test_only_the_case_changes(share):
    file = share.get_file_client('name')
    file.upload_file(b'content')
    file.rename_file('NAME')
    assert names(share.list_directories_and_files()) == ['NAME']
    assert share.get_file_client('Name').download_file().readall() == b'content'


def test_leases_of_both_ends(share):
    file, there = share.get_file_client('old'), share.get_file_client('there')
    file.upload_file(b'new')
    there.upload_file(b'replaced')
    source, destination = file.acquire_lease(), there.acquire_lease()
    for how in ({}, {'source_lease': source}, {'destination_lease': destination}):
        with refused_with(412, 'LeaseIdMissing'):
            file.rename_file('there', overwrite=True, **how)
    with refused_with(412, 'LeaseIdMismatchWithFileOperation'):
        file.rename_file('there', overwrite=True, source_lease=destination, destination_lease=destination)
    file.rename_file('there', overwrite=True, source_lease=source, destination_lease=destination)
    assert names(share.list_directories_and_files()) == ['there'] and there.download_file().readall() == b'new'


def test_a_directory_is_renamed(share):
    directory = share.create_directory('old')
    directory.create_subdirectory('sub').upload_file('deep', b'deep')
    directory.upload_file('file', b'content')
    before = directory.get_directory_properties()
    moved = directory.rename_directory('new', metadata={'a': 'b'})
    assert not directory.exists() and moved.get_directory_properties().metadata == {'a': 'b'}
    assert moved.get_directory_properties().file_id == before.file_id
    assert names(moved.list_directories_and_files()) == ['file', 'sub']
    assert share.get_file_client('new/sub/deep').download_file().readall() == b'deep'
    with refused_with(404, 'ResourceNotFound'):
        directory.rename_directory('other')
    share.create_directory('there')
    with refused_with(409, 'ResourceAlreadyExists'):
        moved.rename_directory('there')
    below = moved.rename_directory('there/below')
    assert share.get_file_client('there/below/sub/deep').download_file().readall() == b'deep'
    with pytest.raises(Exception) as caught:
        share.get_directory_client('there').rename_directory('there/below/circle')
    assert caught.value.status_code in (400, 409)
    assert names(below.list_directories_and_files()) == ['file', 'sub']


def test_a_directory_replaces_a_file(share):
    directory, file = share.create_directory('dir'), share.get_file_client('file')
    file.upload_file(b'content')
    lease = file.acquire_lease()
    with refused_with(409, 'ResourceAlreadyExists'):
        directory.rename_directory('file')
    with refused_with(412, 'LeaseIdMissing'):
        directory.rename_directory('file', overwrite=True)
    directory.rename_directory('file', overwrite=True, destination_lease=lease)
    assert [(item.name, item.is_directory) for item in share.list_directories_and_files()] == [('file', True)]


def test_a_leased_file_below_stays_leased(share):
    directory = share.create_directory('old')
    file = directory.upload_file('file', b'content')
    lease = file.acquire_lease()
    directory.rename_directory('new')
    moved = share.get_file_client('new/file')
    with refused_with(412, 'LeaseIdMissing'):
        moved.resize_file(3)
    moved.resize_file(3, lease=lease.id)
