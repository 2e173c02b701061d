"""az without its start-up: loaded once by az's own interpreter, then each command of standard input (a line of JSON) runs in a child of
this process, as `az` would run it. The answer is a line of JSON: exit code, standard output, standard error."""
import json
import os
import sys
import tempfile


def run(words):
    from azure.cli.core import get_default_cli
    try:
        return get_default_cli().invoke(words)
    except SystemExit as ended:
        return ended.code or 0


def child(words):
    """The output goes to files by its descriptors: az holds the standard streams of the moment in which it was imported."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                code = run(words)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        errors.seek(0)
        return [os.waitstatus_to_exitcode(status), out.read().decode(), errors.read().decode()]


def main():
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # What all commands share is imported by one that does nothing.
    run(['storage', 'blob', 'show', '--help'])
    for line in sys.stdin:
        answers.write(json.dumps(child(json.loads(line))) + '\n')
        answers.flush()


if __name__ == '__main__':
    main()
