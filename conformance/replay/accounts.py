"""Kinds of accounts that recordings were made on, and which recordings to replay on each.

The service's own tests ran on accounts with different features. A recording shows the kind of its account: every write
of a blob on an account with versioning tells a version.
"""
import dataclasses
import gzip
import json
import os
import re


@dataclasses.dataclass(frozen=True)
class Account:
    name: str                                                    # what it adds to the name of a service in lists and reports
    flags: tuple = ()                                            # of the server
    features: str = ''                                           # for the replayer: what the account has
    wanted: object = None                                        # which tests; all of them where it is None
    prepared: object = None                                      # a request of our own that each test begins with


VERSIONS_SINCE = '2019-12-12'
SOFT_DELETE = re.compile(r'comp=undelete|include=[^&]*deleted|deletetype=permanent', re.I)


def shows_versions(test):
    return any('x-ms-version-id' in entry['response_headers'] or 'versionid=' in entry['uri'].lower()
               for entry in test['entries'])


def writes_without_version(test):
    """A blob was created, at a version of the protocol that knows versions, and the answer told none."""
    return any(entry['status'] == 201 and 'x-ms-blob-type' in entry['request_headers']
               and entry['request_headers'].get('x-ms-version', '') >= VERSIONS_SINCE
               and 'x-ms-version-id' not in entry['response_headers'] for entry in test['entries'])


def on_versioning(test):
    return shows_versions(test) and not writes_without_version(test)


def on_soft_delete(test):
    return not shows_versions(test) and any(SOFT_DELETE.search(entry['uri']) for entry in test['entries'])


def keep_deleted(test):
    """Before all others a request by which the account keeps deleted blobs, as the one did that was recorded. The replayer
    takes it back after each test."""
    if any('comp=properties' in entry['uri'] for entry in test['entries']):
        return test
    body = ('<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>2</Days></DeleteRetentionPolicy>'
            '</StorageServiceProperties>')
    first = {'method': 'PUT', 'uri': 'https://account.blob.core.windows.net/?restype=service&comp=properties', 'auth': 'key',
             'request_headers': {'x-ms-version': '2021-06-08', 'content-type': 'application/xml'}, 'request_body': body,
             'status': 202, 'response_headers': {}, 'response_body': None, 'setup': True}
    return {**test, 'entries': [first, *test['entries']]}


CONTAINERS = 'containerSoftDelete=2'
# The scopes that the recorded account had.
SCOPES = 'encryptionScope=seanscope1,encryptionScope=encryptionScope,encryptionScope=key-name1'
PLAIN = Account('')
OF_SERVICE = {'blob': (
    PLAIN,
    Account('-versioning', ('--features', ','.join(('immutability', CONTAINERS, SCOPES))),
            'versioning,immutability,softdelete,encryption-scope', on_versioning),
    Account('-softdelete', ('--features', CONTAINERS), 'softdelete', on_soft_delete, keep_deleted),
)}


def of(service):
    return OF_SERVICE.get(service, (PLAIN,))


def select(paths, account, directory):
    """The recordings that are wanted, as files of their own where they are not all."""
    if account.wanted is None:
        return paths
    selected = []
    for path in paths:
        opened = gzip.open if path.endswith('.gz') else open
        with opened(path, 'rt', encoding='utf-8') as lines:
            kept = [test for test in map(json.loads, lines) if account.wanted(test)]
        if kept:
            name = os.path.basename(path).removesuffix('.gz')
            selected.append(os.path.join(directory, name))
            with open(selected[-1], 'w', encoding='utf-8') as out:
                prepared = map(account.prepared, kept) if account.prepared else kept
                out.writelines(json.dumps(test) + '\n' for test in prepared)
    return selected
