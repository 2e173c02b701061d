"""The list of known differences: one line per test, `NAME | first difference | reason`. It may only get shorter."""
import re

VOLATILE = [
    (re.compile(r'RequestId:[0-9a-fA-F-]*'), 'RequestId:<id>'),
    (re.compile(r'[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'), '<guid>'),
    (re.compile(r'0x[0-9A-Fa-f]{8,}'), '<etag>'),
    (re.compile(r'\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?Z?'), '<time>'),
    (re.compile(r'127\.0\.0\.1:\d+'), '<server>'),
    (re.compile(r'\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT'), '<date>'),
]


def masked(difference):
    """Without what every run chooses anew."""
    for pattern, word in VOLATILE:
        difference = pattern.sub(word, difference)
    return ' '.join(difference.replace(' | ', ' / ').split())


def read(path):
    """{test: (difference, reason)}"""
    known = {}
    try:
        with open(path, encoding='utf-8') as lines:
            for number, line in enumerate(lines, 1):
                line = line.strip()
                if not line or line.startswith('#'):
                    continue
                parts = [part.strip() for part in line.split(' | ')]
                if len(parts) != 3 or not all(parts):
                    raise ValueError('%s:%d: not `NAME | first difference | reason`' % (path, number))
                if parts[0] in known:
                    raise ValueError('%s:%d: listed twice' % (path, number))
                known[parts[0]] = (parts[1], parts[2])
    except FileNotFoundError:
        pass
    return known


def judge(known, found):
    """(lines that fail the run, warnings). A listed test that now differs elsewhere is a new difference."""
    faults, warnings = [], []
    for test, difference in sorted(found.items()):
        if test not in known:
            faults.append('new difference: %s | %s' % (test, difference))
        elif known[test][0] != difference:
            faults.append('another difference than the one listed: %s | %s' % (test, difference))
    for test in sorted(set(known) - set(found)):
        warnings.append('no longer differs, take it off the list: %s' % test)
    return faults, warnings
