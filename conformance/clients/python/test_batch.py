"""Blob Batch: many deletes in one request, each with an outcome of its own."""
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import (AccountSasPermissions, ContainerClient, ContainerSasPermissions,
                                PartialBatchErrorException, ResourceTypes, generate_account_sas,
                                generate_container_sas)


def upload(container, names):
    for name in names:
        container.upload_blob(name, b'data', overwrite=True)


def left(container):
    return sorted(blob.name for blob in container.list_blobs())


def test_delete_blobs(container):
    names = ['a', 'dir/b c', 'ünï', 'x+y%z']
    upload(container, names + ['kept'])
    assert [answer.status_code for answer in container.delete_blobs(*names)] == [202] * len(names)
    assert left(container) == ['kept']


def test_each_blob_has_an_outcome_of_its_own(container):
    upload(container, ['first', 'leased', 'last'])
    lease = container.get_blob_client('leased').acquire_lease()
    wanted = ['first', 'missing', 'leased', 'last']
    answers = list(container.delete_blobs(*wanted, raise_on_any_failure=False))
    assert [answer.status_code for answer in answers] == [202, 404, 412, 202]
    assert [answer.headers.get('x-ms-error-code') for answer in answers] == [None, 'BlobNotFound', 'LeaseIdMissing', None]
    with pytest.raises(PartialBatchErrorException):
        list(container.delete_blobs('missing'))
    assert left(container) == ['leased']
    answers = container.delete_blobs({'name': 'leased', 'lease_id': lease.id})
    assert [answer.status_code for answer in answers] == [202]


def test_as_many_as_a_batch_holds(container):
    names = ['blob-%03d' % number for number in range(256)]
    upload(container, names)
    assert {answer.status_code for answer in container.delete_blobs(*names)} == {202}
    assert left(container) == []


def test_parts_are_signed_by_the_token_of_the_client(target, container):
    soon = datetime.now(timezone.utc) + timedelta(hours=1)
    tokens = {
        'account': generate_account_sas(target.account, target.key, ResourceTypes(object=True, container=True),
                                        AccountSasPermissions(delete=True), soon),
        'container': generate_container_sas(target.account, container.container_name, target.key,
                                            permission=ContainerSasPermissions(delete=True), expiry=soon),
        'reader': generate_container_sas(target.account, container.container_name, target.key,
                                         permission=ContainerSasPermissions(read=True), expiry=soon),
    }
    for who, token in tokens.items():
        upload(container, ['one', 'two'])
        client = ContainerClient(target.endpoint, container.container_name, credential=token)
        answers = list(client.delete_blobs('one', 'two', raise_on_any_failure=False))
        assert [answer.status_code for answer in answers] == ([403] * 2 if who == 'reader' else [202] * 2), who
    assert left(container) == ['one', 'two']


def test_set_standard_blob_tier_blobs(container):
    upload(container, ['one', 'two'])
    answers = container.set_standard_blob_tier_blobs('Cool', 'one', 'missing', 'two', raise_on_any_failure=False)
    assert [answer.status_code for answer in answers] == [200, 404, 200]
    assert {blob.name: str(blob.blob_tier) for blob in container.list_blobs()} == {'one': 'Cool', 'two': 'Cool'}
