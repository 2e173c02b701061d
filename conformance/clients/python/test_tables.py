"""The Table service as its official client sees it: entities of every type, concurrency, groups, queries, signatures."""
import concurrent.futures
import datetime
import json
import uuid

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import (
    AccountSasPermissions,
    EdmType,
    EntityProperty,
    ResourceTypes,
    TableAccessPolicy,
    TableAnalyticsLogging,
    TableCorsRule,
    TableMetrics,
    TableRetentionPolicy,
    TableSasPermissions,
    TableServiceClient,
    TableTransactionError,
    UpdateMode,
    generate_account_sas,
    generate_table_sas,
)

# A retry would hide what the server answered first.
ONE_TRY = {'retry_total': 0}
HOUR = datetime.timedelta(hours=1)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def code_of(error):
    """Some calls of the client raise the answer without reading its code."""
    return getattr(error, 'error_code', None) or json.loads(error.response.text())['odata.error']['code']


def refused(status, code, asked, *arguments, **named):
    with pytest.raises(HttpResponseError) as caught:
        result = asked(*arguments, **named)
        if hasattr(result, 'by_page'):
            list(result)
    assert (caught.value.status_code, code_of(caught.value)) == (status, code), str(caught.value)


@pytest.fixture(scope='session')
def tables(target):
    return TableServiceClient.from_connection_string(target.connection_string, **ONE_TRY)


@pytest.fixture
def table(tables):
    client = tables.create_table('t' + uuid.uuid4().hex)
    yield client
    try:
        client.delete_table()
    except HttpResponseError:
        pass


def entity(partition='p', row='r', **properties):
    return {'PartitionKey': partition, 'RowKey': row, **properties}


def keys(found):
    return [(item['PartitionKey'], item['RowKey']) for item in found]


# Tables

def test_tables_come_and_go(tables):
    name = 'T' + uuid.uuid4().hex
    client = tables.create_table(name)
    with pytest.raises(ResourceExistsError) as caught:
        tables.create_table(name.lower())
    assert caught.value.error_code == 'TableAlreadyExists'
    assert tables.create_table_if_not_exists(name).table_name == name
    assert [found.name for found in tables.query_tables("TableName eq '%s'" % name)] == [name]
    client.delete_table()
    assert [found.name for found in tables.query_tables("TableName eq '%s'" % name)] == []
    client.delete_table()                                         # the client takes the second refusal as done


def test_tables_are_listed_by_page(tables):
    prefix = 'l' + uuid.uuid4().hex[:12]
    names = [prefix + letter for letter in 'abcde']
    for name in names:
        tables.create_table(name)
    asked = "TableName ge '%s' and TableName lt '%sz'" % (prefix, prefix)
    pages = [[found.name for found in page] for page in tables.query_tables(asked, results_per_page=2).by_page()]
    assert [name for page in pages for name in page] == names
    assert all(len(page) <= 2 for page in pages)
    for name in names:
        tables.delete_table(name)


@pytest.mark.parametrize('name, code', [('aa', 'OutOfRangeInput'), ('1table', 'InvalidResourceName'), ('a' * 64, 'OutOfRangeInput')])
def test_names(tables, name, code):
    with pytest.raises((HttpResponseError, ValueError)) as caught:
        tables.create_table(name)
    assert getattr(caught.value, 'error_code', code) == code


# Types

EVERYTHING = {
    'text': 'Grüße \U0001F600 "quoted" \\ \n line',
    'empty': '',
    'flag': True,
    'small': 42,
    'least': -2 ** 31,
    'large': EntityProperty(2 ** 63 - 1, EdmType.INT64),
    'real': 3.25,
    'whole': 5.0,
    'nan': float('nan'),
    'infinite': float('-inf'),
    'id': uuid.UUID('c9da6455-213d-42c9-9a79-3e9149a57833'),
    'when': datetime.datetime(2021, 3, 23, 18, 28, 39, 49482, tzinfo=datetime.timezone.utc),
    'bytes': bytes(range(256)),
    'naïve': 1,
}


