"""Append blobs: logs that many write to, and that are sealed in the end."""
from concurrent.futures import ThreadPoolExecutor

from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobClient, BlobType
from conftest import refused_with


def test_a_log_is_written_line_by_line(blob):
    blob.create_append_blob(metadata={'kind': 'log'})
    for number, line in enumerate((b'one\n', b'two\n', b'three\n')):
        told = blob.append_block(line)
        assert told['blob_committed_block_count'] == number + 1
    assert told['blob_append_offset'] == '8'
    assert blob.download_blob().readall() == b'one\ntwo\nthree\n'
    assert blob.download_blob(offset=2, length=4).readall() == b'e\ntw'
    properties = blob.get_blob_properties()
    assert properties.blob_type == BlobType.AppendBlob
    assert properties.append_blob_committed_block_count == 3
    assert properties.metadata == {'kind': 'log'}


def test_upload_blob_appends_and_replaces(blob):
    blob.upload_blob(b'one', blob_type=BlobType.AppendBlob)
    blob.upload_blob(b'two', blob_type=BlobType.AppendBlob)
    assert blob.download_blob().readall() == b'onetwo'
    large = bytes(range(256)) * 40_000
    blob.upload_blob(large, blob_type=BlobType.AppendBlob, overwrite=True)
    assert blob.download_blob().readall() == large


def test_conditions_on_position_and_size(blob):
    blob.create_append_blob()
    blob.append_block(b'0123456789', appendpos_condition=0, maxsize_condition=10)
    with refused_with(412, 'AppendPositionConditionNotMet'):
        blob.append_block(b'x', appendpos_condition=0)
    with refused_with(412, 'MaxBlobSizeConditionNotMet'):
        blob.append_block(b'x', maxsize_condition=10)
    assert blob.download_blob().readall() == b'0123456789'


def test_of_the_appenders_at_one_position_one_wins(blob):
    blob.create_append_blob()

    def append(writer):
        try:
            blob.append_block(b'%02d' % writer, appendpos_condition=0)
            return writer
        except HttpResponseError as refused:
            assert (refused.status_code, refused.error_code) == (412, 'AppendPositionConditionNotMet')
            return None

    with ThreadPoolExecutor(8) as crowd:
        winners = [writer for writer in crowd.map(append, range(16)) if writer is not None]
    assert blob.download_blob().readall() == b'%02d' % winners[0]
    assert len(winners) == 1


def test_lines_of_a_crowd_are_whole(blob):
    blob.create_append_blob()
    lines = [b'%04d' % number * 25 + b'\n' for number in range(200)]
    with ThreadPoolExecutor(8) as crowd:
        offsets = list(crowd.map(lambda line: int(blob.append_block(line)['blob_append_offset']), lines))
    content = blob.download_blob().readall()
    assert len(content) == sum(map(len, lines))
    for line, offset in zip(lines, offsets):
        assert content[offset:offset + len(line)] == line


def test_a_snapshot_keeps_its_length(target, blob):
    blob.create_append_blob()
    blob.append_block(b'before')
    made = blob.create_snapshot()
    blob.append_block(b' and after')
    old = BlobClient.from_connection_string(target.connection_string, blob.container_name, blob.blob_name,
                                            snapshot=made['snapshot'], retry_total=0)
    assert old.download_blob().readall() == b'before'
    assert old.get_blob_properties().append_blob_committed_block_count == 1
    assert blob.download_blob().readall() == b'before and after'


def test_what_is_sealed_is_read_and_not_written(container, blob):
    blob.create_append_blob()
    blob.append_block(b'all')
    assert blob.seal_append_blob()['blob_sealed'] is True
    with refused_with(409, 'BlobIsSealed'):
        blob.append_block(b'more')
    assert blob.get_blob_properties().is_append_blob_sealed
    assert blob.download_blob().readall() == b'all'
    listed = {item.name: item for item in container.list_blobs()}
    assert listed[blob.blob_name].is_append_blob_sealed
    blob.set_blob_metadata({'still': 'allowed'})
    blob.delete_blob()
    blob.create_append_blob()
    blob.append_block(b'again')


def test_types_do_not_mix(blob):
    blob.create_append_blob()
    with refused_with(409, 'InvalidBlobType'):
        blob.stage_block('YQ==', b'block')
    with refused_with(409, 'InvalidBlobType'):
        blob.get_block_list()
    blob.delete_blob()
    blob.upload_blob(b'block blob')
    with refused_with(409, 'InvalidBlobType'):
        blob.append_block(b'more')
    with refused_with(409, 'InvalidBlobType'):
        blob.seal_append_blob()
