"""rclone: copy there and back, check by hash, list, synchronise, move, delete; its chunks in parallel; copies and
moves on the server; tiers."""
import json
import os
import sys

from target import Target, run, scratch
from tree import MIB, blobs, digest, plant, same


def main():
    target = Target()
    program = os.path.join(os.path.dirname(sys.executable), 'rclone')
    container = target.container('rclone')
    remote = 'lazuli:%s' % container.container_name
    with scratch() as place:
        up, down = os.path.join(place, 'up'), os.path.join(place, 'down')
        environment = {'RCLONE_CONFIG': os.path.join(place, 'rclone.conf'), 'RCLONE_CONFIG_LAZULI_TYPE': 'azureblob',
                       'RCLONE_CONFIG_LAZULI_ACCOUNT': target.account, 'RCLONE_CONFIG_LAZULI_KEY': target.key,
                       'RCLONE_CONFIG_LAZULI_ENDPOINT': target.endpoint, 'RCLONE_RETRIES': '1',
                       'RCLONE_LOW_LEVEL_RETRIES': '1'}

        def rclone(*words):
            return run([program, *words], **environment)

        os.mkdir(up)
        plant(up, seed=2)
        rclone('copy', up, remote, '--azureblob-chunk-size', '4Mi', '--transfers', '8')
        same(digest(up), blobs(container), 'copied by rclone')
        rclone('check', up, remote)
        rclone('check', '--download', up, remote)

        listed = {item['Path']: item['Size'] for item in json.loads(rclone('lsjson', '-R', '--files-only', remote))}
        same({name: size for name, (size, _) in digest(up).items()}, listed, 'listed by rclone')
        ranged = rclone('cat', '--offset', str(4 * MIB - 3), '--count', '6', remote + '/large.bin')
        with open(os.path.join(up, 'large.bin'), 'rb') as file:
            file.seek(4 * MIB - 3)
            assert ranged == file.read(6).decode(errors='replace'), 'a range read by rclone'

        rclone('copy', remote, down, '--multi-thread-streams', '4', '--multi-thread-cutoff', '8Mi')
        same(digest(up), digest(down), 'copied back by rclone')

        # On the server: a copy to another container, and a move back.
        other = target.container('rcloneto')
        there = 'lazuli:%s' % other.container_name
        log = os.path.join(place, 'log')
        rclone('copy', remote, there, '-v', '--log-file', log)
        same(digest(up), blobs(other), 'copied on the server by rclone')
        with open(log) as file:
            told = file.read()
        assert told.count('server-side copy') >= len(digest(up)), 'rclone passed bytes through itself:\n%s' % told[-2000:]
        rclone('moveto', there + '/small.txt', there + '/moved.txt')
        names = set(blobs(other))
        assert 'moved.txt' in names and 'small.txt' not in names, names
        rclone('move', there + '/many', there + '/deep/many', '-v', '--log-file', log)
        assert {name for name in blobs(other) if 'many' in name} == {'deep/' + name for name in digest(up) if 'many' in name}
        rclone('settier', 'Cool', there + '/deep')
        tiers = dict(line.split(';') for line in rclone('lsf', '-R', '--files-only', '--format', 'pT', there).splitlines())
        assert {tier for name, tier in tiers.items() if name.startswith('deep/')} == {'Cool'} and tiers['one'] == 'Hot', tiers
        rclone('settier', 'Archive', there + '/deep/many/000.bin')
        rclone('settier', 'Hot', there + '/deep/many/001.bin')
        assert other.get_blob_client('deep/many/000.bin').get_blob_properties().blob_tier == 'Archive'
        other.delete_container()

        os.remove(os.path.join(up, 'one'))
        with open(os.path.join(up, 'small.txt'), 'ab') as file:
            file.write(b'longer')
        rclone('sync', up, remote)
        same(digest(up), blobs(container), 'synchronised by rclone')
        rclone('deletefile', remote + '/large.bin')
        rclone('delete', remote + '/many')
        left = {name: told for name, told in digest(up).items() if name != 'large.bin' and not name.startswith('many/')}
        same(left, blobs(container), 'deleted by rclone')
        rclone('purge', remote)
        assert not container.exists(), 'purged by rclone'


if __name__ == '__main__':
    main()
