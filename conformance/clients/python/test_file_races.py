"""Many at once in a share: of those who create, lease, rename or delete one thing, one wins; a range is one writer's or another's."""
import collections
import os
import threading

import pytest
from azure.core.exceptions import HttpResponseError
from shared_key import Crowd, SharedKey

CROWD, ROUNDS = 24, 25
KIB = 1024


@pytest.fixture
def key(target):
    return SharedKey(target, target.file_endpoint)


@pytest.fixture
def crowd(key):
    crowd = Crowd(key, CROWD)
    yield crowd
    crowd.close()


def only_winner(answers, won, *lost):
    """Index of the one that won; all others lost in one of the ways there are."""
    told = collections.Counter((answer.status, answer.code) for answer in answers)
    assert told[won] == 1 and not told.keys() - {won, *lost}, told
    return next(index for index, answer in enumerate(answers) if answer.status == won[0])


def together(*calls):
    """What each call answered, or how it was refused: all begin at one moment."""
    barrier, outcomes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(index, call):
        barrier.wait(30)
        try:
            call()
            outcomes[index] = 'done'
        except HttpResponseError as refused:
            outcomes[index] = str(refused.error_code.value if hasattr(refused.error_code, 'value') else refused.error_code)
        except Exception as error:
            outcomes[index] = repr(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


def test_create_share(key, crowd):
    name = '/race%s' % os.urandom(6).hex()
    for number in range(5):
        path = '%s%d' % (name, number)
        only_winner(crowd.race('PUT', path, {'restype': 'share'}), (201, None), (409, 'ShareAlreadyExists'))
        assert key.request('DELETE', path, {'restype': 'share'}).status == 202


def test_create_directory(crowd, share):
    for number in range(ROUNDS):
        path = '/%s/dir%d' % (share.share_name, number)
        only_winner(crowd.race('PUT', path, {'restype': 'directory'}), (201, None), (409, 'ResourceAlreadyExists'))
    assert len(list(share.list_directories_and_files())) == ROUNDS


def test_acquire_lease(key, crowd, share):
    share.get_file_client('file').create_file(10)
    path, lease = '/%s/file' % share.share_name, {'comp': 'lease'}
    for _ in range(ROUNDS):
        answers = crowd.race('PUT', path, lease, {'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1'})
        winner = only_winner(answers, (201, None), (409, 'LeaseAlreadyPresent'))
        held = answers[winner].headers['x-ms-lease-id']
        assert key.request('PUT', path, lease, {'x-ms-lease-action': 'release', 'x-ms-lease-id': held}).status == 200


def test_delete_once(crowd, share):
    file = share.get_file_client('file')
    for _ in range(ROUNDS):
        file.create_file(10)
        only_winner(crowd.race('DELETE', '/%s/file' % share.share_name), (202, None), (404, 'ResourceNotFound'))


def test_rename_to_one_name(target, key, crowd, share):
    """All rename one file to one name: one does."""
    for number in range(ROUNDS):
        share.get_file_client('source').upload_file(b'%d' % number)
        path = '/%s/name%d' % (share.share_name, number)
        source = '%s/%s/source' % (target.file_endpoint, share.share_name)
        answers = crowd.race('PUT', path, {'comp': 'rename'}, {'x-ms-file-rename-source': source})
        only_winner(answers, (200, None), (404, 'ResourceNotFound'), (409, 'ResourceAlreadyExists'))
    contents = {item.name: share.get_file_client(item.name).download_file().readall() for item in share.list_directories_and_files()}
    assert contents == {'name%d' % number: b'%d' % number for number in range(ROUNDS)}


def test_rename_to_many_names(target, share):
    """One file, eight names at once: it has one of them in the end."""
    clients = [target.shares().get_share_client(share.share_name) for _ in range(8)]
    for number in range(8):
        share.get_file_client('source').upload_file(b'%d' % number)
        outcomes = together(*[lambda index=index, client=client: client.get_file_client('source').rename_file('r%d-%d' % (number, index))
                              for index, client in enumerate(clients)])
        assert sorted(outcomes) == sorted(['done'] + ['ResourceNotFound'] * 7), outcomes
        listed = [item.name for item in share.list_directories_and_files(name_starts_with='r%d-' % number)]
        assert listed == ['r%d-%d' % (number, outcomes.index('done'))]


def test_renames_over_one_another(target, share):
    """Eight files, each renamed over one name: no one is lost, the last stays."""
    clients = [target.shares().get_share_client(share.share_name) for _ in range(8)]
    for number in range(5):
        for index in range(8):
            share.get_file_client('s%d' % index).upload_file(b'%d' % index)
        outcomes = together(*[lambda index=index, client=client: client.get_file_client('s%d' % index).rename_file('there', overwrite=True)
                              for index, client in enumerate(clients)])
        assert outcomes == ['done'] * 8, outcomes
        assert [item.name for item in share.list_directories_and_files()] == ['there']
        assert share.get_file_client('there').download_file().readall() in [b'%d' % index for index in range(8)]


def test_two_directories_into_one_another(target, share):
    """Never both: they would hang on nothing."""
    one, two = (target.shares().get_share_client(share.share_name) for _ in range(2))
    for number in range(10):
        a, b = 'a%d' % number, 'b%d' % number
        share.create_directory(a)
        share.create_directory(b)
        outcomes = together(lambda: one.get_directory_client(a).rename_directory(b + '/in'), lambda: two.get_directory_client(b).rename_directory(a + '/in'))
        assert outcomes.count('done') == 1, outcomes
        left, = share.list_directories_and_files(name_starts_with=a if outcomes[1] == 'done' else b)
        assert [item.name for item in share.list_directories_and_files(left.name)] == ['in']


def test_create_in_what_is_deleted(target, share):
    """A directory is deleted while a file is created in it: the file is there with it, or both are not."""
    one, two = (target.shares().get_share_client(share.share_name) for _ in range(2))
    for number in range(15):
        name = 'dir%d' % number
        share.create_directory(name)
        outcomes = together(lambda: one.get_file_client(name + '/file').create_file(1), lambda: two.get_directory_client(name).delete_directory())
        assert outcomes in (['done', 'DirectoryNotEmpty'], ['ParentNotFound', 'done']), outcomes
        assert share.get_directory_client(name).exists() == (outcomes[0] == 'done')


def test_two_write_one_range(target, share):
    """Each write is whole: a reader sees the one or the other, from its first byte to its last."""
    size = 64 * KIB
    file = share.get_file_client('file')
    file.upload_file(b'a' * size)
    ended, faults, seen = threading.Event(), [], collections.Counter()

    def reads():
        client = target.shares().get_share_client(share.share_name).get_file_client('file')
        while not ended.is_set():
            found = set(client.download_file().readall())
            seen[bytes(found)] += 1
            if len(found) != 1:
                faults.append(found)

    def writes(letter):
        client = target.shares().get_share_client(share.share_name).get_file_client('file')
        for _ in range(40):
            client.upload_range(letter * size, offset=0, length=size)

    reader = threading.Thread(target=reads)
    reader.start()
    try:
        assert together(lambda: writes(b'a'), lambda: writes(b'b')) == ['done', 'done']
    finally:
        ended.set()
        reader.join(60)
    assert not faults and seen


def test_writers_of_many_ranges(target, share):
    """Eight fill one file, a part each: nothing of anybody is lost."""
    part, parts = 32 * KIB, 64
    content = os.urandom(part * parts)
    share.get_file_client('file').create_file(len(content))

    def fills(index):
        client = target.shares().get_share_client(share.share_name).get_file_client('file')
        for number in range(index, parts, 8):
            client.upload_range(content[number * part:(number + 1) * part], offset=number * part, length=part)

    assert together(*[lambda index=index: fills(index) for index in range(8)]) == ['done'] * 8
    file = share.get_file_client('file')
    assert file.download_file().readall() == content
    assert [(item.start, item.end) for item in file.list_ranges()] == [(0, len(content) - 1)]


def test_a_lease_guards(target, share):
    """Who holds the lease adds to a number in the file; nothing that was acknowledged is lost."""
    file = share.get_file_client('counter')
    file.upload_file(b'%08d' % 0)

    def counts():
        client = target.shares().get_share_client(share.share_name).get_file_client('counter')
        added = 0
        for _ in range(2000):
            if added == 5:
                return
            try:
                lease = client.acquire_lease()
            except HttpResponseError as refused:
                assert refused.error_code == 'LeaseAlreadyPresent'
                continue
            number = int(client.download_file(lease=lease).readall())
            client.upload_range(b'%08d' % (number + 1), offset=0, length=8, lease=lease)
            lease.release()
            added += 1
        raise AssertionError('the lease was never free')

    assert together(*[counts for _ in range(6)]) == ['done'] * 6
    assert int(file.download_file().readall()) == 30
