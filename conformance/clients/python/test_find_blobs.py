"""Find Blobs by Tags, in the account and in a container: at once after the write."""
import uuid


def test_found_as_soon_as_written(service, container):
    kind = uuid.uuid4().hex
    for number in range(7):
        container.upload_blob('dir/%d' % number, b'', tags={'kind': kind, 'number': '%02d' % number})
    where = "\"kind\" = '%s'" % kind

    def names(expression, of=service, **options):
        return sorted(blob.name for blob in of.find_blobs_by_tags(expression, **options))

    assert names(where) == names(where, container) == ['dir/%d' % number for number in range(7)]
    assert names(where, results_per_page=2) == names(where)
    assert names(where + " AND number >= '02' AND number < '05'") == ['dir/2', 'dir/3', 'dir/4']
    assert names("@container = '%s' AND kind = '%s'" % (container.container_name, kind)) == names(where)
    assert names("@container = 'elsewhere' AND kind = '%s'" % kind) == []
    found = next(iter(service.find_blobs_by_tags(where + " AND number = '03'")))
    assert (found.container_name, found.tags) == (container.container_name, {'kind': kind, 'number': '03'})

    container.get_blob_client('dir/3').set_blob_tags({'kind': 'other'})
    container.delete_blob('dir/4')
    container.upload_blob('dir/5', b'', overwrite=True)
    assert names(where) == ['dir/0', 'dir/1', 'dir/2', 'dir/6']
