"""opendal's azfile: reads, ranges, writes, renames, lists, removal of a tree."""
import opendal

from target import Target
from tree import directories, files


def main():
    target = Target()
    share = target.share('opendal')
    operator = opendal.Operator('azfile', share_name=share.share_name, endpoint=target.file_endpoint, account_name=target.account,
                                account_key=target.key, root='/')
    operator.write('dir/sub/one', b'one')
    assert operator.read('dir/sub/one') == b'one' and operator.stat('dir/sub/one').content_length == 3
    large = bytes(range(256)) * 12_000
    operator.write('large', large)
    with operator.open('large', 'rb') as file:
        file.seek(1_000_000)
        assert file.read(10) == large[1_000_000:1_000_010]
    operator.create_dir('made/')
    assert 'made' in directories(share)
    operator.rename('dir/sub/one', 'dir/renamed')
    assert {entry.path for entry in operator.list('dir/')} - {'dir/'} == {'dir/sub/', 'dir/renamed'}
    for number in range(60):
        operator.write('many/%03d' % number, b'x')
    assert len([entry for entry in operator.scan('many/') if not entry.path.endswith('/')]) == 60
    operator.remove_all('many/')
    operator.delete('large')
    operator.delete('missing')
    try:
        operator.read('large')
        raise AssertionError('what is deleted was read')
    except opendal.exceptions.NotFound:
        pass
    assert set(files(share)) == {'dir/renamed'}, files(share)
    share.delete_share()


if __name__ == '__main__':
    main()
