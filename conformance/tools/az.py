"""az: containers, blobs, copies, leases, queues, messages, tables, entities, shares and files as a person at a terminal uses them."""
import json
import os
import subprocess
import threading

import az_files
from target import PATIENCE, Target, scratch
from tree import digest, plant, same


class Az:
    """Commands of one interpreter; az_loop.py says how."""

    def __init__(self, target, place):
        self.place, self.endpoint, self.file_endpoint = place, target.endpoint, target.file_endpoint
        environment = {**os.environ, 'AZURE_CONFIG_DIR': os.path.join(place, 'config'), 'AZURE_CORE_COLLECT_TELEMETRY': 'false',
                       'AZURE_STORAGE_CONNECTION_STRING': target.connection_string, 'AZURE_CORE_ONLY_SHOW_ERRORS': 'true'}
        loop = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'az_loop.py')
        self.process = subprocess.Popen([os.path.join(target.tools, 'az/bin/python'), loop], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # A command that waits for ever ends with the process.
        self.watch = threading.Timer(PATIENCE, self.process.kill)
        self.watch.start()

    def run(self, *words):
        self.process.stdin.write(json.dumps(['storage', *words]) + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, 'az ended at %s' % ' '.join(words)
        return json.loads(answer)

    def __call__(self, *words):
        code, printed, told = self.run(*words, '--output', 'json')
        if code != 0:
            raise SystemExit('az storage %s ended with %d:\n%s%s' % (' '.join(words), code, printed, told))
        return json.loads(printed) if printed.strip() else None

    def refused(self, expected, *words):
        """It must end with these words of the service."""
        code, printed, told = self.run(*words)
        assert code != 0 and expected in told, (words, code, printed, told)

    def end(self):
        self.watch.cancel()
        self.process.stdin.close()
        self.process.wait(60)


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


def copies(az):
    """Copies, tiers, snapshots, queries, and what is deleted and brought back."""
    def blob(verb, *words):
        return az('blob', *verb.split(), '--container-name', 'az-copies', *words)

    def told(name):
        return blob('show', '--name', name)['properties']

    retention = ['blob', 'service-properties', 'delete-policy', 'update']
    az('container', 'create', '--name', 'az-copies')
    try:
        local = os.path.join(az.place, 'batch')
        os.makedirs(os.path.join(local, 'sub'))
        for name in ('one.txt', 'sub/two.txt', 'sub/three.bin'):
            with open(os.path.join(local, name), 'w') as file:
                file.write(name)
        az('blob', 'upload-batch', '--source', local, '--destination', 'az-copies')
        # By its address: given a container and a name, az makes up an address in Azure's own domain.
        started = az('blob', 'copy', 'start', '--source-uri', az.endpoint + '/az-copies/one.txt',
                     '--destination-container', 'az-copies', '--destination-blob', 'copy.txt')
        assert started['copy_status'] == 'success', started
        assert told('copy.txt')['copy']['status'] == 'success'
        az('blob', 'copy', 'start-batch', '--source-container', 'az-copies', '--pattern', 'sub/*',
           '--destination-container', 'az-copies', '--destination-path', 'twin')
        listed = {item['name'] for item in blob('list')}
        assert listed == {'one.txt', 'copy.txt', 'sub/two.txt', 'sub/three.bin', 'twin/sub/two.txt', 'twin/sub/three.bin'}, listed
        blob('rewrite', '--name', 'sub/two.txt', '--source-uri', blob('generate-sas', '--name', 'one.txt', '--full-uri',
             '--permissions', 'r', '--expiry', '2099-01-01'))
        queried = os.path.join(az.place, 'queried')
        blob('query', '--name', 'sub/two.txt', '--query-expression', 'SELECT _1 from BlobStorage', '--result-file', queried)
        with open(queried) as file:
            assert file.read() == 'one.txt\n', 'rewritten and queried'

        blob('set-tier', '--name', 'copy.txt', '--tier', 'Archive')
        az.refused('BlobArchived', 'blob', 'download', '--container-name', 'az-copies', '--name', 'copy.txt', '--file',
                   os.path.join(az.place, 'archived'))
        blob('set-tier', '--name', 'copy.txt', '--tier', 'Cool', '--rehydrate-priority', 'High')
        shown = told('copy.txt')
        assert (shown['blobTier'], shown['rehydrationStatus']) == ('Archive', 'rehydrate-pending-to-cool'), shown

        az(*retention, '--enable', 'true', '--days-retained', '3')
        try:
            blob('snapshot', '--name', 'one.txt')
            blob('delete', '--name', 'one.txt', '--delete-snapshots', 'include')
            assert not blob('exists', '--name', 'one.txt')['exists']
            deleted = [item['name'] for item in blob('list', '--include', 'd') if item['deleted']]
            assert deleted == ['one.txt'], deleted
            blob('undelete', '--name', 'one.txt')
            assert blob('exists', '--name', 'one.txt')['exists']
            assert len([item for item in blob('list', '--include', 's') if item['snapshot']]) == 1
        finally:
            az(*retention, '--enable', 'false')
        az('blob', 'delete-batch', '--source', 'az-copies', '--pattern', '*sub/*')
        assert {item['name'] for item in blob('list')} == {'one.txt', 'copy.txt'}
    finally:
        az('container', 'delete', '--name', 'az-copies')


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
        try:
            for part in (blobs, copies, queues, tables, az_files.shares, az_files.copies):
                part(az)
        finally:
            az.end()


if __name__ == '__main__':
    main()
