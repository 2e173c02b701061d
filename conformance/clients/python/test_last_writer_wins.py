"""Last writer wins: without a condition every write is taken whole, and the last one stays."""
import threading

from azure.storage.blob import BlobBlock


def test_the_last_of_two_writers_wins(blob):
    blob.upload_blob(b'first', metadata={'by': 'first', 'only': 'first'})
    blob.upload_blob(b'second', overwrite=True, metadata={'by': 'second'})
    assert blob.download_blob().readall() == b'second'
    assert blob.get_blob_properties().metadata == {'by': 'second'}


def test_writers_at_the_same_time_never_mix(target, container):
    """Every reader sees one writer's content with that writer's metadata and that version's ETag."""
    name, writers, rounds = 'contended', 8, 12
    size = 40_000
    etags, faults = {}, []
    done = threading.Event()

    def write(letter):
        blob = target.service().get_blob_client(container.container_name, name)
        for _ in range(rounds):
            etag = blob.upload_blob(letter.encode() * size, overwrite=True, metadata={'by': letter})['etag']
            if etags.setdefault(etag, letter) != letter:
                faults.append('one ETag for two writers: %s' % etag)

    def read():
        blob = target.service().get_blob_client(container.container_name, name)
        while not done.is_set():
            stream = blob.download_blob()
            body, by = stream.readall(), stream.properties.metadata['by']
            if body != by.encode() * size:
                faults.append('mixed content: %r by %s' % (set(body), by))
            seen.append((stream.properties.etag, by))

    seen = []
    container.upload_blob(name, b'0' * size, metadata={'by': '0'})
    threads = [threading.Thread(target=write, args=(chr(ord('a') + i),)) for i in range(writers)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads + readers:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert not faults
    assert len(etags) == writers * rounds
    assert seen and all(etags.get(etag, '0') == by for etag, by in seen)


def test_blocks_of_two_writers(blob):
    """Blocks under the same id: the last one staged is the one committed."""
    blob.stage_block('MQ==', b'one writer')
    blob.stage_block('MQ==', b'another writer')
    blob.commit_block_list([BlobBlock('MQ==')])
    assert blob.download_blob().readall() == b'another writer'


def test_delete_and_create_again(blob):
    blob.upload_blob(b'old', metadata={'old': 'yes'})
    blob.delete_blob()
    assert not blob.exists()
    blob.upload_blob(b'new')
    assert blob.get_blob_properties().metadata == {}
