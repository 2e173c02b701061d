"""The five levels of a replay, counted from its report."""

LEVELS = ('status', 'error', 'headers', 'headers_but_version', 'body')
TITLES = ('status', 'error', 'header', 'hdr-ver', 'body')
# What must hold for the operations that are built. Tests: those whose every status is equal; identical: those that do not differ at
# all; the others: answers.
BARS = {'tests': 98.0, 'error': 99.0, 'headers': 95.0, 'body': 97.0}
# Of a service as a whole.
WHOLE = {'blob': {'tests': 99.0, 'error': 99.0, 'headers': 97.0, 'body': 98.0, 'identical': 92.0},
         'file': {'tests': 98.0, 'error': 98.0, 'headers': 95.0, 'body': 97.0, 'identical': 87.0}}

# Of fewer tests, or answers, every single one is judged, and parts of a hundred say nothing.
ENOUGH = 50


def percent(matched, compared):
    return 100.0 * matched / compared if compared else 100.0


def counted(report, service, wanted=lambda operation: True):
    """{level: (matched, compared)} over the operations wanted."""
    total = {level: [0, 0] for level in LEVELS}
    for name, levels in report['operations'].items():
        of, _, operation = name.partition(': ')
        if of != service or not wanted(operation):
            continue
        for level in LEVELS:
            total[level][0] += levels[level]['matched']
            total[level][1] += levels[level]['compared']
    return {level: tuple(pair) for level, pair in total.items()}


def line(title, levels):
    shown = ' '.join('%s %5.1f%%' % (name, percent(*levels[level])) if levels[level][1] else '%s     -' % name
                     for name, level in zip(TITLES, LEVELS))
    return '%-22s %6d requests  %s' % (title, levels['status'][1], shown)


def below_bars(service, levels, outcome):
    """What falls short, as text."""
    got = {level: percent(*levels[level]) if levels[level][1] >= ENOUGH else 100.0 for level in ('error', 'headers', 'body')}
    got['tests'] = percent(outcome.statuses_equal, outcome.replayed)
    got['identical'] = percent(len(outcome.passed), outcome.replayed)
    return ['%s %.2f %% is below the bar of %.0f %%' % (name, got[name], bar) for name, bar in WHOLE.get(service, BARS).items()
            if got[name] < bar]
