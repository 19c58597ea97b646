"""Keys of addresses, as routers spell them to each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.core.directory.addresses import AddressClass, AddressSpace, KeyParts, canonical, parts_of
from routerd.core.errors import InvalidKey, InvalidPhase

INTERIOR = AddressSpace("R1")
EDGE = AddressSpace("E1", is_edge=True)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("orders", "orders"),
        ("/orders", "orders"),
        ("//orders", ""),
        ("//host/orders", "orders"),
        ("//host//orders", "/orders"),
        ("amqp:orders", "orders"),
        ("amqp:/orders", "orders"),
        ("amqp://host/orders", "orders"),
        ("amqp://user:secret@host:5672/orders/new", "orders/new"),
        ("amqps://host/orders", "orders"),
        ("amqp://host", ""),
        ("amqp://host/", ""),
        ("amqp:", ""),
        ("amqp", "amqp"),
        ("amqpx:/orders", "amqpx:/orders"),
        ("orders.", "orders"),
        ("orders/", "orders"),
        ("orders..", "orders."),
        ("orders./", "orders."),
        ("/", ""),
        (".", ""),
        ("", ""),
        (".orders", ".orders"),
        ("a.b/c", "a.b/c"),
        ("_topo/0/R1/x/", "_topo/0/R1/x"),
        ("größe", "größe"),
    ],
)
def test_an_address_has_one_text_however_it_is_written(written, text):
    assert canonical(written) == text


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("orders", "M0orders"),
        ("/orders", "M0orders"),
        ("amqp://host/orders.", "M0orders"),
        ("amqp", "M0amqp"),
        ("a", "M0a"),
        ("a/b", "M0a/b"),
        ("a.b", "M0a.b"),
        ("$management", "M0$management"),
        ("", ""),
        ("/", ""),
        ("amqp://host", ""),
        ("_local/qdhello", "Lqdhello"),
        ("amqp:/_local/qdhello", "Lqdhello"),
        ("_local/a/b", "La/b"),
        ("_local", "M0_local"),
        ("_localx/y", "M0_localx/y"),
        ("_$temp.x", "M0_$temp.x"),
        ("_$qd.addr_lookup", "M0_$qd.addr_lookup"),
        ("_topo/0/R1/temp.x", "Ltemp.x"),
        ("amqp:/_topo/0/R1/$management", "L$management"),
        ("_topo/0/R1", "L"),
        ("_topo/0/all/qdrouter.ma", "Tqdrouter.ma"),
        ("_topo/all/all/qdrouter", "Tqdrouter"),
        ("_topo/0/R2/temp.x", "RR2"),
        ("_topo/0/R2", "RR2"),
        ("_topo/0/R11/x", "RR11"),
        ("_topo/7/R1/x", "A7"),
        ("_topo/7/all/x", "A7"),
        ("_topo", "M0_topo"),
        ("_edge/R1/x", "Lx"),
        ("_edge/E1/temp.x", "HE1"),
        ("_edge/E1", "HE1"),
    ],
)
def test_the_key_says_where_an_address_leads_from_an_interior_router(address, key):
    assert INTERIOR.key(address) == key


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("orders", "M0orders"),
        ("_local/x", "Lx"),
        ("_edge/E1/temp.x", "Ltemp.x"),
        ("_edge/E2/temp.x", "L_edge"),
        ("_topo/0/E1/x", "Lx"),
        ("_topo/0/R1/x", "L_edge"),
        ("_topo/7/R1/x", "L_edge"),
        ("_topo/0/all/x", "Tx"),
        ("_$temp.x", "M0_$temp.x"),
    ],
)
def test_on_an_edge_router_what_is_elsewhere_goes_up(address, key):
    assert EDGE.key(address) == key


def test_another_area_has_its_own_places():
    assert [AddressSpace("R1", "7").key(f"_topo/{area}/R1/x") for area in ("7", "0")] == ["Lx", "A0"]


@pytest.mark.parametrize(
    ("address", "phase", "tenant", "key"),
    [
        ("orders", 1, "", "M1orders"),
        ("/orders", 9, "", "M9orders"),
        ("orders", 22, "", "MForders"),
        ("orders", 0, "shop", "M0shop/orders"),
        ("/orders/", 1, "shop", "M1shop/orders"),
        ("amqp://host/orders", 0, "shop", "M0shop/orders"),
        ("_local/x", 1, "shop", "Lx"),
        ("_topo/0/R2/x", 1, "shop", "RR2"),
        ("_$temp.x", 1, "shop", "M1_$temp.x"),
        ("$management", 0, "shop", "M0shop/$management"),
        ("", 1, "shop", ""),
    ],
)
def test_phase_and_tenant_count_for_mobile_addresses(address, phase, tenant, key):
    assert INTERIOR.key(address, phase, tenant) == key


@pytest.mark.parametrize("phase", [-1, 10, 21, 23, 2**31])
@pytest.mark.parametrize("address", ["orders", "/orders"])
def test_a_phase_that_none_can_have_is_refused(address, phase):
    with pytest.raises(InvalidPhase):
        INTERIOR.key(address, phase)


written = st.text(alphabet="a_/.:#*p", max_size=12) | st.text(max_size=6).map("amqp:/".__add__)


@given(written, st.sampled_from(["", "t"]))
def test_a_key_depends_on_nothing_but_the_canonical_text(address, tenant):
    text = canonical(address)
    key = INTERIOR.key(address, tenant=tenant)
    if not text:
        assert key == ""
    elif not text.startswith("_"):
        assert key == (f"M0{tenant}/{text}" if tenant else f"M0{text}")
    else:
        assert key == INTERIOR.key("/" + address if address.startswith("_") else address)


def test_a_reply_address_leads_back_from_anywhere():
    assert INTERIOR.reply_address("foBz") == "amqp:/_topo/0/R1/temp.foBz"
    assert EDGE.reply_address("foBz") == "amqp:/_edge/E1/temp.foBz"
    assert INTERIOR.key(INTERIOR.reply_address("foBz")) == "Ltemp.foBz"
    assert EDGE.key(EDGE.reply_address("foBz")) == "Ltemp.foBz"


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("M0orders", KeyParts(AddressClass.MOBILE, 0, "orders")),
        ("M1shop/orders", KeyParts(AddressClass.MOBILE, 1, "shop/orders")),
        ("MForders", KeyParts(AddressClass.MOBILE, 22, "orders")),
        ("Ltemp.x", KeyParts(AddressClass.LOCAL, None, "temp.x")),
        ("Tqdrouter", KeyParts(AddressClass.TOPOLOGICAL, None, "qdrouter")),
        ("RR2", KeyParts(AddressClass.ROUTER, None, "R2")),
        ("A7", KeyParts(AddressClass.AREA, None, "7")),
        ("HE1", KeyParts(AddressClass.EDGE, None, "E1")),
        ("Clr", KeyParts(AddressClass.LINK_ROUTE_PREFIX_IN, None, "lr")),
        ("F*.lr.#", KeyParts(AddressClass.LINK_ROUTE_PATTERN_OUT, None, "*.lr.#")),
    ],
)
def test_a_key_can_be_taken_apart(key, parts):
    assert parts_of(key) == parts


@pytest.mark.parametrize("key", ["", "M", "Mx", "Zorders", "0orders"])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(InvalidKey):
        parts_of(key)
