"""The JSON in the messages, word for word."""

import json
import sys

import pytest
from oslo_messaging import RemoteError

from oslo_messaging_amqp1.errors import Undecodable
from oslo_messaging_amqp1.messages import (
    notification_body,
    read_notification,
    read_reply,
    read_request,
    reply_body,
    request_body,
)


def test_a_request_is_message_and_context() -> None:
    body = request_body({"c": 1}, {"method": "m"}, None)
    assert json.loads(body) == {"request": {"method": "m"}, "context": {"c": 1}}
    assert json.loads(request_body({}, {}, 5)) == {"request": {}, "context": {}, "call_monitor_timeout": 5}
    read = read_request(request_body({"c": 1}, {"m": [1, "ä"]}, 5))
    assert (read.message, read.context, read.call_monitor_timeout) == ({"m": [1, "ä"]}, {"c": 1}, 5)


def test_a_notification_of_version_2_is_in_an_envelope() -> None:
    assert json.loads(notification_body({}, {"e": 1}, 1.0)) == {"request": {"e": 1}, "context": {}}
    assert json.loads(notification_body({}, {"e": 1}, 2.0)) == {
        "request": {"oslo.version": "2.0", "oslo.message": '{"e": 1}'},
        "context": {},
    }


@pytest.mark.parametrize("version", [1.0, 2.0])
def test_a_notification_of_either_version_is_read(version: float) -> None:
    assert read_notification(notification_body({"c": 1}, {"e": 1}, version)).message == {"e": 1}


def test_a_reply_is_a_value() -> None:
    assert json.loads(reply_body([1, None], None)) == {"response": [1, None]}
    assert read_reply(reply_body([1, None], None), []) == ([1, None], None)


def test_a_reply_is_an_exception() -> None:
    try:
        raise KeyError("k")
    except KeyError:
        body = reply_body(None, sys.exc_info())
    assert json.loads(json.loads(body)["failure"])["class"] == "KeyError"
    value, failure = read_reply(body, [])
    assert value is None
    assert isinstance(failure, KeyError)


def test_an_exception_of_a_module_that_is_not_allowed_is_a_remote_error() -> None:
    failure = json.dumps({"class": "Popen", "module": "subprocess", "message": "m", "args": [], "kwargs": {}, "tb": []})
    _, error = read_reply(json.dumps({"failure": failure}), [])
    assert isinstance(error, RemoteError)
    assert (error.exc_type, error.value) == ("Popen", "m")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        *((None, "NoneType, not a string"), (5, "int, not a string"), ("{", "not JSON"), ("[1]", "not a JSON object")),
        *(("{}", "no request"), ('{"request": 1}', "no request"), (b"\xff\xfe", "not JSON"), ("[" * 100_000, "JSON")),
        ('{"request": 1, "context": {}}', "its request is not a JSON object"),
        ('{"request": {}, "context": {}, "call_monitor_timeout": [1]}', "call_monitor_timeout is not a number"),
    ],
)
def test_what_is_no_request_is_undecodable(body: object, complaint: str) -> None:
    with pytest.raises(Undecodable, match=complaint):
        read_request(body)


def test_an_envelope_that_is_broken_is_undecodable() -> None:
    for inside in ({"oslo.version": "9.0", "oslo.message": "{}"}, {"oslo.version": "2.0", "oslo.message": "{"}):
        with pytest.raises(Undecodable, match="envelope"):
            read_notification(json.dumps({"request": inside, "context": {}}))


def test_a_failure_that_is_broken_is_undecodable() -> None:
    with pytest.raises(Undecodable, match="failure"):
        read_reply('{"failure": "{"}', [])
