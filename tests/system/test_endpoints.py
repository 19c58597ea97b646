"""Every socket on which a router listens is opened, and is of no use to somebody who may not use it."""

import json
import os
import socket
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.open_sockets import TcpSocket, tcp_sockets, unix_sockets
from tests.system.processes import Process, family_of
from tests.system.routers import IN_PROCESS, ONE_ACTOR, RunningRouter, configuration, listener
from tests.waiting import WITHIN_S

LOOPBACK = "127.0.0.1"
PROOF_WANTED = {"authenticatePeer": "yes", "saslMechanisms": "SCRAM-SHA-256"}
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
SERVICES = (
    "/ray.rpc.NodeInfoGcsService/GetAllNodeInfo",
    "/ray.rpc.NodeManagerService/GetNodeStats",
    "/ray.rpc.ObjectManagerService/Push",
    "/ray.rpc.CoreWorkerService/PushTask",
)
"""Something that each of Ray's servers does: the head, the raylet for tasks and for objects, and the actors."""
REFUSED = b"InvalidAuthToken"
NOT_HERE = b"grpc-status\x0212"
HEADERS, RESET, GOAWAY = 1, 3, 7
FRAME_HEADER = 9
END_STREAM = 1


@pytest.fixture(scope="module", params=[IN_PROCESS, ONE_ACTOR], ids=lambda form: form.name)
def router(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    folder = tmp_path_factory.mktemp("router")
    with pytest.MonkeyPatch.context() as patch:
        # Where somebody has a token in the home folder, Ray takes that.
        patch.setenv("HOME", str(folder))
        running = RunningRouter(folder, request.param, configuration(listener(**PROOF_WANTED)))
    yield running
    running.close()


def processes(router: RunningRouter) -> list[Process]:
    return family_of(router.launcher.pid)


def internal(router: RunningRouter) -> list[TcpSocket]:
    return [one for one in tcp_sockets(processes(router)) if one.port not in router.ports]


def test_nothing_listens_for_other_hosts(router: RunningRouter) -> None:
    sockets = tcp_sockets(processes(router))
    assert {one.port for one in sockets} >= set(router.ports)
    assert {one.host for one in sockets} == {LOOPBACK}


def test_a_router_in_one_process_opens_nothing_but_its_listeners(router: RunningRouter) -> None:
    if router.form is IN_PROCESS:
        assert internal(router) == []
    else:
        assert internal(router) != []


def test_a_listener_that_wants_proof_takes_nobody_without(router: RunningRouter) -> None:
    with socket.create_connection((LOOPBACK, router.port), WITHIN_S) as client:
        client.sendall(AMQP_HEADER)
        assert client.recv(len(SASL_HEADER), socket.MSG_WAITALL) == SASL_HEADER
        assert client.recv(1) == b""


def test_no_server_of_ray_does_anything_without_the_token(router: RunningRouter) -> None:
    for one in internal(router):
        assert refusal(one) is not None, one


def test_unix_sockets_and_the_token_are_in_a_folder_of_the_user_alone(router: RunningRouter) -> None:
    sockets = unix_sockets(processes(router))
    for path in sockets:
        assert path.is_relative_to(router.folder)
    assert is_private(router.folder)
    if router.form is ONE_ACTOR:
        assert sockets != []
        assert stat.S_IMODE(token(router).stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR


def test_no_process_has_the_token_among_its_arguments(router: RunningRouter) -> None:
    if router.form is ONE_ACTOR:
        assert [one for one in processes(router) if token(router).read_text() in one.title] == []


def token(router: RunningRouter) -> Path:
    """Return the file with the token of the router's own Ray."""
    return router.folder / "ray" / "token"


def is_private(folder: Path) -> bool:
    """Whether nobody but the owner gets past a folder."""
    found = folder.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def refusal(place: TcpSocket) -> str | None:
    """Return how a server of Ray refuses a caller without the token; None where it does something for him."""
    answers = [call(place.port, service) for service in SERVICES]
    if all(answer.startswith(b"HTTP/1.") for answer in answers):
        return refusal_of_http(place.port)
    refused = [service for service, answer in zip(SERVICES, answers, strict=True) if REFUSED in answer]
    is_closed = all(REFUSED in answer or NOT_HERE in answer for answer in answers)
    return refused[0] if refused and is_closed else None


def call(port: int, service: str) -> bytes:
    """Call a service by gRPC as somebody without a token; return the headers that are answered, or what else is."""
    headers = b"\x83\x86" + b"".join(
        header(name, value)
        for name, value in (
            (":path", service),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        )
    )
    request = [frame(4, 0, 0, b""), frame(HEADERS, 4, 1, headers), frame(0, END_STREAM, 1, bytes(5))]
    with socket.create_connection((LOOPBACK, port), WITHIN_S) as client:
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"".join(request))
        answer = b""
        while not (has_ended(answer) or answer.startswith(b"HTTP/1.")):
            more = client.recv(1 << 16)
            if not more:
                break
            answer += more
    return answer


def header(name: str, value: str) -> bytes:
    """Return a header as HTTP/2 has it, by its letters (RFC 7541 section 6.2.3)."""
    return b"\x10" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return a frame of HTTP/2 (RFC 9113 section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def has_ended(answer: bytes) -> bool:
    """Whether the last frame of the only stream has come, or the connection is given up."""
    at = 0
    while at + FRAME_HEADER <= len(answer):
        size, kind, flags = int.from_bytes(answer[at : at + 3]), answer[at + 3], answer[at + 4]
        at += FRAME_HEADER + size
        if at <= len(answer) and (kind in (RESET, GOAWAY) or (kind == HEADERS and flags & END_STREAM)):
            return True
    return False


def refusal_of_http(port: int) -> str | None:
    """Ask Ray's agent for environments to make one, without the token."""
    body = json.dumps({}).encode()
    request = f"POST /get_or_create_runtime_env HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((LOOPBACK, port), WITHIN_S) as client:
        client.sendall(request.encode() + body)
        status = client.recv(1 << 16).split(b"\r\n")[0].decode()
    return status if " 401 " in status or " 403 " in status else None
