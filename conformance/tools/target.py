"""What the tools' tests share: the server, found in the environment, and a way to run a program and hear it."""
import os
import subprocess
import tempfile
import uuid

CONNECTION_STRING, TOOLS = 'LAZULI_TEST_CONNECTION_STRING', 'LAZULI_TOOLS'
# A tool that waits for ever has failed; long enough for a debug server on a machine that builds something else.
PATIENCE = 300


class Target:
    def __init__(self):
        self.connection_string = os.environ[CONNECTION_STRING]
        fields = dict(field.split('=', 1) for field in self.connection_string.strip(';').split(';'))
        self.account, self.key, self.endpoint = fields['AccountName'], fields['AccountKey'], fields['BlobEndpoint']
        self.dfs_endpoint, self.file_endpoint = fields['DfsEndpoint'], fields['FileEndpoint']
        self.tools = os.environ[TOOLS]

    def container(self, purpose):
        """A new container, as the official client makes it."""
        from azure.storage.blob import BlobServiceClient
        name = '%s-%s' % (purpose, uuid.uuid4().hex[:8])
        return BlobServiceClient.from_connection_string(self.connection_string).create_container(name)

    def share(self, purpose):
        """The same of a share."""
        from azure.storage.fileshare import ShareServiceClient
        name = '%s-%s' % (purpose, uuid.uuid4().hex[:8])
        return ShareServiceClient.from_connection_string(self.connection_string).create_share(name)


def sizes(container):
    """Every blob's name and size, as the official client lists them."""
    return {blob.name: blob.size for blob in container.list_blobs()}


def scratch():
    return tempfile.TemporaryDirectory(prefix='lazuli-tools-')


def run(arguments, **environment):
    """What the program printed on its standard output; its failure is ours, with all it said."""
    done = subprocess.run(arguments, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                          capture_output=True)
    printed, told = (text.decode(errors='replace') for text in (done.stdout, done.stderr))
    if done.returncode != 0:
        raise SystemExit('%s ended with %d:\n%s%s' % (' '.join(map(str, arguments)), done.returncode, printed, told))
    return printed
