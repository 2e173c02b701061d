#!/usr/bin/env python3
"""Runs tests of smbtorture (Debian: samba-testsuite), each by itself and with a time of its own, against a server that is
listening, and compares what fails with known_failures.txt: a test that fails and is not listed there is an error; one that
is listed and passes is told, and is no error.

    conformance/smb/torture.py [SUITE|TEST ..]
    PORT=10445 SHARES=one,two conformance/smb/torture.py [SUITE|TEST ..]

Without SHARES they are made, on the server that LAZULI_TEST_CONNECTION_STRING and LAZULI_TEST_SMB_PORT name. As many tests run
side by side as there are shares; no two of them use one share at a time. VERBOSE=1 tells how each test ended, and when.
"""
import collections
import concurrent.futures
import os
import queue
import re
import subprocess
import sys
import time

ACCOUNT = 'devstoreaccount1'
KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
# The gate list of the design; and what is left out of it is said in left_out.txt.
SUITES = ('connect tcon session-id credits sharemode deny lock dir read rw compound compound_find compound_async mkdir '
          'maxfid openattr dosmode winattr timestamps delete-on-close-perms rename setinfo lease oplock durable-open '
          'durable-v2-open durable-open-disconnect notify session secleak create getinfo').split()
SECONDS = 150
SIDE_BY_SIDE = 6
LONG = ('lease.timeout oplock.batch22a lease.oplock lease.break secleak credits.skipped_mid compound_find.compound_find_close '
        'dir.sorted dir.modify lease.breaking4 lease.lock1').split()
OUTCOME = re.compile(r'^(success|failure|error|skip): (\S+)(?: \[\n(.*?)^\])?', re.MULTILINE | re.DOTALL)


def listed(name):
    """Tests and what is said of each, of a file beside this one."""
    tests = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding='utf-8') as lines:
        for line in lines:
            test, _, reason = line.partition('#')
            if test.strip():
                tests[test.strip()] = reason.strip()
    return tests


def tests_of(wanted):
    known = subprocess.run(['smbtorture', '--list'], capture_output=True, text=True, check=True).stdout.split()
    # A test that stands in a case of its own is told with its name twice.
    names = (re.sub(r'\.([^.]+)\.\1$', r'.\1', '.' + name.removeprefix('smb2.'))[1:]
             for name in known if name.startswith('smb2.'))
    return [name for name in dict.fromkeys(names) if any(name == one or name.startswith(one + '.') for one in wanted)]


def run(port, share, test):
    """How a test ended, what was said, and how long it took."""
    command = ['smbtorture', '//127.0.0.1/' + share, '-p', port, '-U', f'{ACCOUNT}%{KEY}', 'smb2.' + test]
    started = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                              stdin=subprocess.DEVNULL, timeout=SECONDS)
        found = OUTCOME.findall(done.stdout)
        outcome, _, said = found[-1] if found else ('error', test, done.stdout[-500:])
    except subprocess.TimeoutExpired:
        outcome, said = 'error', f'did not end in {SECONDS} s'
    return outcome, ' '.join(said.split()), time.monotonic() - started


# So many failures may be the machine's.
FEW = 5


def main(port, shares, wanted):
    expected, left_out = listed('known_failures.txt'), listed('left_out.txt')
    free = queue.SimpleQueue()
    for share in shares:
        free.put(share)

    def one(test):
        share = free.get()
        try:
            return test, *run(port, share, test)
        finally:
            free.put(share)

    tests = [test for test in tests_of(wanted or SUITES) if test in wanted or test not in left_out]
    # The ones that wait for long begin first.
    tests.sort(key=lambda test: test not in LONG)
    counts = collections.defaultdict(collections.Counter)
    wrong, better, slow = [], [], []
    with concurrent.futures.ThreadPoolExecutor(len(shares)) as pool:
        for test, outcome, said, seconds in pool.map(one, tests):
            kind = {'success': 'passed', 'skip': 'skipped'}.get(outcome, 'failed')
            counts[test.split('.')[0]][kind] += 1
            slow.append((seconds, test))
            if kind == 'failed' and test not in expected:
                wrong.append((test, said))
            if kind == 'passed' and test in expected:
                better.append(f'{test}: passes, and is listed as a known failure ({expected[test]})')
            if os.environ.get('VERBOSE'):
                print(f'{kind:8} {seconds:5.1f} {test} {said}', flush=True)
    # These tests wait by clocks of their own. Few that fail beside others are tried once more, alone; what fails twice fails.
    if len(wrong) <= FEW:
        again = [(test, one(test)) for test, _ in wrong]
        print(*(f'passes alone, failed beside others: {test}' for test, (_, outcome, *_) in again if outcome == 'success'), sep='\n')
        wrong = [(test, said) for test, (_, outcome, said, _) in again if outcome != 'success']
    for suite, of in counts.items():
        print(f"{suite:24} {of['passed']} passed, {of['failed']} failed, {of['skipped']} skipped")
    print('longest:', ', '.join(f'{test} {seconds:.0f} s' for seconds, test in sorted(slow, reverse=True)[:5]))
    print(*(f'better than listed: {line}' for line in better), sep='\n')
    print(*(f'unexpected: {test}: {said}' for test, said in wrong), sep='\n')
    return 1 if wrong or not tests else 0


def new_shares():
    from azure.storage.fileshare import ShareServiceClient
    service = ShareServiceClient.from_connection_string(os.environ['LAZULI_TEST_CONNECTION_STRING'])
    return [service.create_share(f'torture-{number}-{os.getpid()}').share_name for number in range(SIDE_BY_SIDE)]


if __name__ == '__main__':
    if 'SHARES' in os.environ:
        sys.exit(main(os.environ.get('PORT', '10445'), os.environ['SHARES'].split(','), sys.argv[1:]))
    if 'LAZULI_TEST_CONNECTION_STRING' not in os.environ:
        sys.exit(__doc__)
    sys.exit(main(os.environ['LAZULI_TEST_SMB_PORT'], new_shares(), sys.argv[1:]))
