"""`dummy`: requests that try a tool, and sections."""

from tests.unit.config.reading import errors_in, read, section
from tests.unit.management.fake_router import SECTIONS, Client, client_of, refusal

DUMMY = "org.apache.qpid.dispatch.dummy"
NAMED = {"name": "trial", "identity": "dummy/trial", "type": DUMMY}


def made(**attributes: object) -> Client:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", attributes, type="dummy", name="trial")
    assert (answer.status, answer.body) == (201, NAMED | attributes)
    return found


def test_one_is_made_changed_read_and_deleted() -> None:
    found = made(arg1="a")
    changed = NAMED | {"arg1": "b", "num1": -42}
    assert found.ask("UPDATE", {"name": "trial", "arg1": "b", "num1": -42}, name="trial").body == changed
    assert found.ask("READ", type=DUMMY, identity="dummy/trial").body == changed
    assert found.rows("dummy", "arg1", "num1", "num2") == [["b", -42, None]]
    assert found.ask("DELETE", name="trial").status == 204
    assert found.ask("READ", type=DUMMY, name="trial").status == 404


def test_callme_answers_with_what_the_request_says() -> None:
    asked = {"type": DUMMY, "identity": "dummy/trial", "data": b"octets"}
    answer = made().ask("callme", None, **asked)
    assert (answer.status, answer.body) == (200, {"operation": "callme", **asked})


def test_what_is_wrong_with_one_is_refused() -> None:
    found = made()
    unknown = f"Unknown attribute 'arg3' for '{DUMMY}'; did you mean 'arg2'?"
    assert refusal(found.ask("UPDATE", {"arg3": "x"}, name="trial")) == (400, unknown)
    assert found.ask("CALLME", type=DUMMY, name="other").status == 404
    assert found.ask("CREATE", {}, type=DUMMY, name="trial").status == 400
    assert found.ask("CALLME", name="L1").status == 501


def test_a_file_can_have_some_that_are_named() -> None:
    assert read(section("dummy", "name: trial", "num2: 7")).others["dummy"] != ()
    assert errors_in(section("dummy", "num2: 7")) == [
        "line 1: dummy.name: Missing required attribute 'name'; allowed: what requests call it"
    ]
