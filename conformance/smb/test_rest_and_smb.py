"""The same files by REST and by SMB at the same time: what one holds, the other respects; what one writes, the other reads."""
import threading
import uuid

import pytest
from azure.storage.fileshare import ContentSettings
from client import DELETE, LEASE_HANDLE, LEASE_READ, LEASE_WRITE, READ, WRITE, lease, refuses
from smbprotocol.file_info import FileDispositionInformation, FileRenameInformation
from smbprotocol.open import (CreateDisposition, CreateOptions, LockFlags, RequestedOplockLevel, SMB2LockElement,
                              SMB2SetInfoRequest)

BYTES = b'0123456789'
WITH_LEASE = RequestedOplockLevel.SMB2_OPLOCK_LEVEL_LEASE


@pytest.fixture
def file(share):
    file = share.get_file_client('file')
    file.upload_file(BYTES)
    return file


def put_range(file, bytes_=b'REST', offset=0):
    file.upload_range(bytes_, offset, len(bytes_))


def set_info(opened, info):
    request = SMB2SetInfoRequest()
    request['info_type'], request['file_info_class'] = 1, info.INFO_CLASS
    request['file_id'], request['buffer'] = opened.file_id, info
    sent = opened.connection.send(request, opened.tree_connect.session.session_id, opened.tree_connect.tree_connect_id)
    opened.connection.receive(sent)


def range_lock(offset, length, flags=LockFlags.SMB2_LOCKFLAG_EXCLUSIVE_LOCK | LockFlags.SMB2_LOCKFLAG_FAIL_IMMEDIATELY):
    element = SMB2LockElement()
    element['offset'], element['length'], element['flags'] = offset, length, flags
    return element


def in_background(do, *arguments):
    """Whether it is done yet can be asked; what it ends with is told by join()."""
    outcome = []

    def run():
        try:
            outcome.append((do(*arguments), None))
        except Exception as error:  # noqa: BLE001 - handed on by join().
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join():
        thread.join(60)
        assert outcome, 'it does not end'
        if outcome[0][1]:
            raise outcome[0][1]
        return outcome[0][0]

    thread.done, thread.result = lambda: bool(outcome), join
    return thread


# What is written is read.

def test_each_reads_what_the_other_writes(connect, file, dialect):
    client = connect(dialect=dialect)
    opened = client.open('file')
    for number in range(5):
        opened.write(b'smb%d' % number, 0)
        assert file.download_file().readall()[:4] == b'smb%d' % number
        put_range(file, b'rest%d' % number, 4)
        assert opened.read(4, 5) == b'rest%d' % number
    opened.write(b'far', 100)
    assert file.get_file_properties().size == 103
    file.resize_file(50)
    with refuses('EndOfFile'):
        opened.read(50, 1)
    opened.close()


def test_names_and_attributes(connect, share, file):
    client = connect()
    share.create_directory('by-rest')
    opened = client.open('by-rest\\new')
    opened.write(b'x', 0)
    opened.close()
    assert [entry['name'] for entry in share.get_directory_client('by-rest').list_directories_and_files()] == ['new']
    file.set_http_headers(ContentSettings(), file_attributes='ReadOnly')
    with refuses('AccessDenied'):
        client.open('file', WRITE)
    file.set_http_headers(ContentSettings(), file_attributes='None')
    client.open('file', WRITE).close()


# Share modes: rows are what the SMB open lets others do.

@pytest.mark.parametrize('shares', range(8))
def test_share_modes(connect, file, refused, shares):
    opened = connect().open('file', READ, shares)
    if shares & WRITE:
        put_range(file)
    else:
        refused('SharingViolation', put_range, file)
    if shares & READ:
        file.download_file().readall()
    else:
        refused('SharingViolation', lambda: file.download_file().readall())
    # A file that is open is not deleted, whatever the open shares.
    refused('SharingViolation', file.delete_file)
    opened.close()
    put_range(file)
    file.delete_file()


def test_attributes_only_deny_nothing(connect, file):
    opened = connect().open('file', 0, 0)
    put_range(file)
    opened.close()


