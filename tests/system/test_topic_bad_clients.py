"""Clients of topics that lie, or do what is not allowed: they are told why, it is counted, and others go on."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Self

import pytest

from routerd.io.topics.names import AGES, ATTACH_COUNT, EPOCH, EXACTLY_ONCE
from routerd.topics import ClientName, delivery_tag, publisher_key
from routerd.wire import ACCEPTED, Attach, Detach, Disposition, Flow, Source, Symbol, Target, Transfer, UInt, ULong
from tests.system.management_client import ManagementClient
from tests.system.raw_client import WINDOW, RawClient
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener, section
from tests.waiting import eventually

PRICES = section(
    "address", prefix="prices", distribution="multicast", delivery="exactly-once", maxUnsettledOctets=100_000
)
BODY = b"\x00\x53\x77\xa1\x03one"
SECOND = 1
TOO_MANY = 2001
"""Unsettled deliveries of one publisher: one more than it may have."""
UNSETTLED_MAX = 400
"""What a topic has under way at most, since the maps of subscribers have to fit an attach."""
SOME_MAX = 1000


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router that no test ends."""
    text = configuration(listener(maxFrameSize=65_536, idleTimeoutSeconds=0), PRICES, id="R1", topicGraceSeconds=0)
    running = RunningRouter(tmp_path_factory.mktemp("topics"), IN_PROCESS, text)
    yield running
    running.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic that no other test uses."""
    return f"prices/{request.node.name}".translate(str.maketrans("[]", "..")).strip(".")


def mapped(count: int = 1, **properties: Any) -> dict[str, Any]:
    """The fields of an attach of a client with an unsettled map."""
    return {
        "snd_settle_mode": 0,
        "rcv_settle_mode": SECOND,
        "desired_capabilities": (EXACTLY_ONCE,),
        "properties": {ATTACH_COUNT: ULong(count), **{Symbol(name): value for name, value in properties.items()}},
    }


class Client(RawClient):
    """A client with one link to a topic."""

    def __init__(self, router: RunningRouter, topic: str, container: str) -> None:
        super().__init__(router.port)
        self.topic = topic
        self.open(container_id=container, max_frame_size=65_536)

    def publish(self, count: int = 1, unsettled: Any = None, **properties: Any) -> Self:
        """Attach a sending link, and wait for nothing."""
        self.send(
            Attach(
                name="out-0",
                handle=0,
                role=False,
                initial_delivery_count=0,
                source=Source(durable=2, expiry_policy=Symbol("never")),
                target=Target(address=self.topic),
                unsettled=unsettled,
                **mapped(count, **properties),
            )
        )
        return self

    def subscribe(self, count: int = 1, unsettled: Any = None, **properties: Any) -> Self:
        """Attach a receiving link with credit, and wait for nothing."""
        source = Source(address=self.topic, durable=2, expiry_policy=Symbol("link-detach"), timeout=UInt(600))
        self.send(
            Attach(
                name="in-0",
                handle=0,
                role=True,
                source=source,
                target=Target(),
                unsettled=unsettled,
                **mapped(count, **properties),
            )
        )
        self.grant(1000)
        return self

    @property
    def next_number(self) -> int:
        """The number of the next delivery."""
        return self._deliveries

    def wait_for_new(self) -> Transfer:
        """Return the next message that is not resumed."""
        while (found := self.wait_for(Transfer)).resume:
            pass
        return found

    def wait_for_settled(self, tag: bytes) -> None:
        """Wait until a delivery of the map is resumed and settled."""
        while (resumed := self.wait_for(Transfer)).delivery_tag != tag:
            pass
        is_settled = bool(resumed.settled)
        while not is_settled:
            told = self.wait_for(Disposition)
            last = told.first if told.last is None else told.last
            is_settled = bool(told.settled) and told.first <= resumed.delivery_id <= last

    def credit_now(self) -> int:
        """Return the credit that the link has been given since the last look; the router is asked for an answer."""
        credit = 0
        self.send(
            Flow(
                next_incoming_id=0,
                incoming_window=WINDOW,
                next_outgoing_id=self._deliveries,
                outgoing_window=WINDOW,
                echo=True,
            )
        )
        while True:
            flow = self.wait_for(Flow)
            if flow.handle is None:
                return credit
            credit = flow.delivery_count + flow.link_credit - self._deliveries

    def unsubscribe(self) -> None:
        """End the subscription."""
        self.send(Detach(handle=0, closed=True))
        self.wait_for(Detach)

    def refusal(self) -> tuple[str, str]:
        """Return why the link was refused or detached."""
        error = self.wait_for(Detach).error
        assert error is not None
        return str(error.condition), str(error.description)


class Others:
    """A publisher and a subscriber that do everything right."""

    def __init__(self, router: RunningRouter, topic: str) -> None:
        self.subscriber = Client(router, topic, "good-subscriber").subscribe()
        self.subscriber.wait_for(Attach)
        self.publisher = Client(router, topic, "good-publisher").publish()
        self.publisher.wait_for_credit()

    def check(self) -> None:
        """Publish a message, which is accepted, and settled with everybody."""
        self.finish(self.publisher.transfer(BODY))

    @property
    def next_number(self) -> int:
        """The number of the next message, which is its tag as well."""
        return self.publisher.next_number

    def finish(self, number: int) -> None:
        """Have a message of the publisher come to its end."""
        self.take_one()
        self.finish_sent(number)
        while not self.subscriber.wait_for(Disposition).settled:
            pass

    def finish_sent(self, number: int) -> None:
        """Have the publisher settle what is accepted."""
        assert self.publisher.outcomes(1) == {number: ACCEPTED}
        self.publisher.send(Disposition(role=False, first=number, settled=True, state=ACCEPTED))

    def take_one(self) -> None:
        """Have the subscriber accept the next message."""
        got = self.subscriber.wait_for(Transfer)
        self.subscriber.send(Disposition(role=True, first=got.delivery_id, state=ACCEPTED))

    def close(self) -> None:
        """Go."""
        self.publisher.close()
        self.subscriber.close()


@pytest.fixture
def others(router: RunningRouter, topic: str) -> Iterator[Others]:
    """Clients of the same topic, and of another one, who go on before and after."""
    with closing(Others(router, topic)) as same, closing(Others(router, f"{topic}/elsewhere")) as elsewhere:
        for one in (same, elsewhere):
            one.check()
        yield same
        for one in (same, elsewhere):
            one.check()


def counters(router: RunningRouter, topic: str) -> dict[str, Any]:
    """What management says of a topic."""
    with ManagementClient(router.port) as management:
        [found] = [one for one in management.query("org.mobula.deliveryTopic") if one["topic"] == topic]
        return found


def test_a_publisher_with_too_large_a_map_is_refused(router: RunningRouter, topic: str, others: Others) -> None:
    unsettled = {number.to_bytes(2, "big"): None for number in range(TOO_MANY)}
    with Client(router, topic, "liar") as liar:
        condition, reason = liar.publish(unsettled=unsettled).refusal()
    assert (condition, "2001 unsettled deliveries are more than 2000" in reason) == (
        "amqp:resource-limit-exceeded",
        True,
    )
    assert counters(router, topic)["refusedCount"] == 1


def test_what_a_publisher_says_it_has_and_never_sends_holds_up_nobody(
    router: RunningRouter, topic: str, others: Others
) -> None:
    with Client(router, topic, "liar") as liar:
        liar.publish(unsettled={b"never": None, b"sent": None})
        answer = liar.wait_for(Attach)
        assert answer.unsettled in (None, {})
        others.check()
        # What it sends behind them waits for them, since order is kept.
        liar.wait_for_credit()
        liar.transfer(BODY, delivery_tag=b"new")
        others.check()
        assert counters(router, topic)["unsettledCount"] >= 3


def test_what_a_subscriber_claims_to_have_of_the_future_is_not_believed(
    router: RunningRouter, topic: str, others: Others
) -> None:
    """It says that it has accepted the next message of a publisher, and some that do not exist."""
    key = publisher_key(ClientName("good-publisher", "out-0"))
    next_tag = delivery_tag(key, b"%d" % others.next_number)
    stranger = publisher_key(ClientName("nobody", "nothing"))
    tags = [next_tag, delivery_tag(stranger, b"x"), b"no tag of a topic at all"]
    with Client(router, topic, "liar") as liar:
        liar.subscribe(unsettled=dict.fromkeys(tags, ACCEPTED)).wait_for(Attach)
        # The publisher does not have it, so that it counts as settled long ago, and is forgotten.
        liar.wait_for_settled(next_tag)
        number = others.publisher.transfer(BODY)
        got = liar.wait_for_new()
        assert got.delivery_tag == next_tag
        liar.send(Disposition(role=True, first=got.delivery_id, state=ACCEPTED))
        others.finish(number)
        liar.unsubscribe()


@pytest.mark.parametrize("router_id", ["nowhere", "R1"])
def test_a_subscription_that_no_router_knows_has_ended(
    router: RunningRouter, topic: str, others: Others, router_id: str
) -> None:
    """Something was accepted without it: a claim of a router that is not in the network changes nothing of that."""
    epoch = [ULong(1 << 40), ULong(1 << 40), ULong(0), router_id]
    with Client(router, topic, "liar") as liar:
        assert liar.subscribe(**{EPOCH: epoch}).refusal() == ("amqp:resource-deleted", "the subscription has ended")


@pytest.mark.parametrize("ages", [["old"], [UInt(1), UInt(2)]])
def test_ages_that_do_not_fit_the_map_are_refused(router: RunningRouter, topic: str, others: Others, ages: Any) -> None:
    with Client(router, topic, "liar") as liar:
        condition, _ = liar.publish(unsettled={b"one": None}, **{AGES: ages}).refusal()
    assert condition == "amqp:invalid-field"


def test_a_delivery_tag_that_is_unsettled_is_not_taken_for_another_message(
    router: RunningRouter, topic: str, others: Others
) -> None:
    with Client(router, topic, "careless") as careless:
        careless.publish().wait_for_credit()
        careless.transfer(BODY, delivery_tag=b"same")
        careless.transfer(BODY, delivery_tag=b"same")
        condition, reason = careless.refusal()
    assert (condition, reason) == ("amqp:not-allowed", "the delivery-tag is that of an unsettled delivery")
    assert counters(router, topic)["refusedCount"] == 1
    # The first one was taken, and has its place among the others.
    others.take_one()


def test_a_link_that_is_attached_twice_is_with_the_one_that_attached_last(
    router: RunningRouter, topic: str, others: Others
) -> None:
    with Client(router, topic, "twin") as first, Client(router, topic, "twin") as second:
        first.publish(count=5).wait_for_credit()
        second.publish(count=6).wait_for_credit()
        assert first.refusal() == ("amqp:link:stolen", "attached again")
        with Client(router, topic, "twin") as late:
            assert late.publish(count=5).refusal() == ("amqp:link:stolen", "the link was attached elsewhere since")
        number = second.transfer(BODY)
        others.take_one()
        assert second.outcomes(1) == {number: ACCEPTED}


def test_a_publisher_that_never_settles_gets_no_more_credit_and_others_go_on(
    router: RunningRouter, topic: str, others: Others
) -> None:
    with Client(router, topic, "hoarder") as hoarder:
        credit = hoarder.publish().wait_for_credit()
        sent = 0
        while sent < SOME_MAX and credit:
            for _ in range(credit):
                hoarder.transfer(BODY)
                others.take_one()
            hoarder.outcomes(credit)
            sent += credit
            credit = hoarder.credit_now()
        assert sent < SOME_MAX
        held = counters(router, topic)["unsettledCount"]
        assert held <= UNSETTLED_MAX
        # One delivery at a time is allowed to everybody else.
        for _ in range(3):
            others.check()


def test_a_subscriber_that_never_decides_holds_up_its_topic_until_it_goes(
    router: RunningRouter, topic: str, others: Others
) -> None:
    with Client(router, topic, "silent") as silent:
        silent.subscribe().wait_for(Attach)
        number = others.publisher.transfer(BODY)
        others.take_one()
        silent.wait_for_new()
        eventually(lambda: counters(router, topic)["waitsFor"] == ["silent/in-0"], "it is named")
        silent.unsubscribe()
        others.finish_sent(number)


def test_a_flood_beyond_credit_ends_the_link_of_who_sends_it(router: RunningRouter, topic: str, others: Others) -> None:
    with Client(router, topic, "flood") as flood:
        credit = flood.publish().wait_for_credit()
        for _ in range(credit + 1):
            flood.transfer(BODY)
        condition, _ = flood.refusal()
        assert condition == "amqp:link:transfer-limit-exceeded"
        for _ in range(credit):
            others.take_one()


def test_what_exceeds_the_octets_of_a_topic_is_refused(router: RunningRouter, topic: str, others: Others) -> None:
    with Client(router, topic, "flood") as flood:
        flood.publish().wait_for_credit()
        large = b"\x00\x53\x75\xb0" + (60_000).to_bytes(4, "big") + bytes(60_000)
        flood.transfer(large)
        others.take_one()
        flood.transfer(large)
        condition, reason = flood.refusal()
    assert (condition, reason) == ("amqp:resource-limit-exceeded", "60008 octets are more than there is room for")


def test_what_says_it_is_of_a_router_that_is_not_there_is_not_taken(
    router: RunningRouter, topic: str, others: Others
) -> None:
    """Clients cannot write to the address of routers' topics; what they say there is refused."""
    with Client(router, topic, "forger") as forger:
        target = Target(address="_topo/0/R1/mobula.topics")
        forger.send(
            Attach(name="out-0", handle=0, role=False, initial_delivery_count=0, source=Source(), target=target)
        )
        condition, _ = forger.refusal()
        assert condition == "amqp:not-allowed"
