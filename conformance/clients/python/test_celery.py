"""Celery with queues of this server as its broker: every task is done, and done once."""
import threading
import uuid
from urllib.parse import urlsplit

import pytest
from azure.storage.queue import QueueServiceClient
from celery import Celery
from celery.contrib.testing.worker import start_worker


@pytest.fixture
def app(target):
    queues = QueueServiceClient.from_connection_string(target.connection_string)
    name = 'celery' + uuid.uuid4().hex[:8]
    address = urlsplit(queues.url)
    app = Celery('app', broker='azurestoragequeues://:%s@%s://%s%s' % (
        target.key, address.scheme, address.netloc, address.path.rstrip('/')))
    app.conf.update(task_default_queue=name, task_acks_late=True, worker_enable_remote_control=False)
    yield app
    queues.delete_queue(name)


def test_every_task_is_done_once(app):
    count, done, all_done = 50, [], threading.Event()

    @app.task(name='note')
    def note(number):
        done.append(number)
        if len(done) >= count:
            all_done.set()

    for number in range(count):
        note.delay(number)
    with start_worker(app, concurrency=4, pool='threads', perform_ping_check=False):
        assert all_done.wait(60), done
    assert sorted(done) == list(range(count))
