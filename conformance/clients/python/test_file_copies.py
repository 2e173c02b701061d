"""Copies into files: of files and blobs, at once; of sources elsewhere, which take their time and are aborted or complete."""
import datetime
import os
import time

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobSasPermissions, generate_blob_sas
from azure.storage.fileshare import ContentSettings, FileSasPermissions, generate_file_sas
from conftest import BINARY, Target, refused_with, remove
from lazuli_server import Server
from test_copy_durability import SIZE, Source
from test_shares import SDDL

MOMENT = datetime.datetime(2021, 3, 4, 5, 6, 7, 890123, tzinfo=datetime.timezone.utc)
OTHER_SDDL = 'O:SYG:SYD:PAI(A;;FA;;;SY)'


def hour():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)


@pytest.fixture
def original(share):
    file = share.get_file_client('original')
    file.upload_file(os.urandom(5 * 1024 * 1024 + 7), metadata={'colour': 'blue'}, content_settings=ContentSettings(content_type='text/plain'),
                     file_attributes='Hidden|Archive', file_creation_time=MOMENT, file_permission=SDDL)
    return file


@pytest.fixture
def copy(share):
    return share.get_file_client('copy')


def test_a_copy_of_a_file(share, original, copy):
    started = copy.start_copy_from_url(original.url)
    assert started['copy_status'] == 'success' and started['copy_id']
    told, source = copy.get_file_properties(), original.get_file_properties()
    assert (told.copy.status, told.copy.id, told.copy.progress) == ('success', started['copy_id'], '%d/%d' % (told.size, told.size))
    assert told.copy.source.split('?')[0] == original.url
    assert (told.metadata, told.content_settings.content_type, told.size) == ({'colour': 'blue'}, 'text/plain', source.size)
    assert copy.download_file().readall() == original.download_file().readall()
    assert told.file_id != source.file_id
    original.upload_range(b'changed', 0, 7)
    assert copy.download_file(offset=0, length=7).readall() != b'changed'
    with refused_with(409, 'NoPendingCopyOperation'):
        copy.abort_copy(started['copy_id'])
    with refused_with(404, 'ResourceNotFound'):
        copy.start_copy_from_url(original.url + '-none')


def test_a_copy_is_told_what_to_keep(share, original, copy):
    copy.start_copy_from_url(original.url, file_permission='source', file_attributes='source', file_creation_time='source', file_last_write_time='source')
    told, source = copy.get_file_properties(), original.get_file_properties()
    for what in ('permission_key', 'file_attributes', 'creation_time', 'last_write_time'):
        assert getattr(told, what) == getattr(source, what), what
    copy.start_copy_from_url(original.url, file_permission=OTHER_SDDL, file_attributes='System', file_creation_time=MOMENT + datetime.timedelta(days=1),
                             file_change_time=MOMENT, metadata={'own': 'yes'}, set_archive_attribute=True)
    told = copy.get_file_properties()
    assert told.permission_key == share.create_permission_for_share(OTHER_SDDL)
    assert set(told.file_attributes.replace(' ', '').split('|')) == {'System', 'Archive'}
    assert (told.creation_time, told.change_time, told.metadata) == (MOMENT + datetime.timedelta(days=1), MOMENT, {'own': 'yes'})


def test_a_copy_over_what_is_there(share, original, copy):
    copy.upload_file(b'there', metadata={'old': 'yes'})
    lease = copy.acquire_lease()
    with refused_with(412, 'LeaseIdMissing'):
        copy.start_copy_from_url(original.url)
    copy.start_copy_from_url(original.url, lease=lease)
    assert copy.get_file_properties().metadata == {'colour': 'blue'} and copy.get_file_properties().lease.state == 'leased'
    lease.release()
    copy.set_http_headers(ContentSettings(), file_attributes='ReadOnly')
    with refused_with(409, 'ReadOnlyAttribute'):
        copy.start_copy_from_url(original.url)
    copy.start_copy_from_url(original.url, ignore_read_only=True)
    share.create_directory('dir')
    with refused_with(409, 'ResourceTypeMismatch'):
        share.get_file_client('dir').start_copy_from_url(original.url)
    with refused_with(404, 'ParentNotFound'):
        share.get_file_client('no/such').start_copy_from_url(original.url)


def test_a_copy_of_a_blob(target, container, copy):
    content = os.urandom(100_000)
    blob = container.upload_blob('blob', content, metadata={'of': 'blob'})
    sas = generate_blob_sas(target.account, container.container_name, 'blob', account_key=target.key, permission=BlobSasPermissions(read=True), expiry=hour())
    assert copy.start_copy_from_url('%s?%s' % (blob.url, sas))['copy_status'] == 'success'
    assert copy.download_file().readall() == content and copy.get_file_properties().metadata == {'of': 'blob'}


