"""The blocking face at a real router."""

import threading
from pathlib import Path

import pytest
from client.tests.routers import MULTICAST

from mobula_client import ClientClosed, Guarantee, NoRouterReached, SqliteStore, reply_to
from mobula_client.blocking import Client, connect


def check_thread_is_over() -> None:
    assert [thread.name for thread in threading.enumerate() if thread.name == "mobula-client"] == []


def test_a_message_is_sent_and_accepted(url: str, address: str) -> None:
    with connect(url) as client, client.open_receiver(address) as receiver, client.open_sender(address) as sender:
        assert (client.router, sender.address, receiver.address) == (url, address, address)
        sending = threading.Thread(target=sender.send, args=("one",))
        sending.start()
        delivery = receiver.receive(10)
        assert (delivery.body, delivery.accept()) == ("one", True)
        sending.join()
        assert not delivery.reject()
    check_thread_is_over()


def test_iteration_ends_when_the_receiver_is_closed(url: str, address: str) -> None:
    with connect(url) as client:
        receiver = client.open_receiver(address, accepts_at_once=True)
        sender = client.open_sender(address)
        sending = threading.Thread(target=lambda: (sender.send(1), sender.send(2), receiver.close()))
        sending.start()
        assert [delivery.body for delivery in receiver] == [1, 2]
        sending.join()


def test_a_request_gets_its_reply(url: str, address: str) -> None:
    with connect(url) as client:
        service, replies = client.open_receiver(address), client.open_sender()

        def serve() -> None:
            for request in service:
                replies.send(reply_to(request.message, request.body + 1))
                request.accept()

        serving = threading.Thread(target=serve)
        serving.start()
        with client.open_requester(address) as requester:
            assert requester.request(41).body == 42
        service.close()
        serving.join()


def test_work_and_messages_are_kept_together(url: str, address: str, tmp_path: Path) -> None:
    address = f"{MULTICAST}.{address}"
    store = SqliteStore(tmp_path / "outbox.db")
    at_least_once = {"guarantee": Guarantee.AT_LEAST_ONCE}
    with connect(url, container_id=f"writer-{address}") as client:
        subscriber = client.open_subscriber(address, **at_least_once)
        publisher = client.open_publisher(address, store=store, **at_least_once)
        with store.transaction() as connection:
            connection.execute("CREATE TABLE sums (number INTEGER)")
            connection.execute("INSERT INTO sums VALUES (5)")
            publisher.put("five")

        def fail() -> None:
            with store.transaction() as connection:
                publisher.put("never")
                connection.execute("INSERT INTO sums VALUES (?)", (1 // 0,))

        with pytest.raises(ZeroDivisionError):
            fail()
        delivery = subscriber.receive(10)
        assert delivery.body == "five"
        delivery.accept()
        publisher.flush()
        publishing = threading.Thread(target=publisher.publish, args=("six",))
        publishing.start()
        delivery = subscriber.receive(10)
        assert (delivery.body, publisher.refusals()) == ("six", [])
        delivery.accept()
        publishing.join()
        assert store.connection.execute("SELECT number FROM sums").fetchall() == [(5,)]
        subscriber.unsubscribe()
    store.close()
    check_thread_is_over()


def test_manual_credit_lets_messages_come(url: str, address: str) -> None:
    with connect(url) as client:
        receiver = client.open_receiver(address, window=0, accepts_at_once=True)
        sending = threading.Thread(target=client.open_sender(address).send, args=("one",))
        sending.start()
        receiver.grant(1)
        assert receiver.receive(10).body == "one"
        sending.join()


def test_a_closed_client_says_so(url: str, address: str) -> None:
    client: Client = connect(url)
    sender = client.open_sender(address)
    client.close()
    client.close()
    with pytest.raises(ClientClosed):
        sender.send("late")


def test_a_client_that_cannot_connect_leaves_no_thread() -> None:
    with pytest.raises(NoRouterReached):
        connect("amqp://127.0.0.1:1", connect_within_s=0.2)
    check_thread_is_over()
