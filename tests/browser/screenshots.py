"""Pictures of the console for the documentation: `python -m tests.browser.screenshots`."""

import sys
from pathlib import Path

from tests.browser.browsing import NARROW, USUAL, Console, absence, chromium, expect
from tests.browser.network import Network, wait_for_load

IMAGES = Path(__file__).resolve().parents[2] / "docs/images"
SETTLE_MS = 24_000
"""Charts are to have some line."""

FIGURES = ",".join(
    f"A%257Crouter%257C1%257C{one}"
    for one in ("deliveriesIngress", "deliveriesTransit", "connectionCount", "memoryUsage")
)

SHOTS = [
    ("overview", "overview", USUAL, "light"),
    ("overview-dark", "overview", USUAL, "dark"),
    ("overview-narrow", "overview", NARROW, "light"),
    ("topology", "topology/A", USUAL, "light"),
    ("router", "routers/A", USUAL, "dark"),
    ("connections", "connections?router=*", USUAL, "light"),
    ("links", "links?router=A", USUAL, "light"),
    ("addresses", "addresses/A/M0orders%2F1%2Fnew?router=A", USUAL, "light"),
    ("link-routes", "link-routes?router=A", USUAL, "light"),
    ("explain", "explain?router=A&address=orders/1/new", USUAL, "light"),
    ("charts", f"charts?figures={FIGURES}", USUAL, "dark"),
    ("log", "log?router=A", USUAL, "dark"),
    ("policy", "policy?router=A", USUAL, "light"),
    ("entities", "entities/address?router=A", USUAL, "light"),
]


def main(folder: Path = IMAGES, only: tuple[str, ...] = ()) -> int:
    """Write the pictures."""
    if reason := absence():
        print(f"There are no pictures: {reason}", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with Network() as network, chromium() as browser:
        network.begin_load()
        wait_for_load(network)
        url = network.routers["A"].url
        pages: dict[tuple[tuple[int, int], str], Console] = {}
        for name, view, size, theme in SHOTS:
            if only and name not in only:
                continue
            if (size, theme) not in pages:
                pages[size, theme] = console = Console(browser, url, size, theme)
                console.sign_in()
                console.page.wait_for_timeout(SETTLE_MS)
            console = pages[size, theme]
            console.show(view)
            expect(console.page.locator("main h1").first).to_be_visible()
            console.page.wait_for_timeout(4500)
            console.page.screenshot(path=folder / f"console-{name}.png")
            for complaint in console.complaints:
                print(f"{name}: {complaint}", file=sys.stderr)
            console.complaints.clear()
        sign_in = Console(browser, url)
        sign_in.open()
        sign_in.page.get_by_label("User name").wait_for()
        sign_in.page.screenshot(path=folder / "console-sign-in.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES, tuple(sys.argv[2:])))
