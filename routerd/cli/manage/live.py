"""The live view: what is on the screen, and what keys change. All of it is arithmetic; `watch` does the rest."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from routerd.cli.manage.output import Style
from routerd.cli.manage.rates import without_idle_rates
from routerd.cli.manage.report import Report

_CODE = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(" *=+")
_RESET = "\x1b[0m"
_STEP_COLUMNS = 8
HELP = "q quit  < > sort  r reverse  t rates  arrows scroll  space now"


class Key(Enum):
    """The keys that mean something."""

    QUIT = "q"
    SORT_LEFT = "<"
    SORT_RIGHT = ">"
    REVERSE = "r"
    RATES = "t"
    REFRESH = " "
    UP = "\x1b[A"
    DOWN = "\x1b[B"
    RIGHT = "\x1b[C"
    LEFT = "\x1b[D"
    PAGE_UP = "\x1b[5~"
    PAGE_DOWN = "\x1b[6~"


_BY_TEXT = {key.value: key for key in Key} | {"Q": Key.QUIT, ",": Key.SORT_LEFT, ".": Key.SORT_RIGHT}
_SEQUENCE = re.compile("|".join(map(re.escape, sorted(_BY_TEXT, key=len, reverse=True))))


def keys_in(text: str) -> list[Key]:
    """Return the keys that were pressed; others are passed over."""
    # Some terminals say `ESC O A` for an arrow.
    return [_BY_TEXT[found] for found in _SEQUENCE.findall(text.replace("\x1bO", "\x1b["))]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """What somebody who looks on has chosen."""

    sort: str | None = None
    is_reversed: bool = False
    has_rates: bool = True
    top: int = 0
    """Lines that were scrolled away."""
    left: int = 0
    """Columns of characters that were."""

    def pressed(self, key: Key, titles: Sequence[str], page: int) -> "LiveState":
        """Return what a key makes of it; `titles` can be sorted by, `page` lines are on the screen."""
        match key:
            case Key.SORT_LEFT:
                return replace(self, sort=_next(self.sort, titles, -1))
            case Key.SORT_RIGHT:
                return replace(self, sort=_next(self.sort, titles, 1))
            case Key.REVERSE:
                return replace(self, is_reversed=not self.is_reversed)
            case Key.RATES:
                return replace(self, has_rates=not self.has_rates)
            case Key.UP | Key.PAGE_UP:
                return replace(self, top=max(0, self.top - (1 if key is Key.UP else page)))
            case Key.DOWN | Key.PAGE_DOWN:
                return replace(self, top=self.top + (1 if key is Key.DOWN else page))
            case Key.LEFT:
                return replace(self, left=max(0, self.left - _STEP_COLUMNS))
            case Key.RIGHT:
                return replace(self, left=self.left + _STEP_COLUMNS)
        return self


def _next(title: str | None, titles: Sequence[str], step: int) -> str | None:
    if not titles:
        return None
    if title not in titles:
        return titles[0 if step > 0 else -1]
    return titles[(titles.index(title) + step) % len(titles)]


def arranged(report: Report, with_rates: Report, state: LiveState) -> Report:
    """Return a report as it is to be shown: with rates or without, in the order that was chosen."""
    shown = report
    if state.has_rates:
        sections = tuple(
            replace(section, blocks=tuple(map(without_idle_rates, section.blocks))) for section in with_rates.sections
        )
        shown = replace(with_rates, sections=sections)
    return shown if state.sort is None else shown.sorted_by(state.sort, is_reversed=state.is_reversed)


def frame(
    lines: Sequence[str], state: LiveState, size: tuple[int, int], status: str, style: Style
) -> tuple[list[str], LiveState]:
    """Return the lines of the screen, and the state scrolled no further than there is something to see."""
    width, height = size
    room = max(1, height - 1)
    head = _head_size(lines, room)
    longest = max((len(_CODE.sub("", line)) for line in lines), default=0)
    state = replace(
        state, top=min(state.top, max(0, len(lines) - room)), left=min(state.left, max(0, longest - width))
    )
    shown = [*lines[:head], *lines[head + state.top : room + state.top]]
    shown = [clip(line, state.left, width) for line in shown]
    return [*shown, *[""] * (room - len(shown)), style.paint(style.rule, clip(status, 0, width))], state


def _head_size(lines: Sequence[str], room: int) -> int:
    # The heads of the first table stay where they are while its rows are scrolled.
    rules = [number for number, line in enumerate(lines[: room // 2]) if _RULE.fullmatch(_CODE.sub("", line))]
    return rules[0] + 1 if rules else 0


def clip(line: str, start: int, width: int) -> str:
    """Return the part of a line that is on the screen, its colours kept."""
    clipped, at, has_codes = "", 0, False
    for piece in re.split(f"({_CODE.pattern})", line):
        if _CODE.fullmatch(piece):
            clipped += piece
            has_codes = True
        else:
            clipped += piece[max(0, start - at) : max(0, start + width - at)]
            at += len(piece)
    return clipped + _RESET if has_codes else clipped
