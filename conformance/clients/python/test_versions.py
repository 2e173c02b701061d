"""Versions of blobs, and what can be brought back: blobs, snapshots, versions, containers."""
import uuid

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import RetentionPolicy
from conftest import Target, refused_with


@pytest.fixture(scope='module')
def accounts(own_server):
    """A target with each set of features, started once."""
    started = {}

    def get(features, retention):
        if (features, retention) not in started:
            server = own_server(*(['--features', features] if features else []))
            target = Target(server.connection_string, server.clock_url)
            if retention:
                target.service().set_service_properties(delete_retention_policy=RetentionPolicy(True, days=3))
            started[features, retention] = target
        return started[features, retention]
    return get


@pytest.fixture
def box(accounts):
    def make(features='', retention=False):
        return accounts(features, retention).service().create_container('t' + uuid.uuid4().hex)
    return make


def states(container, *include):
    return ['%s%s%s' % (blob.name, ' current' if blob.is_current_version else '', ' deleted' if blob.deleted else '')
            for blob in container.list_blobs(include=list(include))]


def test_versions_are_read_promoted_and_deleted(box):
    container = box('versioning')
    blob = container.get_blob_client('blob')
    ids = [blob.upload_blob(text, overwrite=True)['version_id'] for text in (b'one', b'two', b'three')]
    marked = blob.set_blob_metadata({'n': '4'})['version_id']
    assert [item.version_id for item in container.list_blobs(include=['versions'])] == [*ids, marked]
    assert states(container, 'versions') == ['blob', 'blob', 'blob', 'blob current']
    assert blob.download_blob(version_id=ids[0]).readall() == b'one'
    assert blob.get_blob_properties(version_id=ids[1]).size == 3
    blob.delete_blob()
    assert not blob.exists()
    assert states(container) == [] and states(container, 'versions') == ['blob'] * 4
    blob.start_copy_from_url('%s?versionid=%s' % (blob.url, ids[1]))
    assert blob.download_blob().readall() == b'two'
    blob.delete_blob(version_id=ids[0])
    with refused_with(404, 'BlobNotFound'):
        blob.download_blob(version_id=ids[0])
    blob.set_standard_blob_tier('Cool', version_id=ids[2])
    assert blob.get_blob_properties(version_id=ids[2]).blob_tier == 'Cool'
    blob.set_blob_tags({'a': 'b'}, version_id=ids[2])
    assert (blob.get_blob_tags(version_id=ids[2]), blob.get_blob_tags()) == ({'a': 'b'}, {})


def test_the_current_version_is_not_deleted_by_its_id(box):
    blob = box('versioning').get_blob_client('blob')
    current = blob.upload_blob(b'one')['version_id']
    with pytest.raises(HttpResponseError) as refused:
        blob.delete_blob(version_id=current)
    assert (refused.value.status_code, refused.value.error_code) == (403, 'OperationNotAllowedOnRootBlob')
    assert blob.download_blob().readall() == b'one'


def test_undelete_of_a_blob_and_its_snapshots(box):
    container = box(retention=True)
    blob = container.get_blob_client('blob')
    blob.upload_blob(b'kept', metadata={'a': 'b'}, tags={'t': 'u'})
    snapshot = blob.create_snapshot()['snapshot']
    blob.delete_blob(delete_snapshots='include')
    with refused_with(404, 'BlobNotFound'):
        blob.download_blob()
    assert states(container) == []
    assert states(container, 'deleted', 'snapshots') == ['blob deleted', 'blob deleted']
    shown = next(iter(container.list_blobs(include=['deleted'])))
    assert shown.remaining_retention_days == 2 and shown.deleted_time is not None
    blob.undelete_blob()
    assert (blob.download_blob().readall(), blob.get_blob_properties().metadata) == (b'kept', {'a': 'b'})
    assert blob.get_blob_tags() == {'t': 'u'}
    assert container.get_blob_client('blob', snapshot=snapshot).download_blob().readall() == b'kept'
    blob.undelete_blob()


def test_what_was_overwritten_can_be_brought_back(box):
    container = box(retention=True)
    blob = container.get_blob_client('blob')
    blob.upload_blob(b'one')
    blob.upload_blob(b'two', overwrite=True)
    old = next(item for item in container.list_blobs(include=['deleted', 'snapshots']) if item.deleted)
    blob.undelete_blob()
    assert container.get_blob_client('blob', snapshot=old.snapshot).download_blob().readall() == b'one'
    assert blob.download_blob().readall() == b'two'


def test_a_deleted_version(box):
    container = box('versioning', retention=True)
    blob = container.get_blob_client('blob')
    first = blob.upload_blob(b'one')['version_id']
    blob.upload_blob(b'two', overwrite=True)
    blob.delete_blob(version_id=first)
    assert states(container, 'versions') == ['blob current']
    assert states(container, 'versions', 'deleted') == ['blob deleted', 'blob current']
    blob.undelete_blob()
    assert blob.download_blob(version_id=first).readall() == b'one'


def test_restored_containers(accounts):
    service = accounts('containerSoftDelete=7', False).service()
    container = service.create_container('t' + uuid.uuid4().hex, metadata={'a': 'b'})
    container.upload_blob('blob', b'kept')
    name = container.container_name
    container.delete_container()
    assert [item.name for item in service.list_containers(name)] == []
    deleted, = service.list_containers(name, include_deleted=True)
    assert deleted.deleted and deleted.version
    restored = service.undelete_container(name, deleted.version)
    assert restored.download_blob('blob').readall() == b'kept'
    assert restored.get_container_properties().metadata == {'a': 'b'}
