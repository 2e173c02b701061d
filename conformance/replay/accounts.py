"""Kinds of accounts that recordings were made on, and which recordings to replay on each.

The service's own tests ran on accounts with different features. A recording shows the kind of its account: every write
of a blob on an account with versioning tells a version.
"""
import base64
import dataclasses
import gzip
import hashlib
import json
import os
import re
from urllib.parse import urlsplit


@dataclasses.dataclass(frozen=True)
class Account:
    name: str                                                    # what it adds to the name of a service in lists and reports
    flags: tuple = ()                                            # of the server
    features: str = ''                                           # for the replayer: what the account has
    wanted: object = None                                        # which tests; all of them where it is None
    prepared: object = None                                      # puts requests of our own into a test


VERSIONS_SINCE = '2019-12-12'
HOLDS = re.compile(r'comp=(immutabilityPolicies|legalhold)|x-ms-(immutability-policy|legal-hold)', re.I)
SOFT_DELETE = re.compile(r'comp=undelete|include=[^&]*deleted|deletetype=permanent', re.I)


def shows_versions(test):
    return any('x-ms-version-id' in entry['response_headers'] or 'versionid=' in entry['uri'].lower()
               for entry in test['entries'])


def writes_without_version(test):
    """A blob was created, at a version of the protocol that knows versions, and the answer told none."""
    return any(entry['status'] == 201 and 'x-ms-blob-type' in entry['request_headers']
               and entry['request_headers'].get('x-ms-version', '') >= VERSIONS_SINCE
               and 'x-ms-version-id' not in entry['response_headers'] for entry in test['entries'])


def asks_about_holds(test):
    return any(HOLDS.search(text) for entry in test['entries'] for text in (entry['uri'], *entry['request_headers']))


def on_versioning(test):
    return (shows_versions(test) or asks_about_holds(test)) and not writes_without_version(test)


def on_scopes(test):
    """Blobs under encryption scopes, on an account without versions."""
    return not shows_versions(test) and any(header.endswith('encryption-scope') for entry in test['entries']
                                            for header in entry['request_headers'])


def make_containers(test):
    """Containers that allow holds were made by the account's owner, which no recording shows. Each is made first, open to readers as
    those were, and under a name of the test's own: what is held stays when the test has ended."""
    made, lacking = set(), []
    for entry in test['entries']:
        container, _, blob = urlsplit(entry['uri']).path.strip('/').partition('/')
        creates = entry['method'] == 'PUT' and not blob and 'comp=' not in entry['uri']
        there = entry['status'] < 300 or entry['response_headers'].get('x-ms-error-code') == 'BlobNotFound'
        if container and container not in made and not creates and there:
            lacking.append(container)
        made.add(container)
    if not lacking or not asks_about_holds(test):
        return test
    text = json.dumps(test)
    for name in lacking:
        text = text.replace(name, own(name, test))
    test = json.loads(text)
    first = [{'method': 'PUT', 'uri': 'https://account.blob.core.windows.net/%s?restype=container' % own(name, test), 'auth': 'key',
              'request_headers': {'x-ms-version': '2021-06-08', 'x-ms-blob-public-access': 'container'}, 'request_body': None,
              'status': 201, 'response_headers': {}, 'response_body': None, 'setup': True} for name in lacking]
    return {**test, 'entries': [*first, *test['entries']]}


def own(container, test):
    return 'held-' + hashlib.sha256((container + test['name']).encode()).hexdigest()[:20]


def on_soft_delete(test):
    return not shows_versions(test) and any(SOFT_DELETE.search(entry['uri']) for entry in test['entries'])


def keep_deleted(test):
    """Before all others a request by which the account keeps deleted blobs, as the one did that was recorded. The replayer
    takes it back after each test."""
    return with_policy(test, 'blob', 'DeleteRetentionPolicy')


def keep_deleted_shares(test):
    """The same for shares."""
    return with_policy(test, 'file', 'ShareDeleteRetentionPolicy')


def with_policy(test, service, policy):
    if any('comp=properties' in entry['uri'] for entry in test['entries']):
        return test
    body = ('<StorageServiceProperties><%s><Enabled>true</Enabled><Days>2</Days></%s></StorageServiceProperties>' % (policy, policy))
    first = {'method': 'PUT', 'uri': 'https://account.%s.core.windows.net/?restype=service&comp=properties' % service, 'auth': 'key',
             'request_headers': {'x-ms-version': '2021-06-08', 'content-type': 'application/xml'}, 'request_body': body,
             'status': 202, 'response_headers': {}, 'response_body': None, 'setup': True}
    return {**test, 'entries': [first, *test['entries']]}


def bearer():
    """A token that a server with TOKENS takes: whose it is, for what, and from when to when; its signature is not looked at."""
    tenant, user = '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'
    claims = {'aud': 'https://storage.azure.com', 'iss': 'https://sts.windows.net/%s/' % tenant, 'tid': tenant, 'oid': user,
              'nbf': 0, 'exp': 4102444800}
    parts = ({'alg': 'RS256', 'typ': 'JWT'}, claims, 'no signature')
    return '.'.join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b'=').decode() for part in parts)


TOKENS = ('--oauth', 'basic', '--bearerOverHttp')
CONTAINERS = 'containerSoftDelete=2'
# The scopes that the recorded account had.
SCOPES = 'encryptionScope=seanscope1,encryptionScope=encryptionScope,encryptionScope=key-name1'
PLAIN = Account('')
# What is added here is also added to RECORDED in xtask/src/cluster/mod.rs, which replays the same over several servers.
OF_SERVICE = {'blob': (
    PLAIN,
    Account('-versioning', ('--features', ','.join(('immutability', CONTAINERS, SCOPES))),
            'versioning,immutability,softdelete,encryption-scope', on_versioning, make_containers),
    Account('-scopes', ('--features', SCOPES), 'encryption-scope', on_scopes),
    Account('-softdelete', ('--features', CONTAINERS), 'softdelete', on_soft_delete, keep_deleted),
), 'file': (
    PLAIN,
    Account('-softdelete', (), 'softdelete', on_soft_delete, keep_deleted_shares),
)}


def of(service):
    return OF_SERVICE.get(service, (PLAIN,))


def flags(name):
    """Of a server for all services, where accounts of this name are wanted."""
    kinds = {account for kinds in OF_SERVICE.values() for account in kinds if account.name == name}
    return [*TOKENS, *(flag for kind in sorted(kinds, key=lambda kind: kind.flags) for flag in kind.flags)]


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
