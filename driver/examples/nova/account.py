"""What the services saw, and whether something that was promised is missing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

WHAT_IS_COUNTED = """\
api        boots instances, and tells all computes of rules, all the time. A boot is a call to the topic `scheduler`, a
           cast to the compute that the scheduler chose (topic `compute`, server its host), and a call to it
promised   the cast was accepted: the compute has to build the instance, and does not do so twice
repeated   asked again by the API: a message that was not accepted, or an answer that did not come in time; a compute
           that is asked to build an instance again knows it by its name
rules      fanouts to the topic `compute` that the API was told are accepted. Every compute has to hear them, but for
           those whose own router is dead
pause      the longest time in which no boot came to its end
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """The accounts of all services at one time."""

    api: Mapping[str, Any]
    scheduler: Mapping[str, Any]
    computes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def lines(self, before: "Seen | None") -> list[str]:
        """Return what each service saw since an earlier time, or over all."""
        api, was = self.api, before.api if before else {}
        booted = [len(api[name]) - len(was.get(name, ())) for name in ("begun", "promised", "running", "rules")]
        pause = f", worst pause {api['pause_s'] * 1000:.0f} ms" if before else ""
        lines = [
            f"api: {booted[0]} boots begun, {booted[1]} promised, {booted[2]} running, {booted[3]} rules told, "
            f"repeated {_counts(api['repeated'], was.get('repeated', {}))}{pause}"
        ]
        scheduler, was = self.scheduler, before.scheduler if before else {}
        lines.append(
            f"scheduler: chose {_counts(scheduler['chosen'], was.get('chosen', {}))}; "
            f"was told by {_counts(scheduler['reports'], was.get('reports', {}))}"
        )
        for name, compute in self.computes.items():
            was = before.computes[name] if before else {}
            lines.append(
                f"{name}: {len(compute['built']) - len(was.get('built', ()))} built, "
                f"{compute['asked'] - was.get('asked', 0)} calls for its host, "
                f"{len(compute['rules']) - len(was.get('rules', ()))} rules heard"
            )
        return lines

    def faults(self, away: Mapping[str, Collection[int]]) -> list[str]:
        """Return in words what is missing; `away` has the rules that a compute may have missed."""
        faults = [
            f"{instance}: {host} accepted it and has not built it"
            for instance, host in self.api["promised"].items()
            if instance not in self.computes[host]["built"]
        ]
        faults += [f"{instance} was begun and does not run" for instance in _without(self.api, "begun", "running")]
        faults += [f"answered wrongly: {wrong}" for wrong in self.api["wrong"]]
        for name, compute in self.computes.items():
            missed = set(self.api["rules"]) - set(compute["rules"]) - set(away.get(name, ()))
            faults += [f"{name} has not heard of rule {number}" for number in sorted(missed)]
        return faults

    @property
    def asked_again(self) -> int:
        """How often a compute was asked to build what it had built."""
        return sum(times - 1 for compute in self.computes.values() for times in compute["built"].values())


def _without(account: Mapping[str, Any], more: str, less: str) -> list[str]:
    return sorted(set(account[more]) - set(account[less]))


def _counts(now: Mapping[str, int], before: Mapping[str, int]) -> str:
    since = {name: count - before.get(name, 0) for name, count in sorted(now.items())}
    return ", ".join(f"{name} {count}" for name, count in since.items() if count) or "none"
