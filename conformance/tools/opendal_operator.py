"""opendal's azblob: reads, writes in blocks, conditions, appends, copies, lists, removal of a tree."""
import opendal

from target import Target, sizes


def refused(kind, work):
    try:
        work()
    except kind:
        return
    raise AssertionError('%s was not raised' % kind.__name__)


def main():
    target = Target()
    container = target.container('opendal')
    files = opendal.Operator('azblob', container=container.container_name, endpoint=target.endpoint,
                             account_name=target.account, account_key=target.key)

    files.write('dir/one', b'one', content_type='text/x-data')
    assert files.read('dir/one') == b'one'
    told = files.stat('dir/one')
    assert (told.content_length, told.content_type) == (3, 'text/x-data')
    refused(opendal.exceptions.ConditionNotMatch, lambda: files.write('dir/one', b'never', if_not_exists=True))
    assert files.read('dir/one') == b'one'
    large = bytes(range(256)) * 40_000
    files.write('large', large, chunk=4 << 20)
    assert files.read('large') == large
    with files.open('large', 'rb') as file:
        file.seek(5_000_000)
        assert file.read(10) == large[5_000_000:5_000_010]

    files.copy('dir/one', 'dir/copy')
    assert files.read('dir/copy') == b'one'
    files.create_dir('made/')
    assert {entry.path for entry in files.list('dir/')} - {'dir/'} == {'dir/one', 'dir/copy'}
    assert {entry.path for entry in files.list('/')} - {'/'} == {'dir/', 'large', 'made/'}
    files.write('log', b'one ', append=True)
    files.write('log', b'two', append=True)
    assert files.read('log') == b'one two'
    assert container.get_blob_client('log').get_blob_properties().blob_type == 'AppendBlob'
    for number in range(300):
        files.write('many/%03d' % number, b'x')
    assert len(list(files.scan('many/'))) >= 300
    files.remove_all('many/')
    assert not [name for name in sizes(container) if name.startswith('many/')]
    files.delete('large')
    files.delete('missing')
    refused(opendal.exceptions.NotFound, lambda: files.read('large'))
    files.remove_all('/')
    assert sizes(container) == {}, sizes(container)
    container.delete_container()


if __name__ == '__main__':
    main()
