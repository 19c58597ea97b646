"""How a run is told: the line of progress, the table at the end, the same as JSON, and what fell short."""

import json
from typing import Any

from routerd.cli.load.conductor import Result
from routerd.cli.load.histogram import LatencyHistogram
from routerd.cli.load.plan import Mode
from routerd.cli.load.tally import Tally

PERCENTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999))
_OUTCOMES = ("accepted", "released", "rejected", "modified", "other")
_NS_PER_US = 1_000


class Progress:
    """Words what happened since the line before."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._before = Tally()
        self._before_s = 0.0

    def line(self, now_s: float, tally: Tally) -> str:
        """Return the line for a time since the start."""
        before, span = self._before, max(now_s - self._before_s, 1e-9)
        self._before, self._before_s = tally, now_s
        latency = tally.latency.since(before.latency)
        if self._mode is not Mode.TRAFFIC:
            return f"{now_s:5.1f} s  {tally.attached} attached  p50 {_us(latency.at(0.5))}"
        words = [
            f"{now_s:5.1f} s",
            f"sent {_per_second(_all_sent(tally) - _all_sent(before), span)}",
            f"received {_per_second(_all_received(tally) - _all_received(before), span)}",
            f"p50 {_us(latency.at(0.5)) if latency.count else '-'}",
        ]
        words += [f"{name} {getattr(tally, name):,}" for name in _OUTCOMES if getattr(tally, name)]
        if tally.failure_count:
            words.append(f"failures {tally.failure_count}: {tally.failures[0]}")
        if now_s > 1 and _all_sent(tally) == _all_sent(before) and tally.progress == before.progress:
            words.append("nothing moves: no credit?")
        return "  ".join(words)


def shortfalls(result: Result) -> list[str]:
    """Return what fell short of a run in which everything went well."""
    tally, plan = result.tally, result.plan
    found = [f"{getattr(tally, name):,} {name}" for name in _OUTCOMES[1:] if getattr(tally, name)]
    if tally.unmeasured_refused:
        found.append(f"{tally.unmeasured_refused:,} of the warm-up or of replies not accepted")
    unsettled = 0 if plan.is_settled else tally.sent - tally.settled
    if unsettled and not result.is_interrupted:
        found.append(f"{unsettled:,} without an outcome")
    expected = plan.expected(tally.sent) if plan.sending else plan.count
    arrived = tally.received if plan.sending else tally.arrived
    if arrived < expected and not result.is_interrupted and plan.mode is Mode.TRAFFIC:
        found.append(f"{expected - arrived:,} not received")
    if plan.mode is Mode.ATTACH and tally.attached < plan.connections * plan.links and not result.is_interrupted:
        found.append(f"{plan.connections * plan.links - tally.attached:,} attaches not answered")
    if result.is_stalled:
        found.append(f"nothing moved for {plan.patience_s:g} s")
    found += tally.failures
    if tally.failure_count > len(tally.failures):
        found.append(f"{tally.failure_count - len(tally.failures)} failures more")
    return found


def as_text(result: Result) -> str:
    """Return the table of a run."""
    tally, plan = result.tally, result.plan
    rows: list[tuple[str, str, str]] = [("connect and attach", f"{result.ready_s:.3f}", "s")]
    if plan.mode is Mode.IDLE:
        rows.append(("connections held", f"{plan.connections:,}", ""))
    if plan.mode is not Mode.TRAFFIC and plan.links:
        rows.append(("attaches answered", f"{tally.attached:,}", ""))
        rows.append(("attach rate", f"{tally.attach_rate:,.0f}", "a second"))
    if plan.mode is Mode.TRAFFIC:
        if plan.sending:
            rows.append(("sent", f"{tally.sent:,}", "messages"))
            rows += [(name, f"{getattr(tally, name):,}", "messages") for name in _OUTCOMES if getattr(tally, name)]
        if plan.sending and not plan.is_settled:
            rows.append(("settled", f"{tally.settle_rate:,.0f}", "messages/s"))
        if tally.answered and not plan.sending:
            rows.append(("answered", f"{tally.answered:,}", "requests"))
        if tally.received:
            rows.append(("received", f"{tally.received:,}", "messages"))
            rows.append(("throughput", f"{tally.receive_rate:,.0f}", "messages/s"))
            rows.append(("", f"{tally.receive_rate * plan.size / 1e6:,.1f}", "MB/s of bodies"))
    rows += [(f"{_latency_name(result)} {name}", text, "us") for name, text in _latencies(tally.latency)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(f"{name:{widths[0]}}  {value:>{widths[1]}}  {unit}".rstrip() for name, value, unit in rows)


def as_json(result: Result) -> str:
    """Return the figures of a run as an object."""
    tally, plan = result.tally, result.plan
    figures: dict[str, Any] = {
        "mode": plan.mode.value,
        "ready_s": round(result.ready_s, 6),
        "measured_s": round(result.measured_s, 6),
        "sent": tally.sent,
        "received": tally.received,
        "answered": tally.answered,
        "attached": tally.attached,
        "outcomes": {name: getattr(tally, name) for name in _OUTCOMES},
        "settled_per_s": round(tally.settle_rate, 1),
        "received_per_s": round(tally.receive_rate, 1),
        "attached_per_s": round(tally.attach_rate, 1),
        "latency_us": latency_figures(tally.latency),
        "warmup": {
            "sent": tally.warmup_sent,
            "received": tally.warmup_received,
        },
        "unmeasured_not_accepted": tally.unmeasured_refused,
        "interrupted": result.is_interrupted,
        "shortfalls": shortfalls(result),
    }
    return json.dumps(figures, indent=2)


def latency_figures(latency: LatencyHistogram) -> dict[str, float]:
    """Return percentiles in microseconds."""
    figures: dict[str, float] = {"count": latency.count}
    if latency.count:
        figures["min"] = latency.least / _NS_PER_US
        figures.update((name, latency.at(fraction) / _NS_PER_US) for name, fraction in PERCENTILES)
        figures["max"] = latency.greatest / _NS_PER_US
    return figures


def _latencies(latency: LatencyHistogram) -> list[tuple[str, str]]:
    figures = latency_figures(latency)
    del figures["count"]
    return [(name, f"{value:,.1f}") for name, value in figures.items()]


def _latency_name(result: Result) -> str:
    if result.plan.mode is not Mode.TRAFFIC:
        return "attach"
    return "round trip" if result.plan.requesters else "latency"


def _all_sent(tally: Tally) -> int:
    return tally.sent + tally.warmup_sent


def _all_received(tally: Tally) -> int:
    return tally.arrived + tally.warmup_received


def _per_second(count: int, span_s: float) -> str:
    return f"{count / span_s:,.0f}/s"


def _us(value_ns: int) -> str:
    return f"{value_ns / _NS_PER_US:,.1f} us"
