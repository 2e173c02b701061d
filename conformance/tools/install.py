"""Gets the tools, once, below one directory; nothing is installed into the system."""
import glob
import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
AZ = 'azure-cli==2.91.0'


class Missing(Exception):
    """The tool cannot be had here; why."""


def python(place):
    """The interpreter of an environment with the Python tools and rclone."""
    with open(os.path.join(HERE, 'requirements.txt'), encoding='utf-8') as file:
        wanted = file.read()
    return _environment(os.path.join(place, 'python'), wanted)


def az(place):
    """Large, over a gigabyte: an environment of its own, made only when asked for."""
    return _environment(os.path.join(place, 'az'), AZ + '\n')


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


def _environment(venv, wanted):
    interpreter, stamp = os.path.join(venv, 'bin/python'), os.path.join(venv, 'installed.txt')
    if not _same(stamp, wanted):
        _try(['python3', '-m', 'venv', '--clear', venv])
        _try([interpreter, '-m', 'pip', 'install', '--quiet', *wanted.split()])
        with open(stamp, 'w', encoding='utf-8') as file:
            file.write(wanted)
    return interpreter


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
