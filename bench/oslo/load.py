"""Servers and callers of oslo.messaging, run as a script in the driver's environment; it knows no driver by name.

It prints lines of JSON: who serves or holds that it does, a caller its figures, and with --profile who used what.
"""

import argparse
import json
import logging
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import oslo_messaging
from oslo_config import cfg

TOPIC = "bench"
BODY = "x" * 100
CALL_S = 30


class Echo:
    """What is called."""

    def echo(self, ctxt: dict[str, Any], value: Any) -> Any:
        """Return the value."""
        return value


@contextmanager
def serving(url: str, topic: str, name: str) -> Iterator[None]:
    """A server on a separate transport."""
    transport = oslo_messaging.get_rpc_transport(cfg.CONF, url=url)
    server = oslo_messaging.get_rpc_server(transport, oslo_messaging.Target(topic=topic, server=name), [Echo()])
    server.start()
    try:
        yield
    finally:
        server.stop()
        server.wait()
        transport.cleanup()


def client(url: str, topic: str) -> Any:
    """Return a client on a separate transport."""
    transport = oslo_messaging.get_rpc_transport(cfg.CONF, url=url)
    return oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic=topic), timeout=CALL_S)


def call_for(callee: Any, threads: int, warmup_s: float, seconds: float) -> dict[str, Any]:
    """Call from `threads` threads for a time; return the number of calls, and how long each took."""
    begin = time.perf_counter() + warmup_s
    end = begin + seconds
    latencies: list[list[float]] = [[] for _ in range(threads)]

    def caller(took: list[float]) -> None:
        while (begun := time.perf_counter()) < end:
            assert callee.call({}, "echo", value=BODY) == BODY
            done = time.perf_counter()
            if begun >= begin and done <= end:
                took.append(done - begun)

    running = [threading.Thread(target=caller, args=(took,)) for took in latencies]
    for thread in running:
        thread.start()
    time.sleep(max(begin - time.perf_counter(), 0.0))
    before_s = used_s()
    time.sleep(max(end - time.perf_counter(), 0.0))
    cpu_s = used_s() - before_s
    for thread in running:
        thread.join()
    every = sorted(took for one in latencies for took in one)
    return {
        "calls_per_s": len(every) / seconds,
        "p50_ms": statistics.median(every) * 1000 if every else 0.0,
        "p99_ms": every[len(every) * 99 // 100] * 1000 if every else 0.0,
        "cpu_us": cpu_s / len(every) * 1e6 if every else 0.0,
    }


def used_s() -> float:
    """Return the processor time that this process has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def serve(arguments: argparse.Namespace) -> None:
    """Serve a number of topics until the input ends. Each has a server with a separate connection."""
    with ExitStack() as stack:
        for number in range(arguments.count):
            stack.enter_context(serving(arguments.url, f"{TOPIC}-{number}", "server"))
        say({"pid": os.getpid()})
        with watched(arguments):
            sys.stdin.read()


def call(arguments: argparse.Namespace) -> None:
    """Measure calls."""
    callee = client(arguments.url, f"{TOPIC}-0")
    callee.call({}, "echo", value=BODY)
    with watched(arguments):
        say(call_for(callee, arguments.threads, arguments.warmup, arguments.seconds))


def both(arguments: argparse.Namespace) -> None:
    """Measure calls where server and client have to be in one process."""
    transport = oslo_messaging.get_rpc_transport(cfg.CONF, url=arguments.url)
    target = oslo_messaging.Target(topic=TOPIC, server="server")
    server = oslo_messaging.get_rpc_server(transport, target, [Echo()])
    server.start()
    callee = oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic=TOPIC), timeout=CALL_S)
    say(call_for(callee, arguments.threads, arguments.warmup, arguments.seconds))
    server.stop()
    server.wait()


def hold(arguments: argparse.Namespace) -> None:
    """Make a number of clients with a connection each. Each makes one call and is kept until the input ends."""
    clients = []
    for number in range(arguments.count):
        one = client(arguments.url, f"{TOPIC}-{number}")
        assert one.call({}, "echo", value=BODY) == BODY
        clients.append(one)
    say({"pid": os.getpid()})
    sys.stdin.read()


def watched(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Return what profiles meanwhile, if that is wanted."""
    if not arguments.profile:
        return nullcontext()
    from cpu_profile import profiled

    watch: AbstractContextManager[None] = profiled(say)
    return watch


def say(what: dict[str, Any]) -> None:
    """Tell whoever has started this."""
    print(json.dumps(what), flush=True)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=["serve", "call", "both", "hold"])
    parser.add_argument("url")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warmup", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    # Warnings of a driver under load are not needed here.
    logging.basicConfig(level=logging.ERROR)
    cfg.CONF([], project="bench", default_config_files=[], default_config_dirs=[])
    {"serve": serve, "call": call, "both": both, "hold": hold}[arguments.role](arguments)


if __name__ == "__main__":
    main()
