"""Pessimistic concurrency: a lease is exclusive while it holds, and worth nothing once it does not."""
import uuid

import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobLeaseClient, ContentSettings
from conftest import refused_with

WRITES = {
    'Put Blob': lambda blob, **lease: blob.upload_blob(b'new', overwrite=True, **lease),
    'Put Block': lambda blob, **lease: blob.stage_block('YQ==', b'block', **lease),
    'Put Block List': lambda blob, **lease: blob.commit_block_list([], **lease),
    'Set Blob Metadata': lambda blob, **lease: blob.set_blob_metadata({'a': 'b'}, **lease),
    'Set Blob Properties': lambda blob, **lease: blob.set_http_headers(ContentSettings('text/plain'), **lease),
    'Delete Blob': lambda blob, **lease: blob.delete_blob(**lease),
}


def state(client):
    properties = (client.get_blob_properties if hasattr(client, 'get_blob_properties') else client.get_container_properties)()
    return properties.lease.state, properties.lease.status, properties.lease.duration


@pytest.mark.parametrize('title', WRITES)
def test_a_write_needs_the_lease_id(blob, title):
    blob.upload_blob(b'old')
    lease = blob.acquire_lease(60)
    with refused_with(412, 'LeaseIdMissing'):
        WRITES[title](blob)
    with refused_with(412, 'LeaseIdMismatchWithBlobOperation'):
        WRITES[title](blob, lease=str(uuid.uuid4()))
    assert blob.download_blob().readall() == b'old'
    WRITES[title](blob, lease=lease)


