"""Content in and out: large, in blocks, in parallel, in ranges, and checked on the way."""
import hashlib
import io
import os
import random
import threading
import time

import pytest
from azure.storage.blob import BlobBlock, ContentSettings
from conftest import refused_with
from shared_key import SharedKey

MIB = 1024 * 1024


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize('size', [0, 1, 511, 16 * 1024, 16 * 1024 + 1, 4 * MIB, 4 * MIB + 1])
def test_sizes(blob, size):
    content = noise(size)
    blob.upload_blob(content)
    properties = blob.get_blob_properties()
    assert properties.size == size
    assert bytes(properties.content_settings.content_md5) == hashlib.md5(content).digest()
    assert blob.download_blob().readall() == content


def test_large_in_parallel_blocks(target, container):
    content = noise(24 * MIB + 12345)
    client = target.service(max_single_put_size=MIB, max_block_size=MIB, max_single_get_size=2 * MIB, max_chunk_get_size=2 * MIB)
    blob = client.get_blob_client(container.container_name, 'large')
    blob.upload_blob(content, max_concurrency=8, content_settings=ContentSettings('application/x-noise'))
    committed, uncommitted = blob.get_block_list('all')
    assert (len(committed), len(uncommitted)) == (25, 0)
    assert sum(block.size for block in committed) == len(content)
    assert blob.download_blob(max_concurrency=8).readall() == content
    assert blob.get_blob_properties().content_settings.content_type == 'application/x-noise'


def test_a_stream_of_unknown_length(target, container):
    content = noise(5 * MIB + 7)

    class Stream(io.RawIOBase):
        inner = io.BytesIO(content)

        def read(self, size=-1):
            return self.inner.read(min(size, 77_777) if size >= 0 else size)

    client = target.service(max_single_put_size=MIB, max_block_size=MIB)
    blob = client.get_blob_client(container.container_name, 'stream')
    blob.upload_blob(Stream())
    assert hashlib.sha256(blob.download_blob().readall()).digest() == hashlib.sha256(content).digest()


def test_ranges(blob):
    content = noise(100_000)
    blob.upload_blob(content)
    for offset, length in ((0, 1), (0, 100_000), (99_999, 1), (40_000, 30_000), (99_000, 5_000), (1, None)):
        stream = blob.download_blob(offset=offset, length=length)
        assert stream.readall() == content[offset:offset + length if length else None]
    with refused_with(416, 'InvalidRange'):
        blob.download_blob(offset=100_000, length=1)


def test_a_download_is_one_version(target, container):
    """Chunks of one download are of one version: a writer in between is noticed, never mixed in."""
    client = target.service(max_single_get_size=64 * 1024, max_chunk_get_size=64 * 1024)
    blob = client.get_blob_client(container.container_name, 'versions')
    blob.upload_blob(b'a' * 256 * 1024)
    stream = blob.download_blob()
    blob.upload_blob(b'b' * 256 * 1024, overwrite=True)
    with refused_with(412, 'ConditionNotMet'):
        stream.readall()


def test_blocks_are_seen_only_when_committed(container):
    blob = container.get_blob_client('blocks')
    for name, content in (('MDE=', b'one'), ('MDI=', b'two'), ('MDM=', b'three')):
        blob.stage_block(name, content)
    assert not blob.exists()
    assert [item.name for item in container.list_blobs()] == []
    assert [item.name for item in container.list_blobs(include=['uncommittedblobs'])] == ['blocks']
    blob.commit_block_list([BlobBlock('MDM='), BlobBlock('MDE='), BlobBlock('MDM=')])
    assert blob.download_blob().readall() == b'threeonethree'
    committed, uncommitted = blob.get_block_list('all')
    assert ([block.id for block in committed], uncommitted) == (['MDM=', 'MDE=', 'MDM='], [])
    with refused_with(400, 'InvalidBlockList'):
        blob.commit_block_list([BlobBlock('MDI=')])
    blob.stage_block('MDQ=', b'four')
    blob.commit_block_list([BlobBlock('MDE='), BlobBlock('MDQ=')])
    assert blob.download_blob().readall() == b'onefour'


