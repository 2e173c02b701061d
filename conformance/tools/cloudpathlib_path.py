"""cloudpathlib: paths as of the local disk; copies, renames and removal of trees."""
import os

from cloudpathlib import AzureBlobClient

from target import Target, scratch, sizes
from tree import blobs, digest, plant, same


def main():
    target = Target()
    container = target.container('cloudpathlib')
    client = AzureBlobClient(connection_string=target.connection_string)
    root = client.CloudPath('az://%s/' % container.container_name)

    one = root / 'dir' / 'one.txt'
    one.write_text('one')
    assert (one.read_text(), one.stat().st_size, one.exists(), one.is_file()) == ('one', 3, True, True)
    assert (root / 'dir').is_dir() and not (root / 'nowhere').exists()
    one.copy(root / 'dir' / 'copy.txt')
    (root / 'dir' / 'copy.txt').rename(root / 'dir' / 'renamed.txt')
    one.replace(root / 'dir' / 'replaced.txt')
    same({'dir/renamed.txt': 3, 'dir/replaced.txt': 3}, sizes(container), 'copied and renamed by cloudpathlib')
    (root / 'dir').copytree(root / 'twin')
    assert {name for name in sizes(container) if name.startswith('twin/')} == {'twin/renamed.txt', 'twin/replaced.txt'}
    assert sorted(path.name for path in root.glob('*/renamed.txt')) == ['renamed.txt'] * 2
    with (root / 'dir' / 'renamed.txt').open('a') as file:
        file.write(' more')
    assert sizes(container)['dir/renamed.txt'] == 8
    (root / 'twin').rmtree()
    (root / 'dir' / 'replaced.txt').unlink()
    same({'dir/renamed.txt': 8}, sizes(container), 'removed by cloudpathlib')
    url = (root / 'dir' / 'renamed.txt').as_url(presign=True, expire_seconds=600)
    assert 'sig=' in url, url
    (root / 'dir').rmtree()

    with scratch() as place:
        up, down = os.path.join(place, 'up'), os.path.join(place, 'down')
        os.mkdir(up)
        plant(up, seed=5)
        (root / 'tree').upload_from(up)
        same({'tree/' + name: told for name, told in digest(up).items()}, blobs(container), 'uploaded by cloudpathlib')
        (root / 'tree').download_to(down)
        same(digest(up), digest(down), 'downloaded by cloudpathlib')
    container.delete_container()


if __name__ == '__main__':
    main()
