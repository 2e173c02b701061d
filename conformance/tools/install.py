"""Gets the tools, once, below one directory; nothing is installed into the system."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
AZ_ITSELF = 'azure-cli==2.91.0'
AZ = ['azure-cli-core==2.91.0', 'azure-common==1.1.28', 'azure-data-tables==12.4.0', 'azure-mgmt-storage==25.0.0',
      'azure-storage-blob==12.29.0b1', 'azure-storage-common==1.4.2', 'azure-storage-file-datalake==12.24.0b1',
      'azure-storage-file-share==12.25.0b1', 'azure-storage-queue==12.16.0b1', 'six==1.17.0']


class Missing(Exception):
    """The tool cannot be had here; why."""


def python(place, package):
    """The interpreter of an environment with the Python tools and rclone; missing where the environment lacks the package."""
    wanted = _read(os.path.join(HERE, 'requirements.txt'))
    interpreter, lost = _environment(os.path.join(place, 'python'), wanted.split())
    if package in lost:
        raise Missing(lost[package])
    return interpreter


def az(place):
    """The command itself, and of the hundred packages that it names those by which `az storage` works: the rest is a gigabyte."""
    _, lost = _environment(os.path.join(place, 'az'), AZ, ['--no-deps', AZ_ITSELF])
    if lost:
        raise Missing('; '.join(lost.values()))


def azcopy(place):
    node = os.path.join(place, 'node')
    program = os.path.join(node, 'node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64')
    if not _same(os.path.join(node, 'package.json'), _read(os.path.join(HERE, 'package.json'))) or not os.path.exists(program):
        os.makedirs(node, exist_ok=True)
        shutil.copy(os.path.join(HERE, 'package.json'), node)
        _try(['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', node])
    # The package holds it without the right to be run.
    os.chmod(program, 0o755)
    if not _starts(program, place):
        _libsecret(place)
    if not _starts(program, place):
        raise Missing('azcopy does not start; it needs the system library libsecret-1 (Debian: libsecret-1-0)')


def libraries(place):
    """Where a program finds what the system does not have."""
    found = glob.glob(os.path.join(place, 'libsecret/usr/lib/*'))
    return {'LD_LIBRARY_PATH': ':'.join(found)} if found else {}


def _starts(program, place):
    environment = {**os.environ, **libraries(place)}
    return subprocess.run([program, '--version'], env=environment, capture_output=True).returncode == 0


def _libsecret(place):
    """Debian's package, unpacked beside the tools; the system stays as it is."""
    with tempfile.TemporaryDirectory() as scratch:
        def download():
            _try(['apt-get', 'download', 'libsecret-1-0'], cwd=scratch)

        try:
            download()
        except Missing:
            # A new machine has no list of packages.
            _try(['apt-get', 'update'])
            download()
        for package in os.listdir(scratch):
            _try(['dpkg', '--extract', os.path.join(scratch, package), os.path.join(place, 'libsecret')])


def _environment(venv, wanted, more=()):
    """An environment with these packages, and why others could not be had, by name. It is made anew when the list changes."""
    interpreter, stamp = os.path.join(venv, 'bin/python'), os.path.join(venv, 'installed.json')
    asked = [*wanted, *more]
    if _same(stamp, json.dumps(asked)):
        return interpreter, {}
    _try(['python3', '-m', 'venv', '--clear', venv])
    # Compiled as they are imported: most modules never are.
    pip = [interpreter, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile']
    lost = {}
    try:
        _try([*pip, *wanted])
    except Missing:
        # One by one, so that a package that is not offered here takes no other with it.
        for one in wanted:
            try:
                _try([*pip, one])
            except Missing as reason:
                lost[re.split(r'[\[=~<>]', one)[0]] = str(reason)
    if more:
        _try([*pip, *more])
    # An installation that lacks something is tried again by the next run.
    if not lost:
        with open(stamp, 'w', encoding='utf-8') as file:
            json.dump(asked, file)
    return interpreter, lost


def _read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def _same(path, wanted):
    return os.path.exists(path) and _read(path) == wanted


def _try(arguments, **options):
    try:
        done = subprocess.run(arguments, **options, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Missing('%s: %s' % (arguments[0], error)) from error
    if done.returncode != 0:
        raise Missing('%s failed: %s' % (' '.join(arguments), done.stderr.strip()[-500:]))
