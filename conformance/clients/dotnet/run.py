#!/usr/bin/env python3
"""Microsoft's .NET storage clients against servers that this starts: run.py --server target/debug/lazuli [v12|v11|files]
or against one that is there: run.py --connection-string TEXT --clock-url URL [--has-features] [v12|v11|files]

What install.py brought is below --place. Each program is compiled from the sources beside this file, then run twice: the tables
and the tour against a server as it is, and the cells and stops that need features against one that has them (--flags prints with which). The program of the File service
has no such, and runs on a newer runtime; where install.py could not bring it, it is left out.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../..')]

from lazuli_server import Server  # noqa: E402

SHARED = ['Cell.cs', 'Storage.cs', 'Trial.cs', 'Program.cs']
PROGRAMS = {
    'v12': (['Catalogue.cs', 'Tap12.cs', 'V12.cs', 'V12Operations.cs', 'Tour12.cs', 'Batch12.cs'],
            ['Azure.Core', 'Azure.Storage.Common', 'Azure.Storage.Blobs', 'System.Memory.Data']),
    'v11': (['Catalogue.cs', 'V11.cs', 'V11Operations.cs', 'Tour11.cs', 'FilesTour11.cs'],
            ['Microsoft.Azure.Storage.Common', 'Microsoft.Azure.Storage.Blob', 'Microsoft.Azure.Storage.File']),
    'files': (['FilesCatalogue.cs', 'Tap12.cs', 'Files12.cs', 'FilesTour.cs', 'FilesTour2.cs'],
              ['Azure.Core', 'Azure.Storage.Common', 'Azure.Storage.Files.Shares', 'System.Memory.Data', 'System.ClientModel']),
}
FLAGS = ['--features', 'versioning,immutability,containerSoftDelete=7']
WITH_FEATURES = {'LAZULI_TEST_FEATURES': '1'}
# Debug servers and two cores: a run takes about a minute.
MOST_SECONDS = 600


def build(name, place):
    """The program, among copies of the clients' libraries; the runtime looks for them beside it."""
    sources, libraries = PROGRAMS[name]
    app = os.path.join(place, 'net9' if name == 'files' else 'app')
    if not os.path.isdir(app):
        shutil.copytree(os.path.join(place, 'clients'), app)
    framework = glob.glob(os.path.join(place, 'dotnet/shared/Microsoft.NETCore.App/*'))[0]
    program = os.path.join(place if name == 'files' else app, 'lazuli-%s.dll' % name)
    base = [path for path in glob.glob(os.path.join(framework, '*.dll'))
            if os.path.basename(path).split('.')[0] in ('System', 'mscorlib', 'netstandard') and '.Native' not in path and 'WindowsRuntime' not in path]
    mono = os.path.join(place, 'mono')
    mcs = [os.path.join(mono, 'usr/bin/mono-sgen'), os.path.join(mono, 'usr/lib/mono/4.5/mcs.exe'), '-noconfig', '-nostdlib',
           '-langversion:7.2', '-warnaserror', '-nowarn:1701,1702', '-out:' + program]
    references = ['-r:' + path for path in sorted(base)] + ['-r:%s/%s.dll' % (app, library) for library in libraries]
    # Without its configuration mono does not find the library that opens files.
    environment = {**os.environ, 'MONO_PATH': os.path.join(mono, 'usr/lib/mono/4.5'), 'MONO_CFG_DIR': os.path.join(mono, 'etc')}
    words = [*mcs, *references, *[os.path.join(HERE, source) for source in SHARED + sources]]
    if subprocess.run(words, env=environment, timeout=MOST_SECONDS).returncode != 0:
        sys.exit('%s does not compile' % name)
    with open(program.replace('.dll', '.runtimeconfig.json'), 'w', encoding='utf-8') as file:
        json.dump({'runtimeOptions': {'framework': {'name': 'Microsoft.NETCore.App', 'version': '3.1.0'}}}, file)
    return program


def run(name, program, place, connection_string, clock_url, **more):
    # v11 refuses a connection string with an endpoint that it does not know.
    known = [field for field in connection_string.split(';') if not field.startswith('DfsEndpoint')]
    environment = {**os.environ, 'DOTNET_SYSTEM_GLOBALIZATION_INVARIANT': '1', 'LD_LIBRARY_PATH': os.path.join(place, 'openssl'),
                   'DOTNET_CLI_TELEMETRY_OPTOUT': '1', **more}
    starter, tables = [os.path.join(place, 'dotnet/dotnet')], 'tables'
    if name == 'files':
        starter, tables = [sys.executable, '-B', os.path.join(HERE, 'coreclr.py'), os.path.join(place, 'net9')], 'tables-files'
    words = [*starter, program, ';'.join(known), clock_url, os.path.join(HERE, tables)]
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, timeout=MOST_SECONDS).returncode == 0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument('programs', nargs='*', metavar='PROGRAM', help=', '.join(PROGRAMS))
    words.add_argument('--place', default=os.path.join(HERE, '../../../target/dotnet'))
    words.add_argument('--server', help='the program of the server')
    words.add_argument('--connection-string', help='of a server that is there')
    words.add_argument('--clock-url', help="where that one's clock is moved")
    words.add_argument('--has-features', action='store_true', help='that one has the flags of --flags')
    words.add_argument('--flags', action='store_true', help='only prints them, one on each line')
    asked = words.parse_args()
    if asked.flags:
        print('\n'.join(FLAGS))
        return 0
    if not asked.server and not (asked.connection_string and asked.clock_url):
        words.error('--server, or --connection-string and --clock-url')
    unknown = [name for name in asked.programs if name not in PROGRAMS]
    if unknown:
        words.error('no program %s; there are %s' % (', '.join(unknown), ', '.join(PROGRAMS)))
    place = os.path.abspath(asked.place)
    good = True
    for name in asked.programs or PROGRAMS:
        if name == 'files' and not os.path.exists(os.path.join(place, 'net9/installed.txt')):
            print('SKIPPED: the client of the File service is not installed', flush=True)
            continue
        if name == 'files' and asked.has_features:
            continue
        program = build(name, place)
        if not asked.server:
            more = WITH_FEATURES if asked.has_features else {}
            good &= run(name, program, place, asked.connection_string, asked.clock_url, **more)
            continue
        with Server(asked.server) as server:
            good &= run(name, program, place, server.connection_string, server.clock_url)
        if name != 'files':
            with Server(asked.server, *FLAGS) as server:
                good &= run(name, program, place, server.connection_string, server.clock_url, **WITH_FEATURES)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
