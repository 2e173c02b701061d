#!/usr/bin/env python3
"""Recorded answers of the real service, replayed against a server, judged by a list of known differences.

    run.py --server target/debug/lazuli            starts the server itself
    run.py --connection-string CS --clock-url URL  against one that runs, with the flags that --flags prints

The recordings and their replayer are not part of this repository: --replay DIR or LAZULI_REPLAY says where they are,
`../shared/replay` beside the repository is looked at otherwise. Where there are none, the run says so and is skipped.
A test fails that differs and is not listed in known-differences-SERVICE.txt (see known.py); one that meets an operation
answered 501, which docs/operations.md lists as not built, is skipped. The recordings of older versions of the protocol
(2017 to 2019) are replayed as well, with lists of their own: known-differences-SERVICE-older.txt. Recordings that were
made on an account with features are replayed once more on a server that is started with those (accounts.py).
"""
import argparse
import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import accounts                                                  # noqa: E402
import known as known_differences                                # noqa: E402
import labels                                                    # noqa: E402
import levels                                                    # noqa: E402
import triage                                                    # noqa: E402
from built import Built                                          # noqa: E402
from lazuli_server import Server                                 # noqa: E402
from outcome import Outcome                                      # noqa: E402

# A directory of recordings, and what it adds to the name of a service in lists and reports. The older come first: the
# newer leave a default version behind, which requests of the older that name none would get.
COLLECTIONS = {'recordings-older': '-older', 'recordings': ''}


# More than this is no chance.
MOST_AGAIN = 5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('services', nargs='*', help='blob, queue, table [default: those that are built, at least in part]')
    parser.add_argument('--replay', default=os.environ.get('LAZULI_REPLAY', os.path.join(ROOT, '..', 'shared', 'replay')))
    parser.add_argument('--server', help='the binary to start, anew for every service')
    parser.add_argument('--connection-string')
    parser.add_argument('--clock-url')
    parser.add_argument('--out', help='directory for the reports [default: a temporary one]')
    parser.add_argument('--flags', action='store_true', help='only print which flags a server needs for the kind of account, one in a line')
    parser.add_argument('--only', choices=COLLECTIONS, help='one of the directories of recordings [default: all]')
    parser.add_argument('--account', help='one of the kinds of accounts: -versioning, -softdelete, or none of them with an empty word [default: all]')
    parser.add_argument('--filter', help='only tests whose service-origin/name matches; the list is then not judged for absent ones')
    parser.add_argument('--as-labelled', action='store_true', help='File: with the versions that recordings say, also where they were made with older ones (labels.py)')
    parser.add_argument('--print-new', action='store_true', help='print new differences as lines for the list, reason to be filled in')
    return parser.parse_args()


def replay(options, service, collection, account, connection_string, clock_url, report):
    data = sorted(glob.glob(os.path.join(options.replay, collection, service + '-*.jsonl*')))
    with tempfile.TemporaryDirectory() as directory:
        data = accounts.select(data, account, directory)
        data = labels.restore(data, directory) if service == 'file' and not options.as_labelled else data
        return replay_files(options, data, account, connection_string, clock_url, report) if data else None


def replay_files(options, data, account, connection_string, clock_url, report):
    command = [sys.executable, '-B', os.path.join(options.replay, 'replay.py'), '--data', *data, '--connection-string',
               connection_string, '--clock-url', clock_url, '--report', report]
    command += ['--bearer', accounts.bearer()]
    command += ['--filter', options.filter] if options.filter else []
    command += ['--features', account.features] if account.features else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not os.path.exists(report):                               # its exit code only says whether any status differs
        sys.exit('the replayer did not finish:\n' + done.stdout[-4000:])
    with open(report, encoding='utf-8') as text:
        return json.load(text)


def measure(options, service, collection, account, out):
    """The replayer's report of one service in one collection on one account; None where there are no recordings."""
    title = service + COLLECTIONS[collection] + account.name
    report_path = os.path.join(out, 'replay-%s.json' % title)
    with contextlib.suppress(FileNotFoundError):
        os.remove(report_path)
    with contextlib.ExitStack() as stack:
        connection_string, clock_url = options.connection_string, options.clock_url
        if options.server:
            server = stack.enter_context(Server(options.server, *accounts.TOKENS, *account.flags))
            connection_string, clock_url = server.connection_string, server.clock_url
        report = replay(options, service, collection, account, connection_string, clock_url, report_path)
    if report is not None:
        triage.write(os.path.join(out, 'replay-%s-causes.txt' % title), report, service)
    return report


