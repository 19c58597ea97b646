"""How threads share the connection: no work is left behind, whoever has the lock."""

import threading
from typing import Any

import pytest
from oslo_config import cfg
from oslo_messaging import TransportURL

from oslo_messaging_amqp1.connection import Connection
from oslo_messaging_amqp1.settings import read_settings
from oslo_messaging_amqp1.timers import Timers
from oslo_messaging_amqp1.url import Host
from tests.peer import Peer
from tests.waiting import eventually


class Bus:
    def connected(self, engine: Any, product: str | None) -> None:
        pass

    def disconnected(self, reason: str, is_round_over: bool) -> None:
        pass

    def shut_down(self) -> None:
        pass


@pytest.fixture
def connection(conf: cfg.ConfigOpts, peer: Peer) -> Any:
    settings = read_settings(conf, TransportURL.parse(conf, peer.url))
    made = Connection([Host("127.0.0.1", peer.port)], settings, None, Bus())
    made.start()
    eventually(lambda: peer.opens)
    yield made
    made.stop()


def test_all_work_is_done_however_many_bring_it(connection: Connection) -> None:
    done: list[int] = []
    is_done = threading.Semaphore(0)

    def bringing(number: int) -> None:
        for _ in range(2000):
            submit = connection.submit_soon if number % 2 else connection.submit
            submit(lambda: done.append(number))
            if number == 0:
                connection.submit(connection.begin_grace)
        connection.submit(is_done.release)

    threads = [threading.Thread(target=bringing, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert is_done.acquire(timeout=60)
    eventually(lambda: len(done) >= 16_000)
    assert sorted(done) == sorted(list(range(8)) * 2000)


def test_work_of_somebody_who_did_not_get_the_lock_is_done_by_who_has_it(connection: Connection) -> None:
    has_lock, may_go_on, done = threading.Event(), threading.Event(), threading.Event()

    def holding() -> None:
        has_lock.set()
        may_go_on.wait(60)

    thread = threading.Thread(target=connection.submit, args=(holding,))
    thread.start()
    assert has_lock.wait(60)
    connection.submit(done.set)
    assert not done.is_set()
    may_go_on.set()
    assert done.wait(60)
    thread.join(60)


def test_work_that_can_wait_is_done_within_a_moment(connection: Connection) -> None:
    done = threading.Event()
    connection.submit(connection.begin_grace)
    connection.submit_soon(done.set)
    assert done.wait(60)


def test_work_that_fails_does_not_harm_what_follows(
    connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    def failing() -> None:
        raise ValueError("as told")

    connection.submit(failing)
    connection.submit(done.set)
    assert done.wait(60)
    assert "ValueError: as told" in caplog.text


def test_a_timer_that_is_due_sooner_wakes_the_thread(connection: Connection) -> None:
    done: list[str] = []
    both = threading.Semaphore(0)

    def act(name: str) -> None:
        done.append(name)
        both.release()

    connection.submit(lambda: connection.later(0.2, lambda: act("second")) and None)
    connection.submit(lambda: connection.later(0.01, lambda: act("first")) and None)
    assert both.acquire(timeout=60)
    assert both.acquire(timeout=60)
    assert done == ["first", "second"]


def test_timers_run_in_their_order_and_can_be_called_off() -> None:
    timers, done = Timers(), []  # type: ignore[var-annotated]
    timers.at(2, lambda: done.append("b"))
    off = timers.at(1, lambda: done.append("off"))
    timers.at(1, lambda: done.append("a"))
    off.cancel()
    assert timers.next_due_s() == 1
    timers.run(1.5)
    assert (done, timers.next_due_s()) == (["a"], 2)
    timers.run(2)
    assert (done, timers.next_due_s()) == (["a", "b"], None)
