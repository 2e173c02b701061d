"""Listings: order, prefix, delimiter, pages, a first name, and what is included."""
import pytest
from azure.storage.blob import BlobPrefix
from shared_key import SharedKey

NAMES = ['a', 'a/b', 'a/b/c', 'a/d', 'aa', 'b/1', 'b/2', 'c', 'z z', 'ä', 'é/ü', '日本']


@pytest.fixture
def full(container):
    for name in reversed(NAMES):
        container.upload_blob(name, name.encode())
    return container


def names(found):
    return [item.name for item in found]


def test_everything_in_order(full):
    assert names(full.list_blobs()) == NAMES


@pytest.mark.parametrize('prefix', ['a', 'a/', 'b/', 'é', '日', 'nothing', 'z '])
def test_prefix(full, prefix):
    assert names(full.list_blobs(name_starts_with=prefix)) == [name for name in NAMES if name.startswith(prefix)]


@pytest.mark.parametrize('size', [1, 2, 5, 12, 100])
def test_pages(full, size):
    pages = [names(page) for page in full.list_blobs(results_per_page=size).by_page()]
    assert sum(pages, []) == NAMES
    assert all(len(page) == size for page in pages[:-1]) and len(pages[-1]) <= size


def test_a_page_is_continued_by_its_token(full):
    first = full.list_blobs(results_per_page=4).by_page()
    assert names(next(first)) == NAMES[:4]
    full.upload_blob('a/0', b'')
    full.delete_blob('c')
    rest = full.list_blobs(results_per_page=100).by_page(continuation_token=first.continuation_token)
    assert names(next(rest)) == [name for name in NAMES[4:] if name != 'c']


@pytest.mark.parametrize('start', ['a', 'a/b', 'a/c', 'b', 'zz', '日本', '日本語'])
def test_start_from(full, start):
    assert names(full.list_blobs(start_from=start)) == [name for name in NAMES if name.encode() >= start.encode()]


def test_start_from_with_prefix_and_pages(full):
    pages = full.list_blobs(name_starts_with='a', start_from='a/b/c', results_per_page=1).by_page()
    assert [names(page) for page in pages] == [['a/b/c'], ['a/d'], ['aa']]


def test_start_from_is_never_ignored(target, full):
    """Published for a later version than object_store sends it with, which relies on it."""
    query = {'restype': 'container', 'comp': 'list', 'startFrom': 'b/2'}
    listed = SharedKey(target).request('GET', '/' + full.container_name, query, {'x-ms-version': '2023-11-03'})
    assert listed.status == 200, listed.body
    assert b'<Name>b/1</Name>' not in listed.body and b'<Name>b/2</Name>' in listed.body


def walk(container, prefix='', **options):
    return [(type(item) is BlobPrefix or isinstance(item, BlobPrefix), item.name)
            for item in container.walk_blobs(name_starts_with=prefix, delimiter='/', **options)]


@pytest.mark.parametrize('size', [1, 3, 100])
def test_hierarchy(full, size):
    expected = {(False, 'a'), (True, 'a/'), (False, 'aa'), (True, 'b/'), (False, 'c'), (False, 'z z'), (False, 'ä'),
                (True, 'é/'), (False, '日本')}
    found = walk(full, results_per_page=size)
    assert set(found) == expected and len(found) == len(expected)
    below = walk(full, 'a/', results_per_page=size)
    assert set(below) == {(False, 'a/b'), (True, 'a/b/'), (False, 'a/d')} and len(below) == 3


def test_what_a_listing_tells(container):
    blob = container.upload_blob('blob', b'12345', metadata={'Colour': 'blue'})
    blob.acquire_lease(-1)
    snapshot = blob.create_snapshot()['snapshot']
    plain, = container.list_blobs()
    assert plain.metadata in (None, {}) and plain.snapshot is None
    assert (plain.size, plain.lease.state, plain.etag) == (5, 'leased', blob.get_blob_properties().etag.strip('"'))
    told = list(container.list_blobs(include=['metadata', 'snapshots']))
    assert [item.snapshot for item in told] == [snapshot, None]
    assert told[1].metadata == {'Colour': 'blue'}


def test_names_that_xml_cannot_carry(container):
    name = 'odd\ufffe\uffffname'
    container.upload_blob(name, b'x')
    assert names(container.list_blobs()) == [name]


def test_containers(service, container):
    stem = container.container_name
    more = ['%s-%s' % (stem, letter) for letter in 'abc']
    try:
        for name in more:
            service.create_container(name, metadata={'letter': name[-1]})
        found = list(service.list_containers(name_starts_with=stem, include_metadata=True))
        assert [item.name for item in found] == [stem, *more]
        assert found[1].metadata == {'letter': 'a'}
        pages = [[item.name for item in page] for page in service.list_containers(stem, results_per_page=3).by_page()]
        assert pages == [[stem, *more[:2]], more[2:]]
    finally:
        for name in more:
            service.delete_container(name)


def test_a_container_made_again_is_empty(service):
    container = service.create_container('again')
    container.upload_blob('old', b'x')
    container.delete_container()
    container.create_container()
    assert names(container.list_blobs()) == []
    container.delete_container()
