"""What is asked for at /metrics, and how it is answered."""

import asyncio
from concurrent.futures import Future
from urllib.parse import quote

import pytest

from routerd.io.http.metrics import VALUES_MAX, QueryRefused, query_of
from routerd.io.http.requests import Request
from routerd.management import SERIES_MAX, MetricsQuery, MetricsText, Unanswered
from tests.unit.io.http.stacks import Line

TEXT = MetricsText(body=b"a 1\n", content_type="text/plain; version=0.0.4; charset=utf-8")


class Scraped:
    """Answers scrapes with what a test says."""

    def __init__(self, answer: MetricsText | Exception) -> None:
        self.queries: list[MetricsQuery] = []
        self._answer = answer

    def __call__(self, query: MetricsQuery) -> "Future[MetricsText]":
        self.queries.append(query)
        done: Future[MetricsText] = Future()
        if isinstance(self._answer, Exception):
            done.set_exception(self._answer)
        else:
            done.set_result(self._answer)
        return done


def ask(scraped: Scraped | None, path: str, **options: object) -> tuple[int, dict[str, str], bytes]:
    async def asked() -> tuple[int, dict[str, str], bytes]:
        return await Line(scrape=scraped, **options).ask(path)

    return asyncio.run(asked())


def asked(target: str, **headers: str) -> MetricsQuery:
    return query_of(Request("GET", target, {name.replace("_", "-"): value for name, value in headers.items()}))


def test_a_scrape_is_answered_for_the_router() -> None:
    scraped = Scraped(TEXT)
    status, headers, body = ask(scraped, "/metrics")
    assert (status, headers["content-type"], body) == (200, TEXT.content_type, b"a 1\n")
    assert scraped.queries == [MetricsQuery()]


def test_what_is_compressed_says_so() -> None:
    scraped = Scraped(MetricsText(body=b"packed", content_type="text/plain", is_gzip=True))
    _, headers, body = ask(scraped, "/metrics")
    assert (headers["content-encoding"], body) == ("gzip", b"packed")


def test_a_router_that_can_not_tell_says_why() -> None:
    status, headers, body = ask(Scraped(Unanswered("management: there is no actor of this name")), "/metrics")
    assert (status, headers["retry-after"]) == (503, "10")
    assert body == b"The router can not tell its figures now: management: there is no actor of this name.\n"


def test_a_listener_without_metrics_has_no_such_page() -> None:
    scraped = Scraped(TEXT)
    assert ask(scraped, "/metrics", metrics=False)[0] == 404
    assert ask(None, "/metrics")[0] == 404
    assert scraped.queries == []


@pytest.mark.parametrize(
    ("accept", "is_open_metrics"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True),
        ("application/openmetrics-text;q=0.1,text/plain", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=x", False),
    ],
)
def test_the_format_is_that_which_the_client_wants(accept: str, is_open_metrics: bool) -> None:
    assert asked("/metrics", accept=accept).is_open_metrics is is_open_metrics


def test_details_are_asked_for_by_families_and_addresses() -> None:
    target = "/metrics/detailed?family=address&family=link&address=a%2F1&address=b*&limit=10"
    query = asked(target, accept_encoding="gzip")
    assert query == MetricsQuery(
        families=("address", "link"), addresses=("a/1", "b*"), limit=10, takes_gzip=True
    )
    assert asked("/metrics/detailed?family=link&family=link").families == ("link",)
    assert asked("/metrics?family=address").families == ()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "needs ?family=NAME"),
        ("?", "needs ?family=NAME"),
        ("?family", "takes ?family=NAME"),
        ("?address=a", "needs ?family=NAME: one of address, connection, link"),
        ("?family=queue", "There is no family 'queue': there are address,"),
        ("?family=link&colour=red", "There is no parameter 'colour' here"),
        ("?family=link&limit=0", f"from 1 to {SERIES_MAX}"),
        ("?family=link&limit=99999999999999999999", f"from 1 to {SERIES_MAX}"),
        (f"?family=link&limit={quote('²')}", f"from 1 to {SERIES_MAX}"),
        ("?family=link" + "&address=a" * VALUES_MAX, f"up to {VALUES_MAX} of them"),
    ],
)
def test_a_wrong_query_is_refused_with_what_would_be_right(query: str, says: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        asked(f"/metrics/detailed{query}")
    assert says in str(refused.value)


def test_a_wrong_query_reaches_nobody() -> None:
    scraped = Scraped(TEXT)
    status, _, body = ask(scraped, "/metrics/detailed")
    assert (status, scraped.queries) == (400, [])
    assert body.startswith(b"/metrics/detailed needs")