def test_every_type_comes_back(table):
    table.create_entity(entity(**EVERYTHING))
    found = table.get_entity('p', 'r')
    for name, value in EVERYTHING.items():
        got = found[name]
        if name == 'nan':
            assert got != got
        elif name == 'large':
            assert got.value == value.value and got.edm_type == EdmType.INT64
        else:
            assert type(got) is type(value) or isinstance(got, type(value)), name
            assert got == value, name
    assert found.metadata['etag'].startswith('W/"datetime\'')
    assert set(found) == {'PartitionKey', 'RowKey', *EVERYTHING}


@pytest.mark.parametrize('key', ["o'clock", '', ' ', '%', 'a+b', 'ü', '\U0001F600', '=& ', ':@', '(x)', 'a,b', "''", 'k' * 512])
def test_keys_of_all_kinds(table, key):
    table.create_entity(entity(key, key, n=1))
    assert table.get_entity(key, key)['n'] == 1
    table.update_entity(entity(key, key, n=2), mode=UpdateMode.MERGE)
    found = list(table.query_entities('PartitionKey eq @key and RowKey eq @key', parameters={'key': key}))
    assert [item['n'] for item in found] == [2]
    table.delete_entity(key, key)
    with pytest.raises(ResourceNotFoundError):
        table.get_entity(key, key)


def test_limits(table):
    refused(400, 'TooManyProperties', table.create_entity, entity(**{'p%d' % n: n for n in range(253)}))
    refused(400, 'PropertyNameTooLong', table.create_entity, entity(**{'n' * 256: 1}))
    refused(400, 'PropertyNameInvalid', table.create_entity, entity(**{'a-b': 1}))
    refused(400, 'PropertyValueTooLarge', table.create_entity, entity(s='x' * (32 * 1024 + 1)))
    refused(400, 'EntityTooLarge', table.create_entity, entity(**{'p%d' % n: 'x' * 32000 for n in range(17)}))
    refused(400, 'OutOfRangeInput', table.create_entity, entity('a/b'))
    refused(400, 'KeyValueTooLong', table.create_entity, entity('k' * 513))
    assert list(table.list_entities()) == []


def test_nearly_a_mebibyte(table):
    whole = {'p%d' % n: chr(ord('a') + n) * 32000 for n in range(16)}
    table.create_entity(entity(**whole))
    table.update_entity(entity(p3='changed'), mode=UpdateMode.MERGE)
    found = table.get_entity('p', 'r')
    assert {name: found[name] for name in whole} == {**whole, 'p3': 'changed'}
    assert keys(table.query_entities("p15 eq '%s'" % ('p' * 10))) == []
    assert keys(table.query_entities("p3 eq 'changed' and p0 ge 'aaa'")) == [('p', 'r')]


# The three strategies

def test_insert_once(table):
    table.create_entity(entity(n=1))
    with pytest.raises(ResourceExistsError) as caught:
        table.create_entity(entity(n=2))
    assert (caught.value.status_code, code_of(caught.value)) == (409, 'EntityAlreadyExists')
    assert table.get_entity('p', 'r')['n'] == 1


@pytest.mark.parametrize('mode', [UpdateMode.MERGE, UpdateMode.REPLACE])
def test_optimistic_updates(table, mode):
    old = table.create_entity(entity(n=1, kept=True))['etag']
    fresh = table.update_entity(entity(n=2), mode=mode, etag=old, match_condition=MatchConditions.IfNotModified)['etag']
    assert fresh != old
    with pytest.raises(ResourceModifiedError) as caught:
        table.update_entity(entity(n=3), mode=mode, etag=old, match_condition=MatchConditions.IfNotModified)
    assert (caught.value.status_code, caught.value.error_code) == (412, 'UpdateConditionNotSatisfied')
    found = table.get_entity('p', 'r')
    assert found['n'] == 2 and found.metadata['etag'] == fresh
    assert ('kept' in found) == (mode is UpdateMode.MERGE)
    table.update_entity(entity(n=4), mode=mode)                   # If-Match: *
    assert table.get_entity('p', 'r')['n'] == 4


