"""obstore (the Rust crate object_store): conditional puts, parts, ranges, copies, renames, many deletions in one batch, signatures."""
import datetime
from urllib.request import urlopen

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import AzureStore

from target import Target, sizes


def refused(kind, work):
    try:
        work()
    except kind:
        return
    raise AssertionError('%s was not raised' % kind.__name__)


def main():
    target = Target()
    container = target.container('obstore')
    store = AzureStore(container.container_name, account_name=target.account, account_key=target.key, endpoint=target.endpoint,
                       client_options={'allow_http': True})

    store.put('one', b'one', mode='create')
    refused(AlreadyExistsError, lambda: store.put('one', b'other', mode='create'))
    current = store.head('one')
    told = store.put('one', b'two', mode={'e_tag': current['e_tag']})
    refused(PreconditionError, lambda: store.put('one', b'late', mode={'e_tag': current['e_tag']}))
    assert (bytes(store.get('one').bytes()), store.head('one')['e_tag']) == (b'two', told['e_tag'])

    large = bytes(range(256)) * 50_000
    store.put('parts', large, use_multipart=True, chunk_size=5 << 20, attributes={'Content-Type': 'text/x-data'})
    assert bytes(store.get('parts').bytes()) == large
    assert store.get('parts').attributes['Content-Type'] == 'text/x-data'
    ranges = store.get_ranges('parts', starts=[0, 100, 12_000_000], lengths=[3, 5, 7])
    assert [bytes(one) for one in ranges] == [large[:3], large[100:105], large[12_000_000:12_000_007]]

    store.copy('one', 'dir/copy')
    refused(AlreadyExistsError, lambda: store.copy('parts', 'dir/copy', overwrite=False))
    store.rename('dir/copy', 'dir/renamed')
    assert sizes(container) == {'one': 3, 'parts': len(large), 'dir/renamed': 3}, sizes(container)
    listed = store.list_with_delimiter()
    assert (sorted(one['path'] for one in listed['objects']), list(listed['common_prefixes'])) == (['one', 'parts'], ['dir'])

    names = ['many/%03d' % number for number in range(300)]
    for name in names:
        store.put(name, b'x')
    offset = [one['path'] for page in store.list('many/', offset='many/279') for one in page]
    assert offset == names[280:], offset
    store.delete(names)
    assert not [name for name in sizes(container) if name.startswith('many/')], 'deleted in batches'
    refused(FileNotFoundError, lambda: store.delete(['one', 'missing']))
    assert 'one' not in sizes(container), 'one of the batch is missing, the other is deleted'
    with urlopen(obstore.sign(store, 'GET', 'parts', datetime.timedelta(hours=1))) as answer:
        assert answer.read() == large
    container.delete_container()


if __name__ == '__main__':
    main()
