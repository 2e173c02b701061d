"""az and shares, directories and files, as a person at a terminal uses them; az.py runs it."""
import os

from tree import digest, plant, same


def shares(az):
    def share(verb, *words):
        return az('share', *verb.split(), '--name', 'az-share', *words)

    assert az('share', 'create', '--name', 'az-share', '--quota', '10', '--metadata', 'colour=blue')['created']
    try:
        assert share('exists')['exists'] and 'az-share' in [item['name'] for item in az('share', 'list')]
        shown = share('show')
        assert (shown['properties']['quota'], shown['metadata']) == (10, {'colour': 'blue'}), shown
        share('update', '--quota', '20')
        share('metadata update', '--metadata', 'shape=round')
        assert share('metadata show') == {'shape': 'round'} and share('show')['properties']['quota'] == 20
        az('share', 'policy', 'create', '--share-name', 'az-share', '--name', 'reader', '--permissions', 'rl', '--expiry', '2099-01-01T00:00:00Z')
        assert list(az('share', 'policy', 'list', '--share-name', 'az-share')) == ['reader']
        az('share', 'policy', 'delete', '--share-name', 'az-share', '--name', 'reader')
        directories(az)
        files(az)
        batches(az)
        links_to_snapshots(az)
    finally:
        az('share', 'delete', '--name', 'az-share', '--delete-snapshots', 'include')
    assert not share('exists')['exists']


def directories(az):
    def directory(verb, *words, name='dir'):
        return az('directory', *verb.split(), '--share-name', 'az-share', '--name', name, *words)

    assert directory('create', '--metadata', 'a=b')['created']
    assert directory('create', name='dir/sub')['created']
    assert directory('exists', name='dir/sub')['exists']
    directory('metadata update', '--metadata', 'c=d')
    assert directory('metadata show') == {'c': 'd'} and directory('show')['metadata'] == {'c': 'd'}
    listed = [item['name'] for item in az('directory', 'list', '--share-name', 'az-share', '--name', 'dir')]
    assert listed == ['sub'], listed
    assert directory('delete', name='dir/sub')['deleted']


def files(az):
    def file(verb, *words, path='dir/file.bin'):
        return az('file', *verb.split(), '--share-name', 'az-share', '--path', path, *words)

    local, back = os.path.join(az.place, 'file'), os.path.join(az.place, 'back')
    with open(local, 'wb') as out:
        out.write(os.urandom(5 * 1024 * 1024 + 3))
    az('file', 'upload', '--share-name', 'az-share', '--source', local, '--path', 'dir/file.bin', '--content-type', 'text/plain', '--metadata', 'a=b')
    shown = file('show')
    assert shown['properties']['contentLength'] == 5 * 1024 * 1024 + 3 and shown['metadata'] == {'a': 'b'}, shown
    assert shown['properties']['contentSettings']['contentType'] == 'text/plain', shown
    file('download', '--dest', back)
    assert same_bytes(local, back), 'downloaded by az'
    file('update', '--content-type', 'text/csv')
    file('metadata update', '--metadata', 'c=d')
    assert file('metadata show') == {'c': 'd'} and file('show')['properties']['contentSettings']['contentType'] == 'text/csv'
    file('resize', '--size', '100')
    assert file('show')['properties']['contentLength'] == 100
    listed = {item['name']: item['properties']['contentLength'] for item in az('file', 'list', '--share-name', 'az-share', '--path', 'dir')}
    assert listed == {'file.bin': 100}, listed
    sas = az('file', 'generate-sas', '--share-name', 'az-share', '--path', 'dir/file.bin', '--permissions', 'r', '--expiry', '2099-01-01')
    assert 'sig=' in sas
    file('delete')
    assert not file('exists')['exists']
    az.refused('ResourceNotFound', 'file', 'show', '--share-name', 'az-share', '--path', 'dir/file.bin')


def copies(az):
    """Between files, and from a blob."""
    az('container', 'create', '--name', 'az-share-source')
    az('share', 'create', '--name', 'az-copies')
    try:
        local, back = os.path.join(az.place, 'tocopy'), os.path.join(az.place, 'copied')
        with open(local, 'wb') as out:
            out.write(os.urandom(70_000))
        az('file', 'upload', '--share-name', 'az-copies', '--source', local, '--path', 'source.bin')
        started = az('file', 'copy', 'start', '--source-uri', az.file_endpoint + '/az-copies/source.bin', '--destination-share', 'az-copies',
                     '--destination-path', 'copy')
        assert started['status'] == 'success', started
        az('file', 'download', '--share-name', 'az-copies', '--path', 'copy', '--dest', back)
        assert same_bytes(local, back), 'copied by az'
        az('blob', 'upload', '--container-name', 'az-share-source', '--name', 'blob', '--file', local)
        uri = az('blob', 'generate-sas', '--container-name', 'az-share-source', '--name', 'blob', '--permissions', 'r', '--expiry',
                 '2099-01-01', '--full-uri')
        az('file', 'copy', 'start', '--source-uri', uri, '--destination-share', 'az-copies', '--destination-path', 'fromblob')
        os.remove(back)
        az('file', 'download', '--share-name', 'az-copies', '--path', 'fromblob', '--dest', back)
        assert same_bytes(local, back), 'copied from a blob by az'
        az.refused('NoPendingCopyOperation', 'file', 'copy', 'cancel', '--destination-share', 'az-copies', '--destination-path', 'copy',
                   '--copy-id', started['id'])
        listed = az('share', 'list-handle', '--name', 'az-copies')
        assert not (listed or {}).get('items'), listed
    finally:
        az('share', 'delete', '--name', 'az-copies')
        az('container', 'delete', '--name', 'az-share-source')


def batches(az):
    up, down = os.path.join(az.place, 'filesup'), os.path.join(az.place, 'filesdown')
    os.mkdir(up)
    os.mkdir(down)
    plant(up, seed=5, few=True)
    az('file', 'upload-batch', '--source', up, '--destination', 'az-share', '--destination-path', 'batch')
    az('file', 'download-batch', '--source', 'az-share/batch', '--destination', down)
    same(digest(up), digest(down), 'uploaded and downloaded in a batch by az')
    az('file', 'delete-batch', '--source', 'az-share/batch')
    left = [item['name'] for item in az('file', 'list', '--share-name', 'az-share', '--path', 'batch') if item['type'] == 'file']
    assert left == [], left


def links_to_snapshots(az):
    local, back = os.path.join(az.place, 'file'), os.path.join(az.place, 'old')
    az('file', 'upload', '--share-name', 'az-share', '--source', local, '--path', 'kept.bin')
    snapshot = az('share', 'snapshot', '--name', 'az-share')['snapshot']
    az('file', 'delete', '--share-name', 'az-share', '--path', 'kept.bin')
    az('file', 'download', '--share-name', 'az-share', '--path', 'kept.bin', '--snapshot', snapshot, '--dest', back)
    assert same_bytes(local, back), 'downloaded of a snapshot by az'
    moments = [item['snapshot'] for item in az('share', 'list', '--include-snapshots') if item['name'] == 'az-share']
    assert snapshot in moments, moments
    az.refused('ShareHasSnapshots', 'share', 'delete', '--name', 'az-share', '--fail-not-exist')


def same_bytes(one, other):
    with open(one, 'rb') as first, open(other, 'rb') as second:
        return first.read() == second.read()
