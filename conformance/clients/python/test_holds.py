"""Immutability policies, legal holds, the last access time, expiry."""
from datetime import datetime, timedelta, timezone

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import ImmutabilityPolicy

from conftest import Target, refused_with


@pytest.fixture
def held(own_server):
    server = own_server('--features', 'immutability,lastAccessTime')
    target = Target(server.connection_string, server.clock_url)
    return target, target.service().create_container('held')


def policy(seconds, mode='Unlocked'):
    return ImmutabilityPolicy(expiry_time=datetime.now(timezone.utc) + timedelta(seconds=seconds), policy_mode=mode)


def test_a_held_blob_stays(held):
    _, container = held
    blob = container.get_blob_client('blob')
    blob.upload_blob(b'data', immutability_policy=policy(600), legal_hold=True)
    found = blob.get_blob_properties()
    assert found.has_legal_hold and found.immutability_policy.policy_mode == 'unlocked'
    with refused_with(409, 'BlobImmutableDueToLegalHold'):
        blob.delete_blob()
    listed = next(iter(container.list_blobs(include=['immutabilitypolicy', 'legalhold'])))
    assert listed.has_legal_hold and listed.immutability_policy.expiry_time is not None
    blob.set_legal_hold(False)
    with refused_with(409, 'BlobImmutableDueToPolicy'):
        blob.delete_blob()
    with refused_with(409, 'BlobImmutableDueToPolicy'):
        container.delete_container()
    blob.delete_immutability_policy()
    assert blob.get_blob_properties().immutability_policy.policy_mode is None
    blob.delete_blob()
    container.delete_container()


def test_a_locked_policy_ends_by_the_clock(held):
    target, container = held
    blob = container.get_blob_client('blob')
    blob.upload_blob(b'data')
    blob.set_immutability_policy(policy(100))
    blob.set_immutability_policy(policy(200, 'Locked'))
    # Of these two operations the client hands errors on as they come.
    for attempt, code in [(blob.delete_immutability_policy, 'ImmutabilityPolicyDeleteOnLockedPolicy'),
                          (lambda: blob.set_immutability_policy(policy(100, 'Locked')), 'BlobImmutableDueToPolicy')]:
        with pytest.raises(HttpResponseError) as caught:
            attempt()
        assert caught.value.status_code == 409 and code in str(caught.value)
    target.advance(210)
    blob.delete_blob()


def test_last_access_is_told(held):
    _, container = held
    blob = container.upload_blob('blob', b'data')
    found = blob.get_blob_properties()
    assert found.last_accessed_on == found.last_modified
    assert next(iter(container.list_blobs())).last_accessed_on == found.last_modified


def test_a_plain_account_takes_no_hold(container):
    with refused_with(400, 'UnsupportedHeader'):
        container.upload_blob('blob', b'data', legal_hold=True)
    assert not container.get_blob_client('blob').exists()


def test_expiry(container):
    """Of the client only the generated operations have it; that of the Data Lake shows it to its users."""
    blob = container.upload_blob('blob', b'data')
    client = blob._client.blob                                   # the generated operations
    etag = blob.get_blob_properties().etag
    client.set_expiry('RelativeToNow', expires_on='3600000')
    assert blob.get_blob_properties().etag == etag
    client.set_expiry('NeverExpire')