def test_optimistic_deletes(table):
    old = table.create_entity(entity())['etag']
    table.update_entity(entity(n=1))
    with pytest.raises(ResourceModifiedError):
        table.delete_entity('p', 'r', etag=old, match_condition=MatchConditions.IfNotModified)
    table.delete_entity('p', 'r')
    table.delete_entity('p', 'r')                                 # the client takes the 404 as done


def test_updates_never_insert_and_upserts_always_do(table):
    for mode in UpdateMode:
        with pytest.raises(ResourceNotFoundError) as caught:
            table.update_entity(entity(n=1), mode=mode)
        assert caught.value.error_code == 'ResourceNotFound'
    table.upsert_entity(entity(a=1), mode=UpdateMode.MERGE)
    table.upsert_entity(entity(b=2), mode=UpdateMode.MERGE)
    assert {'a', 'b'} <= set(table.get_entity('p', 'r'))
    table.upsert_entity(entity(c=3), mode=UpdateMode.REPLACE)
    assert set(table.get_entity('p', 'r')) == {'PartitionKey', 'RowKey', 'c'}


def test_a_counter_under_etags(tables, table):
    """Everybody reads, adds one, writes under the ETag, and tries again when somebody else was faster."""
    table.create_entity(entity(n=0))

    def add(_):
        for _ in range(5):
            while True:
                found = table.get_entity('p', 'r')
                found['n'] += 1
                try:
                    table.update_entity(found, mode=UpdateMode.REPLACE, etag=found.metadata['etag'],
                                        match_condition=MatchConditions.IfNotModified)
                    break
                except ResourceModifiedError:
                    pass

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert table.get_entity('p', 'r')['n'] == 40


# Groups

def test_a_group_of_all_kinds(table):
    for row in 'abcd':
        table.create_entity(entity(row=row, n=1, kept=True))
    done = table.submit_transaction([
        ('create', entity(row='new', n=1)),
        ('delete', entity(row='a')),
        ('update', entity(row='b', n=2), {'mode': 'merge'}),
        ('update', entity(row='c', n=3), {'mode': 'replace'}),
        ('upsert', entity(row='d', n=4), {'mode': 'merge'}),
        ('upsert', entity(row='e', n=5), {'mode': 'replace'}),
    ])
    assert len(done) == 6 and all('etag' in part for at, part in enumerate(done) if at != 1)
    found = {item['RowKey']: item for item in table.list_entities()}
    assert sorted(found) == ['b', 'c', 'd', 'e', 'new']
    assert ['kept' in found[row] for row in 'bcde'] == [True, False, True, False]
    assert [found[row]['n'] for row in 'bcde'] == [2, 3, 4, 5]
    assert found['new'].metadata['etag'] == done[0]['etag']


def test_a_hundred_large_entities(table):
    group = [('create', entity(row='%03d' % n, s=chr(ord('a') + n % 26) * 20000)) for n in range(100)]
    table.submit_transaction(group)
    assert [item['s'] for item in table.list_entities()] == [part[1]['s'] for part in group]
    with pytest.raises(TableTransactionError) as caught:
        table.submit_transaction([('upsert', entity(row='%03d' % n)) for n in range(101)])
    assert caught.value.error_code == 'InvalidInput'


@pytest.mark.parametrize('group, index, code', [
    ([('create', entity(row='1')), ('create', entity(row='taken'))], 1, 'EntityAlreadyExists'),
    ([('create', entity(row='1')), ('update', entity(row='absent'))], 1, 'ResourceNotFound'),
    ([('create', entity(row='1')), ('create', entity('other', '2'))], 1, 'CommandsInBatchActOnDifferentPartitions'),
    ([('create', entity(row='1')), ('delete', entity(row='1'))], 1, 'InvalidDuplicateRow'),
    ([('update', entity(row='taken', n=1), {'etag': 'W/"wrong"', 'match_condition': MatchConditions.IfNotModified}),
      ('create', entity(row='1'))], 0, 'UpdateConditionNotSatisfied'),
])
def test_a_group_fails_whole(table, group, index, code):
    table.create_entity(entity(row='taken'))
    with pytest.raises((TableTransactionError, ValueError)) as caught:
        table.submit_transaction(group)
    if isinstance(caught.value, TableTransactionError):          # some groups the client refuses itself
        assert (caught.value.error_code, caught.value.index) == (code, index)
    assert keys(table.list_entities()) == [('p', 'taken')]


