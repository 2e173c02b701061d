"""adlfs, also by the general functions of fsspec: copy, move, append, directories, and files as local ones."""
import os

import adlfs
import fsspec

from target import Target, scratch, sizes
from tree import blobs, digest, plant, same


def main():
    target = Target()
    container = target.container('adlfs')
    box = container.container_name
    options = {'connection_string': target.connection_string}
    files = adlfs.AzureBlobFileSystem(**options)

    files.pipe_file(box + '/dir/one', b'one')
    files.cp_file(box + '/dir/one', box + '/dir/copy')
    assert files.cat_file(box + '/dir/copy') == b'one'
    files.mv(box + '/dir/copy', box + '/dir/moved')
    same({'dir/one': 3, 'dir/moved': 3}, sizes(container), 'copied and moved by adlfs')
    files.cp(box + '/dir', box + '/twin', recursive=True)
    assert {name for name in sizes(container) if name.startswith('twin/')} == {'twin/one', 'twin/moved'}, sizes(container)

    # A file that is appended to is an append blob; it must have been begun as one.
    for line in (b'first\n', b'second\n', b'third\n'):
        with files.open(box + '/log', 'ab') as log:
            log.write(line)
    assert files.cat_file(box + '/log') == b'first\nsecond\nthird\n'
    assert container.get_blob_client('log').get_blob_properties().blob_type == 'AppendBlob'

    with files.open(box + '/blocks', 'wb', block_size=1 << 20) as file:
        for number in range(40):
            file.write(bytes([number]) * 100_000)
    with files.open(box + '/blocks', 'rb', block_size=1 << 20) as file:
        file.seek(2_050_000)
        assert file.read(3) == bytes([20]) * 3
    assert files.info(box + '/blocks')['size'] == 4_000_000
    files.touch(box + '/empty')
    assert files.size(box + '/empty') == 0
    files.setxattrs(box + '/empty', colour='blue')
    assert files.getxattr(box + '/empty', 'colour') == 'blue'

    assert sorted(files.find(box + '/dir')) == [box + '/dir/moved', box + '/dir/one']
    assert sorted(files.glob(box + '/*/one')) == [box + '/dir/one', box + '/twin/one']
    assert files.isdir(box + '/dir') and files.isfile(box + '/log') and not files.exists(box + '/nowhere')
    files.rm(box + '/twin', recursive=True)
    files.rm([box + '/log', box + '/blocks', box + '/empty'])
    same({'dir/one': 3, 'dir/moved': 3}, sizes(container), 'deleted by adlfs')
    files.rm(box + '/dir', recursive=True)

    with scratch() as place:
        up, down = os.path.join(place, 'up'), os.path.join(place, 'down')
        os.mkdir(up)
        plant(up, seed=4)
        general = fsspec.filesystem('abfs', **options)
        general.put(up + '/', box + '/tree/', recursive=True)
        same({'tree/' + name: told for name, told in digest(up).items()}, blobs(container), 'put by fsspec')
        general.invalidate_cache()
        general.get(box + '/tree/', down, recursive=True)
        same(digest(up), digest(down), 'got by fsspec')
    mapping = fsspec.get_mapper('abfs://%s/map' % box, **options)
    mapping['key'] = b'value'
    assert (list(mapping), mapping['key']) == (['key'], b'value')
    del mapping['key']
    with fsspec.open('abfs://%s/text.gz' % box, 'wt', compression='gzip', **options) as file:
        file.write('packed')
    with fsspec.open('abfs://%s/text.gz' % box, 'rt', compression='gzip', **options) as file:
        assert file.read() == 'packed'
    files.rm(box, recursive=True)
    assert not container.exists(), 'a container deleted by adlfs'


if __name__ == '__main__':
    main()
