"""Where the broker is, and that a dead one costs a request no time."""

from __future__ import annotations

import time

import pytest
from kombu.exceptions import OperationalError

from portal import broker
from portal.celery import app
from portal.env import Env
from publishing.tasks import advance_generation


def test_a_configured_url_is_used_as_it_is():
    assert broker.url(Env(broker_url="redis://q.example/1")) == "redis://q.example/1"


def test_the_embedded_broker_is_found_by_the_file_it_wrote(tmp_path):
    file = broker.address_file(tmp_path)
    file.parent.mkdir()
    file.write_text('{"url": "redis://127.0.0.1:4242/0", "pid": 1}')
    assert broker.url(Env(home=tmp_path)) == "redis://127.0.0.1:4242/0"


@pytest.mark.parametrize("text", [None, "", "{", "[]", "null", '{"pid": 1}', "\x00"])
def test_without_a_broker_there_is_an_address_where_nothing_listens(tmp_path, text):
    if text is not None:
        broker.address_file(tmp_path).parent.mkdir()
        broker.address_file(tmp_path).write_text(text)
    assert broker.url(Env(home=tmp_path)) == broker.NOWHERE


def test_sending_to_a_dead_broker_fails_at_once():
    assert app.conf.broker_url == broker.NOWHERE
    began = time.monotonic()
    with pytest.raises(OperationalError):
        advance_generation.delay("00000000-0000-0000-0000-000000000000")
    assert time.monotonic() - began < 3


def test_every_task_has_a_queue_that_the_worker_reads():
    queues = {route["queue"] for route in app.conf.task_routes.values()}
    assert queues == {"git", "restructure", "publish", "maintenance"}