def judge(options, service, collection, account, built, report):
    """(passed, listed, skipped, faults) after printing how it stands."""
    title = service + COLLECTIONS[collection] + account.name
    outcome = Outcome(report, service, built)
    restricted = levels.counted(report, service, lambda operation: built(service, operation))
    print(levels.line('%s, everything' % title, levels.counted(report, service)))
    print(levels.line('%s, what is built' % title, restricted))
    print('%s: %d of %d tests with every status equal (%.1f%%), %d identical throughout (%.1f%%)' % (
        title, outcome.statuses_equal, outcome.replayed, levels.percent(outcome.statuses_equal, outcome.replayed),
        len(outcome.passed), levels.percent(len(outcome.passed), outcome.replayed)))
    print('%s: skipped: %s' % (title, ', '.join('%s %d' % pair for pair in outcome.skipped.most_common()) or 'none'))

    known = known_differences.read(os.path.join(HERE, 'known-differences-%s.txt' % title))
    # What differs on a plain account does so on others, where not all of it is replayed.
    plain = {} if account is accounts.PLAIN else known_differences.read(
        os.path.join(HERE, 'known-differences-%s.txt' % (service + COLLECTIONS[collection])))
    known = {**{test: found for test, found in plain.items() if test in outcome.failed}, **known}
    faults, warnings = known_differences.judge(known, outcome.failed)
    listed = len(outcome.failed) - len(faults)
    if options.filter:
        warnings = []
    elif outcome.replayed >= levels.ENOUGH:
        faults += levels.below_bars(service, restricted, outcome)
    for text in warnings:
        print('warning: ' + text)
    if options.print_new:
        for test, difference in sorted(outcome.failed.items()):
            if known.get(test, ('',))[0] != difference:
                print('%s | %s | REASON' % (test, difference))
    print('%s: %d known differences met (counted as skipped)' % (title, listed))
    return len(outcome.passed), listed, sum(outcome.skipped.values()), faults


def one(options, service, collection, account, built, out):
    """(passed, failed, skipped), and why those failed is printed. What differs is replayed once more, and only what differs again has
    failed: where two recorded answers tell the same second, a replay may meet a second's end between them, and the replayer then sends
    the other one of two dates."""
    before = None
    while True:
        report = measure(options, service, collection, account, out)
        if report is None:
            print('%s: no recordings' % (service + COLLECTIONS[collection] + account.name))
            return 0, 0, 0
        passed, listed, skipped, faults = judge(options, service, collection, account, built, report)
        if before is not None:
            faults = [text for text in faults if subject(text) in before]
        elif faults and len(faults) <= MOST_AGAIN:
            for text in faults:
                print('once more: ' + text)
            before = {subject(text) for text in faults}
            continue
        for text in faults:
            print('FAILED: ' + text)
        return passed, len(faults), skipped + listed


def subject(fault):
    """The test, or the bar, that a fault is about."""
    return fault.split(' | ')[0] if ' | ' in fault else fault.split(' ')[0]


def main():
    options = arguments()
    if options.flags:
        print('\n'.join(accounts.flags(options.account or '')))
        return 0
    if not os.path.isfile(os.path.join(options.replay, 'replay.py')):
        print('skipped: no recordings here (--replay DIR or LAZULI_REPLAY)')
        print('0 passed, 0 failed, 0 skipped')
        return 0
    if not options.server and not (options.connection_string and options.clock_url):
        sys.exit('give --server, or --connection-string and --clock-url')
    built = Built(os.path.join(ROOT, 'docs', 'operations.md'))
    gone = built.check()
    if gone:
        sys.exit('built.py names rows that the operation table does not have: ' + ', '.join(gone))
    with contextlib.ExitStack() as stack:
        out = options.out or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(out, exist_ok=True)
        services = options.services or built.services()
        collections = [options.only] if options.only else list(COLLECTIONS)
        runs = [(service, collection, account) for service in services for collection in collections
                for account in accounts.of(service)
                if account.name == (options.account or '') or options.server and options.account is None]
        sums = [sum(column) for column in zip(*(one(options, *run, built, out) for run in runs))]
    print('%d passed, %d failed, %d skipped' % tuple(sums))
    return 1 if sums[1] else 0


if __name__ == '__main__':
    sys.exit(main())
