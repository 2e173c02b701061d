"""rclone and a share: copy there and back, check, list, read ranges, synchronise, move files and directories, make and remove
directories, purge."""
import json
import os
import sys

from target import Target, run, scratch
from tree import MIB, digest, directories, files, plant, same


def main():
    target = Target()
    program = os.path.join(os.path.dirname(sys.executable), 'rclone')
    share = target.share('rclone')
    # Not the root of the share: rclone does not find a single file there.
    remote = 'lazuli:base/'
    with scratch() as place:
        up, down = os.path.join(place, 'up'), os.path.join(place, 'down')
        environment = {'RCLONE_CONFIG': os.path.join(place, 'rclone.conf'), 'RCLONE_CONFIG_LAZULI_TYPE': 'azurefiles',
                       'RCLONE_CONFIG_LAZULI_ACCOUNT': target.account, 'RCLONE_CONFIG_LAZULI_KEY': target.key,
                       'RCLONE_CONFIG_LAZULI_ENDPOINT': target.file_endpoint, 'RCLONE_CONFIG_LAZULI_SHARE_NAME': share.share_name,
                       'RCLONE_RETRIES': '1', 'RCLONE_LOW_LEVEL_RETRIES': '1'}

        def rclone(*words):
            return run([program, *words], **environment)

        def there():
            return {name.removeprefix('base/'): what for name, what in files(share).items()}

        os.mkdir(up)
        plant(up, seed=4)
        rclone('copy', up, remote, '--azurefiles-chunk-size', '4Mi', '--transfers', '8')
        same(digest(up), there(), 'copied by rclone')
        rclone('check', up, remote)
        rclone('check', '--download', up, remote)
        listed = {item['Path']: item['Size'] for item in json.loads(rclone('lsjson', '-R', '--files-only', remote))}
        same({name: size for name, (size, _) in digest(up).items()}, listed, 'listed by rclone')
        times = {item['Path']: item['ModTime'] for item in json.loads(rclone('lsjson', remote, '--files-only'))}
        assert times['small.txt'][:19] == json.loads(rclone('lsjson', os.path.join(up, 'small.txt')))[0]['ModTime'][:19], 'the time of a file'
        ranged = rclone('cat', '--offset', str(4 * MIB - 3), '--count', '6', remote + 'large.bin')
        with open(os.path.join(up, 'large.bin'), 'rb') as file:
            file.seek(4 * MIB - 3)
            expected = file.read(6).decode(errors='replace')
            assert ranged == expected, 'a range read by rclone: %r, expected %r' % (ranged, expected)
        rclone('copy', remote, down, '--multi-thread-streams', '4', '--multi-thread-cutoff', '8Mi')
        same(digest(up), digest(down), 'copied back by rclone')

        os.remove(os.path.join(up, 'one'))
        with open(os.path.join(up, 'small.txt'), 'ab') as file:
            file.write(b'longer')
        rclone('sync', up, remote)
        same(digest(up), there(), 'synchronised by rclone')
        told = rclone('copy', up, remote, '-v', '--stats-one-line')
        assert 'Copied' not in told, 'what is there was copied again'

        rclone('moveto', remote + 'small.txt', remote + 'deep/moved.txt')
        rclone('mkdir', remote + 'moved')
        rclone('move', remote + 'many', remote + 'moved/many')
        expected = {}
        for name, what in digest(up).items():
            expected['deep/moved.txt' if name == 'small.txt' else 'moved/' + name if name.startswith('many/') else name] = what
        same(expected, there(), 'moved by rclone')
        rclone('copyto', remote + 'empty', remote + 'copied/empty')
        assert there()['copied/empty'] == expected['empty'], 'copied within the share'

        rclone('mkdir', remote + 'new/empty/directory')
        assert 'base/new/empty/directory' in directories(share), directories(share)
        rclone('rmdirs', remote + 'new')
        assert not [path for path in directories(share) if path.startswith('base/new')]
        rclone('deletefile', remote + 'large.bin')
        rclone('delete', remote + 'moved')
        rclone('purge', remote + 'deep')
        left = set(there())
        assert not [name for name in left if name == 'large.bin' or name.startswith(('moved/', 'deep/'))], left
        rclone('touch', '--timestamp', '2021-03-04T05:06:07', remote + 'empty')
        assert share.get_file_client('base/empty').get_file_properties().last_write_time.isoformat()[:19] == '2021-03-04T05:06:07'
    share.delete_share()


if __name__ == '__main__':
    main()
