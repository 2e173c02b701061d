#!/usr/bin/env python3
"""A Linux kernel mounts a share as Azure recommends it (SMB 3.1.1, signed, then encrypted), in a small QEMU guest, and works in it; what it
leaves is looked at over REST. Skipped with a word where there is no QEMU (qemu-system-x86), no kernel with cifs below /boot (linux-image-amd64)
or no static busybox (busybox-static).

    LAZULI_TEST_CONNECTION_STRING=... LAZULI_TEST_SMB_PORT=... conformance/smb/mount.py
"""
import glob
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

from azure.storage.fileshare import ShareServiceClient

ACCOUNT = 'devstoreaccount1'
KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
# In the order in which they are loaded: see `modprobe --show-depends`.
MODULES = ('crypto/ctr crypto/gf128mul crypto/ghash-generic crypto/gcm crypto/ccm crypto/cmac crypto/sha512_generic '
           'drivers/net/ethernet/intel/e1000/e1000 fs/netfs/netfs fs/fscache/fscache fs/nls/nls_utf8 net/dns_resolver/dns_resolver '
           'fs/smb/common/cifs_arc4 fs/smb/common/cifs_md4 fs/smb/client/cifs').split()
OPTIONS = 'vers=3.1.1,serverino,nosharesock,actimeo=30,mfsymlinks,cache=strict,dir_mode=0755,file_mode=0755'
SECONDS = 240

# Runs in the guest. Each line of work that fails ends it; the last word says that all was done.
INIT = '''#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev 2>/dev/null
for module in $(cat /modules); do insmod $module || echo "no module $module"; done
ifconfig lo 127.0.0.1; ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up; sleep 2
work() {
    set -e
    mount -t cifs //10.0.2.2/@SHARE@ /mnt -o ip=10.0.2.2,port=@PORT@,username=@ACCOUNT@,password=@KEY@,@OPTIONS@$2
    test "$(cat /mnt/by-rest)" = "over REST"
    mkdir /mnt/$1; cd /mnt/$1
    echo "over SMB" > small; test "$(cat small)" = "over SMB"
    dd if=/dev/urandom of=/large bs=64k count=64 2>/dev/null; cp /large large; sync
    cmp /large large
    echo more >> small; test "$(wc -l < small)" = 2
    mv small renamed; test ! -e small; test -s renamed
    ln -s renamed link; test "$(readlink link)" = renamed; test "$(head -n 1 link)" = "over SMB"
    truncate -s 1000000 large; test "$(stat -c %s large)" = 1000000
    touch -d "2020-01-02 03:04:05" renamed; test "$(stat -c %Y renamed)" = 1577934245
    for number in 1 2 3 4 5 6 7 8 9; do echo $number > file$number; done
    test "$(ls | wc -l)" = 12
    mkdir -p deep/er; echo x > deep/er/file; mv deep deeper; test "$(cat deeper/er/file)" = x; rm -r deeper
    flock renamed -c "echo locked > under-lock"; rm under-lock file2
    df /mnt | grep -q @SHARE@
    cd /; umount /mnt
}
if (work signed "") && (work encrypted ",seal"); then echo "GUEST: all done"; else echo "GUEST: failed"; dmesg | tail -n 20; fi
poweroff -f
'''


def archive(files):
    """A cpio archive as the kernel unpacks it: (name, mode, bytes)."""
    out = bytearray()
    for number, (name, mode, content) in enumerate([*files, ('TRAILER!!!', 0, b'')], 1):
        name = name.encode() + b'\0'
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        out += b'070701' + b''.join(b'%08X' % field for field in fields) + name
        out += bytes(-len(out) % 4) + content
        out += bytes(-len(out) % 4)
    return bytes(out)


def guest(release, share, port):
    said = {'SHARE': share, 'PORT': port, 'ACCOUNT': ACCOUNT, 'KEY': KEY, 'OPTIONS': OPTIONS}
    script = INIT
    for word, value in said.items():
        script = script.replace(f'@{word}@', value)
    files = [(name, 0o040755, b'') for name in ('bin', 'dev', 'proc', 'sys', 'mnt', 'tmp')]
    paths = []
    for module in MODULES:
        with open(f'/lib/modules/{release}/kernel/{module}.ko', 'rb') as source:
            files.append((os.path.basename(module) + '.ko', 0o100644, source.read()))
        paths.append(f'/{os.path.basename(module)}.ko')
    with open(shutil.which('busybox'), 'rb') as source:
        files.append(('bin/busybox', 0o100755, source.read()))
    files += [('modules', 0o100644, '\n'.join(paths).encode()), ('init', 0o100755, script.encode())]
    return gzip.compress(archive(files), 1)


def missing():
    """Why it cannot be done here."""
    if not shutil.which('qemu-system-x86_64'):
        return 'there is no QEMU (qemu-system-x86)'
    if not shutil.which('busybox'):
        return 'there is no busybox (busybox-static)'
    if not releases():
        return 'there is no kernel with cifs (linux-image-amd64)'
    return None


def releases():
    names = (os.path.basename(path).removeprefix('vmlinuz-') for path in sorted(glob.glob('/boot/vmlinuz-*')))
    return [name for name in names
            if all(os.path.exists(f'/lib/modules/{name}/kernel/{module}.ko') for module in MODULES)]


def main():
    if reason := missing():
        print('the kernel mount is left out:', reason)
        return 0
    service = ShareServiceClient.from_connection_string(os.environ['LAZULI_TEST_CONNECTION_STRING'])
    share = service.create_share('mount-' + uuid.uuid4().hex)
    share.get_file_client('by-rest').upload_file(b'over REST\n')
    release = releases()[-1]
    with tempfile.NamedTemporaryFile(suffix='.cpio.gz') as initramfs:
        initramfs.write(guest(release, share.share_name, os.environ['LAZULI_TEST_SMB_PORT']))
        initramfs.flush()
        command = ['qemu-system-x86_64', '-m', '512', '-nographic', '-no-reboot', '-kernel', f'/boot/vmlinuz-{release}',
                   '-initrd', initramfs.name, '-append', 'console=ttyS0 quiet panic=-1', '-nic', 'user,model=e1000']
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=SECONDS)
            said = done.stdout.decode('utf-8', 'replace')
        except subprocess.TimeoutExpired as cut:
            said = (cut.stdout or b'').decode('utf-8', 'replace') + '\nthe guest does not end'
    if 'GUEST: all done' not in said:
        print(said[-4000:])
        return 1
    for name in ('signed', 'encrypted'):
        directory = share.get_directory_client(name)
        assert directory.get_file_client('renamed').download_file().readall() == b'over SMB\nmore\n'
        assert directory.get_file_client('large').get_file_properties().size == 1_000_000
        names = sorted(entry['name'] for entry in directory.list_directories_and_files())
        assert names == ['file1', *(f'file{number}' for number in range(3, 10)), 'large', 'link', 'renamed'], names
        assert not list(directory.list_handles(recursive=True))
    share.delete_share()
    print(f'Linux {release} mounted it, signed and encrypted')
    return 0


if __name__ == '__main__':
    sys.exit(main())
