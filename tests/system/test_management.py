"""Management as scripts use it, over AMQP by other people's clients: what is there is seen, what is changed holds."""

import json
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from proton.utils import SendException

from bench.free_ports import free_port
from tests.interop.peer_process import HERE, absence
from tests.system.conftest import Connect, Manage, Start, in_forms, in_process, running
from tests.system.management_client import NODE, PREFIX, ManagementClient
from tests.system.routers import IN_PROCESS, ROUTER_ID, THREE_ACTORS, RunningRouter, configuration, listener
from tests.waiting import WITHIN_S, eventually

CLIENTS = 6
RHEA = HERE / "rhea"
ADDRESS = "router.config.address"


def is_taken(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


# --- reads


@pytest.mark.parametrize("place", ["$management", "_local/$management", f"_topo/0/{ROUTER_ID}/$management"])
def test_the_agent_is_at_each_of_its_addresses(router: RunningRouter, manage_at: Manage, place: str) -> None:
    told = manage_at(router.port, place).ask({"operation": "READ", **NODE})
    assert (told.status, told.description) == (200, "OK")
    assert told.body == {"identity": "self", "name": "self", "type": f"{PREFIX}management"}


@in_process
@pytest.mark.parametrize("correlation_id", [7, "seven", b"\x07"], ids=["number", "text", "octets"])
def test_an_answer_has_the_correlation_id_of_the_request(manage: ManagementClient, correlation_id: object) -> None:
    told = manage.ask({"operation": "GET-MGMT-NODES", **NODE}, correlation_id=correlation_id)
    assert (told.body, told.correlation_id) == ([], correlation_id)


def test_connections_of_all_workers_are_there_each_with_an_identity_of_its_own(
    manage: ManagementClient, connect: Connect, address: str
) -> None:
    names = {f"{address}.{number}" for number in range(CLIENTS)}
    for name in names:
        connect(container_id=name)
    eventually(lambda: names <= {row["container"] for row in manage.query("connection")}, "all are seen")
    rows = [row for row in manage.query("connection") if row["container"] in names]
    assert {(row["role"], row["dir"], row["sasl"], row["user"]) for row in rows} == {
        ("normal", "in", "ANONYMOUS", "anonymous")
    }
    everybody = [row["identity"] for row in manage.query("connection")]
    assert len(set(everybody)) == len(everybody) >= CLIENTS
    one = rows[0]
    read = manage.ask({"operation": "READ", "type": f"{PREFIX}connection", "identity": one["identity"]})
    assert (read.status, read.body["container"], read.body["host"]) == (200, one["container"], one["host"])


def test_the_counters_of_links_addresses_and_the_router_are_true(
    manage: ManagementClient, connect: Connect, address: str
) -> None:
    address = f"{address}one"
    before = manage.query("router")[0]
    consumer = connect().consumer(address, name=f"{address}.out")
    producer = connect().producer(address, name=f"{address}.in")
    for number in range(30):
        assert producer.send(number).outcome() == "accepted"
    assert consumer.bodies == list(range(30))
    links = {row["linkName"]: row for row in manage.query("router.link") if address in row["linkName"]}
    assert {
        name: (row["linkDir"], row["owningAddr"], row["deliveryCount"], row["acceptedCount"], row["unsettledCount"])
        for name, row in links.items()
    } == {
        f"{address}.out": ("out", f"M0{address}", 30, 30, 0),
        f"{address}.in": ("in", f"M0{address}", 30, 30, 0),
    }
    read = manage.ask({"operation": "READ", "type": f"{PREFIX}router.address", "identity": f"M0{address}"})
    counted = [read.body[name] for name in ("subscriberCount", "deliveriesIngress", "deliveriesEgress")]
    assert (read.status, counted) == (200, [1, 30, 30])
    after = manage.query("router")[0]
    assert after["acceptedDeliveries"] - before["acceptedDeliveries"] >= 30
    assert after["id"] == ROUTER_ID


def test_pages_are_of_one_picture(manage: ManagementClient, connect: Connect, address: str) -> None:
    for number in range(CLIENTS):
        connect(container_id=f"{address}.{number}")
    pages = []
    while page := manage.query("connection", "identity", offset=2 * len(pages), count=2):
        pages.append([row["identity"] for row in page])
    everything = [identity for page in pages for identity in page]
    assert {len(page) for page in pages[:-1]} == {2}
    assert len(set(everything)) == len(everything) >= CLIENTS


def test_the_log_and_its_counts_are_those_of_all_processes(manage: ManagementClient, router: RunningRouter) -> None:
    log = manage.ask({"operation": "GET-LOG", "limit": 500, **NODE}).body
    assert {len(entry) for entry in log} == {6}
    times = [entry[5] for entry in log]
    assert times == sorted(times)
    counts = {row["name"]: row["infoCount"] for row in manage.query("logStats")}
    assert counts["ROUTER_CORE"] >= sum(entry[0] == "ROUTER_CORE" for entry in log) > 0


def test_every_connection_actor_shows_itself(manage: ManagementClient, router: RunningRouter) -> None:
    rows = manage.query("org.mobula.connectionActor")
    pids = {process.pid for process in router.serving()}
    assert {row["pid"] for row in rows} == pids
    assert {row["restarts"] for row in rows} == {0}


@in_process
def test_rhea_asks_as_well(router: RunningRouter, address: str) -> None:
    if reason := absence("rhea"):
        pytest.skip(reason)
    kind = PREFIX + ADDRESS
    requests = [
        [{"operation": "QUERY", "entityType": f"{PREFIX}router", **NODE}, {"attributeNames": ["id", "mode"]}],
        [{"operation": "CREATE", "type": kind, "name": address}, {"prefix": f"{address}.all", "priority": 3}],
        [{"operation": "CREATE", "type": kind, "name": address}, {"prefix": "other"}],
        [{"operation": "DELETE", "type": kind, "name": address}, None],
        [{"operation": "READ", "type": f"{PREFIX}listener", "name": "nothing"}, None],
    ]
    command = ["node", str(RHEA / "management.js"), str(router.port), json.dumps(requests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer[:3] for answer in answers] == [
        [1, 200, "OK"],
        [2, 201, "Created"],
        [3, 400, "Name conflicts with an existing entity"],
        [4, 204, "No Content"],
        [5, 404, "No entity with name=nothing"],
    ], done.stderr
    assert answers[0][3] == {"attributeNames": ["id", "mode"], "results": [[ROUTER_ID, "standalone"]]}
    assert (answers[1][3]["prefix"], answers[1][3]["priority"]) == (f"{address}.all", 3)


# --- changes


def test_an_address_that_is_created_holds_for_all_workers_until_it_is_deleted(
    manage: ManagementClient, connect: Connect, address: str
) -> None:
    prefix = f"{address}.to"
    created = manage.create(ADDRESS, address, prefix=prefix, distribution="multicast")
    assert (created.status, created.body["prefix"], created.body["distribution"]) == (201, prefix, "multicast")
    consumers = [connect().consumer(f"{address}.to.all") for _ in range(CLIENTS)]
    assert connect().producer(f"{address}.to.all").send("one").outcome() == "accepted"
    assert [consumer.bodies for consumer in consumers] == [["one"]] * CLIENTS
    deleted = manage.delete(ADDRESS, address)
    assert (deleted.status, deleted.body) == (204, {})
    consumers = [connect().consumer(f"{address}.to.one") for _ in range(CLIENTS)]
    assert connect().producer(f"{address}.to.one").send("one").outcome() == "accepted"
    assert sum(len(consumer.bodies) for consumer in consumers) == 1


def test_a_listener_that_is_created_is_one_of_all_workers_until_it_is_deleted(
    manage: ManagementClient, connect_to: Connect, address: str
) -> None:
    port = free_port()
    created = manage.create("listener", address, host="127.0.0.1", port=str(port), linkCapacity=17)
    identity = f"listener/127.0.0.1:{port}:{address}"
    assert (created.status, created.body["identity"], created.body["role"]) == (201, identity, "normal")
    producers = [connect_to(port).producer(address) for _ in range(CLIENTS)]
    consumer = connect_to(port).consumer(address)
    assert [producer.send(at).outcome() for at, producer in enumerate(producers)] == ["accepted"] * CLIENTS
    assert sorted(consumer.bodies) == list(range(CLIENTS))
    again = manage.create("listener", f"{address}.2", host="127.0.0.1", port=str(port))
    assert (again.status, "Address already in use" in again.description) == (400, True)
    assert manage.delete("listener", address).status == 204
    eventually(lambda: not is_taken(port), "nobody listens any more")
    assert producers[0].send("its connections stay").outcome() == "accepted"
    assert identity not in {row["identity"] for row in manage.query("listener")}


def test_a_listener_of_the_file_can_be_deleted_and_created_again_at_its_port(
    start: Start, manage_at: Manage
) -> None:
    router = start(configuration(listener(), listener("second")))
    manage, port = manage_at(router.port), router.port_of("second")
    taken = manage.create("listener", "third", host="127.0.0.1", port=str(port))
    assert (taken.status, "Address already in use" in taken.description) == (400, True)
    assert manage.delete("listener", "second").status == 204
    eventually(lambda: not is_taken(port), "nobody listens any more")
    assert manage.create("listener", "third", host="127.0.0.1", port=str(port)).status == 201
    assert is_taken(port)


def test_a_port_that_others_have_is_refused_and_nothing_is_left(manage: ManagementClient, address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = manage.create("listener", address, host="127.0.0.1", port=str(port))
    assert (refused.status, "Address already in use" in refused.description) == (400, True)
    assert address not in {row["name"] for row in manage.query("listener")}
    assert manage.create("listener", address, host="127.0.0.1", port=str(port)).status == 201
    assert manage.delete("listener", address).status == 204


@in_process
def test_of_two_creates_with_one_name_one_succeeds(manage: ManagementClient, address: str) -> None:
    request = {"operation": "CREATE", "type": PREFIX + ADDRESS, "name": address}
    for number in range(5):
        manage.send(request, {"prefix": f"{address}.{number}"}, reply_to=manage.reply_to)
    told = [manage.receive() for _ in range(5)]
    assert sorted(one.status for one in told) == [201, 400, 400, 400, 400]
    assert {one.description for one in told if one.status == 400} == {"Name conflicts with an existing entity"}
    assert manage.delete(ADDRESS, address).status == 204


def test_the_log_is_changed_in_all_processes(manage: ManagementClient, connect: Connect, address: str) -> None:
    def update(levels: str) -> None:
        told = manage.ask({"operation": "UPDATE", "identity": "log/ROUTER_CORE"}, {"enable": levels})
        assert (told.status, told.body["enable"]) == (200, levels)

    def is_logged(name: str) -> bool:
        return any(name in entry[2] for entry in manage.ask({"operation": "GET-LOG", **NODE}).body)

    update("none")
    for number in range(CLIENTS):
        connect(container_id=f"{address}.silent.{number}")
    update("info+")
    for number in range(CLIENTS):
        connect(container_id=f"{address}.logged.{number}")
    for number in range(CLIENTS):
        assert is_logged(f"{address}.logged.{number}")
    assert not is_logged(f"{address}.silent")


def test_a_connection_is_closed_by_management(manage: ManagementClient, connect: Connect, address: str) -> None:
    client = connect(container_id=address)
    row = next(row for row in manage.query("connection") if row["container"] == address)
    update = {"operation": "UPDATE", "type": f"{PREFIX}connection", "identity": row["identity"]}
    told = manage.ask(update, {"adminStatus": "deleted"})
    assert (told.status, told.body["adminStatus"], told.body["operStatus"]) == (200, "deleted", "closing")
    client.wait_until(lambda: client.is_over, "it is closed")
    assert client.closed_with == "amqp:connection:forced"


@in_process
def test_what_is_not_there_or_not_right_is_said_and_changes_nothing(manage: ManagementClient, address: str) -> None:
    before = manage.query(ADDRESS)
    kind = PREFIX + ADDRESS
    assert manage.delete(ADDRESS, "nothing").status == 404
    assert manage.ask({"operation": "BOGUS", **NODE}).status == 501
    assert manage.ask({}).status == 400
    assert manage.ask({"operation": "QUERY", "entityType": f"{PREFIX}bogus", **NODE}).status == 400
    neither = "Either a 'prefix' or 'pattern' attribute must be provided"
    assert manage.create(ADDRESS, address).description == neither
    assert manage.ask({"operation": "CREATE", "type": kind, "name": address}, "text").status == 400
    assert manage.query(ADDRESS) == before


@in_process
def test_a_request_that_is_too_large_is_rejected(
    router: RunningRouter, manage: ManagementClient, manage_at: Manage
) -> None:
    large = manage_at(router.port)
    with pytest.raises(SendException):
        large.ask({"operation": "CREATE", "type": PREFIX + ADDRESS, "name": "x"}, {"prefix": "x" * (2 << 20)})
    assert manage.ask({"operation": "READ", **NODE}).status == 200


def test_a_client_that_is_gone_before_its_answer_disturbs_nobody(
    router: RunningRouter, manage: ManagementClient, manage_at: Manage, address: str
) -> None:
    gone = manage_at(router.port)
    gone.send({"operation": "READ", **NODE}, reply_to=f"amqp:/_topo/0/{ROUTER_ID}/temp.nobody")
    gone.send({"operation": "READ", **NODE})
    assert gone.ask({"operation": "READ", **NODE}).status == 200
    assert manage.ask({"operation": "READ", **NODE}).status == 200


# --- after deaths


@in_forms(THREE_ACTORS)
def test_what_is_configured_survives_the_deaths_of_actors(
    start: Start, manage_at: Manage, connect_to: Connect, address: str
) -> None:
    router = start(configuration(listener()))
    manage = manage_at(router.port)
    assert _tells_of_the_start(manage)
    port = free_port()
    assert manage.create(ADDRESS, "all", prefix="all", distribution="multicast").status == 201
    assert manage.create("listener", "more", host="127.0.0.1", port=str(port)).status == 201
    for role in ("management", *sorted(role for role in router.actors() if role.startswith("connection."))):
        victim = router.actors()[role]
        victim.signal(signal.SIGKILL)
        eventually(lambda: router.actors()[role] != victim, f"{role} has another process")  # noqa: B023
        eventually(lambda: is_taken(port) and is_taken(router.port), "somebody listens")
    eventually(lambda: len(_actors(manage_at, router.port)) == router.form.actors, "all are back")
    rows = _actors(manage_at, router.port)
    assert {row["restarts"] for row in rows} == {1}
    manage = manage_at(port)
    assert {"all", "more"} <= {row["name"] for kind in (ADDRESS, "listener") for row in manage.query(kind)}
    consumers = [connect_to(port).consumer("all.of.us") for _ in range(CLIENTS)]
    assert connect_to(router.port).producer("all.of.us").send("one").outcome() == "accepted"
    assert [consumer.bodies for consumer in consumers] == [["one"]] * CLIENTS
    assert manage.delete("listener", "more").status == 204
    eventually(lambda: not is_taken(port), "nobody listens any more")


def _tells_of_the_start(manage: ManagementClient) -> bool:
    """The launcher logs it before there are other processes. A log of limited length has it only in a young router."""
    log = manage.ask({"operation": "GET-LOG", **NODE}).body
    return any(entry[2].startswith("Router started in") for entry in log)


def _actors(manage_at: Manage, port: int) -> list[dict[str, object]]:
    return manage_at(port).query("org.mobula.connectionActor")


def test_a_router_that_says_nothing_of_it_is_read_and_not_changed(tmp_path: Path) -> None:
    """Whoever reaches the port could else have the router log in elsewhere by what only the router can read."""
    text = configuration(listener(), managementAccess="policy")
    with running(IN_PROCESS, tmp_path, text) as router, ManagementClient(router.port) as manage:
        assert _tells_of_the_start(manage)
        before = manage.query("connector")
        login = {"saslMechanisms": "PLAIN", "saslUsername": "x", "saslPassword": "env:HOME"}
        told = manage.create("connector", "thief", host="127.0.0.1", port="1", **login)
        assert (told.status, "set managementAccess: change" in told.description) == (403, True), told
        assert manage.ask({"operation": "UPDATE", "identity": "log/SERVER"}, {"enable": "none"}).status == 403
        assert manage.delete("listener", "clients").status == 403
        assert (manage.query("connector"), len(manage.query("listener"))) == (before, 1)


def test_nobody_is_sent_the_token_of_ray(router: RunningRouter, manage: ManagementClient) -> None:
    """Requests may name any other file here, which may be made later; in one process there is no such file.

    The router's own Ray has a token of its own, or that of the user who runs it.
    """
    own = router.folder / "ray" / "token"
    is_users = router.form.actors > 0 and not own.exists()
    token = Path.home() / ".ray" / "auth_token" if is_users else own
    assert token.exists() is (router.form.actors > 0)
    login = {"saslUsername": "x", "saslPassword": f"file:{token}"}
    told = manage.create("connector", "thief", host="127.0.0.1", port="1", **login)
    assert told.status == (403 if router.form.actors else 201), told
    if router.form.actors:
        assert told.description == f"saslPassword: '{token}' belongs to the router itself; name another file"
    else:
        assert manage.delete("connector", "thief").status == 204
    login["saslPassword"] = "env:RAY_AUTH_TOKEN_PATH"
    assert manage.create("connector", "thief", host="127.0.0.1", port="1", **login).status == 403


def test_a_router_that_may_be_changed_names_no_secret_of_its_own(tmp_path: Path) -> None:
    text = configuration(listener(), managementFileDir=tmp_path)
    with running(IN_PROCESS, tmp_path, text) as router, ManagementClient(router.port) as manage:
        for place in ("env:HOME", "file:/etc/hostname", f"file:{tmp_path}/../../etc/hostname"):
            login = {"saslUsername": "x", "saslPassword": place}
            told = manage.create("connector", "thief", host="127.0.0.1", port="1", **login)
            assert (told.status, told.description.startswith("saslPassword: ")) == (403, True), told
        log = {"operation": "UPDATE", "identity": "log/SERVER"}
        assert manage.ask(log, {"outputFile": "/etc/routerd-test"}).status == 403
        assert manage.ask(log, {"outputFile": f"{tmp_path}/more.log"}).status == 200
        assert manage.query("connector") == []