def test_reads_need_no_lease_but_check_one_that_is_sent(blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(-1)
    assert blob.download_blob().readall() == b'x'
    assert blob.download_blob(lease=lease).readall() == b'x'
    with refused_with(412, 'LeaseIdMismatchWithBlobOperation'):
        blob.download_blob(lease=str(uuid.uuid4()))
    assert state(blob) == ('leased', 'locked', 'infinite')


def test_acquire_on_a_leased_blob(blob):
    blob.upload_blob(b'x')
    held = blob.acquire_lease(15)
    with refused_with(409, 'LeaseAlreadyPresent'):
        blob.acquire_lease(15)
    with refused_with(409, 'LeaseAlreadyPresent'):
        blob.acquire_lease(15, lease_id=str(uuid.uuid4()))
    assert blob.acquire_lease(60, lease_id=held.id).id == held.id


def test_a_write_with_an_expired_lease(target, blob):
    blob.upload_blob(b'old')
    lease = blob.acquire_lease(15)
    target.advance(14)
    blob.upload_blob(b'in time', overwrite=True, lease=lease)
    target.advance(2)
    assert state(blob) == ('expired', 'unlocked', None)
    with refused_with(412, 'LeaseLost'):
        blob.upload_blob(b'too late', overwrite=True, lease=lease)
    assert blob.download_blob().readall() == b'in time'


def test_an_expired_lease_can_be_renewed_until_somebody_else_writes(target, blob):
    blob.upload_blob(b'one')
    lease = blob.acquire_lease(15)
    target.advance(16)
    lease.renew()
    blob.upload_blob(b'two', overwrite=True, lease=lease)
    target.advance(16)
    blob.upload_blob(b'three', overwrite=True)
    assert state(blob) == ('available', 'unlocked', None)
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        lease.renew()
    with refused_with(412, 'LeaseNotPresentWithBlobOperation'):
        blob.upload_blob(b'four', overwrite=True, lease=lease)
    assert blob.download_blob().readall() == b'three'


def test_an_expired_lease_is_free_for_another(target, blob):
    blob.upload_blob(b'x')
    mine = blob.acquire_lease(15)
    target.advance(16)
    theirs = blob.acquire_lease(15)
    with refused_with(412, 'LeaseIdMismatchWithBlobOperation'):
        blob.upload_blob(b'y', overwrite=True, lease=mine)
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        mine.renew()
    blob.upload_blob(b'z', overwrite=True, lease=theirs)


def test_renewing_keeps_the_lease_beyond_its_first_term(target, blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(15)
    for _ in range(3):
        target.advance(10)
        lease.renew()
    with refused_with(412, 'LeaseIdMissing'):
        blob.upload_blob(b'y', overwrite=True)


def test_break_with_a_period(target, blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(-1)
    assert BlobLeaseClient(blob).break_lease(lease_break_period=10) == 10
    assert state(blob)[:2] == ('breaking', 'locked')
    with refused_with(409, 'LeaseAlreadyPresent'):
        blob.acquire_lease(15)
    with refused_with(409, 'LeaseIsBrokenAndCannotBeRenewed'):
        lease.renew()
    blob.upload_blob(b'still mine', overwrite=True, lease=lease)
    target.advance(11)
    assert state(blob) == ('broken', 'unlocked', None)
    with refused_with(412, 'LeaseLost'):
        blob.upload_blob(b'no longer', overwrite=True, lease=lease)
    blob.acquire_lease(15)


def test_break_without_a_period(blob):
    blob.upload_blob(b'x')
    blob.acquire_lease(-1)
    assert BlobLeaseClient(blob).break_lease() == 0
    assert state(blob)[0] == 'broken'
    blob.acquire_lease(60)
    assert 58 <= BlobLeaseClient(blob).break_lease() <= 60
    assert state(blob)[0] == 'breaking'


def test_change_hands_the_lease_over(blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(-1)
    old, new = lease.id, str(uuid.uuid4())
    lease.change(new)
    assert lease.id == new
    with refused_with(412, 'LeaseIdMismatchWithBlobOperation'):
        blob.upload_blob(b'y', overwrite=True, lease=old)
    blob.upload_blob(b'y', overwrite=True, lease=new)


def test_release_frees_at_once(blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(-1)
    again = BlobLeaseClient(blob, lease_id=lease.id)
    lease.release()
    assert state(blob) == ('available', 'unlocked', None)
    blob.upload_blob(b'y', overwrite=True)
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        again.release()


def test_a_lease_on_nothing(blob):
    with refused_with(404, 'BlobNotFound'):
        blob.acquire_lease(15)
    with refused_with(412, 'LeaseNotPresentWithBlobOperation'):
        blob.upload_blob(b'x', overwrite=True, lease=str(uuid.uuid4()))


@pytest.mark.parametrize('seconds', [0, 14, 61, -2])
def test_durations_that_are_none(blob, seconds):
    blob.upload_blob(b'x')
    with refused_with(400, 'InvalidHeaderValue'):
        blob.acquire_lease(seconds)


def test_the_lease_is_judged_before_the_conditions(blob):
    blob.upload_blob(b'x')
    lease = blob.acquire_lease(-1)
    absent = {'etag': '*', 'match_condition': MatchConditions.IfModified}
    with refused_with(412, 'LeaseIdMissing'):
        blob.upload_blob(b'y', overwrite=True, **absent)
    blob.upload_blob(b'y', overwrite=True, lease=lease, **absent)


def test_lease_and_etag_together(blob):
    old = blob.upload_blob(b'one')['etag']
    lease = blob.acquire_lease(-1)
    new = blob.upload_blob(b'two', overwrite=True, lease=lease)['etag']
    with refused_with(412, 'ConditionNotMet'):
        blob.upload_blob(b'three', overwrite=True, lease=lease, etag=old, match_condition=MatchConditions.IfNotModified)
    blob.upload_blob(b'three', overwrite=True, lease=lease, etag=new, match_condition=MatchConditions.IfNotModified)


def test_a_container_lease_guards_only_delete(container):
    lease = container.acquire_lease(60)
    assert state(container) == ('leased', 'locked', 'fixed')
    container.upload_blob('a', b'x')
    container.upload_blob('a', b'y', overwrite=True)
    container.set_container_metadata({'a': 'b'})
    container.set_container_access_policy({})
    container.delete_blob('a')
    with refused_with(412, 'LeaseIdMissing'):
        container.delete_container()
    with refused_with(412, 'LeaseIdMismatchWithContainerOperation'):
        container.delete_container(lease=str(uuid.uuid4()))
    with refused_with(412, 'LeaseIdMismatchWithContainerOperation'):
        container.set_container_metadata({'a': 'c'}, lease=str(uuid.uuid4()))
    with refused_with(409, 'LeaseAlreadyPresent'):
        container.acquire_lease(60)
    container.delete_container(lease=lease)
    assert not container.exists()


def test_a_container_lease_expires(target, container):
    lease = container.acquire_lease(15)
    target.advance(16)
    assert state(container)[0] == 'expired'
    with refused_with(412, 'LeaseLost'):
        container.delete_container(lease=lease)
    container.delete_container()


def test_a_leased_blob_does_not_guard_its_container(container):
    container.upload_blob('a', b'x').acquire_lease(-1)
    container.delete_container()
    assert not container.exists()
