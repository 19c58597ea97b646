"""Files below one folder, as answers. Neither a path nor a symbolic link leads out of the folder.

Reading blocks, so it is done in a thread. Compressed files are kept, up to a limit.
"""

import gzip
import os
import stat
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from urllib.parse import unquote_to_bytes

from routerd.io.http.requests import Answer, Request, sentence
from routerd.io.logs import module_log

FILE_MAX = 1 << 24
"""Octets of the largest file that is served, as it is in memory meanwhile."""
COMPRESSED_MAX = 1 << 23
"""Octets of compressed files that are kept."""
COMPRESSED_LEAST = 512
"""Smaller files gain nothing from compression."""
PATH_MAX = 1024
INDEX = "index.html"
UNKNOWN_TYPE = "application/octet-stream"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".htm": "text/html; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
"""Content types by the ends of names. The tables of the system differ from host to host."""

_COMPRESSIBLE = ("text/", "application/json", "application/manifest+json", "application/wasm", "application/xml")
_NOT_FOUND = "There is no such page here."

_log = module_log("HTTP")


@dataclass(frozen=True, slots=True)
class _File:
    octets: bytes
    content_type: str
    tag: str
    """An entity tag without its quotes."""

    @property
    def is_compressible(self) -> bool:
        return self.content_type.startswith((*_COMPRESSIBLE, "image/svg")) and len(self.octets) >= COMPRESSED_LEAST


class FileFolder:
    """Answers from files; `answer` may be called in any thread."""

    def __init__(self, root: str, headers: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._headers = headers or {}
        """What all answers have besides their own."""
        self._compressed: OrderedDict[str, bytes] = OrderedDict()
        """By path and entity tag; those not used for longest first."""
        self._lock = Lock()

    def answer(self, request: Request) -> Answer:
        """Return a file, that the client has it already, or that there is none."""
        try:
            path = self._path(request.path)
            file = None if path is None else _read(path, os.path.realpath(self._root))
        except (OSError, ValueError):
            file = path = None
        if file is None or path is None:
            return replace(sentence(404, _NOT_FOUND), headers=self._headers)
        headers = {"Cache-Control": "no-cache", **self._headers}
        octets, tag = file.octets, file.tag
        if file.is_compressible:
            headers["Vary"] = "Accept-Encoding"
            if takes_gzip(request):
                octets, tag = self._compress(path, file), f"{file.tag}-gzip"
                headers["Content-Encoding"] = "gzip"
        headers["ETag"] = f'"{tag}"'
        if _has_already(request, headers["ETag"]):
            headers.pop("Content-Encoding", None)
            return Answer(304, b"", None, headers)
        return Answer(200, octets, file.content_type, headers)

    def _path(self, path: str) -> str | None:
        """Return the name of the file that a path means, as far as the path itself says; None for none."""
        if len(path) > PATH_MAX or not path.startswith("/"):
            return None
        parts = [one for one in unquote_to_bytes(path).decode().split("/") if one]
        if any("\0" in one or (one.startswith(".") and one != ".well-known") for one in parts):
            # No parent, and nothing that is hidden.
            return None
        full = os.path.join(self._root, *parts)
        return os.path.join(full, INDEX) if os.path.isdir(full) else full

    def _compress(self, path: str, file: _File) -> bytes:
        key = f"{path} {file.tag}"
        with self._lock:
            if key in self._compressed:
                self._compressed.move_to_end(key)
                return self._compressed[key]
        octets = gzip.compress(file.octets, mtime=0)
        with self._lock:
            self._compressed[key] = octets
            while sum(map(len, self._compressed.values())) > COMPRESSED_MAX:
                self._compressed.popitem(last=False)
        return octets


def _read(path: str, root: str) -> _File | None:
    """Return what is in a file below a root; raises OSError."""
    if not _is_below(os.path.realpath(path), root):
        return None
    # A pipe is opened without waiting for who writes into it.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        about = os.fstat(number)
        # A link may have been put into its place since it was looked at; this is what was opened.
        if not stat.S_ISREG(about.st_mode) or not _is_below(os.path.realpath(f"/proc/self/fd/{number}"), root):
            return None
        octets = file.read(FILE_MAX + 1)
    if len(octets) > FILE_MAX:
        _log.warning("%s is not served: it has more than %d octets", path, FILE_MAX)
        return None
    content_type = TYPES.get(Path(path).suffix.lower(), UNKNOWN_TYPE)
    return _File(octets, content_type, f"{about.st_mtime_ns:x}-{len(octets):x}")


def _is_below(path: str, root: str) -> bool:
    return os.path.commonpath((path, root)) == root


def takes_gzip(request: Request) -> bool:
    """Whether a client takes what is compressed by gzip."""
    weights = {}
    for one in request.tokens("accept-encoding"):
        coding, _, parameter = one.lower().replace(" ", "").partition(";")
        try:
            weights[coding] = float(parameter.removeprefix("q=")) if parameter else 1.0
        except ValueError:
            weights[coding] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _has_already(request: Request, tag: str) -> bool:
    known = [one.removeprefix("W/") for one in request.tokens("if-none-match")]
    return tag in known or known == ["*"]
