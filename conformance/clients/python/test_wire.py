"""What only raw bytes show: versions, errors in full, bodies that do not come, connections that stay."""
import re
import socket
import time

import pytest
from shared_key import Crowd, SharedKey, read_answer

BOM = b'\xef\xbb\xbf'


@pytest.fixture
def key(target):
    return SharedKey(target)


@pytest.fixture
def path(container):
    return '/%s/blob' % container.container_name


class Line:
    """One connection, written and read by hand."""

    def __init__(self, key):
        self.key = key
        self.socket = socket.create_connection((key.host, key.port), timeout=20)
        self.stream = self.socket.makefile('rb')

    def head(self, method, path, query=None, headers=None, length=0, drop=()):
        target, sent = self.key.signed(method, path, query, headers, length)
        sent = {name: value for name, value in sent.items() if name not in drop}
        self.socket.sendall(('%s %s HTTP/1.1\r\nhost: %s:%d\r\n' % (method, target, self.key.host, self.key.port)
                             + ''.join('%s: %s\r\n' % pair for pair in sent.items()) + '\r\n').encode())

    def answer(self):
        return read_answer(self.stream)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()


@pytest.mark.parametrize('version', ['2015-12-11', '2019-12-12', '2023-11-03', '2026-10-06', '2099-12-31'])
def test_the_version_comes_back(key, path, version):
    for method, status in (('PUT', 201), ('GET', 200), ('DELETE', 202), ('GET', 404)):
        headers = {'x-ms-version': version, **({'x-ms-blob-type': 'BlockBlob'} if method == 'PUT' else {})}
        answer = key.request(method, path, headers=headers)
        assert (answer.status, answer.headers.get('x-ms-version')) == (status, version)


@pytest.mark.parametrize('version', ['yesterday', '2019-13-01', '20191212', '2019-12-12 '])
def test_versions_that_are_none(key, path, version):
    answer = key.request('GET', path, headers={'x-ms-version': version.replace(' ', 'x')})
    assert (answer.status, answer.code) == (400, 'InvalidHeaderValue')
    assert b'<HeaderName>x-ms-version</HeaderName>' in answer.body


def test_an_error_in_full(key, path):
    answer = key.request('GET', path, headers={'x-ms-client-request-id': 'mine'})
    assert (answer.status, answer.code) == (404, 'BlobNotFound')
    assert answer.headers['content-type'] == 'application/xml'
    assert answer.headers['x-ms-client-request-id'] == 'mine'
    found = re.fullmatch(
        rb'\xef\xbb\xbf<\?xml version="1.0" encoding="utf-8"\?><Error><Code>BlobNotFound</Code><Message>The specified blob does '
        rb'not exist\.\nRequestId:([0-9a-f-]{36})\nTime:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z</Message></Error>', answer.body)
    assert found and found.group(1).decode() == answer.headers['x-ms-request-id']


def test_an_error_to_head_has_no_body(key, path):
    with Line(key) as line:
        line.head('HEAD', path)
        answer = line.stream.readline().split(b' ', 2)[1], dict(
            field.decode().lower().rstrip('\r\n').split(': ', 1) for field in iter(line.stream.readline, b'\r\n'))
        assert answer[0] == b'404' and answer[1]['x-ms-error-code'] == 'blobnotfound'
        line.head('HEAD', path)
        assert line.stream.readline().startswith(b'HTTP/1.1 404'), 'the next answer begins where the last one ended'


def test_what_is_not_built_says_so(key, path):
    answer = key.request('POST', path, {'comp': 'query'}, body=b'<QueryRequest/>')
    if answer.status == 501:
        assert answer.code == 'NotImplemented' and answer.body.startswith(BOM + b'<?xml')


@pytest.mark.parametrize('query,status', [({'comp': 'nonsense'}, 400), ({'restype': 'nonsense'}, 400)])
def test_what_there_is_not(key, container, query, status):
    assert key.request('GET', '/' + container.container_name, query).status == status


def test_unknown_parameters_are_ignored(key, path):
    assert key.request('PUT', path, {'unheard': 'of'}, {'x-ms-blob-type': 'BlockBlob'}, b'x').status == 201
    assert key.request('GET', path, {'unheard': 'of'}).body == b'x'