def test_put_blob_discards_uncommitted_blocks(blob):
    blob.stage_block('MDE=', b'one')
    blob.upload_blob(b'whole', overwrite=True)
    assert blob.get_block_list('all') == ([], [])


def test_client_checks_md5_both_ways(blob):
    content = noise(300_000)
    blob.upload_blob(content, validate_content=True)
    assert blob.download_blob(validate_content=True).readall() == content


def md5(content):
    import base64
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def crc64(content):
    """CRC-64/NVME, bit by bit, as the catalogue of CRCs defines it; little endian on the wire."""
    import base64
    register = 0xFFFFFFFFFFFFFFFF
    for byte in content:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x9A6C9329AC4BC9B5 if register & 1 else 0)
    return base64.b64encode((register ^ 0xFFFFFFFFFFFFFFFF).to_bytes(8, 'little')).decode()


def test_the_crc_of_the_catalogue():
    import base64
    assert base64.b64decode(crc64(b'123456789')) == 0xAE8B14860A799888.to_bytes(8, 'little')


@pytest.mark.parametrize('header,right,code', [
    ('content-md5', md5, 'Md5Mismatch'), ('x-ms-content-crc64', crc64, 'Crc64Mismatch')])
@pytest.mark.parametrize('query', [{}, {'comp': 'block', 'blockid': 'MDE='}], ids=['Put Blob', 'Put Block'])
def test_damage_on_the_way_is_refused(target, blob, header, right, code, query):
    key, content = SharedKey(target), b'the very bytes'
    path = '/%s/blob' % blob.container_name
    kind = {} if query else {'x-ms-blob-type': 'BlockBlob'}
    refused = key.request('PUT', path, query, {**kind, header: right(b'other bytes')}, content)
    assert (refused.status, refused.code) == (400, code)
    assert key.request('GET', path, {'comp': 'blocklist', 'blocklisttype': 'all'}).status == 404
    taken = key.request('PUT', path, query, {**kind, header: right(content)}, content)
    assert taken.status == 201
    if not query:
        assert (taken.headers['content-md5'], taken.headers['x-ms-content-crc64']) == (md5(content), crc64(content))


def test_hashes_of_ranges(target, blob):
    key, content = SharedKey(target), noise(3000)
    blob.upload_blob(content)
    path = '/%s/blob' % blob.container_name
    part = key.request('GET', path, headers={'range': 'bytes=100-1099', 'x-ms-range-get-content-md5': 'true'})
    assert (part.status, part.headers['content-md5'], part.body) == (206, md5(content[100:1100]), content[100:1100])
    assert part.headers['x-ms-blob-content-md5'] == md5(content)
    part = key.request('GET', path, headers={'range': 'bytes=100-1099', 'x-ms-range-get-content-crc64': 'true'})
    assert part.headers['x-ms-content-crc64'] == crc64(content[100:1100])


def test_memory_does_not_grow_with_the_body(own_server):
    """Two uploads of 64 MiB at once, in blocks of 32 MiB, on disk: the server never holds them."""
    server = own_server(memory=False)
    from conftest import Target
    service = Target(server.connection_string, server.clock_url).service(max_single_put_size=32 * MIB, max_block_size=32 * MIB)
    container = service.create_container('big')
    content = os.urandom(64 * MIB)
    before = resident(server.process.pid)
    peak, done = [before], threading.Event()

    def watch():
        while not done.wait(0.01):
            peak.append(resident(server.process.pid))

    def upload(name):
        container.upload_blob(name, content)

    watcher = threading.Thread(target=watch)
    watcher.start()
    threads = [threading.Thread(target=upload, args=(name,)) for name in 'ab']
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    watcher.join()
    print('128 MiB in %.1f s, resident from %d to %d MiB' % (time.monotonic() - started, before // MIB, max(peak) // MIB))
    assert container.download_blob('a').readall() == content
    assert max(peak) - before < 64 * MIB


def resident(process):
    with open('/proc/%d/statm' % process, encoding='ascii') as numbers:
        return int(numbers.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
