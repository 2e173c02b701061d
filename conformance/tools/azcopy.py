"""azcopy: upload with MD5, list, download, synchronise both ways, remove; from service to service, blobs of every type; append."""
import datetime
import os

from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

from install import libraries
from target import Target, run, scratch
from tree import MIB, blobs, digest, plant, same


def main():
    target = Target()
    program = os.path.join(target.tools, 'node/node_modules/@azure-tools/azcopy-linux/dist/bin/azcopy_linux_amd64')
    sas = generate_account_sas(target.account, target.key, ResourceTypes(service=True, container=True, object=True),
                               AccountSasPermissions.from_string('rwdlacupt'),
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
        with open(os.path.join(up, 'pages'), 'wb') as file:
            file.write(b'page' * 2 * MIB)
        azcopy('copy', up + '/*', url, '--from-to', 'LocalBlob', '--recursive', '--put-md5', '--block-size-mb', '4')
        same(digest(up), blobs(container), 'uploaded by azcopy')

        listed = azcopy('list', url, '--location', 'Blob')
        missing = [name for name in digest(up) if name + ';' not in listed]
        assert not missing, 'azcopy list does not show %s in\n%s' % (missing[:5], listed)

        azcopy('copy', url, down, '--from-to', 'BlobLocal', '--recursive', '--check-md5', 'FailIfDifferent')
        same(digest(up), digest(os.path.join(down, container.container_name)), 'downloaded by azcopy')

        # From service to service: small blobs with Put Blob From URL, large ones with Put Block From URL, pages and appended blocks
        # with their own.
        container.get_blob_client('small.txt').set_blob_metadata({'colour': 'blue'})
        container.get_blob_client('one').set_standard_blob_tier('Cool')
        container.get_blob_client('empty').set_blob_tags({'kind': 'none'})
        for name, kind in (('log', 'AppendBlob'), ('disk', 'PageBlob')):
            azcopy('copy', os.path.join(up, 'pages'), url.replace('?', '/typed/%s?' % name, 1), '--from-to', 'LocalBlob',
                   '--blob-type', kind)
        other = target.container('azcopyto')
        to = '%s/%s?%s' % (target.endpoint, other.container_name, sas)
        azcopy('copy', url.replace('?', '/*?', 1), to, '--from-to', 'BlobBlob', '--recursive', '--block-size-mb', '4',
               '--s2s-preserve-blob-tags')
        same(blobs(container), blobs(other), 'copied between containers by azcopy')
        copied = {blob.name: blob for blob in other.list_blobs(include=['metadata', 'tags'])}
        assert {name: copied['typed/' + name].blob_type for name in ('log', 'disk')} == {'log': 'AppendBlob', 'disk': 'PageBlob'}
        assert copied['small.txt'].metadata == {'colour': 'blue'} and copied['one'].blob_tier == 'Cool'
        assert copied['empty'].tags == {'kind': 'none'}

        # What is there in the same state is not copied again; what is newer is.
        log = container.get_blob_client('typed/log')
        log.append_block(b'one line more')
        azcopy('copy', url.replace('?', '/*?', 1), to, '--from-to', 'BlobBlob', '--recursive', '--overwrite', 'ifSourceNewer')
        same(blobs(container), blobs(other), 'copied again by azcopy')
        container.delete_blob('one')
        azcopy('sync', url, to, '--from-to', 'BlobBlob', '--delete-destination', 'true')
        same(blobs(container), blobs(other), 'synchronised between containers by azcopy')
        azcopy('set-properties', to.replace('?', '/many?', 1), '--from-to', 'BlobNone', '--recursive', '--block-blob-tier', 'cold')
        assert {blob.blob_tier for blob in other.list_blobs('many/')} == {'Cold'}, 'tiers set by azcopy'
        other.delete_container()
        for name in ('log', 'disk'):
            container.delete_blob('typed/' + name)

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
