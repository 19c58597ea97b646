"""Kerberos by the system's GSS-API library (RFC 2744), found at run time: the two sides of a security context.

Only the Kerberos mechanism is used, not one that chooses among several. All calls may wait for a KDC or a file, so they
are for threads. A context is used by one thread at a time.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from typing import Any

from routerd.wire.sasl import SaslFailed

LIBRARY = "libgssapi_krb5.so.2"
SERVICE = "amqp"

_CONTINUE = 1
_ERROR_MASK = 0xFFFF0000
_STALE = 0x1E
"""Duplicate, old, out of sequence, and gap: not the peer's last message."""
_MUTUAL, _SEQUENCE, _INTEGRITY, _ANONYMOUS = 2, 8, 32, 64
_INITIATE, _ACCEPT = 1, 2
_BY_ROUTINE, _BY_MECHANISM = 1, 2
_FOR_EVER = 0xFFFFFFFF


class _Buffer(ctypes.Structure):
    _fields_ = (("length", c_size_t), ("value", c_void_p))


class _Oid(ctypes.Structure):
    _fields_ = (("length", c_uint32), ("elements", c_char_p))


class _OidSet(ctypes.Structure):
    _fields_ = (("count", c_size_t), ("elements", POINTER(_Oid)))


def _oid(octets: bytes) -> _Oid:
    return _Oid(len(octets), octets)


_KERBEROS = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02")
_SERVICE_NAME = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04")
_USER_NAME = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x01")
_MECHANISMS = _OidSet(1, ctypes.pointer(_KERBEROS))


class KerberosUnavailable(Exception):
    """Kerberos cannot be used here; the message says why."""


class GssLibrary:
    """The library, loaded."""

    def __init__(self) -> None:
        """Raises KerberosUnavailable."""
        try:
            self.functions: Any = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise KerberosUnavailable(
                f"{LIBRARY} cannot be loaded ({error}): install it (Debian: libgssapi-krb5-2)"
            ) from None
        _declare(self.functions)

    def acceptor(self) -> "Acceptor":
        """Return the context for a client that connects; raises KerberosUnavailable without a key."""
        try:
            return Acceptor(self)
        except SaslFailed as error:
            raise KerberosUnavailable(f"there is no key for {SERVICE}/HOST: {error}") from None

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function of the library; return its status. Raises SaslFailed."""
        minor = c_uint32()
        major: int = getattr(self.functions, f"gss_{name}")(byref(minor), *arguments)
        if major & _ERROR_MASK:
            raise SaslFailed(self._reason(major, minor.value))
        return major

    @contextmanager
    def named(self, text: str, kind: _Oid) -> Iterator[c_void_p]:
        """Lend a name; raises SaslFailed."""
        octets, name = text.encode(), c_void_p()
        self.call("import_name", byref(_given(octets)), byref(kind), byref(name))
        try:
            yield name
        finally:
            self.release_name(name)

    def release_name(self, name: c_void_p) -> None:
        """Free a name, if there is one."""
        self.functions.gss_release_name(byref(c_uint32()), byref(name))

    def text_of(self, name: c_void_p) -> str:
        """Return a name as text; raises SaslFailed."""
        found = _Buffer()
        self.call("display_name", name, byref(found), None)
        try:
            return self.taken(found).decode()
        except UnicodeDecodeError:
            raise SaslFailed("the name is not UTF-8") from None

    def taken(self, buffer: _Buffer) -> bytes:
        """Return the content of a buffer of the library, and free it."""
        octets = ctypes.string_at(buffer.value, buffer.length) if buffer.value else b""
        self.functions.gss_release_buffer(byref(c_uint32()), byref(buffer))
        return octets

    def _reason(self, major: int, minor: int) -> str:
        detail = self._status(minor, _BY_MECHANISM) if minor else ""
        # If the mechanism has no text, it may say that the call succeeded.
        return self._status(major, _BY_ROUTINE) if detail in ("", os.strerror(0)) else detail

    def _status(self, status: int, kind: int) -> str:
        more, text = c_uint32(), _Buffer()
        self.functions.gss_display_status(
            byref(c_uint32()), status, kind, byref(_KERBEROS), byref(more), byref(text)
        )
        return self.taken(text).decode(errors="replace")


@cache
def gss_library() -> GssLibrary:
    """Return the library; raises KerberosUnavailable."""
    return GssLibrary()


class _Context:
    """The common part of both sides."""

    def __init__(self, library: GssLibrary) -> None:
        self._library = library
        self._context = c_void_p()
        self._credential = c_void_p()
        self._name = c_void_p()
        """The client's name, at the server's side."""
        self.is_established = False

    def __del__(self) -> None:
        minor, functions = c_uint32(), self._library.functions
        functions.gss_delete_sec_context(byref(minor), byref(self._context), None)
        functions.gss_release_cred(byref(minor), byref(self._credential))
        self._library.release_name(self._name)

    @property
    def peer(self) -> str:
        """The client's name, without its realm if the router is in that realm too, as Cyrus SASL has it."""
        full = self._library.text_of(self._name)
        short = full.rpartition("@")[0]
        return short if short and self.is_peer(short) else full

    def is_peer(self, name: str) -> bool:
        """Return whether a name stands for the client."""
        is_equal = c_int()
        try:
            with self._library.named(name, _USER_NAME) as other:
                self._library.call("compare_name", self._name, other, byref(is_equal))
        except SaslFailed:
            # Nobody can have this name.
            return False
        return bool(is_equal.value)

    def wrap(self, message: bytes) -> bytes:
        """Return a message with a proof of its origin."""
        wrapped = _Buffer()
        self._library.call("wrap", self._context, 0, 0, byref(_given(message)), None, byref(wrapped))
        return self._library.taken(wrapped)

    def unwrap(self, token: bytes) -> bytes:
        """Return the content of a wrapped message of the peer."""
        message = _Buffer()
        status = self._library.call("unwrap", self._context, byref(_given(token)), byref(message), None, None)
        octets = self._library.taken(message)
        if status & _STALE:
            raise SaslFailed("a message comes again, or out of order")
        return octets

    def _acquire(self, name: c_void_p, usage: int) -> None:
        credential = byref(self._credential)
        self._library.call("acquire_cred", name, _FOR_EVER, byref(_MECHANISMS), usage, credential, None, None)


