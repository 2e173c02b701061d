"""az: containers, blobs, leases, queues, messages, tables and entities as a person at a terminal uses them. Each call
starts an interpreter for seconds, so only a few are made."""
import json
import os
import subprocess

from target import PATIENCE, Target, run, scratch
from tree import digest, plant, same


class Az:
    def __init__(self, target, place):
        self.place = place
        self.program = os.path.join(target.tools, 'az/bin/az')
        self.environment = {'AZURE_CONFIG_DIR': os.path.join(place, 'config'), 'AZURE_CORE_COLLECT_TELEMETRY': 'false',
                            'AZURE_STORAGE_CONNECTION_STRING': target.connection_string,
                            'AZURE_CORE_ONLY_SHOW_ERRORS': 'true'}

    def __call__(self, *words):
        printed = run([self.program, 'storage', *words, '--output', 'json'], **self.environment)
        return json.loads(printed) if printed.strip() else None

    def refused(self, told, *words):
        """It must end with these words of the service."""
        done = subprocess.run([self.program, 'storage', *words], env={**os.environ, **self.environment},
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, capture_output=True, text=True)
        assert done.returncode != 0 and told in done.stderr, (words, done.returncode, done.stdout, done.stderr)


def blobs(az):
    def blob(verb, *words):
        return az('blob', *verb.split(), '--container-name', 'az-tool', *words)

    up, down = os.path.join(az.place, 'up'), os.path.join(az.place, 'down')
    os.mkdir(up)
    os.mkdir(down)
    plant(up, seed=3)
    assert az('container', 'create', '--name', 'az-tool')['created']
    try:
        blob('upload', '--name', 'large', '--file', os.path.join(up, 'large.bin'))
        listed = {item['name']: item['properties']['contentLength'] for item in blob('list')}
        same({'large': digest(up)['large.bin'][0]}, listed, 'listed by az')
        blob('download', '--name', 'large', '--file', os.path.join(down, 'large.bin'))
        same({'large.bin': digest(up)['large.bin']}, digest(down), 'downloaded by az')
        lease = blob('lease acquire', '--blob-name', 'large', '--lease-duration', '60')
        shown = blob('show', '--name', 'large')['properties']['lease']
        assert (shown['state'], shown['status'], shown['duration']) == ('leased', 'locked', 'fixed'), shown
        blob('metadata update', '--name', 'large', '--metadata', 'colour=blue', '--lease-id', lease)
        assert blob('metadata show', '--name', 'large') == {'colour': 'blue'}
        blob('delete', '--name', 'large', '--lease-id', lease)
        assert blob('list') == []
    finally:
        az('container', 'delete', '--name', 'az-tool')


def queues(az):
    def message(verb, *words):
        return az('message', verb, '--queue-name', 'az-tool', *words)

    assert az('queue', 'create', '--name', 'az-tool', '--metadata', 'colour=blue')['created']
    try:
        assert 'az-tool' in [queue['name'] for queue in az('queue', 'list')]
        assert az('queue', 'metadata', 'show', '--name', 'az-tool') == {'colour': 'blue'}
        put = message('put', '--content', 'one <&> two')
        peeked, = message('peek')
        assert (peeked['id'], peeked['content'], peeked['dequeueCount']) == (put['id'], 'one <&> two', 0), peeked
        got, = message('get', '--visibility-timeout', '600')
        assert (got['id'], got['content'], got['dequeueCount']) == (put['id'], 'one <&> two', 1), got
        assert message('peek') == [] and message('get') == [], 'it is hidden'
        updated = message('update', '--id', got['id'], '--pop-receipt', got['popReceipt'], '--visibility-timeout', '0',
                          '--content', 'three')
        peeked, = message('peek')
        assert (peeked['content'], peeked['dequeueCount']) == ('three', 1), peeked
        old = ['message', 'delete', '--queue-name', 'az-tool', '--id', got['id'], '--pop-receipt']
        az.refused('MessageNotFound', *old, got['popReceipt'])
        az(*old, updated['popReceipt'])
        assert message('peek') == []
        for text in ['a', 'b']:
            message('put', '--content', text)
        assert len(message('peek', '--num-messages', '32')) == 2
        message('clear')
        assert message('peek') == []
    finally:
        assert az('queue', 'delete', '--name', 'az-tool')['deleted']


def tables(az):
    keys = ['--table-name', 'aztool', '--partition-key', 'p', '--row-key']

    def entity(verb, *words):
        return az('entity', verb, '--table-name', 'aztool', *words)

    def show(row):
        return az('entity', 'show', *keys, row)

    assert az('table', 'create', '--name', 'aztool')['created']
    try:
        assert az('table', 'exists', '--name', 'aztool')['exists']
        first = ['--entity', 'PartitionKey=p', 'RowKey=a', 'Name=one', 'Age=5', 'Age@odata.type=Edm.Int32']
        entity('insert', *first)
        az.refused('The specified entity already exists', 'entity', 'insert', '--table-name', 'aztool', *first)
        shown = show('a')
        assert (shown['Name'], shown['Age']) == ('one', 5), shown
        entity('merge', '--if-match', shown['etag'], '--entity', 'PartitionKey=p', 'RowKey=a', 'Colour=blue')
        merged = show('a')
        assert (merged['Name'], merged['Age'], merged['Colour']) == ('one', 5, 'blue'), merged
        # Somebody else's change is not overwritten by whoever read before it.
        replace = ['--entity', 'PartitionKey=p', 'RowKey=a', 'Name=two']
        az.refused('The update condition', 'entity', 'replace', '--table-name', 'aztool', '--if-match',
                   shown['etag'], *replace)
        entity('replace', '--if-match', merged['etag'], *replace)
        replaced = show('a')
        assert replaced['Name'] == 'two' and 'Colour' not in replaced and 'Age' not in replaced, replaced
        entity('insert', '--if-exists', 'merge', '--entity', 'PartitionKey=p', 'RowKey=b', 'Name=three')
        found = entity('query', '--filter', "PartitionKey eq 'p' and Name eq 'three'")['items']
        assert [item['RowKey'] for item in found] == ['b'], found
        az.refused('The update condition', 'entity', 'delete', *keys, 'a', '--if-match', merged['etag'])
        az('entity', 'delete', *keys, 'a', '--if-match', replaced['etag'])
        assert [item['RowKey'] for item in entity('query')['items']] == ['b']
    finally:
        assert az('table', 'delete', '--name', 'aztool')['deleted']


def main():
    with scratch() as place:
        az = Az(Target(), place)
        for part in (blobs, queues, tables):
            part(az)


if __name__ == '__main__':
    main()
