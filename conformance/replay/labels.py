"""The version of the protocol that a recording of the File service was made with.

The .NET library's recorder writes the version of the day into requests, answers and SAS of older recordings: those of 2020 and 2021
say 2021-06-08, which clients sent from 2022 on, and their SAS say sv=2022-11-02. What such an answer does not tell shows that
it was given to an older version. Those tests are replayed with the newest version that did not tell it yet.
"""
import datetime
import email.utils
import gzip
import json
import os

LABEL = '2021-06-08'
# Answers to that version were recorded from then on; a few of January were made ahead of it, and tell all that it tells.
SENT_SINCE = datetime.datetime(2022, 2, 1, tzinfo=datetime.timezone.utc)


def silent_about_write_time(entry):
    return entry['status'] == 201 and 'comp=range' in entry['uri'] and 'x-ms-file-last-write-time' not in entry['response_headers']


def silent_about_ids(entry):
    body = entry['response_body']
    return entry['status'] == 200 and 'restype=directory&comp=list' in entry['uri'] and '<DirectoryId>' not in str(body)


def silent_about_leases(entry):
    return (entry['method'] == 'GET' and entry['status'] == 200 and entry['uri'].endswith('?restype=share')
            and 'x-ms-lease-status' not in entry['response_headers'])


# Oldest first: what shows it, and the newest version that is silent about it.
SIGNS = ((silent_about_leases, '2019-10-10'), (silent_about_ids, '2020-08-04'), (silent_about_write_time, '2021-04-10'))


def is_older(entry):
    date = entry['response_headers'].get('date')
    return (entry['request_headers'].get('x-ms-version') == LABEL and date is not None
            and email.utils.parsedate_to_datetime(date) < SENT_SINCE)


def version_of(test):
    """The version that the test was recorded with; None where that is the one it says."""
    older = [entry for entry in test['entries'] if is_older(entry)]
    return next((version for sign, version in SIGNS if any(map(sign, older))), None)


def restored(test):
    version = version_of(test)
    if version is None:
        return test

    def labelled(headers):
        return {name: version if name == 'x-ms-version' and value == LABEL else value for name, value in headers.items()}
    entries = [{**entry, 'request_headers': labelled(entry['request_headers']),
                'response_headers': labelled(entry['response_headers'])} for entry in test['entries']]
    return {**test, 'entries': entries}


def restore(paths, directory):
    """The recordings of the File service, with the versions that they were made with; as files of their own."""
    done = []
    for path in paths:
        opened = gzip.open if path.endswith('.gz') else open
        # Beside what it is read from, which may be in the directory too.
        done.append(os.path.join(directory, 'labelled-' + os.path.basename(path).removesuffix('.gz')))
        with opened(path, 'rt', encoding='utf-8') as lines, open(done[-1], 'w', encoding='utf-8') as out:
            out.writelines(json.dumps(restored(json.loads(line))) + '\n' for line in lines)
    return done
