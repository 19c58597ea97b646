"""Which actors a router has."""

from actors.plan import Place, actor_name, connection_role, is_connection, places
from routerd.config import ConnectorConfig, ListenerConfig

CLIENTS = ListenerConfig(host="", port=5672, name="clients")
MORE = ListenerConfig(host="", port=5673, name="more")
BROKER = ListenerConfig(host="", port=5674, name="broker", dedicated_actor=True)
TRUNK = ListenerConfig(host="", port=5675, name="trunk", dedicated_actor=True)


def test_actors_share_the_listeners() -> None:
    assert places((CLIENTS, MORE), (), 2) == (Place(0, (CLIENTS, MORE)), Place(1, (CLIENTS, MORE)))


def test_a_listener_that_asks_for_an_actor_of_its_own_has_one_more() -> None:
    assert places((BROKER, CLIENTS, TRUNK), (), 2) == (
        Place(0, (CLIENTS,)),
        Place(1, (CLIENTS,)),
        Place(2, (BROKER,)),
        Place(3, (TRUNK,)),
    )


def test_connectors_are_shared_too_and_may_have_actors_of_their_own() -> None:
    near, far = ConnectorConfig(host="a", port=1), ConnectorConfig(host="b", port=2, dedicated_actor=True)
    assert places((CLIENTS, TRUNK), (far, near), 1) == (
        Place(0, (CLIENTS,), (near,)),
        Place(1, (TRUNK,)),
        Place(2, (), (far,)),
    )


def test_a_router_may_listen_nowhere() -> None:
    assert places((), (), 1) == (Place(0, ()),)


def test_names_tell_the_routers_apart() -> None:
    assert actor_name("A", connection_role(3)) == "A.connection.3"
    assert is_connection(connection_role(3))
    assert not is_connection("table")
