"""Customer-provided keys, encryption scopes, and content that is validated by CRC-64 on its way."""
import base64
import datetime
import hashlib
import ipaddress
import os
import sys
import types
import uuid

import pytest
from azure.storage.blob import BlobBlock, BlobServiceClient, ContainerEncryptionScope, CustomerProvidedEncryptionKey
from conftest import ONE_TRY, refused_with
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def key(byte):
    secret = bytes([byte]) * 32
    return CustomerProvidedEncryptionKey(base64.b64encode(secret).decode(),
                                         base64.b64encode(hashlib.sha256(secret).digest()).decode())


@pytest.fixture(scope='module')
def secure(own_server, tmp_path_factory):
    """A server with TLS, for clients send keys over nothing else, on disk and with two scopes; its directory and a client."""
    place = tmp_path_factory.mktemp('tls')
    own = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, 'localhost')])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.DNSName('localhost'), x509.IPAddress(ipaddress.ip_address('127.0.0.1'))])
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(own.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=1)).add_extension(names, critical=False)
                   .sign(own, hashes.SHA256()))
    (place / 'cert.pem').write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (place / 'key.pem').write_bytes(own.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    server = own_server('--cert', str(place / 'cert.pem'), '--key', str(place / 'key.pem'),
                        '--features', 'encryptionScope=red,encryptionScope=blue', scheme='https', memory=False)
    service = BlobServiceClient.from_connection_string(server.connection_string,
                                                       connection_verify=str(place / 'cert.pem'), **ONE_TRY)
    return server.place, service


@pytest.fixture
def box(secure):
    return secure[1].create_container('t' + uuid.uuid4().hex)


def everything_in(place):
    for folder, _, names in os.walk(place):
        for name in names:
            with open(os.path.join(folder, name), 'rb') as file:
                yield file.read()


def test_a_key_encrypts_what_is_stored(secure, box):
    marked, plain = b'no eye may see this; ' * 500_000, b'every eye may see this; ' * 500_000
    one, other = box.get_blob_client('one'), box.get_blob_client('other')
    one.upload_blob(marked, cpk=key(1), max_concurrency=2)
    other.upload_blob(plain)
    assert one.download_blob(cpk=key(1)).readall() == marked
    assert one.download_blob(cpk=key(1), offset=65_000, length=3_000).readall() == marked[65_000:68_000]
    properties = one.get_blob_properties(cpk=key(1))
    assert properties.encryption_key_sha256 == key(1).key_hash and properties.size == len(marked)
    with refused_with(409, 'BlobUsesCustomerSpecifiedEncryption'):
        one.download_blob()
    with refused_with(409, 'BlobCustomerSpecifiedEncryptionMismatch'):
        one.download_blob(cpk=key(2))
    with refused_with(409, 'BlobDoesNotUseCustomerSpecifiedEncryption'):
        other.download_blob(cpk=key(1))
    stored = list(everything_in(secure[0]))
    assert any(plain[:100] in file for file in stored), 'the test looks in the wrong place'
    assert not any(marked[:100] in file for file in stored)
    assert not any(bytes([1]) * 32 in file or key(1).key_value.encode() in file for file in stored), 'nor the key'


def test_a_key_with_blocks_pages_and_appended_blocks(box):
    blocks = box.get_blob_client('blocks')
    blocks.stage_block('1', b'first ', cpk=key(1))
    blocks.stage_block('2', b'second', cpk=key(1))
    with refused_with(409, 'BlobUsesCustomerSpecifiedEncryption'):
        blocks.commit_block_list([BlobBlock('1'), BlobBlock('2')])
    blocks.commit_block_list([BlobBlock('1'), BlobBlock('2')], cpk=key(1))
    assert blocks.download_blob(cpk=key(1)).readall() == b'first second'
    log = box.get_blob_client('log')
    log.create_append_blob(cpk=key(1))
    log.append_block(b'line\n' * 10, cpk=key(1))
    with refused_with(409, 'BlobUsesCustomerSpecifiedEncryption'):
        log.append_block(b'line\n')
    assert log.download_blob(cpk=key(1)).readall() == b'line\n' * 10
    pages = box.get_blob_client('pages')
    pages.create_page_blob(4096, cpk=key(1))
    pages.upload_page(b'a' * 2048, 512, 2048, cpk=key(1))
    snapshot = pages.create_snapshot(cpk=key(1))
    pages.upload_page(b'b' * 512, 1024, 512, cpk=key(1))
    assert pages.download_blob(cpk=key(1)).readall() == bytes(512) + b'a' * 512 + b'b' * 512 + b'a' * 1024 + bytes(1536)
    before = box.get_blob_client('pages', snapshot=snapshot['snapshot'])
    assert before.download_blob(cpk=key(1)).readall() == bytes(512) + b'a' * 2048 + bytes(1536)


def test_scopes(secure, box):
    blob = box.get_blob_client('blob')
    told = blob.upload_blob(b'bytes', encryption_scope='red')
    assert told['encryption_scope'] == 'red'
    assert blob.get_blob_properties().encryption_scope == 'red'
    assert [(one.name, one.encryption_scope) for one in box.list_blobs()] == [('blob', 'red')]
    assert blob.download_blob().readall() == b'bytes'
    with refused_with(409, 'BlobUsesCustomerSpecifiedEncryption'):
        blob.set_blob_metadata({'a': 'b'})
    blob.set_blob_metadata({'a': 'b'}, encryption_scope='red')
    with refused_with(409, 'EncryptionScopeNotAvailable'):
        blob.upload_blob(b'bytes', overwrite=True, encryption_scope='green')
    scope = ContainerEncryptionScope(default_encryption_scope='blue', prevent_encryption_scope_override=True)
    blue = secure[1].create_container('t' + uuid.uuid4().hex, container_encryption_scope=scope)
    assert blue.get_container_properties().encryption_scope.default_encryption_scope == 'blue'
    within = blue.get_blob_client('blob')
    assert within.upload_blob(b'bytes')['encryption_scope'] == 'blue'
    with refused_with(403, 'RequestForbiddenByContainerEncryptionPolicy'):
        within.upload_blob(b'bytes', overwrite=True, encryption_scope='red')


def crc64(data, before):
    crc = before ^ 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFFFFFFFFFF


def table():
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x9A6C9329AC4BC9B5 if crc & 1 else 0)
        yield crc


