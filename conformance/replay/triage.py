"""Differences grouped by cause, most frequent first, one example each: for whoever repairs them."""
import collections
import re

from outcome import answered_501, differences


def cause(operation, text):
    kind, _, rest = text.partition(' ')
    if kind == 'header':
        name, _, what = rest.partition(': ')
        return 'header %s %s' % (name, what.split(' ')[0])
    if kind == 'body':
        return '%s: body %s' % (operation, re.sub(r'\[\d+\]|\d+', '#', rest)[:140])
    return '%s: %s' % (operation, text)


def grouped(report, service):
    """[(tests, cause, example)]"""
    tests, example = collections.defaultdict(set), {}
    for test in report['tests']:
        if 'skipped' in test or not test['test'].startswith(service + '-'):
            continue
        for index, operation, text in differences(test):
            key = '501 not built: ' + operation if answered_501(text) else cause(operation, text)
            tests[key].add(test['test'])
            example.setdefault(key, '%s #%d %s: %s' % (test['test'], index, operation, text[:300]))
    return sorted(((len(names), key, example[key]) for key, names in tests.items()), key=lambda row: (-row[0], row[1]))


def write(path, report, service):
    with open(path, 'w', encoding='utf-8') as out:
        for count, key, shown in grouped(report, service):
            out.write('%5d  %s\n       %s\n' % (count, key, shown))
