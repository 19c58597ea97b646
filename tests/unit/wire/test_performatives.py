"""The composite types against the tables of the standard: descriptors, fields, their order, and defaults."""

from dataclasses import MISSING, fields

import pytest

from routerd.wire.amqp_error import Error
from routerd.wire.constructors import CODES_BY_NAME
from routerd.wire.outcomes import ACCEPTED, RELEASED, Accepted, Modified, Received, Rejected, Released
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.terminus import EXPIRY_POLICIES, SESSION_END, Coordinator, Source, Target

# Mandatory fields are marked with an exclamation mark, and defaults are given where the standard has them.
TABLES = {
    Open: (
        0x10,
        "container_id! hostname max_frame_size=4294967295 channel_max=65535 idle_time_out outgoing_locales=() "
        "incoming_locales=() offered_capabilities=() desired_capabilities=() properties",
    ),
    Begin: (
        0x11,
        "remote_channel next_outgoing_id! incoming_window! outgoing_window! handle_max=4294967295 "
        "offered_capabilities=() desired_capabilities=() properties",
    ),
    Attach: (
        0x12,
        "name! handle! role! snd_settle_mode=2 rcv_settle_mode=0 source target unsettled incomplete_unsettled=False "
        "initial_delivery_count max_message_size offered_capabilities=() desired_capabilities=() properties",
    ),
    Flow: (
        0x13,
        "next_incoming_id incoming_window! next_outgoing_id! outgoing_window! handle delivery_count link_credit "
        "available drain=False echo=False properties",
    ),
    Transfer: (
        0x14,
        "handle! delivery_id delivery_tag message_format settled more=False rcv_settle_mode state resume=False "
        "aborted=False batchable=False",
    ),
    Disposition: (0x15, "role! first! last settled=False state batchable=False"),
    Detach: (0x16, "handle! closed=False error"),
    End: (0x17, "error"),
    Close: (0x18, "error"),
    Error: (0x1D, "condition! description info"),
    Received: (0x23, "section_number! section_offset!"),
    Accepted: (0x24, ""),
    Rejected: (0x25, "error"),
    Released: (0x26, ""),
    Modified: (0x27, "delivery_failed undeliverable_here message_annotations"),
    Source: (
        0x28,
        "address durable=0 expiry_policy='session-end' timeout=0 dynamic=False dynamic_node_properties "
        "distribution_mode filter default_outcome outcomes=() capabilities=()",
    ),
    Target: (
        0x29,
        "address durable=0 expiry_policy='session-end' timeout=0 dynamic=False dynamic_node_properties capabilities=()",
    ),
    Coordinator: (0x30, "capabilities=()"),
    SaslMechanisms: (0x40, "sasl_server_mechanisms!"),
    SaslInit: (0x41, "mechanism! initial_response hostname"),
    SaslChallenge: (0x42, "challenge!"),
    SaslResponse: (0x43, "response!"),
    SaslOutcome: (0x44, "code! additional_data"),
}


def described(field):
    if field.default is MISSING:
        return f"{field.name}!"
    return field.name if field.default is None else f"{field.name}={str(field.default)!r}".replace("'", "")


@pytest.mark.parametrize("kind", TABLES)
def test_a_composite_type_has_the_fields_of_the_standard(kind):
    code, table = TABLES[kind]
    assert code == kind.CODE
    assert " ".join(map(described, fields(kind))) == table.replace("'", "")


@pytest.mark.parametrize("kind", TABLES)
def test_a_composite_type_has_one_name_in_both_descriptors(kind):
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)
    assert CODES_BY_NAME[f"amqp:{words[1:]}:list".encode()] == kind.CODE


@pytest.mark.parametrize("kind", TABLES)
def test_a_composite_has_slots_and_mandatory_keywords(kind):
    mandatory = {field.name: None for field in fields(kind) if field.default is MISSING}
    assert not hasattr(kind(**mandatory), "__dict__")
    if mandatory:
        with pytest.raises(TypeError, match="missing"):
            kind()


def test_composites_are_equal_by_type_and_value():
    assert Detach(handle=1) == Detach(handle=1) != Detach(handle=2)
    assert (Accepted(), Released()) == (ACCEPTED, RELEASED)
    assert ACCEPTED != RELEASED


def test_a_composite_shows_what_is_set():
    attach = Attach(name="l", handle=0, role=False, source=Source(address="a", expiry_policy="never"))
    assert repr(attach) == ("Attach(name='l', handle=0, role=False, source=Source(address='a', expiry_policy='never'))")
    assert repr(Close(error=Error(condition="a"))) == "Close(error=Error(condition='a'))"
    assert repr(ACCEPTED) == "Accepted()"


@pytest.mark.parametrize(
    "frame",
    [
        SaslInit(mechanism="PLAIN", initial_response=b"sesame"),
        SaslChallenge(challenge=b"sesame"),
        SaslResponse(response=b"sesame"),
        SaslOutcome(code=0, additional_data=b"sesame"),
    ],
)
def test_the_repr_of_a_sasl_frame_never_shows_what_it_proves_with(frame):
    assert "sesame" not in repr(frame)
    assert "=..." in repr(frame)


def test_a_terminus_expires_by_the_four_policies():
    assert {"link-detach", "session-end", "connection-close", "never"} == EXPIRY_POLICIES
    assert Source().expiry_policy is Target().expiry_policy is SESSION_END
