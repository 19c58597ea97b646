"""One decision in full: what was known, and why this consumer was chosen."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from analytics.errors import AnalyticsError
from routerd.records import message_key

_NEAR = timedelta(seconds=1)


def audit(
    decisions: DataFrame,
    *,
    message: str | None = None,
    address: str | None = None,
    at: datetime | None = None,
    limit: int = 20,
) -> DataFrame:
    """Return the decisions on one message, or on an address within a second of a time, with the reason of each."""
    if message is not None:
        found = decisions.where(F.col("message_key") == F.lit(message_key(message.encode())))
    elif address is not None and at is not None:
        near = (F.col("time") >= F.lit(at - _NEAR)) & (F.col("time") <= F.lit(at + _NEAR))
        found = decisions.where((F.col("address") == address) & near)
    else:
        raise AnalyticsError("an audit is of one message (--message ID), or of an address and a time (--address, --at)")
    order = ["hop", "time"] if message is not None else ["time", "hop"]
    reason = F.udf(_reason_of, "string")
    return (
        found.orderBy(*order)
        .limit(limit)
        .select(
            *("time", "router", "hop", "address", "distribution", "priority", "size_octets", "ingress", "path"),
            *("candidates", "choice", "egress", "egress_router", "outcome", "cause", "latency_us", "weight"),
            reason("distribution", "candidates", "choice", "cause").alias("reason"),
        )
    )


def _reason_of(distribution: str, candidates: Sequence[Any] | None, choice: int | None, cause: str | None) -> str:
    known = candidates or []
    if choice is None or not 0 <= choice < len(known):
        if known:
            return f"none of {len(known)} candidates could take it: {cause or 'the cause is not known here'}"
        return f"there was no candidate: {cause or 'the cause is not known here'}"
    if len(known) == 1:
        return "it was the only candidate"
    chosen = known[choice]
    others = [one for at, one in enumerate(known) if at != choice]
    if distribution == "closest":
        nearer = [one for one in others if one["cost"] < chosen["cost"]]
        if nearer:
            return (
                f"{nearer[0]['egress']} was nearer ({nearer[0]['cost']} against {chosen['cost']}) and could not take it"
            )
        if any(one["cost"] == chosen["cost"] for one in others):
            return f"it was one of the nearest, at cost {chosen['cost']}, and its turn"
        return f"it was the nearest, at cost {chosen['cost']}"
    if distribution != "balanced":
        return f"{distribution} does not choose: it goes to all {len(known)}"
    load = _load(chosen)
    lower = [one for one in others if _load(one) < load]
    if lower:
        return f"{lower[0]['egress']} had less to do ({_load(lower[0])} against {load}) and could not take it"
    if any(_load(one) == load for one in others):
        return f"it was one of those with the least load, {load}, and its turn"
    return f"it had the least load: {load} against {min(map(_load, others))}"


def _load(candidate: Any) -> int:
    """Return deliveries under way, and for a way to other routers its cost as well."""
    return int(candidate["outstanding"] + candidate["cost"])
