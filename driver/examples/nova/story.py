"""What happens in the demo, one thing after the other, and what the services saw of each."""

import re
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from examples.nova.account import WHAT_IS_COUNTED, Seen
from examples.nova.layout import COMPUTES, ROUTERS, SERVERS, SERVICES, Layout, layout
from examples.nova.parts import ServiceProcess
from examples.routers import Router, await_that

_CONNECTED = re.compile(r"Connection Opened: dir=in .*container_id=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How the demo is to be run."""

    has_free_ports: bool = False
    phase_s: float = 3.0
    """How long it goes on like this, each time that something has happened."""


class Story:
    """Tells what happens while it does."""

    def __init__(self, wishes: Wishes, tell: Callable[[str], None]) -> None:
        self._wishes = wishes
        self._tell = tell
        self._began = time.monotonic()
        self._layout: Layout = layout(has_free_ports=wishes.has_free_ports)
        self._routers: dict[str, Router] = {}
        self._services: dict[str, ServiceProcess] = {}
        self._seen: Seen | None = None
        self._away: dict[str, set[int]] = {name: set() for name in COMPUTES}
        """Rules that computes may have missed, being without a router."""

    def happen(self) -> bool:
        """Let it all happen; return whether nothing was lost."""
        with ExitStack() as at_exit:
            folder = Path(at_exit.enter_context(tempfile.TemporaryDirectory(prefix="demo-nova-")))
            self._start(folder, at_exit)
            self._go_on(f"the API boots instances; {self._places()}")
            self._fail_a_router()
            return self._end()

    # --- what happens

    def _start(self, folder: Path, at_exit: ExitStack) -> None:
        self._happens("three routers start from router-a.conf to router-c.conf")
        for name in ROUTERS:
            router = self._routers[name] = Router(name, self._layout.texts[name], folder)
            at_exit.callback(router.close)
            router.start()
        for router in self._routers.values():
            router.wait()
        for name, router in self._routers.items():
            router.wait_for_neighbours(*_others(name))
        self._happens("they are joined")
        for names in (SERVERS, ("api",)):
            for name in names:
                service = self._services[name] = ServiceProcess(name, self._layout.url(name), folder)
                at_exit.callback(service.close)
            for name in names:
                self._services[name].wait()
        self._tell(f"\n{WHAT_IS_COUNTED}")
        # Rules that are told before all computes can be reached are nobody's loss.
        await_that(lambda: all(map(self._last_heard, COMPUTES)), "all computes hear rules")
        for name in COMPUTES:
            self._away[name] |= set(range(1, self._last_heard(name)))
        await_that(lambda: len(self._look().api["running"]) > len(COMPUTES), "instances run")
        self._seen = self._look()

    def _fail_a_router(self) -> None:
        name, there = self._busiest()
        computes = [one for one in there if one in COMPUTES]
        before = self._look()
        self._routers[name].kill()
        self._go_on(f"kill -9 of router {name}, at which there {'are' if there[1:] else 'is'} {_named(there)}")
        self._await_boots()
        for compute in computes:
            self._forgive(compute, before)
        self._tell(f"          now {self._places()}")
        self._routers[name].start().wait().wait_for_neighbours(*_others(name))
        self._go_on(f"router {name} is started again, and joined to both others")

    def _end(self) -> bool:
        self._services["api"].stop()
        for name in COMPUTES:
            self._services[name].stop()
        seen = self._look()
        self._happens("the API has stopped; what each service saw, over all:")
        self._show(seen.lines(None))
        faults = seen.faults(self._away)
        for fault in faults:
            self._tell(f"LOST: {fault}")
        count = len(seen.api["promised"])
        self._tell(
            f"{'NOT ALL IS WELL' if faults else 'Nothing was lost'}: {len(seen.api['begun'])} instances, {count} "
            f"promised, {len(seen.api['running'])} running, {sum(seen.api['repeated'].values())} requests repeated, "
            f"{seen.asked_again} builds asked for again."
        )
        return not faults and count > 0

    # --- how it is told

    def _happens(self, what: str) -> None:
        self._tell(f"{time.monotonic() - self._began:6.1f} s  {what}")

    def _go_on(self, what: str) -> None:
        """Say what has happened, let the services go on for a while, and say what they saw."""
        self._happens(what)
        time.sleep(self._wishes.phase_s)
        seen = self._look()
        self._show(seen.lines(self._seen))
        self._seen = seen

    def _show(self, lines: list[str]) -> None:
        for line in lines:
            self._tell(f"   {line}")

    # --- how the services fare

    def _look(self) -> Seen:
        # The API first: what it knows of, the others have seen.
        accounts = {name: self._services[name].account() for name in ("api", *SERVERS)}
        return Seen(accounts["api"], accounts["scheduler"], {name: accounts[name] for name in COMPUTES})

    def _places(self) -> str:
        at = {name: self._services_at(name) for name in ROUTERS}
        return "; ".join(f"{', '.join(there) or 'nobody'} at {name}" for name, there in at.items())

    def _services_at(self, router: str) -> list[str]:
        """Return the services whose last connection was to a router."""
        last: dict[str, tuple[str, str]] = {}
        for name, one in self._routers.items():
            for line in one.log.read_text().splitlines():
                found = _CONNECTED.search(line)
                if found is not None and found[1] in SERVICES:
                    last[found[1]] = max(last.get(found[1], ("", "")), (line[:26], name))
        return sorted(service for service, (_, at) in last.items() if at == router)

    def _busiest(self) -> tuple[str, list[str]]:
        """Return the router with most services, one with computes before others, and these services."""
        at = {name: self._services_at(name) for name in ROUTERS}
        name = max(at, key=lambda router: (len(at[router]), len(set(at[router]) & set(COMPUTES))))
        return name, at[name]

    def _await_boots(self) -> None:
        """Wait until new instances run on all computes."""
        built = {name: len(self._look().computes[name]["built"]) for name in COMPUTES}
        await_that(
            lambda: all(len(one["built"]) > built[name] for name, one in self._look().computes.items()),
            "new instances run on every compute",
        )

    def _forgive(self, compute: str, before: Seen) -> None:
        """Take down which rules a compute may have missed until it certainly hears them again."""
        last_told = max(self._look().api["rules"])
        await_that(lambda: self._last_heard(compute) > last_told, f"{compute} hears rules again")
        self._away[compute] |= set(range(max(before.computes[compute]["rules"]), self._last_heard(compute)))

    def _last_heard(self, compute: str) -> int:
        return max(self._look().computes[compute]["rules"], default=0)


def _others(router: str) -> list[str]:
    return [name for name in ROUTERS if name != router]


def _named(services: list[str]) -> str:
    return ", ".join(services[:-1]) + " and " * (len(services) > 1) + services[-1]
