"""A client of SMB for the scenarios: smbprotocol, with what it lacks. Breaks of oplocks and leases, which it does not know, are taken
off the wire before it sees them, and acknowledged by a message of our own."""
import contextlib
import queue
import struct
import uuid
from collections import OrderedDict

from smbprotocol.connection import Commands, Connection, Dialects
from smbprotocol.create_contexts import (CreateContextName, SMB2CreateContextRequest, SMB2CreateDurableHandleReconnectV2,
                                         SMB2CreateDurableHandleRequestV2, SMB2CreateRequestLease)
from smbprotocol.exceptions import SMBResponseException
from smbprotocol.open import (CreateDisposition, CreateOptions, ImpersonationLevel, Open, RequestedOplockLevel)
from smbprotocol.session import Session
from smbprotocol.structure import BytesField, IntField, Structure
from smbprotocol.tree import TreeConnect

HOST = '127.0.0.1'
READ, WRITE, DELETE = 1, 2, 4
ACCESS = {READ: 0x0012_0089, WRITE: 0x0012_0116, DELETE: 0x0001_0000}
LEASE_READ, LEASE_HANDLE, LEASE_WRITE = 1, 2, 4
UNASKED = (1 << 64) - 1


class LeaseBreakAcknowledgment(Structure):
    COMMAND = Commands.SMB2_OPLOCK_BREAK

    def __init__(self):
        self.fields = OrderedDict([
            ('structure_size', IntField(size=2, default=36)), ('reserved', IntField(size=2)), ('flags', IntField(size=4)),
            ('lease_key', BytesField(size=16)), ('lease_state', IntField(size=4)), ('lease_duration', IntField(size=8))])
        super().__init__()


class Client:
    """A connection, a session and a tree."""

    def __init__(self, port, account, key, share, dialect=Dialects.SMB_3_1_1, encrypt=False, guid=None, previous=None):
        self.breaks = queue.SimpleQueue()
        # The status of every answer that was not encrypted, by its message id.
        self.statuses = {}
        self.connection = Connection(guid or uuid.uuid4(), HOST, port, require_signing=True)
        self.connection.connect(dialect, timeout=30)
        self._receive = self.connection.transport.recv
        self.connection.transport.recv = self._recv
        self.session = Session(self.connection, account, key, require_encryption=encrypt, auth_protocol='ntlm')
        self.session.connect()
        self.tree = TreeConnect(self.session, rf'\\{HOST}\{share}')
        self.tree.connect(require_secure_negotiate=dialect < Dialects.SMB_3_1_1 and dialect >= Dialects.SMB_3_0_0)

    def _recv(self, timeout):
        while True:
            frame = self._receive(timeout)
            if not frame or frame[:4] != b'\xfeSMB':
                return frame
            message_id, = struct.unpack_from('<Q', frame, 24)
            if message_id != UNASKED:
                self.statuses[message_id], = struct.unpack_from('<I', frame, 8)
                return frame
            self.breaks.put(frame[64:])

    def open(self, path, access=READ | WRITE, share=READ | WRITE | DELETE, disposition=CreateDisposition.FILE_OPEN_IF,
             options=CreateOptions.FILE_NON_DIRECTORY_FILE, contexts=None, oplock=RequestedOplockLevel.SMB2_OPLOCK_LEVEL_NONE):
        opened = Open(self.tree, path)
        mask = 0
        for right, bits in ACCESS.items():
            mask |= bits if access & right else 0
        opened.answers = opened.create(ImpersonationLevel.Impersonation, mask or 0x80, 0, share, disposition, options, contexts,
                                       oplock)
        return opened

    def lease_break(self, seconds=10):
        """The key, what the client has, and what it is to keep."""
        body = self.breaks.get(timeout=seconds)
        size, _epoch, flags = struct.unpack_from('<HHI', body)
        assert size == 44, size
        have, keep = struct.unpack_from('<II', body, 24)
        return body[8:24], have, keep, flags & 1 != 0

    def acknowledge(self, key, state):
        message = LeaseBreakAcknowledgment()
        message['lease_key'], message['lease_state'] = key, state
        request = self.connection.send(message, self.session.session_id, self.tree.tree_connect_id)
        self.connection.receive(request, timeout=10)

    def lost(self):
        """The connection is cut, with everything open."""
        self.connection.transport.close()

    def close(self):
        self.connection.disconnect(True)


def lease(key, state):
    data = SMB2CreateRequestLease()
    data['lease_key'], data['lease_state'] = key, state
    return context(CreateContextName.SMB2_CREATE_REQUEST_LEASE, data)


def durable(guid, milliseconds=0):
    data = SMB2CreateDurableHandleRequestV2()
    data['timeout'], data['create_guid'] = milliseconds, guid
    return context(CreateContextName.SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2, data)


def reconnect(file_id, guid):
    data = SMB2CreateDurableHandleReconnectV2()
    data['file_id'], data['create_guid'] = file_id, guid
    return context(CreateContextName.SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2, data)


def context(name, data):
    request = SMB2CreateContextRequest()
    request['buffer_name'], request['buffer_data'] = name, data
    return request


STATUS = {'AccessDenied': 0xC0000022, 'ObjectNameInvalid': 0xC0000033, 'ObjectNameNotFound': 0xC0000034,
          'SharingViolation': 0xC0000043, 'LockNotGranted': 0xC0000055, 'DeletePending': 0xC0000056, 'NetworkNameDeleted': 0xC00000C9,
          'BadNetworkName': 0xC00000CC, 'FileClosed': 0xC0000128,
          'EndOfFile': 0xC0000011}


@contextlib.contextmanager
def refuses(name):
    """What is done inside is answered with this status."""
    try:
        yield
    except SMBResponseException as refused:
        assert refused.status == STATUS[name], hex(refused.status)
    else:
        raise AssertionError('it is not refused')
