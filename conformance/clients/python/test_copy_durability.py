"""Copies and kill -9: what was acknowledged is there, what was under way ends as failed and can be written again."""
import os
import socket
import threading
import time

import pytest
from azure.storage.blob import BlobServiceClient
from conftest import BINARY, ONE_TRY, Target, refused_with
from lazuli_server import Server

pytestmark = pytest.mark.skipif(BINARY not in os.environ, reason='%s is not set' % BINARY)

SIZE = 20 * 1024 * 1024


@pytest.fixture
def stalled():
    """A source that announces much, sends a part, and then nothing."""
    listener = socket.create_server(('127.0.0.1', 0))
    held = []

    def answer():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            connection.recv(65536)
            connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n' % SIZE + b'x' * 100_000)

    threading.Thread(target=answer, daemon=True).start()
    yield '127.0.0.1:%d' % listener.getsockname()[1]
    listener.close()
    for connection in held:
        connection.close()


def container(server):
    return BlobServiceClient.from_connection_string(server.connection_string, **ONE_TRY).get_container_client('box')


def test_copies_survive_kill_9(tmp_path, stalled):
    large = os.urandom(SIZE)
    server = Server(os.environ[BINARY], '--copySources', stalled, memory=False, place=str(tmp_path))
    try:
        box = container(server)
        box.create_container()
        source = box.get_blob_client('source')
        source.upload_blob(large)
        for number in range(20):
            copied = box.get_blob_client('copy%d' % number).start_copy_from_url(source.url)
            assert copied['copy_status'] == 'success'
        source.delete_blob()
        pending = box.get_blob_client('pending').start_copy_from_url('http://%s/slow' % stalled)
        assert pending['copy_status'] == 'pending'
        server.kill()
    finally:
        server.stop()
    with Server(os.environ[BINARY], memory=False, place=str(tmp_path)) as server:
        box = container(server)
        for number in range(20):
            assert box.get_blob_client('copy%d' % number).download_blob().readall() == large, number
        blob = box.get_blob_client('pending')
        assert blob.get_blob_properties().copy.status == 'pending'
        with refused_with(409, 'PendingCopyOperation'):
            blob.upload_blob(b'new', overwrite=True)
        Target(server.connection_string, server.clock_url).advance(61)
        for _ in range(200):
            if blob.get_blob_properties().copy.status != 'pending':
                break
            time.sleep(0.1)
        properties = blob.get_blob_properties()
        assert (properties.copy.status, properties.size) == ('failed', 0)
        assert properties.copy.status_description
        blob.upload_blob(b'new', overwrite=True)
        for number in range(20):
            box.delete_blob('copy%d' % number)
