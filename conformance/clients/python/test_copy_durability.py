"""Copies that take their time: aborted, and killed with kill -9. What was acknowledged is there; what was under way is begun again by the
next server, to be aborted or to complete, and ends as failed where that server may no longer ask the source."""
import os
import socket
import threading
import time

import pytest
from azure.storage.blob import BlobServiceClient
from conftest import BINARY, ONE_TRY, refused_with
from lazuli_server import Server

pytestmark = pytest.mark.skipif(BINARY not in os.environ, reason='%s is not set' % BINARY)

SIZE = 20 * 1024 * 1024
PART = 100_000


class Source:
    """Announces much, sends a part, and then nothing; below /later it sends the rest too, once `answers` is set."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.address = '127.0.0.1:%d' % self.listener.getsockname()[1]
        self.answers = threading.Event()
        self.held = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.held.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        try:
            asked = connection.recv(65536)
            connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n' % SIZE + b'x' * PART)
            if b'/later' in asked and self.answers.is_set():
                connection.sendall(b'x' * (SIZE - PART))
        except OSError:
            pass  # The server was killed, or has left.

    def close(self):
        self.listener.close()
        for connection in self.held:
            connection.close()


@pytest.fixture
def source():
    source = Source()
    yield source
    source.close()


def container(server):
    return BlobServiceClient.from_connection_string(server.connection_string, **ONE_TRY).get_container_client('box')


def status_of(blob):
    return blob.get_blob_properties().copy.status


def ended(blob):
    """The properties of the blob when its copy is no longer under way."""
    for _ in range(300):
        properties = blob.get_blob_properties()
        if properties.copy.status != 'pending':
            return properties
        time.sleep(0.1)
    raise AssertionError('the copy is still pending')


def test_copies_survive_kill_9(tmp_path, source):
    large = os.urandom(SIZE)
    permitted = ('--copySources', source.address)
    with Server(os.environ[BINARY], *permitted, memory=False, place=str(tmp_path)) as server:
        box = container(server)
        box.create_container()
        original = box.get_blob_client('source')
        original.upload_blob(large)
        for number in range(20):
            copied = box.get_blob_client('copy%d' % number).start_copy_from_url(original.url)
            assert copied['copy_status'] == 'success'
        original.delete_blob()
        ids = {}
        for name, path in (('completed', 'later'), ('aborted', 'slow'), ('left', 'slow')):
            started = box.get_blob_client(name).start_copy_from_url('http://%s/%s' % (source.address, path))
            assert started['copy_status'] == 'pending'
            ids[name] = started['copy_id']
        server.kill()

    source.answers.set()
    with Server(os.environ[BINARY], *permitted, memory=False, place=str(tmp_path)) as server:
        box = container(server)
        for number in range(20):
            assert box.get_blob_client('copy%d' % number).download_blob().readall() == large, number
        completed, aborted, left = (box.get_blob_client(name) for name in ids)
        properties = ended(completed)
        assert (properties.copy.status, properties.copy.id, properties.size) == ('success', ids['completed'], SIZE)
        assert completed.download_blob().readall() == b'x' * SIZE
        assert [status_of(aborted), status_of(left)] == ['pending', 'pending']
        with refused_with(409, 'PendingCopyOperation'):
            aborted.upload_blob(b'new', overwrite=True)
        aborted.abort_copy(ids['aborted'])
        assert status_of(aborted) == 'aborted'
        aborted.upload_blob(b'new', overwrite=True)
        server.kill()

    with Server(os.environ[BINARY], memory=False, place=str(tmp_path)) as server:
        box = container(server)
        left = box.get_blob_client('left')
        properties = ended(left)
        assert (properties.copy.status, properties.copy.id, properties.size) == ('failed', ids['left'], 0)
        assert properties.copy.status_description
        left.upload_blob(b'new', overwrite=True)
        assert left.download_blob().readall() == b'new'
        assert box.get_blob_client('aborted').download_blob().readall() == b'new'
        assert box.get_blob_client('completed').get_blob_properties().size == SIZE
        for number in range(20):
            box.delete_blob('copy%d' % number)


def test_a_pending_copy_is_aborted(own_server, source):
    server = own_server('--copySources', source.address)
    box = container(server)
    box.create_container()
    blob = box.get_blob_client('blob')
    pending = blob.start_copy_from_url('http://%s/slow' % source.address)
    assert pending['copy_status'] == 'pending'
    with refused_with(409, 'PendingCopyOperation'):
        blob.start_copy_from_url('http://%s/slow' % source.address)
    with refused_with(409, 'CopyIdMismatch'):
        blob.abort_copy('00000000-0000-4000-8000-000000000000')
    blob.abort_copy(pending['copy_id'])
    properties = blob.get_blob_properties()
    assert (properties.copy.status, properties.copy.id, properties.size) == ('aborted', pending['copy_id'], 0)
    blob.upload_blob(b'new', overwrite=True)
    assert blob.download_blob().readall() == b'new'
