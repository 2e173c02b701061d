"""Handles, as REST sees them where no SMB client has opened anything."""
from conftest import refused_with


def test_nobody_has_opened_anything(share):
    directory = share.create_directory('dir')
    file = directory.upload_file('file', b'content')
    assert list(file.list_handles()) == list(directory.list_handles()) == list(share.get_directory_client().list_handles(recursive=True)) == []
    for closed in (file.close_all_handles(), directory.close_all_handles(recursive=True), file.close_handle('12345'), directory.close_handle('12345')):
        assert closed == {'closed_handles_count': 0, 'failed_handles_count': 0}


def test_what_is_none(share):
    file = share.get_file_client('file')
    for asked in (lambda: list(file.list_handles()), file.close_all_handles, lambda: list(share.get_directory_client('dir').list_handles())):
        with refused_with(404, 'ResourceNotFound'):
            asked()
    file.create_file(1)
    with refused_with(400, 'InvalidHeaderValue'):
        file.close_handle('no number')
