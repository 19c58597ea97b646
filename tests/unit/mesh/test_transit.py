"""Messages to all routers: which trunks they need not go to."""

from routerd.mesh import ControlMessage
from routerd.mesh.settings import FLOOD_MEMORY_S, FLOODS_REMEMBERED
from routerd.mesh.transit import FloodMemory


def advertisement(ls_seq=1, mobile_seq=0, length=1, opcode="RA"):
    body = {"id": "B", "instance": 1, "ls_seq": ls_seq, "mobile_seq": mobile_seq}
    return ControlMessage("to", opcode, body, "0/B", tuple(f"0/{number}" for number in range(length)))


def test_a_message_is_new_once_and_knows_where_it_went():
    memory = FloodMemory()
    trunks, is_new = memory.trunks_that_know(advertisement(), "0/B", 3, 1.0)
    trunks |= {1, 2}
    assert (trunks, is_new) == ({1, 2}, True)
    assert memory.trunks_that_know(advertisement(), "0/B", 3, 1.4) == ({1, 2}, False)


def test_another_router_opcode_or_sequence_is_another_message():
    memory = FloodMemory()
    assert memory.trunks_that_know(advertisement(), "0/B", 3, 1.0)[1]
    for message, ingress in (
        (advertisement(), "0/C"),
        (advertisement(opcode="MAU"), "0/B"),
        (advertisement(ls_seq=2), "0/B"),
        (advertisement(mobile_seq=1), "0/B"),
        (ControlMessage("to", "RA", {"ls_seq": [], "mobile_seq": "1"}), "0/B"),
        (ControlMessage("to", "RA", ["no map"]), "0/X"),
    ):
        assert memory.trunks_that_know(message, ingress, 3, 1.0) == (set(), True)


def test_a_message_is_forgotten_before_its_router_sends_it_again():
    memory = FloodMemory()
    assert memory.trunks_that_know(advertisement(), "0/B", 3, 1.0)[1]
    assert memory.trunks_that_know(advertisement(), "0/B", 3, 1.0 + FLOOD_MEMORY_S) == (set(), True)


def test_a_copy_by_a_shorter_way_goes_again_if_the_first_may_have_been_dropped():
    memory = FloodMemory()
    memory.trunks_that_know(advertisement(length=5), "0/B", 3, 1.0)[0].add(1)
    assert memory.trunks_that_know(advertisement(length=5), "0/B", 3, 1.0) == ({1}, False)
    memory.trunks_that_know(advertisement(length=4), "0/B", 3, 1.0)[0].add(2)
    assert memory.trunks_that_know(advertisement(length=1), "0/B", 3, 1.0) == ({2}, False)


def test_a_copy_by_a_shorter_way_does_not_go_again_if_nobody_dropped_the_first():
    memory = FloodMemory()
    memory.trunks_that_know(advertisement(length=3), "0/B", 3, 1.0)[0].add(1)
    assert memory.trunks_that_know(advertisement(length=1), "0/B", 3, 1.0) == ({1}, False)


def test_the_memory_is_bounded():
    memory = FloodMemory()
    for number in range(FLOODS_REMEMBERED + 2):
        memory.trunks_that_know(advertisement(ls_seq=number), "0/B", 3, 1.0)
    assert memory.trunks_that_know(advertisement(ls_seq=FLOODS_REMEMBERED), "0/B", 3, 1.0)[1] is False
    assert memory.trunks_that_know(advertisement(ls_seq=0), "0/B", 3, 1.0)[1] is True


def test_of_a_router_that_was_started_anew_only_what_names_its_instance_stays_known():
    def update(sequence):
        return ControlMessage("to", "MAU", {"id": "B", "mobile_seq": sequence}, "0/B", ("0/B",))

    memory = FloodMemory()
    shapeless = ControlMessage("to", "RA", ["no map"], "0/B", ("0/B",))
    for message in (advertisement(), update(1), shapeless):
        memory.trunks_that_know(message, "0/B", 3, 1.0)
    memory.trunks_that_know(update(1), "0/C", 3, 1.0)
    memory.forget("0/B")
    assert not memory.trunks_that_know(advertisement(), "0/B", 3, 1.0)[1]
    assert memory.trunks_that_know(update(1), "0/B", 3, 1.0)[1]
    assert memory.trunks_that_know(shapeless, "0/B", 3, 1.0)[1]
    assert not memory.trunks_that_know(update(1), "0/C", 3, 1.0)[1]
