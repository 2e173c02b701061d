"""Optimistic concurrency: who read an older version is told so, and nothing is overwritten unseen."""
import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobBlock, ContentSettings
from conftest import refused_with


def test_the_original_etag_is_refused_after_another_writer(blob):
    blob.upload_blob(b'mine')
    original = blob.get_blob_properties().etag
    blob.upload_blob(b'theirs', overwrite=True)
    with refused_with(412, 'ConditionNotMet'):
        blob.upload_blob(b'mine again', overwrite=True, etag=original, match_condition=MatchConditions.IfNotModified)
    assert blob.download_blob().readall() == b'theirs'


def test_the_current_etag_is_taken_and_replaced(blob):
    first = blob.upload_blob(b'one')['etag']
    second = blob.upload_blob(b'two', overwrite=True, etag=first, match_condition=MatchConditions.IfNotModified)['etag']
    assert second != first
    assert blob.get_blob_properties().etag == second


WRITES = {
    'Put Blob': lambda blob, **condition: blob.upload_blob(b'x', overwrite=True, **condition),
    'Put Block List': lambda blob, **condition: blob.commit_block_list([], **condition),
    'Set Blob Metadata': lambda blob, **condition: blob.set_blob_metadata({'a': 'b'}, **condition),
    'Set Blob Properties': lambda blob, **condition: blob.set_http_headers(ContentSettings('text/plain'), **condition),
    'Snapshot Blob': lambda blob, **condition: blob.create_snapshot(**condition),
    'Delete Blob': lambda blob, **condition: blob.delete_blob(**condition),
    'Lease Blob': lambda blob, **condition: blob.acquire_lease(15, **condition),
}


@pytest.mark.parametrize('title', WRITES)
def test_every_write_honours_if_match(blob, title):
    old = blob.upload_blob(b'one')['etag']
    new = blob.upload_blob(b'two', overwrite=True)['etag']
    with refused_with(412, 'ConditionNotMet'):
        WRITES[title](blob, etag=old, match_condition=MatchConditions.IfNotModified)
    unchanged = blob.get_blob_properties()
    assert (unchanged.etag, unchanged.size, unchanged.metadata) == (new, 3, {})
    WRITES[title](blob, etag=new, match_condition=MatchConditions.IfNotModified)


@pytest.mark.parametrize('title', ['Put Blob', 'Put Block List'])
def test_create_if_absent_has_one_winner(blob, title):
    absent = {'etag': '*', 'match_condition': MatchConditions.IfModified}
    WRITES[title](blob, **absent)
    with refused_with(409, 'BlobAlreadyExists'):
        WRITES[title](blob, **absent)


def test_upload_without_overwrite_does_not_overwrite(blob):
    blob.upload_blob(b'first')
    with refused_with(409, 'BlobAlreadyExists'):
        blob.upload_blob(b'second')
    assert blob.download_blob().readall() == b'first'


def test_replace_only_what_exists(blob):
    # The service answers a missing blob under If-Match: * with a failed condition, not with 404.
    with refused_with(412, 'ConditionNotMet'):
        blob.upload_blob(b'x', overwrite=True, match_condition=MatchConditions.IfPresent)
    assert not blob.exists()


def test_reads_by_etag(blob):
    old = blob.upload_blob(b'one')['etag']
    assert blob.download_blob(etag=old, match_condition=MatchConditions.IfNotModified).readall() == b'one'
    with refused_with(304, 'ConditionNotMet'):
        blob.get_blob_properties(etag=old, match_condition=MatchConditions.IfModified)
    blob.upload_blob(b'two', overwrite=True)
    with refused_with(412, 'ConditionNotMet'):
        blob.download_blob(etag=old, match_condition=MatchConditions.IfNotModified)
    assert blob.download_blob(etag=old, match_condition=MatchConditions.IfModified).readall() == b'two'


def test_conditions_by_date(target, blob):
    blob.upload_blob(b'one')
    seen = blob.get_blob_properties().last_modified
    target.advance(2)
    blob.upload_blob(b'two', overwrite=True)
    with refused_with(412, 'ConditionNotMet'):
        blob.upload_blob(b'three', overwrite=True, if_unmodified_since=seen)
    now = blob.get_blob_properties().last_modified
    assert now > seen
    with refused_with(304, 'ConditionNotMet'):
        blob.download_blob(if_modified_since=now)
    with refused_with(412, 'ConditionNotMet'):
        blob.set_blob_metadata({}, if_modified_since=now)
    blob.upload_blob(b'three', overwrite=True, if_unmodified_since=now)


def test_a_container_is_guarded_by_date(target, container):
    seen = container.get_container_properties().last_modified
    target.advance(2)
    container.set_container_metadata({'changed': 'yes'})
    with refused_with(412, 'ConditionNotMet'):
        container.delete_container(if_unmodified_since=seen)
    now = container.get_container_properties().last_modified
    with refused_with(412, 'ConditionNotMet'):
        container.set_container_metadata({'changed': 'again'}, if_modified_since=now)
    assert container.get_container_properties().metadata == {'changed': 'yes'}


def test_what_changes_the_etag_and_what_does_not(blob):
    etag = blob.upload_blob(b'one')['etag']
    lease = blob.acquire_lease(-1)
    lease.renew()
    lease.release()
    blob.stage_block('YQ==', b'block')
    assert blob.create_snapshot()['etag'] == etag
    assert blob.get_blob_properties().etag == etag
    blob.set_blob_metadata({'a': 'b'})
    second = blob.get_blob_properties().etag
    blob.set_http_headers(ContentSettings('text/plain'))
    third = blob.get_blob_properties().etag
    blob.commit_block_list([BlobBlock('YQ==')])
    fourth = blob.get_blob_properties().etag
    assert len({etag, second, third, fourth}) == 4


def test_an_etag_is_not_reused_by_a_blob_of_the_same_name(blob):
    seen = set()
    for _ in range(5):
        seen.add(blob.upload_blob(b'same')['etag'])
        blob.delete_blob()
    assert len(seen) == 5
