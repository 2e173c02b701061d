"""Service properties, and what CORS makes of them."""
import http.client
from urllib.parse import urlsplit

import pytest
from azure.storage.blob import BlobAnalyticsLogging, CorsRule, Metrics, RetentionPolicy


@pytest.fixture
def restored(service):
    before = service.get_service_properties()
    yield service
    service.set_service_properties(cors=before['cors'])


def test_cors_rules_come_back(restored):
    rules = [CorsRule(['http://one.example', 'http://two.example'], ['GET', 'PUT'], max_age_in_seconds=500,
                      allowed_headers=['x-ms-meta-abc', 'x-ms-meta-data*'], exposed_headers=['x-ms-meta-xyz']),
             CorsRule(['*'], ['GET'])]
    restored.set_service_properties(cors=rules)
    told = restored.get_service_properties()['cors']
    assert [(rule.allowed_origins, rule.allowed_methods, rule.max_age_in_seconds) for rule in told] == [
        ('http://one.example,http://two.example', 'GET,PUT', 500), ('*', 'GET', 0)]
    assert told[0].allowed_headers == 'x-ms-meta-abc,x-ms-meta-data*'


def test_what_is_not_sent_stays(restored):
    restored.set_service_properties(
        analytics_logging=BlobAnalyticsLogging(read=True, retention_policy=RetentionPolicy(True, days=3)),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(True, days=5)))
    restored.set_service_properties(cors=[CorsRule(['*'], ['GET'])])
    told = restored.get_service_properties()
    assert (told['analytics_logging'].read, told['hour_metrics'].retention_policy.days, len(told['cors'])) == (True, 5, 1)
    restored.set_service_properties(
        analytics_logging=BlobAnalyticsLogging(), hour_metrics=Metrics(), cors=[])
    assert restored.get_service_properties()['cors'] == []


def ask(target, method, path, **headers):
    address = urlsplit(target.endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request(method, address.path + path, headers={name.replace('_', '-'): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_preflight(target, restored):
    restored.set_service_properties(cors=[CorsRule(['http://page.example'], ['PUT'], allowed_headers=['x-ms-meta-*'],
                                                   max_age_in_seconds=60)])
    asked = {'Origin': 'http://page.example', 'Access_Control_Request_Method': 'PUT'}
    allowed = ask(target, 'OPTIONS', '/any/blob', **asked, Access_Control_Request_Headers='x-ms-meta-a')
    assert (allowed.status, allowed.getheader('Access-Control-Allow-Origin')) == (200, 'http://page.example')
    assert allowed.getheader('Access-Control-Max-Age') == '60'
    for wrong in ({'Origin': 'http://other.example'}, {'Access_Control_Request_Method': 'DELETE'},
                  {'Access_Control_Request_Headers': 'authorization'}):
        assert ask(target, 'OPTIONS', '/any/blob', **{**asked, **wrong}).status == 403


def test_a_page_may_read(target, restored, container):
    container.upload_blob('blob', b'x')
    container.set_container_access_policy({}, public_access='blob')
    restored.set_service_properties(cors=[CorsRule(['http://page.example'], ['GET'], exposed_headers=['x-ms-*'])])
    path = '/%s/blob' % container.container_name
    answer = ask(target, 'GET', path, Origin='http://page.example')
    assert (answer.status, answer.getheader('Access-Control-Allow-Origin')) == (200, 'http://page.example')
    assert answer.getheader('Access-Control-Expose-Headers')
    assert ask(target, 'GET', path, Origin='http://other.example').getheader('Access-Control-Allow-Origin') is None
