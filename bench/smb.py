#!/usr/bin/env python3
"""The File service over SMB beside Samba's smbd, in one run and by one client (smbclient): a file of 1 GiB written and read, signed and
encrypted, and files made and closed. Both keep their files in memory (/dev/shm), so that neither waits for a disk. Samba without
signatures is measured too; ours always asks for them.

    bench/smb.py --lazuli target/dist/lazuli [--mebibytes 1024] [--files 3000] [--rounds 3]

`cargo xtask bench smb` builds the server and calls this. Debian's packages: samba, smbclient.
"""
import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ACCOUNT = 'devstoreaccount1'
KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
PROTECTIONS = {'plain': 'off', 'signed': 'sign', 'encrypted': 'encrypt'}
TICKS = os.sysconf('SC_CLK_TCK')
SAMBA = '''[global]
server role = standalone server
smb ports = {port}
interfaces = 127.0.0.1
bind interfaces only = yes
private dir = {place}
lock directory = {place}
state directory = {place}
cache directory = {place}
pid directory = {place}
ncalrpc dir = {place}/ncalrpc
passdb backend = tdbsam:{place}/passdb.tdb
log file = {place}/log
load printers = no
disable spoolss = yes
[share]
path = {place}/share
read only = no
'''


def free_port():
    with socket.socket() as any_port:
        any_port.bind(('127.0.0.1', 0))
        return any_port.getsockname()[1]


def wait_for(port):
    for _ in range(100):
        with socket.socket() as attempt:
            if attempt.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.1)
    sys.exit('no server on port %d' % port)


class Server:
    """A process with its children, and how smbclient gets in."""

    def __init__(self, name, port, user, command, **how):
        self.name, self.port, self.user = name, port, user
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **how)
        wait_for(port)

    def seconds(self):
        """What its processes have used of the processors."""
        used = 0
        listed = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(self.process.pid)], capture_output=True, text=True).stdout
        for process in (self.process.pid, *map(int, listed.split())):
            try:
                with open(f'/proc/{process}/stat', encoding='ascii') as stat:
                    fields = stat.read().rsplit(')', 1)[1].split()
            except FileNotFoundError:
                continue
            own = process == self.process.pid
            used += sum(map(int, fields[11:15] if own else fields[11:13]))
        return used / TICKS

    def run(self, protection, commands):
        words = ['smbclient', '//127.0.0.1/share', '-p', str(self.port), '-U', self.user,
                 '--client-protection=' + PROTECTIONS[protection]]
        before, started = self.seconds(), time.monotonic()
        done = subprocess.run(words, input=commands, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        took = time.monotonic() - started
        if done.returncode or 'NT_STATUS' in done.stdout or 'does not exist' in done.stdout:
            sys.exit(f'{self.name}, {protection}: {done.stdout[-2000:]}')
        return took, self.seconds() - before

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def lazuli(binary, place):
    port, file_port = free_port(), free_port()
    flags = ['--services', 'file,smb', '--smbPort', str(port), '--filePort', str(file_port), '--adminPort', '0', '--location', place, '--silent']
    server = Server('lazuli', port, f'{ACCOUNT}%{KEY}', [binary, *flags])
    wait_for(file_port)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'conformance'))
    from azure.storage.fileshare import ShareServiceClient
    endpoint = f'FileEndpoint=http://127.0.0.1:{file_port}/{ACCOUNT};'
    service = ShareServiceClient.from_connection_string(f'DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};' + endpoint)
    service.create_share('share')
    return server


def samba(place):
    port, settings = free_port(), os.path.join(place, 'smb.conf')
    os.mkdir(os.path.join(place, 'share'))
    with open(settings, 'w', encoding='ascii') as file:
        file.write(SAMBA.format(port=port, place=place))
    subprocess.run(['smbpasswd', '-c', settings, '-a', '-s', 'root'], input='key\nkey\n', text=True, check=True, capture_output=True)
    return Server('samba', port, 'root%key', [shutil.which('smbd') or '/usr/sbin/smbd', '-F', '--no-process-group', '-s', settings])


def measure(server, protection, source, mebibytes, files, rounds):
    """MiB or files a second, and seconds of the server's processors for a GiB, or a thousand files."""
    found = {'write': [], 'read': [], 'create': []}
    for number in range(rounds):
        written = server.run(protection, f'put {source} large\n')
        read = server.run(protection, f'get large {source}.back\n')
        os.remove(source + '.back')
        made = server.run(protection, ''.join(f'put {source}.empty made{number}-{one}\n' for one in range(files)))
        for what, (took, used), amount, unit in (('write', written, mebibytes, 1024), ('read', read, mebibytes, 1024),
                                                 ('create', made, files, 1000)):
            found[what].append((amount / took, used * unit / amount))
    return {what: tuple(statistics.median(column) for column in zip(*runs)) for what, runs in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--lazuli', required=True)
    parser.add_argument('--mebibytes', type=int, default=1024)
    parser.add_argument('--files', type=int, default=3000)
    parser.add_argument('--rounds', type=int, default=3)
    asked = parser.parse_args()
    for program in ('smbd', 'smbclient', 'smbpasswd'):
        if not shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin'):
            print(f'left out: there is no {program} to compare with (samba, smbclient)')
            return
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='smb-bench-') as place:
        source = os.path.join(place, 'source')
        with open(source, 'wb') as file:
            for _ in range(asked.mebibytes):
                file.write(os.urandom(1 << 20))
        open(source + '.empty', 'wb').close()
        for directory in ('ours', 'theirs'):
            os.mkdir(os.path.join(place, directory))
        ours, theirs = lazuli(asked.lazuli, os.path.join(place, 'ours')), samba(os.path.join(place, 'theirs'))
        size = (asked.mebibytes, asked.files, asked.rounds)
        try:
            print(f'{"":22}{"ours":>9}{"samba":>9}{"ratio":>8}   seconds of processors: ours, samba')
            for protection in PROTECTIONS:
                # Ours signs where Samba does not.
                own = measure(ours, 'signed' if protection == 'plain' else protection, source, *size)
                other = measure(theirs, protection, source, *size)
                for what, (rate, used) in own.items():
                    name = f'{protection} {what}'
                    ratio = rate / other[what][0]
                    print(f'{name:22}{rate:9.0f}{other[what][0]:9.0f}{ratio:8.2f}   {used:.2f}, {other[what][1]:.2f}', flush=True)
        finally:
            ours.stop()
            theirs.stop()


if __name__ == '__main__':
    main()
