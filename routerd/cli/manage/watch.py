"""Looking again and again: a live view on a terminal, one report after the other elsewhere.

The connection stays between two looks, and is kept alive; when it is lost the next look makes another one.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.connecting import Place, open_client
from routerd.cli.manage.failures import ToolFailed
from routerd.cli.manage.live import HELP, Key, LiveState, arranged, frame, keys_in
from routerd.cli.manage.node import Node
from routerd.cli.manage.output import Style
from routerd.cli.manage.rates import Rates
from routerd.cli.manage.report import Report, Section
from routerd.cli.manage.terminal import Terminal

Look = Callable[[Node], Report]


class Watcher:
    """Looks at a router, and remembers what it saw last."""

    def __init__(self, place: Place, program: str, take_look: Look) -> None:
        self._place = place
        self._program = program
        self._take_look = take_look
        self._client: ManagementClient | None = None
        self._rates: dict[str | None, Rates] = {}

    def look(self) -> tuple[Report, Report]:
        """Return what is to be seen now, without rates and with them; ToolFailed if that is nothing."""
        if self._client is None:
            self._client = open_client(self._place, self._program)
        try:
            report = self._take_look(Node(self._client, self._place.address))
        except ToolFailed:
            self.close()
            raise
        now = time.monotonic()
        sections = tuple(
            Section(one.router, tuple(self._rates.setdefault(one.router, Rates()).look(one.blocks, now)))
            for one in report.sections
        )
        return report, replace(report, sections=sections)

    @property
    def waits_on(self) -> int | None:
        """What can be read when the router says something unasked."""
        return None if self._client is None else self._client.fileno()

    def next_deadline(self) -> float:
        """Return when the connection needs a sign of life."""
        return float("inf") if self._client is None else self._client.next_deadline()

    def rest(self, *, is_readable: bool) -> None:
        """Take what the router says unasked, and give it a sign of life."""
        if self._client is not None:
            try:
                self._client.rest(is_readable=is_readable)
            except ToolFailed:
                # The next look will make another connection, or say why it cannot.
                self.close()

    def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None


def watch_live(watcher: Watcher, terminal: Terminal, interval_s: float, state: LiveState, style: Style) -> None:
    """Show a live view until somebody quits; ToolFailed if there never was anything to see."""
    seen = watcher.look()
    trouble = ""
    with terminal:
        due = time.monotonic() + interval_s
        while True:
            state, titles = _draw(terminal, seen, state, interval_s, trouble, style)
            typed, is_readable = terminal.wait(min(due, watcher.next_deadline()) - time.monotonic(), watcher.waits_on)
            watcher.rest(is_readable=is_readable)
            keys = keys_in(typed)
            if Key.QUIT in keys:
                return
            for key in keys:
                state = state.pressed(key, titles, max(1, terminal.size()[1] - 2))
            if Key.REFRESH in keys or time.monotonic() >= due:
                try:
                    seen, trouble = watcher.look(), ""
                except ToolFailed as error:
                    trouble = str(error)
                due = time.monotonic() + interval_s


def _draw(
    terminal: Terminal, seen: tuple[Report, Report], state: LiveState, interval_s: float, trouble: str, style: Style
) -> tuple[LiveState, list[str]]:
    report, with_rates = seen
    shown = arranged(report, with_rates, state)
    status = trouble or f"every {interval_s:g} s, {shown.time:%H:%M:%S} UTC  {HELP}"
    lines, state = frame(shown.text(style, state.sort), state, terminal.size(), status, style)
    terminal.draw(lines)
    return state, shown.titles()


def watch_plainly(
    watcher: Watcher, interval_s: float, show: Callable[[Report], None], complain: Callable[[str], None]
) -> None:
    """Show one report after the other for ever; ToolFailed if there never was one."""
    due = time.monotonic()
    has_shown = False
    while True:
        try:
            show(watcher.look()[1])
            has_shown = True
        except ToolFailed as error:
            if not has_shown:
                raise
            complain(str(error))
        due = max(due + interval_s, time.monotonic())
        while (left := due - time.monotonic()) > 0:
            time.sleep(max(0.0, min(left, watcher.next_deadline() - time.monotonic())))
            watcher.rest(is_readable=False)
