"""The Queue service as its official client sees it: queues, messages, receipts, signatures, many hands."""
import concurrent.futures
import datetime
import http.client
import threading
import uuid
from urllib.parse import urlsplit

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceExistsError
from azure.storage.queue import (
    AccessPolicy,
    AccountSasPermissions,
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    CorsRule,
    QueueAnalyticsLogging,
    QueueClient,
    QueueSasPermissions,
    QueueServiceClient,
    ResourceTypes,
    RetentionPolicy,
    generate_account_sas,
    generate_queue_sas,
)

# A retry would hide what the server answered first.
ONE_TRY = {'retry_total': 0}
HOUR = datetime.timedelta(hours=1)


def refused(status, code, asked, *arguments, **named):
    with pytest.raises(HttpResponseError) as caught:
        asked(*arguments, **named)
    assert (caught.value.status_code, caught.value.error_code) == (status, code)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@pytest.fixture(scope='session')
def queues(target):
    return QueueServiceClient.from_connection_string(target.connection_string, **ONE_TRY)


@pytest.fixture
def queue(queues):
    client = queues.get_queue_client('q' + uuid.uuid4().hex)
    client.create_queue()
    yield client
    try:
        client.delete_queue()
    except HttpResponseError as error:
        assert error.error_code == 'QueueNotFound'


def other(queue, credential, **options):
    """The same queue for somebody else."""
    account = queue.url.split('?')[0].rsplit('/', 1)[0]
    return QueueClient(account, queue.queue_name, credential=credential, **{**ONE_TRY, **options})


def texts(messages):
    return [message.content for message in messages]


def received(queue, count=32, **options):
    return [*queue.receive_messages(max_messages=count, **options)]


def test_create_again(queues, queue):
    # The service answers 204, which the client takes for a refusal.
    with pytest.raises(ResourceExistsError):
        queue.create_queue()
    refused(409, 'QueueAlreadyExists', queue.create_queue, metadata={'a': '1'})
    queue.delete_queue()
    refused(404, 'QueueNotFound', queue.get_queue_properties)
    refused(404, 'QueueNotFound', queue.send_message, 'x')
    refused(400, 'InvalidResourceName', queues.create_queue, 'Upper-Case')
    refused(400, 'OutOfRangeInput', queues.create_queue, 'ab')


def test_metadata_and_count(queue):
    queue.set_queue_metadata({'Colour': 'blue', 'n': '1'})
    properties = queue.get_queue_properties()
    assert properties.metadata == {'Colour': 'blue', 'n': '1'}
    assert properties.approximate_message_count == 0
    for number in range(3):
        queue.send_message(str(number))
    received(queue, 2)
    assert queue.get_queue_properties().approximate_message_count == 3
    queue.set_queue_metadata()
    assert queue.get_queue_properties().metadata == {}


def test_listing(queues):
    prefix = 'l' + uuid.uuid4().hex[:10]
    names = [prefix + '-' + letter for letter in 'abcde']
    for name in reversed(names):
        queues.create_queue(name, metadata={'own': name})
    try:
        found = [*queues.list_queues(name_starts_with=prefix, include_metadata=True)]
        assert [queue.name for queue in found] == names
        assert [queue.metadata for queue in found] == [{'own': name} for name in names]
        pages = [[queue.name for queue in page]
                 for page in queues.list_queues(name_starts_with=prefix, results_per_page=2).by_page()]
        assert pages == [names[:2], names[2:4], names[4:]]
    finally:
        for name in names:
            queues.delete_queue(name)


def test_a_message_from_put_to_delete(queue):
    sent = queue.send_message('content <&> \u4e2d \U0001f600 ')
    assert sent.pop_receipt and sent.id and sent.next_visible_on and sent.inserted_on
    assert (sent.expires_on - sent.inserted_on).days == 7
    [peeked] = queue.peek_messages(5)
    assert (peeked.content, peeked.dequeue_count, peeked.pop_receipt) == (sent.content, 0, None)
    got = queue.receive_message()
    assert (got.id, got.content, got.dequeue_count) == (sent.id, sent.content, 1)
    assert got.inserted_on == sent.inserted_on
    assert queue.receive_message() is None
    assert queue.peek_messages(5) == []
    refused(404, 'MessageNotFound', queue.delete_message, sent)
    queue.delete_message(got)
    refused(404, 'MessageNotFound', queue.delete_message, got)


