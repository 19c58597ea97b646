"""A router's own certificates. Workers read the files of profiles by themselves, so that one may have a newer file."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Certificate(NamedTuple):
    """A certificate of a TLS profile, of several the one that expires first."""

    expires_at: float
    """Seconds since 1970."""
    subject: str


def first_to_expire(of_workers: Iterable[Mapping[str, Certificate]]) -> dict[str, Certificate]:
    """Return the certificates by profile, each as the worker has it where it expires first."""
    found: dict[str, Certificate] = {}
    for certificates in of_workers:
        for profile, one in certificates.items():
            found[profile] = min(one, found.get(profile, one))
    return found
