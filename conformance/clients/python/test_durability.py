"""What was acknowledged is there after kill -9, and nothing else is half there."""
import http.client
import os
import threading
import time

import pytest
from conftest import BINARY, Target
from lazuli_server import Server
from shared_key import SharedKey

WRITERS, CYCLES, SECONDS = 8, 3, 1.5
# Below and above what is kept inside the metadata.
SIZES = (10, 40_000)


def content(writer, number):
    return (b'%d-%d ' % (writer, number)).ljust(SIZES[number % 2], b'.')


@pytest.mark.skipif(BINARY not in os.environ, reason='%s is not set' % BINARY)
def test_acknowledged_writes_survive_kill_9(tmp_path):
    acknowledged, overwritten = {}, {}
    for cycle in range(CYCLES):
        server = Server(os.environ[BINARY], memory=False, place=str(tmp_path))
        try:
            key = SharedKey(Target(server.connection_string, server.clock_url))
            key.request('PUT', '/kept', {'restype': 'container'})
            check(key, acknowledged, overwritten)
            threads = [threading.Thread(target=write, args=(key, cycle, writer, acknowledged, overwritten))
                       for writer in range(WRITERS)]
            for thread in threads:
                thread.start()
            time.sleep(SECONDS)
            server.kill()
            for thread in threads:
                thread.join()
        finally:
            server.stop()
    with Server(os.environ[BINARY], memory=False, place=str(tmp_path)) as server:
        check(SharedKey(Target(server.connection_string, server.clock_url)), acknowledged, overwritten)
    print('%d acknowledged writes, %d kills' % (len(acknowledged), CYCLES))
    assert len(acknowledged) > 100


def write(key, cycle, writer, acknowledged, overwritten):
    """New blobs, and between them one blob that is overwritten again and again, until the server is gone."""
    connection, kind = key.connection(), {'x-ms-blob-type': 'BlockBlob'}
    for number in range(1_000_000):
        name = '%d-%d-%d' % (cycle, writer, number)
        own = 'own%d' % writer
        sent = b'%020d' % (cycle * 1_000_000 + number)
        try:
            wrote = key.request('PUT', '/kept/' + name, headers=kind, body=content(writer, number), connection=connection)
            assert wrote.status == 201, wrote.body
            acknowledged[name] = (content(writer, number), wrote.headers['etag'])
            overwritten[own] = (overwritten.get(own, (None,))[0], sent)
            wrote = key.request('PUT', '/kept/' + own, headers=kind, body=sent, connection=connection)
            assert wrote.status == 201, wrote.body
            overwritten[own] = (sent, sent)
        except (OSError, http.client.HTTPException):
            return


def check(key, acknowledged, overwritten):
    connection = key.connection()
    for name, (body, etag) in acknowledged.items():
        read = key.request('GET', '/kept/' + name, connection=connection)
        assert (read.status, read.headers.get('etag'), read.body) == (200, etag, body), name
    for name, (taken, tried) in overwritten.items():
        # The last one acknowledged, or the one that was on its way when the server died.
        read = key.request('GET', '/kept/' + name, connection=connection)
        if taken is None and read.status == 404:
            continue
        assert read.status == 200 and read.body in (taken, tried), name
        overwritten[name] = (read.body, read.body)
