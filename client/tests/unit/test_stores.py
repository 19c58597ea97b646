"""What stores keep, and when."""

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from mobula_client import ClientError, MemoryStore, SqliteStore, Store, StoreFailed, UsageError
from mobula_client.engine import ACCEPTED, Error, Rejected, Symbol
from mobula_client.exactly_once.store import Presence

REJECTED = Rejected(error=Error(condition=Symbol("test:bad"), description="why"))


@pytest.fixture(params=["memory", "file", "application"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        made: Store = MemoryStore(token=bytes, time=lambda: 2.0)
    elif request.param == "file":
        made = SqliteStore(tmp_path / "store.db", token=bytes, time=lambda: 2.0)
    else:
        made = SqliteStore(sqlite3.connect(tmp_path / "application.db"), token=bytes, time=lambda: 2.0)
    yield made
    made.close()
    if request.param == "application":
        assert isinstance(made, SqliteStore)
        made.connection.close()


def test_messages_are_kept_in_their_order_by_link(store: Store) -> None:
    entries = store.put("one", [b"a", b"b"])
    store.put("two", [b"c"])
    assert [entry.octets for entry in store.entries("one", 0, 10)] == [b"a", b"b"]
    assert store.entries("one", entries[0].number, 10) == [entries[1]]
    assert store.entries("one", 0, 1) == [entries[0]]
    store.forget("one", [entries[0].number])
    store.forget("one", [store.entries("two", 0, 1)[0].number])
    assert store.entries("one", 0, 10) == [entries[1]]
    assert len(store.entries("two", 0, 10)) == 1


def test_numbers_and_tags_are_never_used_again(store: Store) -> None:
    (first,) = store.put("one", [b"a"])
    store.forget("one", [first.number])
    (second,) = store.put("one", [b"a"])
    assert second.number > first.number
    assert (len(first.tag), first.tag == second.tag) == (16, False)


def test_attaches_are_counted_by_link(store: Store) -> None:
    first = store.next_attach("one")
    assert [store.next_attach("one"), store.next_attach("one")] == [first + 1, first + 2]
    assert store.next_attach("two") == first


def test_the_largest_window_counts(store: Store) -> None:
    assert [store.window_of("one", window) for window in (5, 3, 9)] == [5, 5, 9]
    store.next_attach("one")
    assert store.window_of("one", 1) == 9


def test_a_ticket_is_kept_by_link(store: Store) -> None:
    assert store.ticket("one") == b""
    store.keep_ticket("one", b"a")
    store.keep_ticket("one", b"b")
    assert (store.ticket("one"), store.ticket("two")) == (b"b", b"")
    store.keep_ticket("one", b"")
    assert store.ticket("one") == b""


def test_a_message_has_the_time_at_which_it_was_put(store: Store) -> None:
    (entry,) = store.put("one", [b"a"])
    assert entry.put_at == 2.0
    assert store.entries("one", 0, 1) == [entry]


def test_what_a_link_knew_of_its_router_is_kept(store: Store) -> None:
    store.next_attach("one")
    assert store.presence("one") is None
    for presence in (Presence(5.5, 60.0), Presence(7.0, 90.0, 3)):
        store.keep_presence("one", presence)
        assert store.presence("one") == presence
    assert store.presence("two") is None


def test_refusals_leave_the_map(store: Store) -> None:
    entries = store.put("one", [b"a", b"b"])
    store.refuse("one", entries[0].number, "too bad")
    assert store.entries("one", 0, 10) == [entries[1]]
    (refusal,) = store.refusals("one")
    assert (refusal.number, refusal.octets, refusal.reason) == (entries[0].number, b"a", "too bad")
    assert store.refusals("two") == []
    store.forget_refusals("one", [refusal.number])
    assert store.refusals("one") == []


def test_outcomes_are_kept_by_tag(store: Store) -> None:
    store.decide("one", b"a", ACCEPTED)
    store.decide("one", b"b", REJECTED)
    store.decide("one", b"c", Rejected())
    store.decide("two", b"a", ACCEPTED)
    assert store.decided("one") == {b"a": ACCEPTED, b"b": REJECTED, b"c": Rejected()}
    store.settled("one", [b"a", b"c", b"unknown"])
    assert store.decided("one") == {b"b": REJECTED}
    assert store.decided("two") == {b"a": ACCEPTED}


def test_a_transaction_that_fails_undoes_everything(store: Store) -> None:
    (kept,) = store.put("one", [b"kept"])
    store.decide("one", b"kept", ACCEPTED)
    done: list[str] = []

    def work() -> None:
        with store.transaction():
            store.put("one", [b"a"])
            store.forget("one", [kept.number])
            store.decide("one", b"a", ACCEPTED)
            store.settled("one", [b"kept"])
            store.after_commit(lambda: done.append("after"))
            with store.transaction():
                store.refuse("one", store.put("one", [b"b"])[0].number, "bad")
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert store.entries("one", 0, 10) == [kept]
    assert store.decided("one") == {b"kept": ACCEPTED}
    assert (store.refusals("one"), done) == ([], [])


def test_the_order_is_that_of_before_when_a_transaction_is_undone(store: Store) -> None:
    entries = store.put("one", [b"a", b"b"])

    def work() -> None:
        with store.transaction():
            store.forget("one", [entries[0].number])
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert store.entries("one", 0, 10) == entries


def test_what_follows_a_commit_comes_after_it(store: Store) -> None:
    done: list[str] = []
    with store.transaction():
        store.put("one", [b"a"])
        store.after_commit(lambda: done.append("after"))
        assert done == []
    assert done == ["after"]
    store.after_commit(lambda: done.append("at once"))
    assert done == ["after", "at once"]


def test_work_of_the_application_is_kept_together_with_ours(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "application.db")
    connection.execute("CREATE TABLE work (number INTEGER)")
    store = SqliteStore(connection)
    with store.transaction() as given:
        assert given is connection
        given.execute("INSERT INTO work VALUES (1)")
        store.decide("one", b"a", ACCEPTED)

    def work() -> None:
        with store.transaction() as given:
            given.execute("INSERT INTO work VALUES (2)")
            store.decide("one", b"b", ACCEPTED)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert connection.execute("SELECT number FROM work").fetchall() == [(1,)]
    assert store.decided("one") == {b"a": ACCEPTED}
    store.close()
    connection.execute("SELECT 1")
    connection.close()


def test_a_transaction_of_the_application_has_to_be_over_first(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "application.db")
    connection.execute("CREATE TABLE work (number INTEGER)")
    store = SqliteStore(connection)
    connection.execute("INSERT INTO work VALUES (1)")
    with pytest.raises(UsageError, match=r"with store\.transaction"):
        store.put("one", [b"a"])
    connection.rollback()
    assert len(store.put("one", [b"a"])) == 1
    connection.close()


def test_a_file_outlives_the_process(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "store.db")
    entries = first.put("one", [b"a"])
    first.decide("one", b"t", REJECTED)
    count = first.next_attach("one")
    first.close()
    second = SqliteStore(tmp_path / "store.db")
    assert second.entries("one", 0, 10) == entries
    assert second.decided("one") == {b"t": REJECTED}
    assert second.next_attach("one") == count + 1
    second.close()


def test_a_store_that_is_made_anew_has_other_tags(tmp_path: Path) -> None:
    stores = [SqliteStore(tmp_path / name) for name in ("one.db", "two.db")]
    tags = {store.put("one", [b"a"])[0].tag for store in stores}
    assert len(tags) == 2
    for store in stores:
        store.close()


def test_a_file_belongs_to_one_container(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.bind("till-1")
    store.bind("till-1")
    with pytest.raises(UsageError, match="container_id='till-1'"):
        store.bind("till-2")
    store.close()


def test_an_error_of_the_database_says_what_to_do(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.close()
    for call in (lambda: store.put("one", [b"a"]), lambda: store.decided("one")):
        with pytest.raises(StoreFailed, match="Check the database"):
            call()
    with pytest.raises(StoreFailed):
        SqliteStore(tmp_path)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_threads_take_turns(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "store.db")
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                store.put("one", [b"a"])
        except ClientError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(store.entries("one", 0, 100)), failures) == (60, [])
    store.close()