# Deletion.

def test_delete_pending(connect, share, file, refused):
    client = connect()
    other = client.open('file', READ)
    opened = client.open('file', DELETE)
    info = FileDispositionInformation()
    info['delete_pending'] = True
    set_info(opened, info)
    refused('DeletePending', put_range, file)
    refused('DeletePending', file.delete_file)
    assert not list(share.list_directories_and_files())
    with refuses('DeletePending'):
        client.open('file', READ)
    opened.close()
    refused('DeletePending', put_range, file)
    other.close()
    refused('ResourceNotFound', file.get_file_properties)


def test_delete_on_close(connect, file, refused):
    client = connect()
    opened = client.open('file', DELETE, options=CreateOptions.FILE_DELETE_ON_CLOSE)
    file.get_file_properties()
    opened.close()
    refused('ResourceNotFound', file.get_file_properties)


def test_rename(connect, share, file):
    opened = connect().open('file', DELETE | READ)
    info = FileRenameInformation()
    info['file_name'] = 'renamed'
    set_info(opened, info)
    assert share.get_file_client('renamed').download_file().readall() == BYTES
    share.get_file_client('renamed').upload_range(b'REST', 0, 4)
    assert opened.read(0, 4) == b'REST'
    opened.close()


TOKEN = '@GMT-2026.11.18-10.30.00'


def test_a_name_of_a_snapshot_is_given_to_nothing(connect, share, file, refused):
    refused('InvalidResourceName', share.get_file_client(TOKEN).create_file, 1)
    refused('InvalidResourceName', share.create_directory, TOKEN)
    refused('InvalidResourceName', file.rename_file, TOKEN)
    client = connect()
    with refuses('ObjectNameNotFound'):
        client.open(TOKEN)
    opened = client.open('file', DELETE | READ)
    info = FileRenameInformation()
    info['file_name'] = TOKEN
    with refuses('ObjectNameInvalid'):
        set_info(opened, info)
    # What only begins like one is a name like others.
    info['file_name'] = '@GMT-notes'
    set_info(opened, info)
    opened.close()
    assert client.open('@GMT-notes', READ).read(0, 10) == BYTES
    share.get_file_client('@GMT-' + 'x' * 19).upload_file(b'over REST')
    assert client.open('@GMT-' + 'x' * 19, READ).read(0, 9) == b'over REST'


# Byte-range locks.

def test_byte_range_locks_block_put_range(connect, file, refused):
    client = connect()
    opened = client.open('file')
    opened.lock([range_lock(2, 3)])
    refused('FileLockConflict', put_range, file, b'x', 3)
    # Any lock blocks every write over REST: it has no handle of its own.
    refused('FileLockConflict', put_range, file, b'x', 9)
    with refuses('LockNotGranted'):
        client.open('file').lock([range_lock(0, 5)])
    opened.lock([range_lock(2, 3, LockFlags.SMB2_LOCKFLAG_UNLOCK)])
    put_range(file, b'x', 3)


# Leases over REST.

def test_a_lease_over_rest_keeps_smb_writers_out(connect, file):
    client = connect()
    held = file.acquire_lease()
    with refuses('SharingViolation'):
        client.open('file', WRITE)
    reader = client.open('file', READ)
    assert reader.read(0, 10) == BYTES
    held.release()
    client.open('file', WRITE).close()


def test_an_smb_writer_keeps_a_lease_over_rest_out(connect, file, refused):
    opened = connect().open('file', WRITE)
    refused('SharingViolation', file.acquire_lease)
    opened.close()
    file.acquire_lease().release()


# Leases over SMB.

def leased(client, state, access=READ | WRITE):
    key = uuid.uuid4().bytes
    opened = client.open('file', access, contexts=[lease(key, state)], oplock=WITH_LEASE)
    assert opened.answers[0]['lease_state'].get_value() == state
    return opened, key


