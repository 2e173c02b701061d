"""A server of one's own for a run: free ports, data that goes away with it. Standard library only."""
import os
import shutil
import subprocess
import tempfile

ACCOUNT = 'devstoreaccount1'
KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
SERVICES = ('blob', 'queue', 'table', 'file', 'dfs')


class Server:
    """Started at once; use it in a `with`, so that it is stopped however the run ends."""

    def __init__(self, binary, *flags, memory=True, scheme='http', place=None):
        self.scheme, self.keeps = scheme, place is not None
        self.place = place or tempfile.mkdtemp(prefix='lazuli-conformance-')
        ports = [word for name in (*SERVICES, 'smb', 'admin') for word in ('--%sPort' % name, '0')]
        where = ['--inMemoryPersistence'] if memory else ['--location', self.place]
        self.log_path = os.path.join(self.place, 'server.log')
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen([binary, *ports, *where, '--test-clock', '--silent', *flags],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        self.addresses = {}
        for line in self.process.stdout:
            line = line.strip()
            if line == 'lazuli: ready':
                return
            name, told, address = line.removeprefix('lazuli: ').partition(' listening on ')
            if told:
                self.addresses[name] = address
        with open(self.log_path, encoding='utf-8', errors='replace') as log:
            told = log.read()
        self.stop()
        raise RuntimeError('the server did not start: ' + told)

    def endpoint(self, service):
        return '%s://%s/%s' % (self.scheme, self.addresses[service].split('://', 1)[-1], ACCOUNT)

    @property
    def connection_string(self):
        return 'DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;' % (self.scheme, ACCOUNT, KEY) + ''.join(
            '%sEndpoint=%s;' % (service.capitalize(), self.endpoint(service))
            for service in SERVICES if service in self.addresses)

    @property
    def clock_url(self):
        return self.addresses['admin'] + '/clock'

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        if not self.keeps:
            shutil.rmtree(self.place, ignore_errors=True)

    def kill(self):
        """As a power failure would look to the clients: no farewell. The data stays."""
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
