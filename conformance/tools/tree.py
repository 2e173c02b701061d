"""A directory with what goes wrong in transfers: nothing, one byte, odd names, depth, more than one block."""
import hashlib
import os
import random

MIB = 1024 * 1024
# Name and size. Above 8 MiB both tools cut into blocks; the last block is then not a whole one.
FILES = (
    ('empty', 0),
    ('one', 1),
    ('small.txt', 1000),
    ('with space and (brackets).txt', 77),
    ('per%20cent+plus&more=.bin', 4097),
    ('ünï/coδé/文字.dat', 65536),
    ('deep/er/and/deeper/still.bin', 16385),
    ('large.bin', 20 * MIB + 12345),
) + tuple(('many/%03d.bin' % number, 100 + number) for number in range(60))


def plant(root, seed=1, few=False):
    """Write the files, or a few of them; the same seed gives the same bytes."""
    source = random.Random(seed)
    for name, size in FILES[:10] if few else FILES:
        path = os.path.join(root, *name.split('/'))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(source.randbytes(size))


def digest(root):
    """Relative name to size and hash, for comparison."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, 'rb') as file:
                content = file.read()
            found[os.path.relpath(path, root).replace(os.sep, '/')] = (len(content), hashlib.sha256(content).hexdigest())
    return found


def blobs(container):
    """The same of a container, read by the official client: a judge that is neither the tool nor us."""
    found = {}
    for blob in container.list_blobs():
        content = container.download_blob(blob.name).readall()
        found[blob.name] = (blob.size, hashlib.sha256(content).hexdigest())
        assert len(content) == blob.size, blob.name
    return found


def files(share, directory=''):
    """The same of a share, and of all the directories in it."""
    found = {}
    for item in share.list_directories_and_files(directory):
        path = directory + item.name
        if item.is_directory:
            found.update(files(share, path + '/'))
        else:
            content = share.get_file_client(path).download_file().readall()
            found[path] = (item.size, hashlib.sha256(content).hexdigest())
            assert len(content) == item.size, path
    return found


def directories(share, directory=''):
    """Every directory of a share."""
    below = [directory + item.name for item in share.list_directories_and_files(directory) if item.is_directory]
    return sorted(below + [deeper for path in below for deeper in directories(share, path + '/')])


def same(one, other, what):
    if one != other:
        names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        raise SystemExit('%s: %d differ: %s' % (what, len(names), ', '.join(names[:10])))
