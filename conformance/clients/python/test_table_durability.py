"""Group transactions through kill -9: what was acknowledged is there, and no group is half there."""
import os
import threading
import time

import pytest
from azure.core.exceptions import AzureError
from azure.data.tables import TableServiceClient
from conftest import BINARY
from lazuli_server import Server

WRITERS, CYCLES, SECONDS = 6, 3, 2.0
MEMBERS = 10
# Below and above what one commit takes: large bodies are written ahead of it.
SIZES = (10, 30_000)


def opened(server):
    return TableServiceClient.from_connection_string(server.connection_string, retry_total=0).create_table_if_not_exists('groups')


def write(table, cycle, writer, acknowledged):
    """Groups of new entities, then the same again with every value changed, until the server is gone."""
    for number in range(1_000_000):
        partition, size = '%d-%d-%d' % (cycle, writer, number), SIZES[number % 2]
        for value in 'ab':
            try:
                table.submit_transaction([
                    ('upsert', {'PartitionKey': partition, 'RowKey': '%02d' % row, 'value': value * size}) for row in range(MEMBERS)])
            except AzureError:
                return
            acknowledged[partition] = value


def check(table, acknowledged):
    seen = {}
    for item in table.list_entities():
        seen.setdefault(item['PartitionKey'], []).append(item['value'])
    for partition, values in seen.items():
        size = SIZES[int(partition.rsplit('-', 1)[1]) % 2]
        assert len(values) == MEMBERS and len(set(values)) == 1, 'half a group: %s' % partition
        assert values[0] in ('a' * size, 'b' * size), partition
    for partition, value in acknowledged.items():
        assert partition in seen, 'lost: %s' % partition
        assert value == 'a' or seen[partition][0][0] == 'b', 'went back: %s' % partition


@pytest.mark.skipif(BINARY not in os.environ, reason='%s is not set' % BINARY)
def test_groups_survive_kill_9(tmp_path):
    acknowledged = {}
    for cycle in range(CYCLES):
        server = Server(os.environ[BINARY], memory=False, place=str(tmp_path))
        try:
            table = opened(server)
            check(table, acknowledged)
            threads = [threading.Thread(target=write, args=(table, cycle, writer, acknowledged)) for writer in range(WRITERS)]
            for thread in threads:
                thread.start()
            time.sleep(SECONDS)
            server.kill()
            for thread in threads:
                thread.join()
        finally:
            server.stop()
    with Server(os.environ[BINARY], memory=False, place=str(tmp_path)) as server:
        check(opened(server), acknowledged)
    print('%d acknowledged groups, %d kills' % (len(acknowledged), CYCLES))
    assert len(acknowledged) > 20
