"""smbclient, in every dialect, with every cipher and every way to sign."""
import uuid

import pytest
from conftest import Target
from lazuli_server import Server
from smbprotocol.exceptions import SMBException

DIALECTS = ('SMB2_10', 'SMB3_00', 'SMB3_02', 'SMB3_11')
CIPHERS = ('AES-128-CCM', 'AES-128-GCM', 'AES-256-CCM', 'AES-256-GCM')
SIGNINGS = ('HMAC-SHA256', 'AES-128-CMAC', 'AES-128-GMAC')


def round_trip(target, share, tmp_path, *flags, user=None):
    """Bytes go there over SMB, are read over REST, and come back over SMB."""
    sent, got, name = tmp_path / 'sent', tmp_path / 'got', uuid.uuid4().hex
    sent.write_bytes(uuid.uuid4().bytes * 70_000)
    done, said = target.smbclient(share, f'mkdir d; put {sent} d\\{name}; get d\\{name} {got}; ls d\\*', *flags, user=user)
    assert done and name in said, said
    assert got.read_bytes() == sent.read_bytes()
    assert share.get_file_client('d/' + name).download_file().readall() == sent.read_bytes()
    done, said = target.smbclient(share, f'rename d\\{name} d\\other; rm d\\other; rmdir d', *flags, user=user)
    assert done, said
    assert not list(share.list_directories_and_files())


@pytest.mark.parametrize('version', DIALECTS)
def test_dialects(target, share, tmp_path, version):
    round_trip(target, share, tmp_path, f'--option=client max protocol={version}', f'--option=client min protocol={version}')


@pytest.mark.parametrize('version', DIALECTS[1:3])
def test_encryption_of_the_older_dialects(target, share, tmp_path, version):
    round_trip(target, share, tmp_path, f'--option=client max protocol={version}', '--client-protection=encrypt')


@pytest.mark.parametrize('cipher', CIPHERS)
def test_ciphers(target, share, tmp_path, cipher):
    round_trip(target, share, tmp_path, '--client-protection=encrypt', f'--option=client smb3 encryption algorithms={cipher}')


@pytest.mark.parametrize('signing', SIGNINGS)
def test_signings(target, share, tmp_path, signing):
    round_trip(target, share, tmp_path, '--client-protection=sign', f'--option=client smb3 signing algorithms={signing}')


@pytest.mark.parametrize('domain', ('AZURE\\', 'localhost\\', ''))
def test_names_of_the_user(target, share, tmp_path, domain):
    round_trip(target, share, tmp_path, user=domain + target.account)


def test_nobody_else_gets_in(target, share):
    for user, key in ((target.account, 'wrong'), ('nobody', target.key), (target.account, target.key[:-1])):
        done, said = target.smbclient(share, 'ls', user=user, key=key)
        assert not done and 'NT_STATUS_LOGON_FAILURE' in said, said
    done, said = target.smbclient(share, 'ls', '-N', '--option=client max protocol=NT1')
    assert not done, said


def test_previous_versions(target, share):
    file = share.get_file_client('file')
    file.upload_file(b'before')
    snapshot = share.create_snapshot()['snapshot']
    file.upload_file(b'after it')
    token = '@GMT-' + snapshot[:19].replace('-', '.').replace('T', '-').replace(':', '.')
    done, said = target.smbclient(share, f'get {token}\\file -')
    assert done and 'before' in said, said
    target.service.get_share_client(share.share_name, snapshot=snapshot).delete_share()


def test_encryption_is_required_where_others_can_listen(binary, tmp_path):
    with Server(binary, '--smbHost', '0.0.0.0', '--allow-well-known-key-on-network') as server:
        target = Target.of(server)
        share = target.service.create_share('encrypted')
        done, said = target.smbclient(share, f'put {__file__} file', '--option=client max protocol=SMB2_10')
        assert not done and 'NT_STATUS' in said, said
        # The server says that the session is encrypted; a client that does not listen is refused.
        client = target.connect(share)
        client.open('encrypted').close()
        client.session.encrypt_data = client.tree.encrypt_data = False
        with pytest.raises((SMBException, OSError)):
            client.open('file').close()
        assert [entry['name'] for entry in share.list_directories_and_files()] == ['encrypted']
        share.get_file_client('encrypted').delete_file()
        round_trip(target, share, tmp_path, '--client-protection=encrypt')
