"""Shared Key without a client library: for races, where fifty equal requests must leave at once, and for requests
that no client library would send."""
import base64
import hashlib
import hmac
import http.client
import socket
from email.utils import formatdate
from urllib.parse import quote, urlsplit

VERSION = '2023-11-03'


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        return self.headers.get('x-ms-error-code')


class SharedKey:
    def __init__(self, target, endpoint=None):
        self.account, self.key = target.account, base64.b64decode(target.key)
        address = urlsplit(endpoint or target.endpoint)
        self.host, self.port, self.base = address.hostname, address.port, address.path

    def signed(self, method, path, query=None, headers=None, length=0):
        """(request target, all headers) with a date of now."""
        path, query = self.base + quote(path), query or {}
        sent = {'x-ms-date': formatdate(usegmt=True), 'x-ms-version': VERSION,
                **{name.lower(): value for name, value in (headers or {}).items()}}
        # Content-MD5 and Content-Type are all that these tests send of the headers with places of their own.
        places = [sent.get(name, '') for name in (
            'content-encoding', 'content-language', '', 'content-md5', 'content-type', 'date', 'if-modified-since',
            'if-match', 'if-none-match', 'if-unmodified-since', 'range')]
        places[2] = str(length or '')
        text = '\n'.join([method, *places]) + '\n'
        text += ''.join('%s:%s\n' % (name, sent[name]) for name in sorted(sent) if name.startswith('x-ms-'))
        text += '/%s%s' % (self.account, path)
        text += ''.join('\n%s:%s' % (name.lower(), query[name]) for name in sorted(query, key=str.lower))
        signature = base64.b64encode(hmac.new(self.key, text.encode(), hashlib.sha256).digest()).decode()
        sent['authorization'] = 'SharedKey %s:%s' % (self.account, signature)
        if length or method in ('PUT', 'POST'):
            sent['content-length'] = str(length)
        target = path + ('?' + '&'.join('%s=%s' % (name, quote(value, safe='')) for name, value in query.items())
                         if query else '')
        return target, sent

    def request(self, method, path, query=None, headers=None, body=b'', connection=None):
        target, sent = self.signed(method, path, query, headers, len(body))
        return ask(connection or http.client.HTTPConnection(self.host, self.port, timeout=60), method, target, sent, body)

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=60)


def ask(connection, method, target, headers, body=b''):
    connection.request(method, target, body or None, headers)
    answer = connection.getresponse()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


class Crowd:
    """Many open connections. `race` writes one request on each, and reads no answer before the last is written."""

    def __init__(self, key, count):
        self.key = key
        self.sockets = []
        for _ in range(count):
            sock = socket.create_connection((key.host, key.port), timeout=60)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets.append((sock, sock.makefile('rb')))

    def race(self, method, path, query=None, headers=None, bodies=None):
        """The same signed request from everybody; bodies, if any, are of one length and need not be the same."""
        length = len(bodies[0]) if bodies else 0
        target, sent = self.key.signed(method, path, query, headers, length)
        head = ('%s %s HTTP/1.1\r\nhost: %s:%d\r\n' % (method, target, self.key.host, self.key.port)
                + ''.join('%s: %s\r\n' % pair for pair in sent.items()) + '\r\n').encode()
        for index, (sock, _) in enumerate(self.sockets):
            sock.sendall(head + bodies[index] if bodies else head)
        return [read_answer(stream) for _, stream in self.sockets]

    def close(self):
        for sock, stream in self.sockets:
            stream.close()
            sock.close()


def read_answer(stream):
    line = stream.readline()
    if not line:
        raise ConnectionError('the server closed the connection')
    status, headers = int(line.split(b' ', 2)[1]), {}
    for line in iter(stream.readline, b'\r\n'):
        name, _, value = line.decode('latin-1').partition(':')
        headers[name.lower()] = value.strip()
    if headers.get('transfer-encoding') == 'chunked':
        return Answer(status, headers, b''.join(chunks(stream)))
    return Answer(status, headers, stream.read(int(headers.get('content-length', 0))))


def chunks(stream):
    while size := int(stream.readline().split(b';')[0], 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()