def test_amounts_move_and_the_sum_stays(table):
    table.submit_transaction([('create', entity('bank', str(n), amount=100)) for n in range(4)])

    def move(seed):
        for step in range(5):
            rows = {item['RowKey']: item for item in table.query_entities("PartitionKey eq 'bank'")}
            assert sum(item['amount'] for item in rows.values()) == 400
            one, other = rows[str((seed + step) % 4)], rows[str((seed + step + 1) % 4)]
            one['amount'] -= 1
            other['amount'] += 1
            try:
                table.submit_transaction([('update', item, {'mode': 'replace', 'etag': item.metadata['etag'],
                                                            'match_condition': MatchConditions.IfNotModified})
                                          for item in (one, other)])
            except TableTransactionError as lost:
                assert lost.error_code == 'UpdateConditionNotSatisfied'

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(move, range(8)))
    assert sum(item['amount'] for item in table.list_entities()) == 400


# Queries

@pytest.fixture
def people(table):
    for partition in ('a', 'b', 'c'):
        group = []
        for n in range(10):
            group.append(('create', entity(partition, '%02d' % n, n=n, even=n % 2 == 0, half=n / 2,
                                           big=EntityProperty(2 ** 40 + n, EdmType.INT64), name='n%d' % n,
                                           id=uuid.UUID(int=n), when=datetime.datetime(2020, 1, 1 + n, tzinfo=datetime.timezone.utc),
                                           raw=bytes([n]))))
        table.submit_transaction(group)
    return table


@pytest.mark.parametrize('asked, count', [
    ("PartitionKey eq 'a'", 10),
    ("PartitionKey eq 'a' and RowKey eq '03'", 1),
    ("PartitionKey eq 'a' and RowKey ge '03' and RowKey lt '07'", 4),
    ("PartitionKey gt 'a'", 20),
    ("PartitionKey eq 'a' or PartitionKey eq 'c'", 20),
    ("not (PartitionKey eq 'a')", 20),
    ('n lt 3', 9),
    ('n eq 3 and even eq false', 3),
    ('even', 15),
    ('half ge 4.5', 3),
    ('half ge 4', 6),
    ('big gt 1099511627783L', 6),
    ("name eq 'n5'", 3),
    ("id eq guid'00000000-0000-0000-0000-000000000007'", 3),
    ("when lt datetime'2020-01-03T00:00:00Z'", 6),
    ("raw eq X'05'", 3),
    ("missing ne 'x'", 0),
    ("not (missing eq 'x')", 30),
    ("n eq 'text'", 0),
    ("Timestamp gt datetime'2001-01-01T00:00:00Z'", 30),
])
def test_filters(people, asked, count):
    assert len(list(people.query_entities(asked))) == count


def test_filters_that_are_none(people):
    refused(400, 'InvalidInput', people.query_entities, 'aaa bbb ccc')
    refused(501, 'NotImplemented', people.query_entities, "startswith(name, 'n')")


def test_pages_in_order(people):
    everything = keys(people.list_entities())
    assert everything == sorted(everything) and len(everything) == 30
    pages = [keys(page) for page in people.list_entities(results_per_page=7).by_page()]
    assert [len(page) for page in pages] == [7, 7, 7, 7, 2]
    assert [key for page in pages for key in page] == everything
    first = people.query_entities("PartitionKey eq 'b'", results_per_page=4).by_page()
    next(first)
    rest = people.query_entities("PartitionKey eq 'b'", results_per_page=4).by_page(continuation_token=first.continuation_token)
    assert [len(list(page)) for page in rest] == [4, 2]


def test_select(people):
    found = people.get_entity('a', '01', select=['n', 'name'])
    assert (found['n'], found['name']) == (1, 'n1') and 'half' not in found
    found = list(people.query_entities("PartitionKey eq 'a'", select='n'))
    assert [item['n'] for item in found] == list(range(10))


# Access

