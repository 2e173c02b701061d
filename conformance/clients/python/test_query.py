"""Query Blob Contents, read with the client's own parser of the answer."""
import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import DelimitedJsonDialect, DelimitedTextDialect

CSV = (b'Service,Package,Version\r\nApp Configuration,azure-data-appconfiguration,1\r\nEvent Hubs\r\n'
       b'Identity,azure-identity,1.1.0-beta.1\r\n')
JSON = b'{"name": "owner", "id": 1}\n{"name2": "owner2"}\n{"name": "owner", "id": 1}'
SEMICOLONS = DelimitedTextDialect(delimiter=';', quotechar="'", lineterminator='.', escapechar='\\')


def named():
    return DelimitedTextDialect(delimiter=',', quotechar='"', lineterminator='\n', escapechar='', has_header=True)


@pytest.fixture
def ask(container):
    def asked(data, expression, **options):
        blob = container.get_blob_client('data')
        blob.upload_blob(data, overwrite=True)
        errors = []
        reader = blob.query_blob(expression, on_error=errors.append, **options)
        result = reader.readall()
        assert len(reader) == len(data)
        return result, [(error.error, error.is_fatal, error.position) for error in errors]
    return asked


def test_text_is_told_line_by_line(ask):
    assert ask(CSV, 'SELECT * from BlobStorage') == (CSV.replace(b'\r\n', b'\n'), [])
    plain = DelimitedTextDialect(delimiter=',', quotechar='"', lineterminator='\n', escapechar='')
    result, errors = ask(CSV, 'SELECT * from BlobStorage', blob_format=plain, output_format=SEMICOLONS)
    assert errors == []
    assert result == (b'Service;Package;Version.App Configuration;azure-data-appconfiguration;1.Event Hubs.'
                      b"Identity;azure-identity;'1.1.0-beta.1'.")


def test_a_short_line_is_an_error_that_does_not_end_the_query(ask):
    result, errors = ask(CSV, 'SELECT Version from BlobStorage', blob_format=named(), output_format=SEMICOLONS)
    assert result == b"1.'1.1.0-beta.1'."
    assert errors == [('InvalidColumnOrdinal', False, CSV.index(b'Event'))]


def test_documents(ask):
    result, errors = ask(JSON, 'SELECT name from BlobStorage', blob_format=DelimitedJsonDialect(delimiter='\n'),
                         output_format=DelimitedJsonDialect(delimiter=';'))
    assert (result, errors) == (b'{"name":"owner"};{};{"name":"owner"};', [])
    malformed = b'{name: owner}\n{name2: owner2}\n{name: owner}'
    result, errors = ask(malformed, 'SELECT * from BlobStorage', blob_format=DelimitedJsonDialect(),
                         output_format=SEMICOLONS)
    assert result == b'' and [(name, fatal) for name, fatal, _ in errors] == [('ParseError', True)]


def test_aggregates_and_conditions(ask):
    numbers = b''.join(b'%d,%d\n' % (number, number % 7) for number in range(100_000))
    assert ask(numbers, 'SELECT COUNT(*), SUM(_1), MAX(CAST(_2 AS INT)) FROM BlobStorage WHERE _2 IN (1, 3)') == \
        (b'28572,%d,3\n' % sum(n for n in range(100_000) if n % 7 in (1, 3)), [])
    assert ask(numbers, "SELECT _1 FROM BlobStorage WHERE _1 LIKE '9999_' LIMIT 2") == (b'99990\n99991\n', [])
    result, _ = ask(numbers, 'SELECT * FROM BlobStorage')
    assert result == numbers


def test_what_is_no_query_is_refused(ask, container):
    with pytest.raises(HttpResponseError) as refused:
        ask(CSV, 'SELECT everything')
    assert (refused.value.status_code, refused.value.error_code) == (400, 'ParseError')
    with pytest.raises(HttpResponseError) as refused:
        container.get_blob_client('none').query_blob('SELECT * from BlobStorage')
    assert (refused.value.status_code, refused.value.error_code) == (404, 'BlobNotFound')