def test_a_blob_of_a_file(target, container, original):
    sas = generate_file_sas(target.account, original.share_name, ['original'], account_key=target.key, permission=FileSasPermissions(read=True), expiry=hour())
    blob = container.get_blob_client('blob')
    assert blob.start_copy_from_url('%s?%s' % (original.url, sas))['copy_status'] == 'success'
    assert blob.download_blob().readall() == original.download_file().readall()


def test_a_copy_of_a_snapshot(shares, share, original, copy):
    content = original.download_file().readall()
    moment = share.create_snapshot()['snapshot']
    original.upload_file(b'newer')
    old = shares.get_share_client(share.share_name, snapshot=moment).get_file_client('original')
    copy.start_copy_from_url(old.url)
    assert copy.download_file().readall() == content


def test_a_copy_between_shares(shares, original):
    other = shares.create_share('t' + os.urandom(8).hex())
    try:
        copy = other.get_file_client('copy')
        copy.start_copy_from_url(original.url, file_permission='source')
        assert copy.download_file().readall() == original.download_file().readall()
        keys = [share.get_permission_for_share(file.get_file_properties().permission_key)
                for share, file in ((other, copy), (shares.get_share_client(original.share_name), original))]
        assert keys[0] == keys[1]
    finally:
        remove(other)


def test_a_sparse_copy(share, copy):
    file = share.get_file_client('sparse')
    file.create_file(3 * 1024 ** 3)
    file.upload_range(b'x' * 512, offset=1024 ** 3, length=512)
    copy.start_copy_from_url(file.url)
    assert copy.get_file_properties().size == 3 * 1024 ** 3
    assert [(item.start, item.end) for item in copy.list_ranges()] == [(1024 ** 3, 1024 ** 3 + 511)]


@pytest.mark.skipif(BINARY not in os.environ, reason='%s is not set' % BINARY)
def test_copies_that_take_their_time(tmp_path):
    """One is aborted, one completes; a third is under way when the server is killed, and goes on in the next one."""
    source = Source()
    flags = ('--copySources', source.address)

    def share_of(server):
        return Target(server.connection_string, server.clock_url).shares().get_share_client('box')

    def ended(file):
        for _ in range(300):
            told = file.get_file_properties()
            if told.copy.status != 'pending':
                return told
            time.sleep(0.1)
        raise AssertionError('the copy is still pending')

    try:
        with Server(os.environ[BINARY], *flags, memory=False, place=str(tmp_path)) as server:
            box = share_of(server)
            box.create_share()
            file = box.get_file_client('aborted')
            started = file.start_copy_from_url('http://%s/slow' % source.address)
            assert started['copy_status'] == 'pending'
            for write in (lambda: file.upload_range(b'x', 0, 1), lambda: file.start_copy_from_url('http://%s/slow' % source.address)):
                with refused_with(409, 'PendingCopyOperation'):
                    write()
            with refused_with(409, 'CopyIdMismatch'):
                file.abort_copy('00000000-0000-4000-8000-000000000000')
            file.abort_copy(started['copy_id'])
            told = file.get_file_properties()
            assert (told.copy.status, told.copy.id) == ('aborted', started['copy_id'])
            file.upload_file(b'new')
            assert file.download_file().readall() == b'new'
            later = box.get_file_client('later').start_copy_from_url('http://%s/later' % source.address)
            assert later['copy_status'] == 'pending'
            server.kill()
        source.answers.set()
        with Server(os.environ[BINARY], *flags, memory=False, place=str(tmp_path)) as server:
            file = share_of(server).get_file_client('later')
            told = ended(file)
            assert (told.copy.status, told.copy.id, told.size) == ('success', later['copy_id'], SIZE), told.copy.status_description
            assert file.download_file().readall() == b'x' * SIZE
    finally:
        source.close()


def test_two_copies_at_once(target, share, original, copy):
    """Each copy is whole: the file is the one source or the other."""
    from test_file_races import together
    other = share.get_file_client('other')
    other.upload_file(b'y' * 100_000)
    wholes = (original.download_file().readall(), b'y' * 100_000)

    def copies(url):
        client = target.shares().get_share_client(share.share_name).get_file_client('copy')
        for _ in range(5):
            try:
                client.start_copy_from_url(url)
            except HttpResponseError as refused:
                assert refused.error_code == 'PendingCopyOperation'

    assert together(lambda: copies(original.url), lambda: copies(other.url)) == ['done', 'done']
    assert copy.download_file().readall() in wholes
