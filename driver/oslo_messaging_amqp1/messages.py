"""The JSON inside of the messages: requests, notifications and replies, as every version of this driver writes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oslo_messaging._drivers import common
from oslo_serialization import jsonutils

from .errors import Undecodable


@dataclass(slots=True)
class Request:
    """A request or a notification, as it came in."""

    message: Any
    context: Any
    call_monitor_timeout: float | None


def request_body(context: Any, message: Any, call_monitor_timeout: float | None) -> str:
    """Return the body of an RPC request."""
    content = {"request": message, "context": context}
    if call_monitor_timeout is not None:
        content["call_monitor_timeout"] = call_monitor_timeout
    return jsonutils.dumps(content)


def notification_body(context: Any, message: Any, version: float) -> str:
    """Return the body of a notification; from version 2.0 on it is in an envelope."""
    enveloped = common.serialize_msg(message) if version >= 2.0 else message
    return jsonutils.dumps({"request": enveloped, "context": context})


def reply_body(reply: Any, failure: Any) -> str:
    """Return the body of a reply: a value, or an exception as the triple of sys.exc_info()."""
    if failure is not None:
        return jsonutils.dumps({"failure": common.serialize_remote_exception(failure)})
    return jsonutils.dumps({"response": reply})


def _read(body: Any) -> Request:
    """Return the content of a request or notification; Undecodable if the body is neither."""
    content = _object(body)
    if "request" not in content or "context" not in content:
        raise Undecodable("there is no request with a context in it")
    monitored_s = content.get("call_monitor_timeout")
    if monitored_s is not None and not isinstance(monitored_s, int | float):
        raise Undecodable("its call_monitor_timeout is not a number")
    return Request(content["request"], content["context"], monitored_s)


def read_request(body: Any) -> Request:
    """Return the content of an RPC request."""
    return _of_an_object(_read(body))


def read_notification(body: Any) -> Request:
    """Return the content of a notification, out of its envelope if it has one."""
    request = _read(body)
    try:
        request.message = common.deserialize_msg(request.message)
    except (ValueError, TypeError, common.RPCException) as error:
        raise Undecodable(f"its envelope: {error}") from error
    return _of_an_object(request)


def _of_an_object(request: Request) -> Request:
    if not isinstance(request.message, dict):
        raise Undecodable("its request is not a JSON object")
    return request


def read_reply(body: Any, allowed_remote_exmods: Sequence[str]) -> tuple[Any, BaseException | None]:
    """Return the value of a reply, or the exception that the server raised."""
    content = _object(body)
    if content.get("failure") is not None:
        try:
            return None, common.deserialize_remote_exception(content["failure"], allowed_remote_exmods)
        except (ValueError, TypeError, AttributeError) as error:
            raise Undecodable(f"its failure: {error}") from error
    return content.get("response"), None


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, str | bytes):
        raise Undecodable(f"its body is {type(body).__name__}, not a string")
    try:
        content = jsonutils.loads(body)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"its body is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise Undecodable("its body is not a JSON object")
    return content
