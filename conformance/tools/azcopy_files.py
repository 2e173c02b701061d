"""azcopy and shares: upload, list, download, synchronise, remove; from share to share, from share to container and back; what SMB knows of
files goes along."""
import datetime
import os

from azure.storage.fileshare import AccountSasPermissions, ContentSettings, ResourceTypes, Services, generate_account_sas

from install import libraries
from target import Target, run, scratch
from tree import blobs, digest, files, plant, same


def main():
    target = Target()
    program = os.path.join(target.tools, 'node/node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64')
    sas = generate_account_sas(target.account, target.key, ResourceTypes(service=True, container=True, object=True),
                               AccountSasPermissions.from_string('rwdlcup'),
                               datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1),
                               services=Services(fileshare=True, blob=True))
    share = target.share('azcopy')

    def at(place, path=''):
        name = getattr(place, 'share_name', None)
        endpoint, name = (target.file_endpoint, name) if name else (target.endpoint, place.container_name)
        return '%s/%s%s?%s' % (endpoint, name, path, sas)

    with scratch() as place:
        up, down, logs = (os.path.join(place, name) for name in ('up', 'down', 'logs'))
        environment = {'AZCOPY_LOG_LOCATION': logs, 'AZCOPY_JOB_PLAN_LOCATION': logs, 'AZCOPY_DISABLE_SYSLOG': 'true',
                       **libraries(target.tools)}

        def azcopy(*words):
            return run([program, *words, '--skip-version-check'], **environment)

        os.mkdir(up)
        plant(up, seed=6)
        azcopy('copy', up + '/*', at(share), '--from-to', 'LocalFile', '--recursive', '--put-md5')
        same(digest(up), files(share), 'uploaded by azcopy')
        listed = azcopy('list', at(share), '--location', 'File')
        missing = [name for name in digest(up) if name + ';' not in listed]
        assert not missing, 'azcopy list does not show %s in\n%s' % (missing[:5], listed)
        azcopy('copy', at(share), down, '--from-to', 'FileLocal', '--recursive', '--check-md5', 'FailIfDifferent')
        same(digest(up), digest(os.path.join(down, share.share_name)), 'downloaded by azcopy')

        # From share to share, with what SMB knows of a file and its permission.
        moment = datetime.datetime(2021, 3, 4, 5, 6, 7, tzinfo=datetime.timezone.utc)
        small = share.get_file_client('small.txt')
        small.set_http_headers(ContentSettings(content_type='text/plain'), file_attributes='Hidden', file_creation_time=moment,
                               file_last_write_time=moment, file_permission='O:SYG:SYD:PAI(A;;FA;;;SY)(A;;0x1200a9;;;BA)')
        small.set_file_metadata({'colour': 'blue'})
        other = target.share('azcopyto')
        azcopy('copy', at(share, '/*'), at(other), '--from-to', 'FileFile', '--recursive', '--preserve-info', '--preserve-permissions')
        same(files(share), files(other), 'copied between shares by azcopy')
        one, two = small.get_file_properties(), other.get_file_client('small.txt').get_file_properties()
        for what in ('file_attributes', 'creation_time', 'last_write_time'):
            assert getattr(one, what) == getattr(two, what), (what, getattr(one, what), getattr(two, what))
        permissions = [place.get_permission_for_share(told.permission_key) for place, told in ((share, one), (other, two))]
        assert permissions[0] == permissions[1], permissions
        # Names of metadata are headers, which azcopy begins with a capital.
        assert {name.lower(): value for name, value in two.metadata.items()} == one.metadata
        assert two.content_settings.content_type == 'text/plain'

        share.get_file_client('one').delete_file()
        share.get_file_client('new').upload_file(b'new')
        azcopy('sync', at(share), at(other), '--from-to', 'FileFile', '--delete-destination', 'true', '--recursive')
        same(files(share), files(other), 'synchronised between shares by azcopy')

        # A snapshot is a source, too.
        snapshot = share.create_snapshot()['snapshot']
        kept = files(share)
        share.get_file_client('new').delete_file()
        azcopy('copy', at(share, '/*') + '&sharesnapshot=' + snapshot, at(other, '/old'), '--from-to', 'FileFile', '--recursive')
        same(kept, {name[4:]: what for name, what in files(other).items() if name.startswith('old/')}, 'copied of a snapshot by azcopy')

        # To blobs, and back.
        container = target.container('azcopyfiles')
        azcopy('copy', at(share, '/*'), at(container), '--from-to', 'FileBlob', '--recursive')
        same(files(share), blobs(container), 'copied to blobs by azcopy')
        azcopy('copy', at(container, '/*'), at(other, '/back'), '--from-to', 'BlobFile', '--recursive')
        same(files(share), {name[5:]: what for name, what in files(other).items() if name.startswith('back/')}, 'copied from blobs by azcopy')
        container.delete_container()
        other.delete_share()

        with open(os.path.join(up, 'new'), 'wb') as file:
            file.write(b'newer')
        azcopy('sync', up, at(share), '--from-to', 'LocalFile', '--delete-destination', 'true')
        same(digest(up), files(share), 'synchronised by azcopy')
        azcopy('remove', at(share, '/many'), '--from-to', 'FileTrash', '--recursive')
        same({name: what for name, what in digest(up).items() if not name.startswith('many/')}, files(share), 'removed by azcopy')
        assert not share.get_directory_client('many').exists()
    share.delete_share(delete_snapshots=True)


if __name__ == '__main__':
    main()