TABLE = list(table())


@pytest.fixture
def checksums(monkeypatch):
    """The client computes CRC-64 by a package of native code. Where it is not installed, this does it, slowly."""
    try:
        import azure.storage.extensions.checksums                # noqa: F401
    except ImportError:
        extensions, module = types.ModuleType('azure.storage.extensions'), types.ModuleType('azure.storage.extensions.checksums')
        module.crc64 = types.SimpleNamespace(compute=crc64)
        extensions.checksums = module
        monkeypatch.setitem(sys.modules, extensions.__name__, extensions)
        monkeypatch.setitem(sys.modules, module.__name__, module)


def seen(headers):
    """A hook that notes in which form the body of a request, and of its answer, went."""
    def note(response):
        headers.append((response.http_request.headers.get('x-ms-structured-body'),
                        response.http_response.headers.get('x-ms-structured-body')))
    return note


FORM = 'XSM/1.0; properties=crc64'


def test_structured_bodies(blob, checksums):
    data, went = os.urandom(150_000), []
    blob.upload_blob(data, validate_content='crc64-sm', raw_response_hook=seen(went))
    read = blob.download_blob(validate_content='crc64', raw_response_hook=seen(went)).readall()
    assert read == data
    part = blob.download_blob(offset=70_000, length=20_000, validate_content='crc64', raw_response_hook=seen(went)).readall()
    assert part == data[70_000:90_000]
    assert set(went) == {(FORM, FORM)}, went


def test_structured_bodies_of_blocks_pages_and_appended_blocks(container, checksums):
    went = []
    blocks = container.get_blob_client('blocks')
    blocks.stage_block('1', b'block' * 1_000, validate_content='crc64-sm', raw_response_hook=seen(went))
    blocks.commit_block_list([BlobBlock('1')])
    assert blocks.download_blob().readall() == b'block' * 1_000
    log = container.get_blob_client('log')
    log.create_append_blob()
    log.append_block(b'line\n', validate_content='crc64-sm', raw_response_hook=seen(went))
    assert log.download_blob().readall() == b'line\n'
    pages = container.get_blob_client('pages')
    pages.create_page_blob(1024)
    pages.upload_page(b'p' * 512, 512, 512, validate_content='crc64-sm', raw_response_hook=seen(went))
    assert pages.download_blob().readall() == bytes(512) + b'p' * 512
    assert went == [(FORM, FORM)] * 3