def test_order_and_numbers(queue):
    for number in range(40):
        queue.send_message(str(number))
    assert texts(queue.peek_messages(32)) == [str(number) for number in range(32)]
    pages = [texts(page) for page in queue.receive_messages(messages_per_page=16).by_page()]
    assert sum(pages, []) == [str(number) for number in range(40)]


def test_visibility(queue, target):
    queue.send_message('later', visibility_timeout=20)
    assert queue.receive_message() is None
    target.advance(20)
    got = queue.receive_message(visibility_timeout=10)
    assert got.content == 'later'
    target.advance(11)
    # Nobody came meanwhile: the receipt is still good.
    renewed = queue.update_message(got, visibility_timeout=5)
    assert renewed.pop_receipt != got.pop_receipt
    refused(404, 'MessageNotFound', queue.delete_message, got)
    target.advance(5)
    again = queue.receive_message()
    assert (again.dequeue_count, again.id) == (2, got.id)
    refused(404, 'MessageNotFound', queue.delete_message, renewed)
    refused(404, 'MessageNotFound', queue.update_message, renewed, visibility_timeout=0)
    queue.delete_message(again)


def test_update_of_the_text(queue):
    queue.send_message('one')
    got = queue.receive_message()
    updated = queue.update_message(got, content='two', visibility_timeout=0)
    assert updated.next_visible_on is not None
    got = queue.receive_message()
    assert (got.content, got.dequeue_count) == ('two', 2)


def test_expiry(queue, target):
    queue.send_message('short', time_to_live=5)
    ever = queue.send_message('ever', time_to_live=-1)
    assert ever.expires_on.year == 9999
    target.advance(6)
    assert texts(received(queue)) == ['ever']
    assert queue.get_queue_properties().approximate_message_count == 1
    queue.send_message('long', time_to_live=1073741824)


def test_clear(queue):
    for number in range(50):
        queue.send_message(str(number))
    held = queue.receive_message()
    queue.clear_messages()
    assert received(queue) == []
    assert queue.get_queue_properties().approximate_message_count == 0
    refused(404, 'MessageNotFound', queue.delete_message, held)
    queue.send_message('new')
    assert texts(received(queue)) == ['new']


def test_limits(queue):
    queue.send_message('x' * 65536)
    refused(413, 'RequestBodyTooLarge', queue.send_message, 'x' * 65537)
    refused(400, 'OutOfRangeQueryParameterValue', received, queue, 1, visibility_timeout=604801)
    refused(400, 'OutOfRangeQueryParameterValue', queue.send_message, 'x', visibility_timeout=604801)
    refused(400, 'InvalidQueryParameterValue', queue.send_message, 'x', visibility_timeout=10, time_to_live=10)
    refused(400, 'InvalidQueryParameterValue', queue.send_message, 'x', time_to_live=-2)
    refused(400, 'InvalidXmlDocument', queue.send_message, '\x01')
    refused(400, 'InvalidQueryParameterValue', queue.delete_message, str(uuid.uuid4()), pop_receipt='no base64')
    refused(404, 'MessageNotFound', queue.delete_message, str(uuid.uuid4()), pop_receipt='AgAAAAMAAAAAAAAA')
    assert len(queue.receive_message().content) == 65536


def test_binary(queue):
    client = other(queue, queue.credential, message_encode_policy=BinaryBase64EncodePolicy(),
                   message_decode_policy=BinaryBase64DecodePolicy())
    everything = bytes(range(256)) * 10
    client.send_message(everything)
    assert client.receive_message().content == everything


