"""pyarrow's AzureFileSystem: files, directories, copies, moves and deletions. It first asks the dfs endpoint whether the account is
hierarchical, and goes on with blobs when it hears that it is flat."""
from urllib.parse import urlsplit

import pyarrow
import pyarrow.fs
import pyarrow.parquet

from target import Target, sizes
from tree import same


def main():
    target = Target()
    container = target.container('pyarrow')
    box = container.container_name
    blob, dfs = urlsplit(target.endpoint), urlsplit(target.dfs_endpoint)
    files = pyarrow.fs.AzureFileSystem(
        account_name=target.account, account_key=target.key, blob_storage_authority=blob.netloc,
        blob_storage_scheme=blob.scheme, dfs_storage_authority=dfs.netloc, dfs_storage_scheme=dfs.scheme)

    files.create_dir(box + '/data')
    for name, size in (('data/one', 1), ('data/deep/er/two', 70_000), ('other', 10)):
        with files.open_output_stream('%s/%s' % (box, name), metadata={'Content-Type': 'text/x-data'}) as stream:
            stream.write(b'x' * size)
    assert container.get_blob_client('other').get_blob_properties().content_settings.content_type == 'text/x-data'
    with files.open_input_file(box + '/data/deep/er/two') as file:
        file.seek(69_990)
        assert (file.size(), file.read(100)) == (70_000, b'x' * 10)

    table = pyarrow.table({'number': range(10_000), 'text': ['row %d' % row for row in range(10_000)]})
    pyarrow.parquet.write_to_dataset(pyarrow.table({'part': [1, 2, 2], 'n': [1, 2, 3]}), box + '/set', ['part'], filesystem=files)
    pyarrow.parquet.write_table(table, box + '/table.parquet', filesystem=files)
    assert pyarrow.parquet.read_table(box + '/table.parquet', filesystem=files).equals(table)
    assert sorted(pyarrow.parquet.read_table(box + '/set', filesystem=files)['n'].to_pylist()) == [1, 2, 3]
    files.delete_dir(box + '/set')
    files.delete_file(box + '/table.parquet')

    found = {info.path: info.type.name for info in
             files.get_file_info(pyarrow.fs.FileSelector(box, recursive=True))}
    same({box + '/data': 'Directory', box + '/data/deep': 'Directory', box + '/data/deep/er': 'Directory',
          box + '/data/deep/er/two': 'File', box + '/data/one': 'File', box + '/other': 'File'}, found, 'listed by pyarrow')

    files.copy_file(box + '/data/deep/er/two', box + '/copied')
    assert sizes(container)['copied'] == 70_000
    files.delete_dir(box + '/data/deep')
    assert not [name for name in sizes(container) if name.startswith('data/deep')], 'a directory deleted by pyarrow'
    assert files.get_file_info(box + '/data').type == pyarrow.fs.FileType.Directory
    files.delete_dir_contents(box + '/data')
    assert not [name for name, size in sizes(container).items() if name.startswith('data') and size], 'the contents of a directory'
    files.delete_file(box + '/other')
    assert files.get_file_info(box + '/other').type == pyarrow.fs.FileType.NotFound
    files.delete_dir(box)
    assert not container.exists(), 'a container deleted by pyarrow'


if __name__ == '__main__':
    main()
