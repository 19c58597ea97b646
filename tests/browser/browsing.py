"""Pages of the console in a real Chromium, and what they are to be free of."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AXE = HERE / "node_modules/axe-core/axe.min.js"
WITHIN_MS = 30_000
NARROW, USUAL, WIDE = (360, 740), (1440, 900), (2560, 1400)

try:
    from playwright.sync_api import Browser, Page, expect, sync_playwright
except ImportError:  # pragma: no cover
    _ABSENCE = "playwright is not installed"
else:
    _ABSENCE = "" if shutil.which("chromium") else "chromium is not installed"
    expect.set_options(timeout=WITHIN_MS)

__all__ = ["AXE", "NARROW", "USUAL", "WIDE", "Browser", "Console", "Page", "absence", "chromium", "expect"]


def absence() -> str:
    """Return why there is no browser, or nothing."""
    return _ABSENCE


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        # As root, Chromium has no sandbox of its own; the pages are ours.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


class Console:
    """The console on one page."""

    def __init__(self, browser: Any, url: str, size: tuple[int, int] = USUAL, theme: str = "light") -> None:
        self.url = url
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(WITHIN_MS)
        self.complaints: list[str] = []
        """What the browser complained of: errors, and what the content security policy forbids."""
        self.requests: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, view: str = "overview") -> Any:
        """Go to a view, from outside."""
        self.page.goto(f"{self.url}#/{view}")
        return self.page

    def sign_in(self, view: str = "overview") -> Any:
        """Go to a view and get in without a name."""
        self.open(view)
        self.page.get_by_role("button", name="Continue without a name").click()
        self.page.locator("#navigation").wait_for(state="attached")
        return self.page

    def show(self, view: str) -> Any:
        """Go to a view, as a link inside the page does."""
        self.page.evaluate("view => { location.hash = `#/${view}`; }", view)
        return self.page

    def faults(self) -> list[str]:
        """Return what axe-core finds of serious and critical faults."""
        # By the tools of the browser, which the content security policy does not hold for.
        self.page.evaluate(AXE.read_text() + "; 0")
        found = self.page.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
            ".filter(one => ['serious', 'critical'].includes(one.impact))"
            ".map(one => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' '"
            " + node.any.concat(node.all).map(each => each.message).join(' ')).join(' | ')}`)"
        )
        return list(json.loads(json.dumps(found)))

    def close(self) -> None:
        """Close the page."""
        self.context.close()
