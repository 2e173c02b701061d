"""Shares as the official Python client sees them: life, properties, access policies, listing, stored permissions, what deleting keeps."""
import datetime
import uuid

import pytest
from azure.storage.fileshare import AccessPolicy, ShareClient, ShareSasPermissions
from conftest import remove, refused_with

# Protected, so that nothing is inherited where it is given to something new.
SDDL = 'O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-1887927527-513' \
       'D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)'


def new_name():
    return 't' + uuid.uuid4().hex


def test_create_and_delete(shares):
    name = new_name()
    share = shares.create_share(name, metadata={'colour': 'blue'}, quota=3)
    with refused_with(409, 'ShareAlreadyExists'):
        share.create_share()
    told = share.get_share_properties()
    assert (told.name, told.quota, told.metadata) == (name, 3, {'colour': 'blue'})
    assert (told.access_tier, told.lease.state, told.lease.status) == ('TransactionOptimized', 'available', 'unlocked')
    shares.delete_share(name)
    for asked in (share.get_share_properties, share.get_share_stats, share.create_snapshot, share.get_share_access_policy,
                  lambda: list(share.list_directories_and_files()), lambda: share.set_share_quota(1)):
        with refused_with(404, 'ShareNotFound'):
            asked()


@pytest.mark.parametrize('name', ['ab', 'UPPER', 'two--hyphens', '-first', 'x' * 64, 'under_score'])
def test_names_that_are_none(target, name):
    from azure.core.exceptions import HttpResponseError
    with pytest.raises(HttpResponseError) as caught:
        ShareClient.from_connection_string(target.connection_string, name).create_share()
    assert (caught.value.status_code, caught.value.error_code) in ((400, 'InvalidResourceName'), (400, 'OutOfRangeInput'))


def test_properties(share):
    first = share.get_share_properties()
    set_quota = share.set_share_quota(7)
    assert set_quota['etag'] != first.etag
    share.set_share_properties(access_tier='Hot', quota=9)
    told = share.get_share_properties()
    assert (told.quota, told.access_tier) == (9, 'Hot')
    share.set_share_properties(access_tier='Cool')
    told = share.get_share_properties()
    assert (told.quota, told.access_tier) == (9, 'Cool')
    set_metadata = share.set_share_metadata({'One': '1', 'two': 'with space'})
    told = share.get_share_properties()
    assert ({name.lower(): value for name, value in told.metadata.items()}, told.etag) == ({'one': '1', 'two': 'with space'}, set_metadata['etag'])
    share.set_share_metadata({})
    assert share.get_share_properties().metadata == {}
    for quota in (0, 102401):
        with refused_with(400, 'InvalidHeaderValue'):
            share.set_share_quota(quota)


def test_what_a_share_is_provisioned_with(shares):
    share = shares.get_share_client(new_name())
    made = share.create_share(provisioned_iops=3500, provisioned_bandwidth_mibps=110, quota=200)
    assert (made['share_provisioned_iops'], made['share_provisioned_bandwidth_mibps'], made['share_quota']) == (3500, 110, 200)
    try:
        share.set_share_properties(quota=200, provisioned_iops=3600, paid_bursting_enabled=True, paid_bursting_iops=5000,
                                   paid_bursting_bandwidth_mibps=1000)
        told = share.get_share_properties()
        assert (told.provisioned_iops, told.provisioned_bandwidth, told.quota) == (3600, 110, 200)
        assert (told.paid_bursting_enabled, told.paid_bursting_iops, told.paid_bursting_bandwidth_mibps) == (True, 5000, 1000)
    finally:
        remove(share)


def test_access_policy(share):
    assert share.get_share_access_policy()['signed_identifiers'] == []
    start = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    policies = {name: AccessPolicy(ShareSasPermissions(read=True, list=True), expiry=start + datetime.timedelta(days=365), start=start)
                for name in ('one', 'two')}
    share.set_share_access_policy({**policies, 'empty': AccessPolicy()})
    told = {item.id: item.access_policy for item in share.get_share_access_policy()['signed_identifiers']}
    assert sorted(told) == ['empty', 'one', 'two']
    assert (told['one'].permission, told['one'].start) == ('rl', '2026-01-02T03:04:05.0000000Z')
    with pytest.raises(ValueError):
        share.set_share_access_policy({str(number): AccessPolicy() for number in range(6)})
    share.set_share_access_policy({})
    assert share.get_share_access_policy()['signed_identifiers'] == []


def test_usage_and_quota(share):
    gib = 1024 ** 3
    share.set_share_quota(1)
    file = share.get_file_client('file')
    file.create_file(700 * 1024 ** 2)
    assert share.get_share_stats() == 700 * 1024 ** 2
    with refused_with(409, 'ShareSizeLimitReached'):
        share.get_file_client('other').create_file(400 * 1024 ** 2)
    with refused_with(409, 'ShareSizeLimitReached'):
        file.resize_file(gib + 1)
    file.resize_file(gib)
    file.delete_file()
    assert share.get_share_stats() == 0


