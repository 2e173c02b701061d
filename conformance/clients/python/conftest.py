"""The server under test is found in the environment (`cargo xtask test python` puts it there):

LAZULI_TEST_CONNECTION_STRING, LAZULI_TEST_CLOCK_URL   a server that runs, with --test-clock
LAZULI_TEST_BINARY                                     the program: started here for what needs flags of its own,
                                                       and for everything when no connection string is given
"""
import contextlib
import http.client
import json
import os
import sys
import uuid
from urllib.parse import urlsplit

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient
from azure.storage.fileshare import ShareServiceClient

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

from lazuli_server import Server  # noqa: E402

CONNECTION_STRING, CLOCK_URL, BINARY = 'LAZULI_TEST_CONNECTION_STRING', 'LAZULI_TEST_CLOCK_URL', 'LAZULI_TEST_BINARY'
# A retry would hide what the server answered first.
ONE_TRY = {'retry_total': 0}


class Target:
    def __init__(self, connection_string, clock_url):
        self.connection_string, self.clock_url = connection_string, clock_url
        fields = dict(field.split('=', 1) for field in connection_string.strip(';').split(';'))
        self.account, self.key, self.endpoint = fields['AccountName'], fields['AccountKey'], fields['BlobEndpoint']
        self.file_endpoint = fields['FileEndpoint']

    def shares(self, **options):
        return ShareServiceClient.from_connection_string(self.connection_string, **{**ONE_TRY, **options})

    def service(self, **options):
        return BlobServiceClient.from_connection_string(self.connection_string, **{**ONE_TRY, **options})

    def advance(self, seconds):
        """Let time pass for the server. The client's own clock stays, so whole runs must stay below the fifteen
        minutes by which a request's date may differ."""
        address = urlsplit(self.clock_url)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.request('POST', address.path, json.dumps({'advance_ms': int(seconds * 1000)}))
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        assert answer.status in (200, 204), told


@pytest.fixture(scope='session')
def target():
    if CONNECTION_STRING in os.environ:
        yield Target(os.environ[CONNECTION_STRING], os.environ[CLOCK_URL])
    elif BINARY in os.environ:
        with Server(os.environ[BINARY], memory=False) as server:
            yield Target(server.connection_string, server.clock_url)
    else:
        pytest.fail('no server: set %s and %s, or %s' % (CONNECTION_STRING, CLOCK_URL, BINARY))


@pytest.fixture(scope='session')
def own_server():
    """start(*flags, scheme=) -> Server, stopped at the end of the session."""
    if BINARY not in os.environ:
        pytest.skip('%s is not set: no server can be started with flags of its own' % BINARY)
    with contextlib.ExitStack() as stack:
        yield lambda *flags, **how: stack.enter_context(Server(os.environ[BINARY], *flags, **how))


@pytest.fixture(scope='session')
def service(target):
    return target.service()


@pytest.fixture
def container(service):
    """An empty container with a name of its own, gone after the test, leased or not."""
    client = service.get_container_client('t' + uuid.uuid4().hex)
    client.create_container()
    yield client
    try:
        client.delete_container()
    except HttpResponseError as refused:
        if refused.status_code == 412:
            from azure.storage.blob import BlobLeaseClient
            BlobLeaseClient(client).break_lease(lease_break_period=0)
            client.delete_container()


@pytest.fixture
def blob(container):
    """A blob client on a name where nothing is yet."""
    return container.get_blob_client('blob')


@pytest.fixture(scope='session')
def shares(target):
    return target.shares()


@pytest.fixture
def share(shares):
    """An empty share with a name of its own, gone after the test with its snapshots, leased or not."""
    client = shares.get_share_client('t' + uuid.uuid4().hex)
    client.create_share()
    yield client
    remove(client)


def remove(share):
    try:
        share.delete_share(delete_snapshots='include-leased')
    except HttpResponseError as refused:
        if refused.status_code == 412:
            from azure.storage.fileshare import ShareLeaseClient
            ShareLeaseClient(share).break_lease(lease_break_period=0)
            share.delete_share(delete_snapshots='include-leased')
        else:
            assert refused.status_code == 404, str(refused)


@contextlib.contextmanager
def refused_with(status, code):
    """What the service must refuse, and exactly how."""
    with pytest.raises(HttpResponseError) as caught:
        yield caught
    error = caught.value
    assert (error.status_code, error.error_code) == (status, code), str(error)