def test_a_rest_write_breaks_a_lease_and_waits_for_the_flush(connect, file):
    client = connect()
    opened, key = leased(client, LEASE_READ | LEASE_WRITE | LEASE_HANDLE)
    writing = in_background(put_range, file)
    told, have, keep, acknowledges = client.lease_break()
    assert (told, have, keep, acknowledges) == (key, 7, 0, True)
    assert not writing.done()
    # What the client had in its memory comes before what REST writes.
    opened.write(b'cached', 0)
    assert not writing.done()
    client.acknowledge(key, keep)
    writing.result()
    assert file.download_file().readall() == b'RESTed6789'


def test_timeout_says_how_long_a_rest_write_waits_for_the_flush(connect, file, refused):
    client = connect()
    opened, key = leased(client, LEASE_READ | LEASE_WRITE | LEASE_HANDLE)
    patient = in_background(put_range, file)
    keep = client.lease_break()[2]
    refused('ClientCacheFlushDelay', file.upload_range, b'soon', 0, 4, timeout=1)
    # Whoever did not say so waits on, and began before.
    assert not patient.done()
    client.acknowledge(key, keep)
    patient.result()
    assert file.download_file().readall() == b'REST456789'
    opened.close()


def test_a_rest_read_waits_for_what_a_client_has_written(connect, file):
    client = connect()
    opened, key = leased(client, LEASE_READ | LEASE_WRITE)
    reading = in_background(lambda: file.download_file().readall())
    told, have, keep, _ = client.lease_break()
    assert (told, have, keep) == (key, LEASE_READ | LEASE_WRITE, LEASE_READ)
    opened.write(b'cached', 0)
    client.acknowledge(key, keep)
    assert reading.result() == b'cached6789'


def test_a_lease_to_read_is_broken_without_waiting(connect, file):
    client = connect()
    _, key = leased(client, LEASE_READ)
    put_range(file)
    assert client.lease_break()[:3] == (key, LEASE_READ, 0)


def test_a_kept_handle_is_given_up_for_a_deletion(connect, file, refused):
    client = connect()
    opened, key = leased(client, LEASE_READ | LEASE_HANDLE, READ)
    deleting = in_background(file.delete_file)
    told, have, keep, _ = client.lease_break()
    assert (told, have, keep) == (key, LEASE_READ | LEASE_HANDLE, LEASE_READ)
    opened.close()
    deleting.result()
    refused('ResourceNotFound', file.get_file_properties)


def test_another_client_breaks_it_too(connect, file):
    holder, other = connect(), connect()
    opened, key = leased(holder, LEASE_READ | LEASE_WRITE | LEASE_HANDLE)
    opening = in_background(other.open, 'file', READ)
    told, _, keep, _ = holder.lease_break()
    assert (told, keep) == (key, LEASE_READ | LEASE_HANDLE)
    opened.write(b'cached', 0)
    holder.acknowledge(key, keep)
    assert opening.result().read(0, 6) == b'cached'


# Handles.

def test_list_and_force_close_handles(connect, file, refused):
    client = connect()
    opened = client.open('file', READ, READ)
    handles = list(file.list_handles())
    assert len(handles) == 1 and handles[0]['path'] == 'file'
    assert handles[0]['client_ip'].startswith('127.0.0.1')
    refused('SharingViolation', put_range, file)
    closed = file.close_handle(handles[0])
    assert closed['closed_handles_count'] == 1
    put_range(file)
    with refuses('FileClosed'):
        opened.read(0, 1)
    assert not list(file.list_handles())


def test_force_close_all_below_a_directory(connect, share):
    client = connect()
    share.create_directory('directory')
    for name in ('one', 'two'):
        client.open('directory\\' + name)
    directory = share.get_directory_client('directory')
    assert len(list(directory.list_handles(recursive=True))) == 2
    assert directory.close_all_handles(recursive=True)['closed_handles_count'] == 2
    share.get_file_client('directory/one').delete_file()
    share.get_file_client('directory/two').delete_file()


def test_overwriting_over_smb(connect, file):
    client = connect()
    client.open('file', WRITE, disposition=CreateDisposition.FILE_OVERWRITE).close()
    assert file.get_file_properties().size == 0