def test_policies_and_signatures(queue, target):
    start, expiry = now() - HOUR, now() + HOUR
    policy = AccessPolicy(permission=QueueSasPermissions(read=True, add=True), start=start, expiry=expiry)
    queue.set_queue_access_policy({'policy': policy, 'empty': None})
    stored = queue.get_queue_access_policy()
    assert set(stored) == {'policy', 'empty'}
    assert stored['policy'].permission == 'ra'

    def signed(**terms):
        token = generate_queue_sas(target.account, queue.queue_name, target.key, **terms)
        return other(queue, token)

    by_policy = signed(policy_id='policy')
    by_policy.send_message('by policy')
    assert texts(by_policy.peek_messages(1)) == ['by policy']
    refused(403, 'AuthorizationPermissionMismatch', by_policy.receive_message)
    # No queue's own signature may do this.
    refused(403, 'AuthorizationFailure', by_policy.clear_messages)
    worker = signed(permission=QueueSasPermissions(process=True, update=True), expiry=expiry)
    got = worker.receive_message()
    got = worker.update_message(got, visibility_timeout=10)
    worker.delete_message(got)
    refused(403, 'AuthorizationPermissionMismatch', worker.send_message, 'x')
    with pytest.raises(ClientAuthenticationError):
        signed(permission='raup', expiry=now() - HOUR).peek_messages()
    queue.set_queue_access_policy({})
    with pytest.raises(ClientAuthenticationError):
        by_policy.peek_messages()
    too_many = {str(number): policy for number in range(6)}
    with pytest.raises((HttpResponseError, ValueError)):
        queue.set_queue_access_policy(too_many)


def test_account_signature(queues, queue, target):
    token = generate_account_sas(
        target.account, target.key, ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, list=True, delete=True), now() + HOUR)
    reader = QueueServiceClient(queues.url.split('?')[0], credential=token, **ONE_TRY)
    assert queue.queue_name in [found.name for found in reader.list_queues()]
    own = reader.get_queue_client(queue.queue_name)
    own.clear_messages()
    refused(403, 'AuthorizationPermissionMismatch', own.send_message, 'x')
    address = urlsplit(queue.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request('GET', address.path + '/messages?peekonly=true', headers={'x-ms-version': '2021-02-12'})
    assert connection.getresponse().status == 401
    connection.close()


def test_service_properties(queues):
    logging = QueueAnalyticsLogging(
        read=True, write=True, delete=True, retention_policy=RetentionPolicy(enabled=True, days=5))
    rule = CorsRule(['https://page.example'], ['GET', 'PUT'], max_age_in_seconds=500)
    queues.set_service_properties(analytics_logging=logging, cors=[rule])
    try:
        found = queues.get_service_properties()
        assert found['analytics_logging'].retention_policy.days == 5
        assert [one.allowed_origins for one in found['cors']] == ['https://page.example']
        address = urlsplit(queues.url)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.request('OPTIONS', address.path.rstrip('/') + '/any/messages', headers={
            'Origin': 'https://page.example', 'Access-Control-Request-Method': 'PUT'})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader('Access-Control-Max-Age')) == (200, '500')
        connection.close()
    finally:
        queues.set_service_properties(analytics_logging=QueueAnalyticsLogging(), cors=[])


def test_many_hands(queue):
    """Eight consumers, four producers: each message is given to one, and all are given."""
    count, given, lock = 400, [], threading.Lock()

    def produce(worker):
        for number in range(count // 4):
            queue.send_message('%d/%d' % (worker, number))

    def consume(_):
        while True:
            with lock:
                if len(given) >= count:
                    return
            for message in received(queue, 4, visibility_timeout=60):
                queue.delete_message(message)
                with lock:
                    given.append((message.content, message.dequeue_count))

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        tasks = [pool.submit(produce, worker) for worker in range(4)] + [pool.submit(consume, n) for n in range(8)]
        for task in concurrent.futures.as_completed(tasks, timeout=120):
            task.result()
    expected = [('%d/%d' % (worker, number), 1) for worker in range(4) for number in range(count // 4)]
    assert sorted(given) == sorted(expected)
