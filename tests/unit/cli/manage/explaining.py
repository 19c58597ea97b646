"""Explanations as the examples of `explanations.json` have them; the console is tested with the same ones."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from routerd.cli.manage.candidates import Candidate
from routerd.cli.manage.explanation import Facts, explain
from routerd.cli.manage.rights import Right


def told(address: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return an explanation by facts that have their names in the console."""
    found = explain(address, Facts(**{_snake(name): value for name, value in facts.items()}))
    return {
        "verdict": found.verdict,
        "sentence": found.sentence,
        "distribution": found.distribution,
        "phase": found.phase,
        "steps": [[one.title, one.text] for one in found.steps],
        "candidates": [_named(one) for one in found.candidates],
        "rights": [_named(one) for one in found.rights],
    }


def _named(one: Candidate | Right) -> dict[str, Any]:
    return {_camel(field.name): getattr(one, field.name) for field in fields(one)}


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)
