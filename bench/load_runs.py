"""Runs of a load generator for the benchmarks: `routerbench`, and for a second opinion any build of loadgen.c."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.free_ports import free_port

WITHIN_S = 120.0
_LISTENS_AFTER_S = 0.3


class LoadFailed(Exception):
    """A run of a load generator fell short; the message is what it said."""


def routerbench(place: str | None, *arguments: str, may_lose: bool = False) -> dict[str, Any]:
    """Run routerbench against a router, or client to client where no place is given; return its figures.

    With `may_lose` it is no failure when messages do not arrive.
    """
    where = ["--direct"] if place is None else ["--connect", place]
    command = [sys.executable, "-m", "routerd.cli.routerbench", "--quiet", "--json", *where, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
    figures: dict[str, Any] = json.loads(done.stdout or "{}")
    is_loss = done.returncode == 1 and all(one.endswith(" not received") for one in figures.get("shortfalls", [""]))
    if done.returncode != 0 and not (may_lose and is_loss):
        raise LoadFailed(f"{' '.join(command[1:])}: {done.stderr.strip()}")
    return figures


class Held:
    """Idle connections with `links` links each, and an address for each link. They are held until `release`."""

    def __init__(self, place: str, connections: int, links: int = 0, options: Sequence[str] = ()) -> None:
        command = [sys.executable, "-m", "routerd.cli.routerbench", "--idle", "--connect", place]
        size = ["--connections", str(connections), "--links", str(links)]
        if links:
            size += ["--addresses", str(connections * links), "--address", "held.{}"]
        self._process = subprocess.Popen(
            [*command, *size, *options, "--seconds", "3600", "--patience", "60"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        if not line.startswith("ready"):
            self.release()
            raise LoadFailed(line.strip())

    def release(self) -> None:
        """Close the connections."""
        self._process.terminate()
        self._process.communicate()


@dataclass(frozen=True, slots=True)
class Loadgen:
    """A build of loadgen.c."""

    program: str

    def rate(
        self, place: str | None, count: int, *arguments: str, receive_at: str | None = None, subscribers: int = 1
    ) -> float:
        """Return the messages that one client received from another in a second, through a router or directly.

        `receive_at` is where the receiver connects, if that is elsewhere. So many subscribers get copies.
        """
        places, counts = (receive_at or place, place), (count * subscribers, count)
        if subscribers == 1:
            return float(self._run(places, ("recv", "send"), counts, arguments)["recv"]["rate"])
        each = (f"conns={subscribers}",)
        return float(self._run(places, ("recv", "send"), counts, arguments, each, "multicast.bench")["recv"]["rate"])

    def round_trip_us(self, place: str | None, count: int) -> tuple[float, float]:
        """Return the median and the 99th percentile of requests, one in flight."""
        # A responder without a count answers until it is ended, so that it does not leave with replies unsent.
        figures = self._run((place, place), ("rep", "req"), (0, count), ())["req"]
        return float(figures["p50"]), float(figures["p99"])

    def _run(
        self,
        places: tuple[str | None, str | None],
        modes: tuple[str, str],
        counts: tuple[int, int],
        arguments: tuple[str, ...],
        passive_arguments: tuple[str, ...] = (),
        address: str = "bench",
    ) -> dict[str, dict[str, str]]:
        own = f"127.0.0.1:{free_port()}"
        listening = ["listen=1"] if places[0] is None else []
        first, second = (
            [self.program, mode, *(place or own).rsplit(":", 1), address, f"n={count}", *arguments]
            for place, mode, count in zip(places, modes, counts, strict=True)
        )
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        with subprocess.Popen([*first, *listening, *passive_arguments], **pipes) as passive:
            # It has no word for being ready.
            time.sleep(_LISTENS_AFTER_S)
            try:
                active_text = subprocess.run(second, timeout=WITHIN_S, **pipes).stdout
                if counts[0] == 0:
                    passive.terminate()
                passive_text, _ = passive.communicate(timeout=WITHIN_S)
            finally:
                passive.kill()
        texts = passive_text, active_text
        # A sender may find its receiver gone: only who has the figures must have found nothing bad.
        if "bad=0" not in (passive_text or active_text):
            raise LoadFailed(f"loadgen: {passive_text}{active_text}")
        return {mode: dict(re.findall(r"(\w+)=([\d.]+)", text)) for mode, text in zip(modes, texts, strict=True)}
