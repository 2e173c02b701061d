"""impacket: another client, with its own idea of the protocol."""
import io

import pytest
from impacket.smbconnection import SMBConnection, SessionError

DIALECTS = {'2.1': 0x0210, '3.0': 0x0300, '3.1.1': 0x0311}


@pytest.mark.parametrize('name', DIALECTS)
def test_a_session(target, share, name):
    there = SMBConnection('127.0.0.1', '127.0.0.1', sess_port=target.port, preferredDialect=DIALECTS[name], timeout=30)
    there.login(target.account, target.key)
    assert there.getDialect() == DIALECTS[name]
    names = [entry['shi1_netname'].rstrip('\0') for entry in there.listShares()]
    assert share.share_name in names and 'IPC$' in names
    there.createDirectory(share.share_name, 'directory')
    there.putFile(share.share_name, 'directory/file', io.BytesIO(b'bytes' * 100_000).read)
    got = io.BytesIO()
    there.getFile(share.share_name, 'directory/file', got.write)
    assert got.getvalue() == b'bytes' * 100_000
    assert share.get_file_client('directory/file').download_file().readall() == got.getvalue()
    listed = {entry.get_longname(): entry.get_filesize() for entry in there.listPath(share.share_name, 'directory/*')}
    assert listed['file'] == 500_000
    there.rename(share.share_name, 'directory/file', 'renamed')
    with pytest.raises(SessionError) as told:
        there.deleteDirectory(share.share_name, 'renamed')
    assert 'STATUS_NOT_A_DIRECTORY' in str(told.value)
    there.deleteFile(share.share_name, 'renamed')
    there.deleteDirectory(share.share_name, 'directory')
    there.close()
    assert not list(share.list_directories_and_files())


def test_a_wrong_key(target):
    there = SMBConnection('127.0.0.1', '127.0.0.1', sess_port=target.port, timeout=30)
    with pytest.raises(SessionError) as told:
        there.login(target.account, 'wrong')
    assert 'STATUS_LOGON_FAILURE' in str(told.value)
    with pytest.raises(SessionError):
        SMBConnection('127.0.0.1', '127.0.0.1', sess_port=target.port, timeout=30).login('', '')
