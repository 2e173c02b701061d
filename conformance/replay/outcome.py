"""What a replayed test says about us: passed, failed, or skipped because it meets an operation that is not built."""
import collections

from known import masked

NOT_BUILT = 'not built'


class Outcome:
    """Of all tests of one service in one report."""

    def __init__(self, report, service, built):
        self.passed, self.failed, self.skipped = [], {}, collections.Counter()
        self.statuses_equal = 0
        for test in report['tests']:
            name = test['test']
            if not name.startswith(service + '-'):
                continue
            if 'skipped' in test:
                self.skipped[test['skipped']] += 1
                continue
            first = first_difference(test)
            if first is None:
                self.passed.append(name)
                self.statuses_equal += 1
            elif answered_501(first[2]) and not built(service, first[1]):
                self.skipped[NOT_BUILT] += 1
            else:
                self.failed[name] = masked('#%d %s: %s' % first)
                self.statuses_equal += all(not wrong_status(text) or answered_501(text) and not built(service, operation)
                                           for _, operation, text in differences(test))

    @property
    def replayed(self):
        return len(self.passed) + len(self.failed)


def differences(test):
    for entry in test['entries']:
        for text in entry['differences']:
            yield entry['index'], entry['operation'], text


def first_difference(test):
    return next(differences(test), None)


def wrong_status(text):
    return text.startswith(('status: ', 'setup: ', 'cannot rebuild'))


def answered_501(text):
    """Also by a request that the test only prepares itself with, which is sent and not compared."""
    return text.startswith('status: ') and ', got 501 ' in text or text.startswith('setup: got 501 ')
