"""Metadata, content settings, containers' policies."""
import datetime

import pytest
from azure.storage.blob import AccessPolicy, ContainerSasPermissions, ContentSettings
from conftest import refused_with


def test_metadata_of_a_blob(blob):
    blob.upload_blob(b'x', metadata={'Hello': 'World', 'number': '42'})
    assert blob.get_blob_properties().metadata == {'Hello': 'World', 'number': '42'}
    blob.set_blob_metadata({'only': 'this'})
    assert blob.get_blob_properties().metadata == {'only': 'this'}
    blob.set_blob_metadata({})
    assert blob.get_blob_properties().metadata == {}
    assert blob.download_blob().readall() == b'x'


def test_tags_of_a_blob(blob):
    blob.upload_blob(b'x', tags={'year': '2026', 'kind': 'a b'})
    before = blob.get_blob_properties()
    assert blob.get_blob_tags() == {'year': '2026', 'kind': 'a b'}
    blob.set_blob_tags({'only': 'this'}, if_tags_match_condition='"year" = \'2026\'')
    assert blob.get_blob_tags() == {'only': 'this'}
    with refused_with(412, 'ConditionNotMet'):
        blob.set_blob_tags({'never': 'set'}, if_tags_match_condition='"year" = \'2026\'')
    after = blob.get_blob_properties()
    assert (after.etag, after.last_modified, after.tag_count) == (before.etag, before.last_modified, 1)
    blob.set_blob_tags({})
    assert blob.get_blob_tags() == {}


@pytest.mark.parametrize('name', ['with-hyphen', '1digit'])
def test_metadata_names_are_identifiers(blob, name):
    blob.upload_blob(b'x')
    with refused_with(400, 'InvalidMetadata'):
        blob.set_blob_metadata({name: 'value'})


def test_metadata_of_a_container(container):
    container.set_container_metadata({'a': 'b'})
    assert container.get_container_properties().metadata == {'a': 'b'}
    container.upload_blob('x', b'')
    assert container.get_container_properties().metadata == {'a': 'b'}


def test_content_settings(blob):
    blob.upload_blob(b'x', content_settings=ContentSettings(
        content_type='text/plain; charset=utf-8', content_encoding='identity', content_language='de',
        content_disposition='attachment; filename="x"', cache_control='no-store'))
    told = blob.get_blob_properties().content_settings
    assert (told.content_type, told.content_encoding, told.content_language, told.content_disposition, told.cache_control) == (
        'text/plain; charset=utf-8', 'identity', 'de', 'attachment; filename="x"', 'no-store')
    blob.set_http_headers(ContentSettings('image/png'))
    told = blob.get_blob_properties().content_settings
    assert (told.content_type, told.content_encoding, told.cache_control) == ('image/png', None, None)
    blob.upload_blob(b'y', overwrite=True)
    assert blob.get_blob_properties().content_settings.content_type == 'application/octet-stream'


def test_times(blob):
    blob.upload_blob(b'x')
    first = blob.get_blob_properties()
    blob.upload_blob(b'y', overwrite=True)
    second = blob.get_blob_properties()
    # Overwriting makes a blob anew in content, but its time of creation is that of the first.
    assert second.creation_time == first.creation_time
    assert second.last_modified >= first.last_modified


def test_stored_access_policies(container):
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    policies = {'read': AccessPolicy(ContainerSasPermissions(read=True, list=True), expiry=now + datetime.timedelta(hours=1), start=now)}
    container.set_container_access_policy(policies, public_access='blob')
    told = container.get_container_access_policy()
    assert told['public_access'] == 'blob'
    policy, = told['signed_identifiers']
    assert (policy.id, policy.access_policy.permission) == ('read', 'rl')
    container.set_container_access_policy({})
    told = container.get_container_access_policy()
    assert (told['public_access'], told['signed_identifiers']) == (None, [])


def test_what_is_not_there(service, container):
    missing = service.get_container_client('not-there-at-all')
    with refused_with(404, 'ContainerNotFound'):
        missing.get_container_properties()
    with refused_with(404, 'ContainerNotFound'):
        missing.upload_blob('x', b'y')
    with refused_with(404, 'BlobNotFound'):
        container.download_blob('nothing')
    with refused_with(404, 'BlobNotFound'):
        container.delete_blob('nothing')
    with refused_with(409, 'ContainerAlreadyExists'):
        container.create_container()


def test_account_information(service):
    assert {'sku_name', 'account_kind'} <= set(service.get_account_information())
