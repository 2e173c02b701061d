#!/usr/bin/env python3
"""The judge, judged: a report made by hand, with every kind of test in it. `python3 -m unittest` style, no packages."""
import os
import sys
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import known                                                     # noqa: E402
import labels                                                    # noqa: E402
import levels                                                    # noqa: E402
from built import Built                                          # noqa: E402
from outcome import NOT_BUILT, Outcome                           # noqa: E402
from run import COLLECTIONS                                      # noqa: E402


def built(service, operation):
    return operation != 'Put PageBlob'


def stand(equal, identical, replayed):
    """As much of an Outcome as the bars look at."""
    return types.SimpleNamespace(statuses_equal=equal, passed=[''] * identical, replayed=replayed)


def test(name, *entries):
    return {'test': 'blob-x/' + name, 'entries': [
        {'index': index, 'operation': operation, 'differences': list(texts)} for index, operation, *texts in entries]}


REPORT = {
    'operations': {
        'blob: Get Blob': {level: {'matched': 9, 'compared': 10} for level in levels.LEVELS},
        'blob: Put PageBlob': {level: {'matched': 0, 'compared': 90} for level in levels.LEVELS},
        'queue: Get Messages': {level: {'matched': 0, 'compared': 90} for level in levels.LEVELS},
    },
    'tests': [
        test('same'),
        {'test': 'blob-x/elsewhere', 'skipped': 'needs hns'},
        test('unbuilt', (1, 'Put PageBlob', 'status: recorded 201 , got 501 NotImplemented')),
        test('unbuilt setup', (0, 'Put PageBlob', 'setup: got 501 NotImplemented')),
        test('setup refused', (0, 'Put PageBlob', 'setup: got 400 InvalidInput')),
        test('built but 501', (1, 'Get Blob', 'status: recorded 200 , got 501 NotImplemented')),
        test('unbuilt later', (1, 'Get Blob', 'header etag: missing (recorded "0x8D70C986527A1B9")'),
             (2, 'Put PageBlob', 'status: recorded 201 , got 501 NotImplemented')),
        test('version', (3, 'Get Blob', 'header x-ms-version: missing (recorded 2021-06-08)')),
        {'test': 'queue-x/other', 'entries': [{'index': 0, 'operation': 'a', 'differences': ['b']}]},
    ],
}


class Judged(unittest.TestCase):
    def setUp(self):
        self.outcome = Outcome(REPORT, 'blob', built)

    def test_outcomes(self):
        self.assertEqual(self.outcome.passed, ['blob-x/same'])
        self.assertEqual(dict(self.outcome.skipped), {'needs hns': 1, NOT_BUILT: 2})
        self.assertEqual(self.outcome.failed, {
            'blob-x/built but 501': '#1 Get Blob: status: recorded 200 , got 501 NotImplemented',
            'blob-x/setup refused': '#0 Put PageBlob: setup: got 400 InvalidInput',
            'blob-x/unbuilt later': '#1 Get Blob: header etag: missing (recorded "<etag>")',
            'blob-x/version': '#3 Get Blob: header x-ms-version: missing (recorded 2021-06-08)'})
        self.assertEqual((self.outcome.statuses_equal, self.outcome.replayed), (3, 5))

    def test_list(self):
        listed = {'blob-x/version': ('#3 Get Blob: header x-ms-version: missing (recorded 2021-06-08)', 'why'),
                  'blob-x/unbuilt later': ('#1 Get Blob: another', 'why'), 'blob-x/same': ('x', 'why')}
        faults, warnings = known.judge(listed, self.outcome.failed)
        self.assertEqual([fault.split(':')[0] for fault in faults],
                         ['new difference', 'new difference', 'another difference than the one listed'])
        self.assertEqual(warnings, ['no longer differs, take it off the list: blob-x/same'])

    def test_levels(self):
        every = levels.counted(REPORT, 'blob')
        only = levels.counted(REPORT, 'blob', lambda operation: built('blob', operation))
        self.assertEqual((every['status'], only['status']), ((9, 100), (9, 10)))
        good = {level: (99, 100) for level in levels.LEVELS}
        bad = {level: (90, 100) for level in levels.LEVELS}
        self.assertEqual(len(levels.below_bars('queue', bad, stand(98, 0, 100))), 3)
        self.assertEqual(levels.below_bars('queue', only, stand(98, 0, 100)), [])
        self.assertEqual(levels.below_bars('queue', good, stand(98, 0, 100)), [])
        self.assertEqual(len(levels.below_bars('queue', good, stand(97, 0, 100))), 1)
        self.assertEqual(levels.below_bars('blob', good, stand(99, 92, 100)), [])
        self.assertEqual(len(levels.below_bars('blob', good, stand(98, 91, 100))), 2)

    def test_versions_that_were_written_over(self):
        def entry(date, **told):
            return {'method': 'PUT', 'uri': 'https://account.file.core.windows.net/s/f?comp=range', 'status': 201,
                    'request_headers': {'x-ms-version': '2021-06-08'}, 'response_body': None,
                    'response_headers': {'date': date, 'x-ms-version': '2021-06-08', **told}}

        def version(*entries):
            return labels.restored({'entries': list(entries)})['entries'][0]['response_headers']['x-ms-version']
        then, told = 'Tue, 26 Jan 2021 19:29:42 GMT', {'x-ms-file-last-write-time': '2021-01-26T19:29:42.0000000Z'}
        self.assertEqual(version(entry(then)), '2021-04-10')
        self.assertEqual(version(entry(then, **told)), '2021-06-08')
        self.assertEqual(version(entry('Mon, 09 May 2022 19:29:42 GMT')), '2021-06-08')
        listed = {**entry(then), 'uri': 'https://account.file.core.windows.net/s?restype=directory&comp=list', 'status': 200}
        self.assertEqual(version(listed, entry(then)), '2020-08-04')

    def test_lists_of_the_repository_can_be_read(self):
        for service in ('blob', 'queue', 'table', 'file'):
            for suffix in COLLECTIONS.values():
                path = os.path.join(HERE, 'known-differences-%s%s.txt' % (service, suffix))
                self.assertTrue(os.path.exists(path), path)
                known.read(path)

    def test_every_name_has_a_row(self):
        self.assertEqual(Built(os.path.join(HERE, '..', '..', 'docs', 'operations.md')).check(), [])


if __name__ == '__main__':
    unittest.main()
