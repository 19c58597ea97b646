"""`/metrics` and `/metrics/detailed` of a listener: the queries and their answers."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from urllib.parse import parse_qs

from routerd.io.http.files import takes_gzip
from routerd.io.http.requests import Answer, Request, sentence
from routerd.management import DETAILED_FAMILIES, SERIES_MAX, MetricsQuery, MetricsText, Unanswered

Scrape = Callable[[MetricsQuery], "Future[MetricsText]"]
"""Answers a scrape for the whole router; the future may raise Unanswered."""

PATH = "/metrics"
DETAILED_PATH = "/metrics/detailed"
ANSWER_S = 9.0
"""The time for the router to gather its figures: Prometheus waits for 10 s."""
VALUES_MAX = 100
"""Limit of the families and addresses that one request may name."""
_OPEN_METRICS = "application/openmetrics-text"


class QueryRefused(ValueError):
    """A query without an answer; the text has the error."""


async def metrics_page(scrape: Scrape, request: Request) -> Answer:
    """Return the answer to a scrape."""
    try:
        query = query_of(request)
    except QueryRefused as refusal:
        return sentence(400, str(refusal))
    try:
        text = await asyncio.wait_for(asyncio.wrap_future(scrape(query)), ANSWER_S)
    except TimeoutError:
        return sentence(503, f"The router has not gathered its figures within {ANSWER_S:g} s.", Retry_After="10")
    except Unanswered as failure:
        return sentence(503, f"The router can not tell its figures now: {failure}.", Retry_After="10")
    headers = {"Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding"}
    if text.is_gzip:
        headers["Content-Encoding"] = "gzip"
    return Answer(200, text.body, text.content_type, headers)


def query_of(request: Request) -> MetricsQuery:
    """Return the query of a request; raises QueryRefused."""
    form = MetricsQuery(is_open_metrics=_wants_open_metrics(request), takes_gzip=takes_gzip(request))
    if request.path == PATH:
        return form
    try:
        given = parse_qs(request.query, keep_blank_values=True, strict_parsing=True, max_num_fields=VALUES_MAX)
    except ValueError:
        raise QueryRefused(
            f"/metrics/detailed takes ?family=NAME&address=ADDRESS&limit=NUMBER, up to {VALUES_MAX} of them."
        ) from None
    unknown = sorted(given.keys() - {"family", "address", "limit"})
    if unknown:
        raise QueryRefused(f"There is no parameter {unknown[0]!r} here: family, address and limit are taken.")
    return MetricsQuery(
        is_open_metrics=form.is_open_metrics,
        takes_gzip=form.takes_gzip,
        families=_families(given.get("family", [])),
        addresses=tuple(given.get("address", ())),
        limit=_limit(given.get("limit", [str(SERIES_MAX)])[-1]),
    )


def _families(names: list[str]) -> tuple[str, ...]:
    known = ", ".join(DETAILED_FAMILIES)
    if not names:
        raise QueryRefused(f"/metrics/detailed needs ?family=NAME: one of {known}.")
    for name in names:
        if name not in DETAILED_FAMILIES:
            raise QueryRefused(f"There is no family {name!r}: there are {known}.")
    return tuple(dict.fromkeys(names))


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or not 0 < int(text) <= SERIES_MAX:
        raise QueryRefused(f"limit is a number of series from 1 to {SERIES_MAX}.")
    return int(text)


def _wants_open_metrics(request: Request) -> bool:
    """Whether a client prefers OpenMetrics to the older format."""
    weights = {"open": 0.0, "plain": 0.0}
    for one in request.tokens("accept"):
        kind, *parameters = (part.strip().lower() for part in one.split(";"))
        name = "open" if kind == _OPEN_METRICS else "plain" if kind in ("text/plain", "text/*", "*/*") else None
        if name is not None:
            weights[name] = max(weights[name], _weight(parameters))
    return weights["open"] > 0 and weights["open"] >= weights["plain"]


def _weight(parameters: list[str]) -> float:
    for one in parameters:
        if one.startswith("q="):
            try:
                return float(one[2:])
            except ValueError:
                return 0.0
    return 1.0
