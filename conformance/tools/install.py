"""Gets the tools, once, below one directory; nothing is installed into the system."""
import os
import shutil
import subprocess

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
    if subprocess.run([program, '--version'], capture_output=True).returncode != 0:
        raise Missing('azcopy does not start; it needs the system library libsecret-1 (Debian: libsecret-1-0)')


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


def _try(arguments):
    try:
        done = subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Missing('%s: %s' % (arguments[0], error)) from error
    if done.returncode != 0:
        raise Missing('%s failed: %s' % (' '.join(arguments), done.stderr.strip()[-500:]))
