"""The server under test is found in the environment (`cargo xtask test smb` puts it there):

LAZULI_TEST_CONNECTION_STRING, LAZULI_TEST_SMB_PORT   a server that runs
LAZULI_TEST_BINARY                                    the program: started here for what needs a server of its own,
                                                      and for everything when no connection string is given
"""
import os
import shutil
import subprocess
import sys
import uuid

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ShareServiceClient
from smbprotocol.connection import Dialects

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..')]

from client import Client  # noqa: E402
from lazuli_server import ACCOUNT, KEY, Server  # noqa: E402


class Target:
    def __init__(self, connection_string, port, account=ACCOUNT, key=KEY):
        self.connection_string, self.port, self.account, self.key = connection_string, port, account, key
        self.service = ShareServiceClient.from_connection_string(connection_string, retry_total=0)

    @classmethod
    def of(cls, server):
        return cls(server.connection_string, int(server.addresses['smb'].rsplit(':', 1)[1]))

    def connect(self, share, **how):
        return Client(self.port, self.account, how.pop('key', self.key), share.share_name, **how)

    def smbclient(self, share, commands, *flags, user=None, key=None):
        """What smbclient says, and whether it was content."""
        if not shutil.which('smbclient'):
            pytest.skip('smbclient is not installed')
        user = '%s%%%s' % (user or self.account, key or self.key)
        words = ['smbclient', '//127.0.0.1/' + share.share_name, '-p', str(self.port), '-U', user, '-c', commands, *flags]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        return done.returncode == 0, done.stdout


@pytest.fixture(scope='session')
def target():
    if 'LAZULI_TEST_CONNECTION_STRING' in os.environ:
        yield Target(os.environ['LAZULI_TEST_CONNECTION_STRING'], int(os.environ['LAZULI_TEST_SMB_PORT']))
    else:
        with Server(os.environ['LAZULI_TEST_BINARY'], memory=False) as server:
            yield Target.of(server)


@pytest.fixture
def binary():
    if 'LAZULI_TEST_BINARY' not in os.environ:
        pytest.skip('LAZULI_TEST_BINARY is not set: no server can be started')
    return os.environ['LAZULI_TEST_BINARY']


@pytest.fixture
def share(target):
    share = target.service.create_share('smb-' + uuid.uuid4().hex)
    yield share
    share.delete_share()


@pytest.fixture
def connect(target, share):
    """connect(**how) -> Client of the share; disconnected at the end."""
    clients = []

    def start(**how):
        clients.append(target.connect(share, **how))
        return clients[-1]

    yield start
    for client in clients:
        try:
            client.close()
        except Exception:  # noqa: BLE001 - a test may have cut it.
            pass


@pytest.fixture
def refused():
    """refused(code, do, *arguments): an operation over REST is answered with this error code."""
    def check(code, do, *arguments, **options):
        with pytest.raises(HttpResponseError) as told:
            do(*arguments, **options)
        assert told.value.error_code == code, (told.value.status_code, told.value.error_code)
    return check


DIALECTS = {'2.1': Dialects.SMB_2_1_0, '3.0': Dialects.SMB_3_0_0, '3.0.2': Dialects.SMB_3_0_2, '3.1.1': Dialects.SMB_3_1_1}


@pytest.fixture(params=DIALECTS)
def dialect(request):
    return DIALECTS[request.param]
