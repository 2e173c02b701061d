"""The five levels of a replay, counted from its report."""

LEVELS = ('status', 'error', 'headers', 'headers_but_version', 'body')
TITLES = ('status', 'error', 'header', 'hdr-ver', 'body')
# What must hold for the operations that are built. Status: tests whose every status is equal; the others: answers.
BARS = {'tests': 98.0, 'error': 99.0, 'headers': 95.0, 'body': 97.0}

# Of fewer tests every single one is judged, and parts of a hundred say nothing.
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


def below_bars(levels, tests_equal, tests):
    """What falls short, as text."""
    got = {'tests': percent(tests_equal, tests), **{level: percent(*levels[level]) for level in ('error', 'headers', 'body')}}
    return ['%s %.2f %% is below the bar of %.0f %%' % (name, got[name], bar) for name, bar in BARS.items()
            if got[name] < bar]
