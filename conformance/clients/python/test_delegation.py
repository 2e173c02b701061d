"""Entra tokens over TLS, the user delegation key, and signatures made with it."""
import base64
import datetime
import http.client
import ipaddress
import json
import os
import ssl
import sys
import time
import uuid
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import (BlobClient, BlobSasPermissions, BlobServiceClient, ContainerSasPermissions,
                                generate_blob_sas, generate_container_sas)
from conftest import ONE_TRY, refused_with
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'conformance', 'replay'))

from built import Built  # noqa: E402

KEY_IS_BUILT = Built(os.path.join(ROOT, 'docs', 'operations.md')).rows['GetUserDelegationKey']
needs_key = pytest.mark.skipif(not KEY_IS_BUILT, reason='Get User Delegation Key is not built')

TENANT, USER = str(uuid.uuid4()), str(uuid.uuid4())


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b'=').decode()


class Credential:
    """A directory of our own: a token with the claims that matter, signed by nobody."""

    def __init__(self, **claims):
        now = int(time.time())
        self.claims = {'aud': 'https://storage.azure.com', 'iss': 'https://sts.windows.net/%s/' % TENANT, 'nbf': now - 60,
                       'exp': now + 3600, 'oid': USER, 'tid': TENANT, **claims}

    def get_token(self, *_scopes, **_options):
        token = '%s.%s.%s' % (part({'alg': 'RS256', 'typ': 'JWT'}), part(self.claims), part('no signature'))
        return AccessToken(token, int(time.time()) + 3600)


@pytest.fixture(scope='module')
def secure(own_server, tmp_path_factory):
    """A server with TLS and --oauth basic; the path of its certificate."""
    place = tmp_path_factory.mktemp('tls')
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, 'localhost')])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.DNSName('localhost'), x509.IPAddress(ipaddress.ip_address('127.0.0.1'))])
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=1)).add_extension(names, critical=False)
                   .sign(key, hashes.SHA256()))
    (place / 'cert.pem').write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (place / 'key.pem').write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    server = own_server('--oauth', 'basic', '--cert', str(place / 'cert.pem'), '--key', str(place / 'key.pem'), scheme='https')
    return server, str(place / 'cert.pem')


def connect(secure, credential):
    server, certificate = secure
    return BlobServiceClient(server.endpoint('blob'), credential=credential, connection_verify=certificate, **ONE_TRY)


@pytest.fixture(scope='module')
def filled(secure):
    container = connect(secure, Credential()).create_container('delegated')
    container.upload_blob('blob', b'content')
    container.upload_blob('dir/below/blob', b'deep')
    return container


def test_a_token_reads_and_writes(secure, filled):
    blob = connect(secure, Credential()).get_blob_client('delegated', 'by-token')
    blob.upload_blob(b'x')
    assert blob.download_blob().readall() == b'x'


def test_http_on_the_same_port_takes_no_token(secure, filled):
    """The port speaks both; a token must not travel in the clear."""
    address = urlsplit(secure[0].endpoint('blob'))
    answers = []
    for connection in (http.client.HTTPConnection(address.hostname, address.port),
                       http.client.HTTPSConnection(address.hostname, address.port,
                                                   context=ssl.create_default_context(cafile=secure[1]))):
        connection.request('GET', address.path + '/delegated/blob', headers={
            'Authorization': 'Bearer ' + Credential().get_token().token, 'x-ms-version': '2023-11-03'})
        answers.append(connection.getresponse())
        connection.close()
    assert answers[0].status in (401, 403)
    assert answers[1].status == 200


@pytest.mark.parametrize('claims', [
    {'exp': int(time.time()) - 3600}, {'nbf': int(time.time()) + 3600}, {'aud': 'https://vault.azure.net'},
    {'iss': 'https://example.com/'}], ids=['expired', 'not yet', 'audience', 'issuer'])
def test_tokens_that_are_none(secure, filled, claims):
    with pytest.raises(HttpResponseError) as caught:
        connect(secure, Credential(**claims)).get_blob_client('delegated', 'blob').get_blob_properties()
    assert caught.value.status_code in (401, 403)


@pytest.fixture(scope='module')
def delegation(secure, filled):
    now = datetime.datetime.now(datetime.timezone.utc)
    return connect(secure, Credential()).get_user_delegation_key(now - datetime.timedelta(minutes=5), now + datetime.timedelta(hours=1))


def hour():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)


@needs_key
def test_the_key_says_whose_it_is(delegation):
    assert (delegation.signed_oid, delegation.signed_tid, delegation.signed_service) == (USER, TENANT, 'b')
    assert len(base64.b64decode(delegation.value)) == 32


@needs_key
def test_a_blob_by_delegation(secure, delegation):
    server, certificate = secure
    sas = generate_blob_sas('devstoreaccount1', 'delegated', 'blob', user_delegation_key=delegation,
                            permission=BlobSasPermissions(read=True), expiry=hour())
    blob = BlobClient(server.endpoint('blob'), 'delegated', 'blob', credential=sas, connection_verify=certificate, **ONE_TRY)
    assert blob.download_blob().readall() == b'content'
    with refused_with(403, 'AuthorizationPermissionMismatch'):
        blob.upload_blob(b'x', overwrite=True)
    other = BlobClient(server.endpoint('blob'), 'delegated', 'by-token', credential=sas, connection_verify=certificate, **ONE_TRY)
    with refused_with(403, 'AuthenticationFailed'):
        other.download_blob()


@needs_key
def test_a_container_by_delegation(secure, delegation):
    sas = generate_container_sas('devstoreaccount1', 'delegated', user_delegation_key=delegation,
                                 permission=ContainerSasPermissions(read=True, list=True), expiry=hour())
    container = connect(secure, sas).get_container_client('delegated')
    assert 'blob' in [item.name for item in container.list_blobs()]


@needs_key
def test_a_key_cannot_be_forged(secure, delegation):
    forged = type(delegation)()
    forged.__dict__.update(delegation.__dict__)
    forged.signed_oid = str(uuid.uuid4())
    sas = generate_container_sas('devstoreaccount1', 'delegated', user_delegation_key=forged,
                                 permission=ContainerSasPermissions(read=True, list=True), expiry=hour())
    with refused_with(403, 'AuthenticationFailed'):
        list(connect(secure, sas).get_container_client('delegated').list_blobs())


@needs_key
def test_shared_key_may_not_ask_for_a_delegation_key(secure, filled):
    from lazuli_server import ACCOUNT, KEY
    service = connect(secure, {'account_name': ACCOUNT, 'account_key': KEY})
    now = datetime.datetime.now(datetime.timezone.utc)
    with pytest.raises(HttpResponseError) as caught:
        service.get_user_delegation_key(now, now + datetime.timedelta(hours=1))
    assert caught.value.status_code in (401, 403)