def test_a_length_is_needed(key, path):
    with Line(key) as line:
        line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, drop=('content-length',))
        answer = line.answer()
        assert (answer.status, answer.code) == (411, 'MissingContentLengthHeader')


def test_a_refused_write_need_not_send_its_body(key, container, path):
    """Expect: 100-continue on a leased blob: refused before a byte of the gigabyte is asked for."""
    blob = container.upload_blob('blob', b'old')
    blob.acquire_lease(-1)
    with Line(key) as line:
        line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob', 'expect': '100-continue'}, length=1 << 30)
        answer = line.answer()
        assert (answer.status, answer.code) == (412, 'LeaseIdMissing')


def test_a_body_is_asked_for_and_taken(key, path):
    with Line(key) as line:
        line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob', 'expect': '100-continue'}, length=5)
        assert line.stream.readline() == b'HTTP/1.1 100 Continue\r\n'
        while line.stream.readline() != b'\r\n':
            pass
        line.socket.sendall(b'hello')
        assert line.answer().status == 201
    assert key.request('GET', path).body == b'hello'


def test_half_a_body_is_no_blob(key, path):
    with Line(key) as line:
        line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, length=100_000)
        line.socket.sendall(b'x' * 50_000)
        time.sleep(0.1)
    time.sleep(0.2)
    assert key.request('GET', path).code == 'BlobNotFound'


def test_a_connection_outlives_errors(key, path):
    """Refused requests with bodies, and what follows them on the same connection."""
    with Line(key) as line:
        for _ in range(20):
            line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob', 'if-match': '"0x8D0000000000000"'}, length=2000)
            line.socket.sendall(b'y' * 2000)
            assert line.answer().status == 412
            line.head('GET', path)
            assert line.answer().status == 404


def test_requests_in_a_row_are_answered_in_order(key, path):
    with Line(key) as line:
        for content in (b'one', b'two'):
            line.head('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, length=3)
            line.socket.sendall(content)
            line.head('GET', path)
        answers = [line.answer() for _ in range(4)]
    assert [answer.status for answer in answers] == [201, 200, 201, 200]
    assert [answers[1].body, answers[3].body] == [b'one', b'two']


def test_a_signature_covers_what_is_sent(key, path):
    """Each thing that is signed, changed after signing."""
    key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'x')
    changes = {
        'method': lambda line, head: head.replace('GET ', 'DELETE ', 1), 'path': lambda line, head: head.replace('/blob?', '/blub?', 1),
        'query': lambda line, head: head.replace('timeout=9', 'timeout=8'), 'header': lambda line, head: head.replace('one', 'two'),
    }
    for title, change in changes.items():
        with Line(key) as line:
            target, sent = key.signed('GET', path, {'timeout': '9'}, {'x-ms-client-request-id': 'one'})
            head = 'GET %s HTTP/1.1\r\nhost: x\r\n' % target + ''.join('%s: %s\r\n' % pair for pair in sent.items()) + '\r\n'
            assert change(line, head) != head, title
            line.socket.sendall(head.encode())
            assert line.answer().status == 200
            line.socket.sendall(change(line, head).encode())
            assert line.answer().code == 'AuthenticationFailed', title
    assert key.request('GET', path).status == 200


def test_an_old_request_is_refused(key, path):
    answer = key.request('GET', path, headers={'x-ms-date': 'Mon, 01 Jan 2024 00:00:00 GMT'})
    assert (answer.status, answer.code) == (403, 'AuthenticationFailed')


def test_the_secondary_only_reads(key, path):
    key.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'x')
    secondary = SharedKey.__new__(SharedKey)
    secondary.__dict__.update(key.__dict__)
    secondary.base = key.base + '-secondary'
    assert secondary.request('GET', path).body == b'x'
    assert secondary.request('PUT', path, headers={'x-ms-blob-type': 'BlockBlob'}, body=b'y').status in (400, 403, 405)
    assert key.request('GET', path).body == b'x'


def test_a_hundred_idle_connections(key, container):
    crowd = Crowd(key, 100)
    try:
        answers = crowd.race('GET', '/' + container.container_name, {'restype': 'container'})
        time.sleep(1)
        again = crowd.race('GET', '/' + container.container_name, {'restype': 'container'})
        assert {answer.status for answer in answers + again} == {200}
    finally:
        crowd.close()
