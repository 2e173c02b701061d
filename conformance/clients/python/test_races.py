"""Fifty at once, one winner: thousands of rounds, bounded by the clock. Sixteen at once, no update lost."""
import collections
import os
import threading
import time

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from shared_key import Crowd, SharedKey

CROWD = 50
# Of each race; a slow machine stops at the time, but never before a number that would be no proof.
SECONDS = float(os.environ.get('LAZULI_TEST_RACE_SECONDS', '18'))
ROUNDS, FEWEST = 1500, 50
MARKS = [b'%02d' % index for index in range(CROWD)]


@pytest.fixture
def key(target):
    return SharedKey(target)


@pytest.fixture
def crowd(key):
    crowd = Crowd(key, CROWD)
    yield crowd
    crowd.close()


def rounds():
    started = time.monotonic()
    for number in range(ROUNDS):
        if number >= FEWEST and time.monotonic() - started > SECONDS:
            break
        yield number
    print('%d rounds in %.1f s' % (number + 1, time.monotonic() - started))


def only_winner(answers, won, lost):
    """Index of the one that won, all others having lost in the one way there is."""
    told = collections.Counter((answer.status, answer.code) for answer in answers)
    assert told == {won: 1, lost: CROWD - 1}, told
    return next(index for index, answer in enumerate(answers) if answer.status == won[0])


def test_create_if_absent(key, crowd, container):
    blob_type = {'x-ms-blob-type': 'BlockBlob', 'if-none-match': '*'}
    for number in rounds():
        path = '/%s/%d' % (container.container_name, number)
        answers = crowd.race('PUT', path, headers=blob_type, bodies=MARKS)
        winner = only_winner(answers, (201, None), (409, 'BlobAlreadyExists'))
        if number % 10 == 0:
            stored = key.request('GET', path)
            assert (stored.body, stored.headers['etag']) == (MARKS[winner], answers[winner].headers['etag'])


def test_create_container(key, crowd):
    name = 'race%x' % time.time_ns()
    for number in range(40):
        path = '/%s%d' % (name, number)
        answers = crowd.race('PUT', path, {'restype': 'container'})
        only_winner(answers, (201, None), (409, 'ContainerAlreadyExists'))
        assert key.request('DELETE', path, {'restype': 'container'}).status == 202


def test_if_match(key, crowd, container):
    path = '/%s/blob' % container.container_name
    etag = key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'--').headers['etag']
    for number in rounds():
        answers = crowd.race('PUT', path, headers={'x-ms-blob-type': 'BlockBlob', 'if-match': etag}, bodies=MARKS)
        winner = only_winner(answers, (201, None), (412, 'ConditionNotMet'))
        etag = answers[winner].headers['etag']
        if number % 10 == 0:
            stored = key.request('GET', path)
            assert (stored.body, stored.headers['etag']) == (MARKS[winner], etag)


def test_acquire_lease(key, crowd, container):
    path, lease = '/%s/blob' % container.container_name, {'comp': 'lease'}
    key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'x')
    for _ in rounds():
        answers = crowd.race('PUT', path, lease, {'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '60'})
        winner = only_winner(answers, (201, None), (409, 'LeaseAlreadyPresent'))
        held = answers[winner].headers['x-ms-lease-id']
        released = key.request('PUT', path, lease, {'x-ms-lease-action': 'release', 'x-ms-lease-id': held})
        assert released.status == 200


def test_delete_once(key, crowd, container):
    """Of fifty that delete one blob by its ETag, one does; the others find it gone or changed."""
    path = '/%s/blob' % container.container_name
    for _ in range(100):
        etag = key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'x').headers['etag']
        answers = crowd.race('DELETE', path, headers={'if-match': etag})
        only_winner(answers, (202, None), (404, 'BlobNotFound'))


def test_sixteen_count_together(key, container):
    """A counter in a blob, moved by read and If-Match: every increment that was acknowledged is in the end."""
    clients, each = 16, 25
    path = '/%s/counter' % container.container_name
    key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'0')
    refused, faults = collections.Counter(), []

    def count():
        connection = key.connection()
        for _ in range(each):
            while True:
                read = key.request('GET', path, connection=connection)
                wrote = key.request('PUT', path, None, {'x-ms-blob-type': 'BlockBlob', 'if-match': read.headers['etag']},
                                    b'%d' % (int(read.body) + 1), connection)
                if wrote.status == 201:
                    break
                if (wrote.status, wrote.code) != (412, 'ConditionNotMet'):
                    faults.append((wrote.status, wrote.body))
                    return
                refused['lost races'] += 1

    threads = [threading.Thread(target=count) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert int(key.request('GET', path).body) == clients * each
    assert refused, 'nobody ever lost: the clients did not run at the same time'


def test_clients_count_together(target, container):
    """The same by the client library, as its documentation shows it."""
    clients, each = 8, 5
    container.upload_blob('counter', b'0')
    faults = []

    def count():
        blob = target.service().get_blob_client(container.container_name, 'counter')
        for _ in range(each):
            while True:
                stream = blob.download_blob()
                value = int(stream.readall())
                try:
                    blob.upload_blob(b'%d' % (value + 1), overwrite=True, etag=stream.properties.etag,
                                     match_condition=MatchConditions.IfNotModified)
                    break
                except HttpResponseError as refused:
                    if refused.status_code != 412:
                        faults.append(str(refused))
                        return

    threads = [threading.Thread(target=count) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert int(container.download_blob('counter').readall()) == clients * each