def test_sas_of_a_table(target, people):
    credential = AzureNamedKeyCredential(target.account, target.key)
    endpoint = people.url

    def opened(permission, **named):
        token = generate_table_sas(credential, people.table_name, permission=TableSasPermissions.from_string(permission),
                                   expiry=now() + HOUR, **named)
        return TableServiceClient(endpoint, credential=AzureSasCredential(token), **ONE_TRY).get_table_client(people.table_name)

    assert len(list(opened('r').list_entities())) == 30
    refused(403, 'AuthorizationPermissionMismatch', opened('r').create_entity, entity('z'))
    opened('a').create_entity(entity('z'))
    refused(403, 'AuthorizationPermissionMismatch', opened('a').upsert_entity, entity('z'))
    opened('au').upsert_entity(entity('z', n=1))
    with pytest.raises(HttpResponseError):
        opened('a').submit_transaction([('upsert', entity('z', '1'))])
    opened('au').submit_transaction([('upsert', entity('z', '1')), ('create', entity('z', '2'))])
    ranged = opened('ra', start_pk='b', start_rk='03', end_pk='b', end_rk='05')
    assert keys(ranged.list_entities()) == [('b', '03'), ('b', '04'), ('b', '05')]
    refused(404, 'ResourceNotFound', ranged.get_entity, 'b', '06')
    refused(403, 'AuthorizationFailure', ranged.create_entity, entity('b', '99'))
    other = TableServiceClient(endpoint, credential=AzureSasCredential(
        generate_table_sas(credential, 'another', permission=TableSasPermissions(read=True), expiry=now() + HOUR)), **ONE_TRY)
    with pytest.raises(HttpResponseError) as caught:
        list(other.get_table_client(people.table_name).list_entities())
    assert caught.value.status_code == 403


def test_stored_policies(target, people):
    people.set_table_access_policy({'reader': TableAccessPolicy(permission='r', start=now() - HOUR, expiry=now() + HOUR), 'empty': None})
    policies = people.get_table_access_policy()
    assert set(policies) == {'reader', 'empty'} and policies['reader'].permission == 'r'
    credential = AzureNamedKeyCredential(target.account, target.key)
    token = generate_table_sas(credential, people.table_name, policy_id='reader')
    endpoint = people.url
    reader = TableServiceClient(endpoint, credential=AzureSasCredential(token), **ONE_TRY).get_table_client(people.table_name)
    assert reader.get_entity('a', '01')['n'] == 1
    refused(403, 'AuthorizationPermissionMismatch', reader.create_entity, entity('z'))
    people.set_table_access_policy({})
    with pytest.raises(HttpResponseError) as caught:
        reader.get_entity('a', '01')
    assert caught.value.status_code == 403


def test_account_sas(target, tables, people):
    credential = AzureNamedKeyCredential(target.account, target.key)
    endpoint = people.url
    token = generate_account_sas(credential, resource_types=ResourceTypes(object=True),
                                 permission=AccountSasPermissions(read=True), expiry=now() + HOUR)
    service = TableServiceClient(endpoint, credential=AzureSasCredential(token), **ONE_TRY)
    assert service.get_table_client(people.table_name).get_entity('a', '01')['n'] == 1
    refused(403, 'AuthorizationResourceTypeMismatch', service.create_table, 't' + uuid.uuid4().hex)


def test_service_properties(tables):
    kept = tables.get_service_properties()
    try:
        rule = TableCorsRule(['http://example.com'], ['GET'], max_age_in_seconds=5)
        tables.set_service_properties(analytics_logging=TableAnalyticsLogging(write=True, retention_policy=TableRetentionPolicy(enabled=True, days=5)),
                                      hour_metrics=TableMetrics(enabled=True, include_apis=True), cors=[rule])
        found = tables.get_service_properties()
        assert found['analytics_logging'].write and found['analytics_logging'].retention_policy.days == 5
        assert found['hour_metrics'].include_apis
        assert [rule.allowed_origins for rule in found['cors']] == [['http://example.com']]
    finally:
        tables.set_service_properties(analytics_logging=kept['analytics_logging'], hour_metrics=kept['hour_metrics'], cors=[])