class Acceptor(_Context):
    """The server's side, by a key of the keytab."""

    def __init__(self, library: GssLibrary) -> None:
        """Raises SaslFailed."""
        super().__init__(library)
        # Without a host, any key of the service will do, and no name is looked up.
        with library.named(SERVICE, _SERVICE_NAME) as name:
            self._acquire(name, _ACCEPT)

    def step(self, token: bytes | None) -> bytes:
        """Take the client's token; return the next token."""
        flags, answer = c_uint32(), _Buffer()
        self._library.release_name(self._name)
        about = (byref(self._name), None, byref(answer), byref(flags), None, None)
        given = byref(_given(token or b""))
        try:
            status = self._library.call(
                "accept_sec_context", byref(self._context), self._credential, given, None, *about
            )
        finally:
            octets = self._library.taken(answer)
        if flags.value & _ANONYMOUS:
            raise SaslFailed("the ticket is nobody's")
        self.is_established = not status & _CONTINUE
        return octets


class Initiator(_Context):
    """The client's side, by a ticket for a service at a host."""

    def __init__(self, library: GssLibrary, host: str, user: str | None) -> None:
        """`user` is the owner of the ticket; None for the one in the cache. Raises SaslFailed."""
        super().__init__(library)
        if user is None:
            self._acquire(c_void_p(), _INITIATE)
        else:
            with library.named(user, _USER_NAME) as name:
                self._acquire(name, _INITIATE)
        self._target = f"{SERVICE}@{host}"

    def step(self, token: bytes | None) -> bytes:
        """Take the server's token, None at first; return the next token."""
        wanted, flags, answer = _MUTUAL | _SEQUENCE | _INTEGRITY, c_uint32(), _Buffer()
        given = None if token is None else byref(_given(token))
        about = (None, given, None, byref(answer), byref(flags), None)
        with self._library.named(self._target, _SERVICE_NAME) as target:
            context = (self._credential, byref(self._context), target, byref(_KERBEROS), wanted, 0)
            try:
                status = self._library.call("init_sec_context", *context, *about)
            finally:
                octets = self._library.taken(answer)
        self.is_established = not status & _CONTINUE
        if self.is_established and ~flags.value & (_MUTUAL | _INTEGRITY):
            raise SaslFailed("the server did not prove who it is")
        return octets


def _given(octets: bytes) -> _Buffer:
    # The library changes its input in place, so this is a copy. It lives as long as the structure that points to it.
    copy = ctypes.create_string_buffer(octets)
    buffer = _Buffer(len(octets), ctypes.cast(copy, c_void_p))
    buffer.octets = copy
    return buffer


def _declare(functions: Any) -> None:
    minor, handle = POINTER(c_uint32), POINTER(c_void_p)
    buffer, oid, number = POINTER(_Buffer), POINTER(_Oid), POINTER(c_uint32)
    signatures: dict[str, tuple[Any, ...]] = {
        "import_name": (buffer, oid, handle),
        "display_name": (c_void_p, buffer, POINTER(c_void_p)),
        "release_name": (handle,),
        "compare_name": (c_void_p, c_void_p, POINTER(c_int)),
        "acquire_cred": (c_void_p, c_uint32, POINTER(_OidSet), c_int, handle, c_void_p, number),
        "release_cred": (handle,),
        "accept_sec_context": (
            *(handle, c_void_p, buffer, c_void_p, handle, c_void_p, buffer, number, number, c_void_p),
        ),
        "init_sec_context": (
            *(c_void_p, handle, c_void_p, oid, c_uint32, c_uint32, c_void_p, buffer, c_void_p, buffer, number, number),
        ),
        "delete_sec_context": (handle, buffer),
        "wrap": (c_void_p, c_int, c_uint32, buffer, POINTER(c_int), buffer),
        "unwrap": (c_void_p, buffer, buffer, POINTER(c_int), number),
        "display_status": (c_uint32, c_int, oid, number, buffer),
        "release_buffer": (buffer,),
    }
    for name, arguments in signatures.items():
        function = getattr(functions, f"gss_{name}")
        function.argtypes = (minor, *arguments)
        function.restype = c_uint32
