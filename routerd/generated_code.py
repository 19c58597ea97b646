"""Keeps the code that dataclasses generate, as Python keeps the code of modules.

A dataclass writes its methods as text, which is compiled at each start. For the classes of a router that takes as long
as most other imports together. So the code is kept in a file beside that of the modules, each part under a digest of
its text. As with modules, nothing is written with `PYTHONDONTWRITEBYTECODE`, or where the folder cannot be written to.
"""

import contextlib
import dataclasses
import marshal
import os
import sys
from hashlib import blake2b
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType
from typing import Any

PARTS_MAX = 8192
"""More than that are of many versions of the classes: the file is begun anew."""
_DAMAGED = (OSError, EOFError, ValueError, TypeError)


class GeneratedCode:
    """The code by the digest of its text, in a file from an earlier start."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._parts = self._read()
        self._used: dict[bytes, bytes] = {}
        self._are_new = False

    def run(self, text: Any, variables: dict[str, Any] | None = None, names: dict[str, Any] | None = None) -> None:
        """Do as `exec`, with code from the file if it is there."""
        if not isinstance(text, str):
            exec(text, variables, names)
            return
        digest = blake2b(text.encode(), digest_size=16).digest()
        code: CodeType
        part = self._parts.get(digest)
        if part is None:
            code = compile(text, "<string>", "exec")
            if not sys.dont_write_bytecode:
                self._used[digest] = marshal.dumps(code)
                self._are_new = True
        else:
            code = marshal.loads(part)
            self._used[digest] = part
        exec(code, variables, names)

    def keep(self) -> None:
        """Write what is new into the file, and free the memory."""
        used, self._used, self._parts = self._used, {}, {}
        if not self._are_new:
            return
        self._are_new = False
        # Another process may have written the file meanwhile.
        parts = self._read() | used
        written = f"{self.file}.{os.getpid()}"
        try:
            with open(written, "wb") as file:
                file.write(MAGIC_NUMBER + marshal.dumps(parts if len(parts) <= PARTS_MAX else used))
            os.replace(written, self.file)
        except OSError:
            # A full disk leaves the beginning of a file.
            with contextlib.suppress(OSError):
                os.unlink(written)

    def _read(self) -> dict[bytes, bytes]:
        with contextlib.suppress(*_DAMAGED), open(self.file, "rb") as file:
            octets = file.read()
            if octets.startswith(MAGIC_NUMBER):
                parts = marshal.loads(octets[len(MAGIC_NUMBER) :])
                return parts if isinstance(parts, dict) else {}
        return {}


_generated: GeneratedCode | None = None


def use_kept_code() -> None:
    """Have the dataclasses that are made from now on use the code of earlier starts."""
    global _generated
    # The launcher decides on tricks later, and its children have its decision.
    if os.environ.get("ROUTERD_TRICKS") == "off":
        return
    _generated = GeneratedCode(cache_from_source(__file__).removesuffix(".pyc") + ".parts")
    vars(dataclasses)["exec"] = _generated.run


def keep_code() -> None:
    """Keep the code for the next start; to be called when everything is loaded."""
    if _generated is not None:
        _generated.keep()
