"""What a client that is not what it says may do over a session: nothing."""
import contextlib
import uuid

import pytest
from client import HOST, Client, refuses
from smbprotocol.connection import Connection, Dialects, SMB2Echo
from smbprotocol.exceptions import LogonFailure, SMBException, SMBResponseException
from smbprotocol.header import Smb2Flags
from smbprotocol.session import Session
from smbprotocol.tree import SMB2TreeConnectRequest, TreeConnect

ACCESS_DENIED, SESSION_DELETED = 0xC0000022, 0xC0000203


def status_of(client, frame):
    """Sends bytes as they are, and tells the status of the answer; None where the connection is cut."""
    connection, message_id = client.connection, int.from_bytes(frame[24:32], 'little')
    request = connection.outstanding_requests[message_id]
    connection.transport.send(frame)
    # A refusal is signed by no session that the client knows: smbprotocol gives the connection up over it.
    with contextlib.suppress(SMBException, OSError):
        connection.receive(request, timeout=10)
    return client.statuses.get(message_id)


def prepared(client, message, change=lambda frame: frame, tree=True, **ids):
    """A request, signed as it should be, kept from the wire and changed."""
    kept = []
    connection = client.connection
    send, connection.transport.send = connection.transport.send, kept.append
    try:
        connection.send(message, ids.get('session', client.session.session_id),
                        ids.get('tree_id', client.tree.tree_connect_id if tree else None))
    finally:
        connection.transport.send = send
    return bytes(change(bytearray(bytes(kept[0].pack() if hasattr(kept[0], 'pack') else kept[0]))))


def set_bytes(place, new):
    def change(frame):
        frame[place:place + len(new)] = new
        return frame
    return change


def unsigned(frame):
    flags = int.from_bytes(frame[16:20], 'little') & ~Smb2Flags.SMB2_FLAGS_SIGNED
    return set_bytes(48, bytes(16))(set_bytes(16, flags.to_bytes(4, 'little'))(frame))


def flip(place):
    def change(frame):
        frame[place] ^= 1
        return frame
    return change


def tree_request(share):
    message = SMB2TreeConnectRequest()
    message['buffer'] = rf'\\{HOST}\{share.share_name}'.encode('utf-16-le')
    return message


def test_an_honest_request_is_answered(connect):
    client = connect()
    assert status_of(client, prepared(client, SMB2Echo())) == 0


@pytest.mark.parametrize('change', (unsigned, flip(50), flip(70), flip(40)), ids=('unsigned', 'signature', 'body', 'session'))
def test_what_is_not_signed_as_it_stands(connect, share, dialect, change):
    client = connect(dialect=dialect)
    status = status_of(client, prepared(client, tree_request(share), change, tree=False))
    assert status in (None, ACCESS_DENIED, SESSION_DELETED), hex(status)


def test_a_message_that_is_sent_again(connect, dialect):
    client = connect(dialect=dialect)
    frame = prepared(client, SMB2Echo())
    assert status_of(client, frame) == 0
    client.connection.transport.send(frame)
    with pytest.raises((SMBException, OSError)):
        client.connection.receive(client.connection.send(SMB2Echo(), client.session.session_id), timeout=10)


def test_a_session_of_another_connection(connect, share):
    one, other = connect(), connect()
    frame = prepared(one, tree_request(share), set_bytes(40, other.session.session_id.to_bytes(8, 'little')), tree=False)
    assert status_of(one, frame) in (None, ACCESS_DENIED, SESSION_DELETED)
    # Its own key does not make it a session of this connection.
    assert status_of(other, prepared(other, SMB2Echo())) == 0


def test_a_tree_that_is_not_the_clients(connect, share):
    client = connect()
    client.tree.tree_connect_id += 1000
    client.session.tree_connect_table[client.tree.tree_connect_id] = client.tree
    with refuses('NetworkNameDeleted'):
        client.open('file')


def test_a_share_of_nobody(connect, target):
    client = connect()
    with refuses('BadNetworkName'):
        TreeConnect(client.session, rf'\\{HOST}\no-such-share').connect(require_secure_negotiate=False)


def test_a_negotiation_that_was_changed_is_noticed(target, share, connect):
    """3.0.2 asks, in a request that is signed, whether the server saw what the client sent: here it did not."""
    client = connect(dialect=Dialects.SMB_3_0_2)
    tree = TreeConnect(client.session, rf'\\{HOST}\{share.share_name}')
    client.connection.client_guid = uuid.uuid4()
    with pytest.raises((SMBException, OSError)):
        tree.connect(require_secure_negotiate=True)
        client.connection.receive(client.connection.send(SMB2Echo(), client.session.session_id), timeout=10)


@pytest.mark.parametrize('user, key', (('', ''), ('guest', ''), ('nobody', 'x' * 88), (None, ''), (None, 'x' * 88)))
def test_logons_that_fail(target, user, key):
    connection = Connection(uuid.uuid4(), HOST, target.port, require_signing=True)
    connection.connect(timeout=30)
    with pytest.raises((LogonFailure, SMBException)) as told:
        Session(connection, target.account if user is None else user, key, require_encryption=False, auth_protocol='ntlm').connect()
    if isinstance(told.value, SMBResponseException):
        assert told.value.status in (0xC000006D, 0xC000000D), hex(told.value.status)
    connection.disconnect(False)


def test_a_session_without_a_logon(target):
    connection = Connection(uuid.uuid4(), HOST, target.port, require_signing=True)
    connection.connect(timeout=30)
    session = Session(connection, target.account, target.key, require_encryption=False, auth_protocol='ntlm')
    session.session_id, session.signing_required = 4711, False
    connection.session_table[4711] = session
    session.signing_key = session.encryption_key = None
    with pytest.raises((SMBException, OSError)):
        TreeConnect(session, rf'\\{HOST}\share').connect(require_secure_negotiate=False)


def test_a_client_of_its_own_is_not_disturbed(target, share):
    client = Client(target.port, target.account, target.key, share.share_name)
    client.open('file').close()
    client.close()
