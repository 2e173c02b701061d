"""Leases of shares and files: acquire, renew, change, release, break; who may write meanwhile."""
import uuid

import pytest
from azure.storage.fileshare import ContentSettings, ShareLeaseClient
from conftest import refused_with


def lease_of(client):
    told = client.get_share_properties() if hasattr(client, 'get_share_properties') else client.get_file_properties()
    return told.lease.state, told.lease.status, told.lease.duration


def test_a_share_is_leased(share):
    lease = share.acquire_lease(lease_duration=-1)
    assert lease_of(share) == ('leased', 'locked', 'infinite')
    other = str(uuid.uuid4())
    with refused_with(409, 'LeaseAlreadyPresent'):
        share.acquire_lease(lease_duration=15)
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        ShareLeaseClient(share, other).renew()
    lease.renew()
    first = lease.id
    lease.change(other)
    assert lease.id == other != first
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        ShareLeaseClient(share, first).release()
    with refused_with(412, 'LeaseIdMissing'):
        share.delete_share()
    with refused_with(412, 'LeaseIdMismatchWithContainerOperation'):
        share.get_share_properties(lease=first)
    assert share.get_share_properties(lease=lease).lease.state == 'leased'
    lease.release()
    assert lease_of(share) == ('available', 'unlocked', None)


def test_writes_to_a_leased_share(share):
    lease = share.acquire_lease(lease_duration=-1)
    # A lease locks the share's deletion, and not what lies in it.
    share.get_file_client('file').upload_file(b'content')
    for write in (lambda **how: share.set_share_metadata({'a': 'b'}, **how), lambda **how: share.set_share_quota(3, **how),
                  lambda **how: share.set_share_access_policy({}, **how)):
        write(lease=lease)
        with refused_with(412, 'LeaseIdMismatchWithContainerOperation'):
            write(lease=str(uuid.uuid4()))
    held = lease.id
    lease.release()
    with refused_with(412, 'LeaseNotPresentWithContainerOperation'):
        share.set_share_metadata({'a': 'b'}, lease=held)


def test_a_share_s_lease_runs_out(target, share):
    lease = share.acquire_lease(lease_duration=15)
    assert lease_of(share) == ('leased', 'locked', 'fixed')
    target.advance(10)
    lease.renew()
    target.advance(10)
    assert lease_of(share)[0] == 'leased'
    target.advance(6)
    assert lease_of(share) == ('expired', 'unlocked', None)
    lease.renew()
    assert lease_of(share)[0] == 'leased'
    target.advance(16)
    taken = share.acquire_lease(lease_duration=60)
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        lease.renew()
    share.delete_share(lease=taken)


def test_a_share_s_lease_is_broken(target, share):
    share.acquire_lease(lease_duration=60)
    breaker = ShareLeaseClient(share)
    assert breaker.break_lease(lease_break_period=20) == 20
    assert lease_of(share)[:2] == ('breaking', 'locked')
    with refused_with(409, 'LeaseAlreadyPresent'):
        share.acquire_lease()
    target.advance(21)
    assert lease_of(share)[:2] == ('broken', 'unlocked')
    share.acquire_lease(lease_duration=-1)
    assert breaker.break_lease() == 0
    assert lease_of(share)[:2] == ('broken', 'unlocked')


@pytest.mark.parametrize('seconds', [14, 61])
def test_durations_that_are_none(share, seconds):
    with refused_with(400, 'InvalidHeaderValue'):
        share.acquire_lease(lease_duration=seconds)


def test_a_snapshot_is_leased(shares, share):
    old = shares.get_share_client(share.share_name, snapshot=share.create_snapshot()['snapshot'])
    lease = old.acquire_lease(lease_duration=-1)
    assert lease_of(old)[0] == 'leased' and lease_of(share)[0] == 'available'
    with refused_with(412, 'LeaseIdMissing'):
        old.delete_share()
    with refused_with(409, 'DeleteShareWhenSnapshotLeased'):
        share.delete_share(delete_snapshots='include')
    lease.renew()
    lease.release()
    share.delete_share(delete_snapshots='include')


def test_a_file_is_leased(share):
    file = share.get_file_client('file')
    file.upload_file(b'content')
    etag = file.get_file_properties().etag
    lease = file.acquire_lease()
    assert lease_of(file) == ('leased', 'locked', 'infinite')
    assert file.get_file_properties().etag == etag
    with refused_with(409, 'LeaseAlreadyPresent'):
        file.acquire_lease()
    other = str(uuid.uuid4())
    writes = {
        'upload_range': lambda **how: file.upload_range(b'CON', 0, 3, **how), 'clear_range': lambda **how: file.clear_range(0, 512, **how),
        'resize': lambda **how: file.resize_file(600, **how), 'metadata': lambda **how: file.set_file_metadata({'a': 'b'}, **how),
        'headers': lambda **how: file.set_http_headers(ContentSettings(), **how), 'create': lambda **how: file.create_file(600, **how),
        'delete': lambda **how: file.delete_file(**how)}
    for name, write in writes.items():
        with refused_with(412, 'LeaseIdMissing'):
            write()
        with refused_with(412, 'LeaseIdMismatchWithFileOperation'):
            write(lease=other)
    file.resize_file(600, lease=lease)
    # Reads need no lease, but one that is named must be the right one.
    assert file.download_file().readall()[:7] == b'content'
    assert file.download_file(lease=lease).readall()[:7] == b'content'
    with refused_with(412, 'LeaseIdMismatchWithFileOperation'):
        file.get_file_properties(lease=other)
    lease.change(other)
    assert lease.id == other
    for name, write in writes.items():
        write(lease=lease)
        if name == 'create':
            assert lease_of(file)[0] == 'leased', 'it is kept by whoever holds it'
    assert not file.exists()


def test_a_file_s_lease_ends(share):
    file = share.get_file_client('file')
    file.create_file(10)
    mine = str(uuid.uuid4())
    lease = file.acquire_lease(lease_id=mine)
    assert lease.id == mine
    lease.release()
    assert lease_of(file) == ('available', 'unlocked', None)
    with refused_with(412, 'LeaseNotPresentWithFileOperation'):
        file.resize_file(5, lease=mine)
    lease = file.acquire_lease()
    breaker = ShareLeaseClient(file)
    assert breaker.break_lease() == 0
    assert lease_of(file)[:2] == ('broken', 'unlocked')
    with refused_with(412, 'LeaseLost'):
        file.resize_file(5, lease=lease)
    file.resize_file(6)
    assert file.acquire_lease().id
    with refused_with(409, 'LeaseIdMismatchWithLeaseOperation'):
        lease.release()
