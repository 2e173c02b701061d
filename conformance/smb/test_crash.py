"""A server that is killed with files open: what was answered is there, and nothing of what was open stands in anybody's way. Durable opens
outlive their connection, not their server (decision 0048)."""
import uuid

from client import LEASE_HANDLE, LEASE_READ, LEASE_WRITE, READ, WRITE, durable, lease, reconnect, refuses
from conftest import Target
from lazuli_server import Server
from smbprotocol.header import Smb2Flags
from smbprotocol.open import CreateDisposition, RequestedOplockLevel

BATCH, LEASE = RequestedOplockLevel.SMB2_OPLOCK_LEVEL_BATCH, RequestedOplockLevel.SMB2_OPLOCK_LEVEL_LEASE


def kept(client, path, guid, **how):
    return client.open(path, contexts=[durable(guid)], oplock=BATCH, **how)


def test_a_durable_open_is_taken_up_on_a_new_connection(connect):
    guid, create = uuid.uuid4(), uuid.uuid4()
    client = connect(guid=guid)
    opened = kept(client, 'file', create)
    opened.write(b'before', 0)
    client.lost()
    again = connect(guid=guid).open('file', contexts=[reconnect(opened.file_id, create)], oplock=BATCH)
    assert again.file_id[:8] == opened.file_id[:8]
    assert again.read(0, 6) == b'before'
    again.write(b'after!', 0)
    again.close()


def test_a_create_whose_answer_was_lost_is_answered_again(connect):
    """The client sends its CREATE again, and says so: it gets the open that the first one has made."""
    guid, create = uuid.uuid4(), uuid.uuid4()
    client = connect(guid=guid)
    first = kept(client, 'file', create, disposition=CreateDisposition.FILE_CREATE)
    client.lost()
    client = connect(guid=guid)
    opened = replay(client, lambda: kept(client, 'file', create, disposition=CreateDisposition.FILE_CREATE))
    assert opened.file_id[:8] == first.file_id[:8]
    assert opened.create_action == first.create_action == 2
    # On the same connection, too; and an open that was used is not opened by it again.
    again = replay(client, lambda: kept(client, 'file', create, disposition=CreateDisposition.FILE_CREATE))
    assert again.file_id == opened.file_id
    opened.write(b'x', 0)


def replay(client, do):
    """Every request says that it is sent again."""
    import smbprotocol.connection as module
    flags, make = Smb2Flags.SMB2_FLAGS_REPLAY_OPERATIONS, module.SMB2HeaderRequest

    def header():
        made = make()
        made['flags'].set_flag(flags)
        return made

    module.SMB2HeaderRequest = header
    try:
        return do()
    finally:
        module.SMB2HeaderRequest = make


def test_killed_with_files_open(binary, tmp_path):
    guid, create = uuid.uuid4(), uuid.uuid4()
    server = Server(binary, memory=False, place=str(tmp_path))
    try:
        target = Target.of(server)
        share = target.service.create_share('crash')
        client = target.connect(share, guid=guid)
        opened = kept(client, 'durable', create, share=0)
        exclusive = client.open('exclusive', READ | WRITE, 0)
        key = uuid.uuid4().bytes
        client.open('leased', contexts=[lease(key, LEASE_READ | LEASE_WRITE | LEASE_HANDLE)], oplock=LEASE)
        for number in range(50):
            opened.write(b'%04d' % number, number * 4)
            exclusive.write(b'%04d' % number, number * 4)
        server.process.kill()
        server.process.wait()
    finally:
        server.stop()
    with Server(binary, memory=False, place=str(tmp_path)) as server:
        target = Target.of(server)
        share = target.service.get_share_client('crash')
        everything = b''.join(b'%04d' % number for number in range(50))
        # Answered is written; and what was open does not stand in the way of REST,
        for name in ('durable', 'exclusive'):
            file = share.get_file_client(name)
            assert file.download_file().readall() == everything
            file.upload_range(b'REST', 0, 4)
        assert not list(share.get_directory_client('').list_handles(recursive=True))
        share.get_file_client('leased').delete_file()
        # nor of SMB; the durable open is over.
        client = target.connect(share, guid=guid)
        with refuses('ObjectNameNotFound'):
            client.open('durable', contexts=[reconnect(opened.file_id, create)], oplock=BATCH)
        client.open('durable', READ | WRITE, 0).close()
        client.open('exclusive', READ | WRITE, 0).close()
        client.close()
