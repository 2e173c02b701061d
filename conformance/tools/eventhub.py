"""azure-eventhub-checkpointstoreblob: consumers share partitions by conditional Set Blob Metadata on empty blobs.
Whatever they do at the same time, a partition has exactly one owner."""
import threading

from azure.eventhub.extensions.checkpointstoreblob import BlobCheckpointStore

from target import Target

HUB = {'fully_qualified_namespace': 'hub.test', 'eventhub_name': 'hub', 'consumer_group': '$default'}
CLAIMERS, PARTITIONS = 8, 12


def claim(store, owner, partitions, known=None):
    """The ownerships that were granted to `owner`."""
    wanted = []
    for partition in partitions:
        ownership = dict(HUB, partition_id=str(partition), owner_id=owner)
        if known is not None:
            ownership['etag'] = known[str(partition)]['etag']
            ownership['last_modified_time'] = known[str(partition)]['last_modified_time']
        wanted.append(ownership)
    return store.claim_ownership(wanted)


def owners(store):
    return {one['partition_id']: one for one in store.list_ownership(*HUB.values())}


def race(stores, known):
    """Everybody wants everything; who got what, judged by what the store then says."""
    granted = {}
    start = threading.Barrier(len(stores))
    lock = threading.Lock()

    def contend(number):
        start.wait()
        # Each from another end, so that all have a chance.
        order = [(number * 2 + step) % PARTITIONS for step in range(PARTITIONS)]
        for partition in order:
            for got in claim(stores[number], 'owner-%d' % number, [partition], known):
                with lock:
                    granted.setdefault(got['partition_id'], []).append(got['owner_id'])

    threads = [threading.Thread(target=contend, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
        assert not thread.is_alive(), 'a claim hangs'
    told = owners(stores[0])
    assert sorted(granted) == sorted(map(str, range(PARTITIONS))), granted
    for partition, got in granted.items():
        assert len(got) == 1, 'partition %s was granted to %s' % (partition, got)
        assert told[partition]['owner_id'] == got[0], 'partition %s: %s, granted to %s' % (partition, told, got)
    return told


def main():
    target = Target()
    container = target.container('eventhub')
    stores = [BlobCheckpointStore.from_connection_string(target.connection_string, container.container_name)
              for _ in range(CLAIMERS)]
    assert list(stores[0].list_ownership(*HUB.values())) == []
    first = race(stores, None)
    # Ownership is stolen by those who know its ETag: again one thief each.
    second = race(stores, first)
    assert all(first[partition]['etag'] != second[partition]['etag'] for partition in first)
    stale = [got for got in claim(stores[0], 'late', range(PARTITIONS), first)]
    assert stale == [], 'claimed with an old ETag: %s' % stale

    for partition in range(PARTITIONS):
        stores[0].update_checkpoint(dict(HUB, partition_id=str(partition), offset=str(partition * 100),
                                         sequence_number=partition))
    told = {one['partition_id']: one for one in stores[1].list_checkpoints(*HUB.values())}
    assert sorted(told) == sorted(map(str, range(PARTITIONS))), told
    assert all(int(one['offset']) == int(partition) * 100 for partition, one in told.items()), told
    container.delete_container()


if __name__ == '__main__':
    main()