def test_listing(shares):
    prefix = 'list' + uuid.uuid4().hex[:8]
    made = [shares.create_share('%s-%d' % (prefix, number), metadata={'number': str(number)}, quota=number + 1) for number in range(5)]
    try:
        snapshot = made[2].create_snapshot(metadata={'kept': 'yes'})['snapshot']
        listed = list(shares.list_shares(prefix, include_metadata=True))
        assert [item.name for item in listed] == [share.share_name for share in made]
        assert [(item.metadata, item.quota) for item in listed] == [({'number': str(n)}, n + 1) for n in range(5)]
        assert all(item.access_tier == 'TransactionOptimized' and item.lease.state == 'available' for item in listed)
        assert listed[0].etag.strip('"') == made[0].get_share_properties().etag.strip('"')
        assert all(not item.metadata for item in shares.list_shares(prefix))
        pages = [[item.name[-1] for item in page] for page in shares.list_shares(prefix, results_per_page=2).by_page()]
        assert pages == [['0', '1'], ['2', '3'], ['4']]
        second = shares.list_shares(prefix, results_per_page=2).by_page()
        next(second)
        again = shares.list_shares(prefix, results_per_page=2).by_page(second.continuation_token)
        assert [item.name[-1] for item in next(again)] == ['2', '3']
        both = [(item.name[-1], item.snapshot, item.metadata) for item in shares.list_shares(prefix, include_metadata=True, include_snapshots=True)]
        assert ('2', snapshot, {'kept': 'yes'}) in both and ('2', None, {'number': '2'}) in both and len(both) == 6
        assert list(shares.list_shares(prefix + '-9')) == []
    finally:
        for share in made:
            remove(share)


def test_permissions(share):
    key = share.create_permission_for_share(SDDL)
    told = share.get_permission_for_share(key)
    # As recorded: a permission without an audit list is told with an empty one.
    assert told == SDDL + 'S:NO_ACCESS_CONTROL'
    assert share.create_permission_for_share(SDDL) == key
    binary = share.get_permission_for_share(key, file_permission_format='binary')
    assert share.get_permission_for_share(key, file_permission_format='sddl') == told
    with refused_with(400, 'FileInvalidPermission'):
        share.create_permission_for_share('no such thing')
    with refused_with(400, 'InvalidHeaderValue'):
        share.get_permission_for_share('no-key')
    file = share.get_file_client('file')
    file.create_file(1, permission_key=key)
    assert file.get_file_properties().permission_key == key
    other = share.get_file_client('other')
    other.create_file(1, file_permission=binary, file_permission_format='binary')
    assert other.get_file_properties().permission_key == key
    with refused_with(400, 'FileInvalidPermissionKey'):
        other.create_file(1, permission_key='1*2')


def test_a_deleted_share_is_brought_back(own_server):
    """The client has no way to set the days of retention, so they are set by a request of our own."""
    from conftest import Target
    from shared_key import SharedKey
    server = own_server()
    target = Target(server.connection_string, server.clock_url)
    key = SharedKey(target, target.file_endpoint)
    body = b'<StorageServiceProperties><ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></ShareDeleteRetentionPolicy></StorageServiceProperties>'
    told = key.request('PUT', '/', {'restype': 'service', 'comp': 'properties'}, {'x-ms-version': '2023-11-03'}, body)
    assert told.status == 202, told.body
    shares = target.shares()
    share = shares.create_share('restored', metadata={'colour': 'blue'})
    share.get_directory_client('sub').create_directory()
    share.get_file_client('sub/file').upload_file(b'content')
    share.create_snapshot()
    with refused_with(409, 'ShareHasSnapshots'):
        share.delete_share()
    share.delete_share(delete_snapshots=True)
    assert list(shares.list_shares()) == []
    deleted = [item for item in shares.list_shares(include_deleted=True, include_snapshots=True) if not item.snapshot]
    assert [(item.name, item.deleted) for item in deleted] == [('restored', True)]
    assert deleted[0].version and deleted[0].deleted_time and deleted[0].remaining_retention_days in (6, 7)
    with refused_with(404, 'ShareNotFound'):
        shares.undelete_share('restored', '01D60F8BB59A4652')
    restored = shares.undelete_share('restored', deleted[0].version)
    assert restored.get_share_properties().metadata == {'colour': 'blue'}
    assert restored.get_file_client('sub/file').download_file().readall() == b'content'
    restored.delete_share(delete_snapshots='include')
    again = shares.create_share('restored')
    version = next(item.version for item in shares.list_shares(include_deleted=True) if item.deleted)
    with refused_with(409, 'ShareAlreadyExists'):
        shares.undelete_share('restored', version)
    again.delete_share()
