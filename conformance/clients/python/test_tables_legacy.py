"""The client that came before azure-data-tables, still in many programs: other URLs, other headers, POST without Prefer."""
import uuid

import pytest

tableservice = pytest.importorskip('azure.cosmosdb.table.tableservice')
from azure.common import AzureConflictHttpError, AzureHttpError, AzureMissingResourceHttpError  # noqa: E402
from azure.cosmosdb.table.models import EdmType, EntityProperty  # noqa: E402
from azure.cosmosdb.table.tablebatch import TableBatch  # noqa: E402


@pytest.fixture
def table(target):
    service, name = tableservice.TableService(connection_string=target.connection_string), 't' + uuid.uuid4().hex
    service.retry = lambda context: None
    assert service.create_table(name) and service.exists(name)
    yield service, name
    service.delete_table(name)


def entity(row='r', **properties):
    return {'PartitionKey': 'p', 'RowKey': row, **properties}


@pytest.mark.parametrize('level', ['nometadata', 'minimalmetadata', 'fullmetadata'])
def test_entities_at_every_level(table, level):
    service, name = table
    service.insert_entity(name, entity(n=5, s="it's", big=EntityProperty(EdmType.INT64, 2 ** 40), d=3.5, b=EntityProperty(EdmType.BINARY, b'\1\2')))
    found = service.get_entity(name, 'p', 'r', accept='application/json;odata=' + level)
    assert (int(found.n), found.s, found.d) == (5, "it's", 3.5)
    assert int(found.big) == 2 ** 40                              # without metadata the client gives texts


def test_optimistic_concurrency(table):
    service, name = table
    etag = service.insert_entity(name, entity(n=1))
    with pytest.raises(AzureConflictHttpError):
        service.insert_entity(name, entity())
    service.update_entity(name, entity(n=2), if_match=etag)
    for change in (service.update_entity, service.merge_entity):
        with pytest.raises(AzureHttpError) as caught:
            change(name, entity(n=3), if_match=etag)
        assert caught.value.status_code == 412
    service.merge_entity(name, entity(m=1))
    assert (service.get_entity(name, 'p', 'r').n, service.get_entity(name, 'p', 'r').m) == (2, 1)
    service.delete_entity(name, 'p', 'r')
    with pytest.raises(AzureMissingResourceHttpError):
        service.get_entity(name, 'p', 'r')


def test_batches_and_queries(table):
    service, name = table
    service.insert_or_replace_entity(name, entity('gone'))
    service.insert_or_merge_entity(name, entity('kept'))
    batch = TableBatch()
    for n in range(20):
        batch.insert_entity(entity('%02d' % n, n=n))
    batch.delete_entity('p', 'gone')
    batch.merge_entity(entity('kept', z=1))
    assert len(service.commit_batch(name, batch)) == 22
    assert len(list(service.query_entities(name, filter='n ge 5'))) == 15
    first = service.query_entities(name, num_results=3)
    assert [item.RowKey for item in first] == ['00', '01', '02'] and first.next_marker
    batch = TableBatch()
    batch.insert_entity(entity('new'))
    batch.insert_entity(entity('kept'))
    with pytest.raises(Exception) as caught:
        service.commit_batch(name, batch)
    assert getattr(caught.value, 'code', None) == 'EntityAlreadyExists'
    assert len(list(service.query_entities(name))) == 21
