"""The console is at `/` of a listener with HTTP, unless the listener has files of its own or takes no WebSocket."""

import asyncio
from pathlib import Path
from typing import Any

from routerd.config import ListenerConfig
from routerd.io.http.requests import Answer, Request
from routerd.io.http.site import Site
from tests.unit.io.http.stacks import Health

POLICY = "Content-Security-Policy"


def ask(path: str, **settings: Any) -> Answer:
    listener = ListenerConfig(host="", port=0, takes_http=True, **settings)
    return asyncio.run(Site(listener, Health()).answer(Request("GET", path, {})))


def test_the_console_is_at_the_root_with_a_strict_policy() -> None:
    page = ask("/")
    assert (page.status, page.content_type) == (200, "text/html; charset=utf-8")
    assert b'<script src="app/main.js" type="module">' in page.body
    directives = dict(one.split(maxsplit=1) for one in page.headers[POLICY].split("; "))
    assert directives == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert page.headers["X-Frame-Options"] == "DENY"
    assert ask("/vendor/preact.mjs").content_type == "text/javascript; charset=utf-8"


def test_what_is_not_there_has_the_policy_too() -> None:
    missing = ask("/else")
    assert (missing.status, missing.headers[POLICY]) == (404, ask("/").headers[POLICY])


def test_files_of_a_folder_come_in_the_place_of_the_console(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>own")
    page = ask("/", http_root=str(tmp_path))
    assert (page.body, POLICY in page.headers) == (b"<p>own", False)
    assert ask("/app/main.js", http_root=str(tmp_path)).status == 404


def test_there_is_no_console_without_websocket() -> None:
    assert ask("/", websockets=False).status == 404
