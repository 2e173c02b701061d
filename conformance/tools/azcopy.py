"""azcopy: upload with MD5, list, download, synchronise both ways, copy between containers, remove."""
import datetime
import os

from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

from install import libraries
from target import Target, run, scratch
from tree import blobs, digest, plant, same


def main():
    target = Target()
    program = os.path.join(target.tools, 'node/node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64')
    sas = generate_account_sas(target.account, target.key, ResourceTypes(service=True, container=True, object=True),
                               AccountSasPermissions.from_string('rwdlacup'),
                               datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1))
    container = target.container('azcopy')
    url = '%s/%s?%s' % (target.endpoint, container.container_name, sas)
    with scratch() as place:
        up, down, logs = (os.path.join(place, name) for name in ('up', 'down', 'logs'))
        environment = {'AZCOPY_LOG_LOCATION': logs, 'AZCOPY_JOB_PLAN_LOCATION': logs, 'AZCOPY_DISABLE_SYSLOG': 'true',
                       **libraries(target.tools)}

        def azcopy(*words):
            return run([program, *words, '--skip-version-check'], **environment)

        os.mkdir(up)
        plant(up)
        azcopy('copy', up + '/*', url, '--from-to', 'LocalBlob', '--recursive', '--put-md5', '--block-size-mb', '4')
        same(digest(up), blobs(container), 'uploaded by azcopy')

        listed = azcopy('list', url, '--location', 'Blob')
        missing = [name for name in digest(up) if name + ';' not in listed]
        assert not missing, 'azcopy list does not show %s in\n%s' % (missing[:5], listed)

        azcopy('copy', url, down, '--from-to', 'BlobLocal', '--recursive', '--check-md5', 'FailIfDifferent')
        same(digest(up), digest(os.path.join(down, container.container_name)), 'downloaded by azcopy')

        # From service to service: small blobs with Put Blob From URL, large ones with Put Block From URL.
        other = target.container('azcopyto')
        to = '%s/%s?%s' % (target.endpoint, other.container_name, sas)
        azcopy('copy', url.replace('?', '/*?', 1), to, '--from-to', 'BlobBlob', '--recursive', '--block-size-mb', '4')
        same(digest(up), blobs(other), 'copied between containers by azcopy')
        other.delete_container()

        os.remove(os.path.join(up, 'one'))
        with open(os.path.join(up, 'new'), 'wb') as file:
            file.write(b'new')
        azcopy('sync', up, url, '--from-to', 'LocalBlob', '--delete-destination', 'true')
        same(digest(up), blobs(container), 'synchronised by azcopy')

        azcopy('remove', url, '--from-to', 'BlobTrash', '--recursive')
        same({}, blobs(container), 'removed by azcopy')
    container.delete_container()


if __name__ == '__main__':
    main()
