"""The use of the processor by all threads of a process: the time of every function, added up by package.

What a function of the interpreter or of a C extension takes counts for the package that called it. The profiler comes
with oslo.messaging, which has it for oslo.service.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yappi

PACKAGES = {
    "/oslo_messaging_amqp1/": "the driver",
    "/proton/": "proton and pyngus",
    "/pyngus/": "proton and pyngus",
    "cproton": "proton and pyngus",
    "/oslo_messaging/_drivers/": "drivers in oslo.messaging",
    "/kombu/": "drivers in oslo.messaging",
    "/amqp/": "drivers in oslo.messaging",
    "/oslo_messaging/": "oslo.messaging",
    "/oslo_": "other oslo libraries",
    "/futurist/": "other oslo libraries",
    "/json/": "json",
    "/bench/oslo/": "the benchmark",
    "/threading.py": "waiting and waking",
    "/queue.py": "waiting and waking",
    "/selectors.py": "waiting and waking",
}
OTHER = "everything else"
MOST = 25
"""Functions that are named."""


@contextmanager
def profiled(tell: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Profile all threads; tell the seconds by package, and of the functions that took most."""
    yappi.set_clock_type("cpu")
    yappi.start(builtins=True)
    try:
        yield
    finally:
        yappi.stop()
        packages, functions = added_up(yappi.get_func_stats())
        tell({"packages": dict(packages.most_common()), "functions": dict(functions.most_common(MOST))})


def added_up(stats: Any) -> tuple[Counter[str], Counter[str]]:
    """Return the seconds by package, and by function with the built-in ones that it calls."""
    packages: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for function in stats:
        if function.builtin:
            continue
        seconds = function.tsub + sum(called.tsub for called in function.children if called.builtin)
        packages[package_of(function.module)] += seconds
        functions[f"{'/'.join(function.module.split('/')[-2:])} {function.name}"] += seconds
    return packages, functions


def package_of(module: str) -> str:
    """Return whose module it is."""
    return next((name for part, name in PACKAGES.items() if part in module), OTHER)
