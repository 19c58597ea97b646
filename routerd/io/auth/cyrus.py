"""Users of a Cyrus SASL configuration: the system's libsasl2, found at run time, authenticates peers.

The library is set up once in a process. Each exchange is an `sasl_conn_t`. Its steps may wait for saslauthd, a database
or Kerberos, so threads take them. No security layer is negotiated: TLS encrypts. The router has ANONYMOUS and
EXTERNAL itself, and does not ask the library for them.
"""

import ctypes
import glob
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_ulong, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

from routerd.io.auth.threads import Answer, AuthenticationThreads, InThreads
from routerd.io.logs import module_log
from routerd.wire.sasl import Challenge, Failure, SaslCode, ServerMechanismFactory, Step, Success

LIBRARY = "libsasl2.so.2"
SERVICE = b"amqp"
SYSTEM_FOLDERS = (
    *("/etc/sasl2", "/etc/sasl", "/usr/lib/sasl2", "/usr/lib64/sasl2", "/usr/local/lib/sasl2", "/usr/local/etc/sasl2"),
    *sorted(glob.glob("/usr/lib/*-linux-gnu/sasl2")),
)
"""The folders of configurations if the router names none."""
OWN_MECHANISMS = frozenset({"ANONYMOUS", "EXTERNAL"})

_OK, _CONTINUE = 0, 1
_UNAVAILABLE = {-1 * code for code in (2, 8, 12, 24)}
"""No memory, try again, not initialised, a missing server: these are not the client's faults."""
_CONFIGURATION_PATH = 1
_USERNAME, _FQDN, _SECURITY = 0, 13, 101
_LOG_CALLBACK = 2
_LOG_ERROR, _LOG_PASSWORDS = 1, 7
_BUFFER_OCTETS = 65_536

_log = module_log("SERVER")


class CyrusUnavailable(Exception):
    """A Cyrus configuration is required, and the library cannot be used; the message says why."""


class _Callback(ctypes.Structure):
    _fields_ = (("id", c_ulong), ("function", c_void_p), ("context", c_void_p))


class _SecurityProperties(ctypes.Structure):
    _fields_ = (
        *(("min_ssf", c_uint), ("max_ssf", c_uint), ("maxbufsize", c_uint), ("security_flags", c_uint)),
        *(("property_names", c_void_p), ("property_values", c_void_p)),
    )


@dataclass(frozen=True, slots=True)
class CyrusPlace:
    """The place of a configuration."""

    folder: str
    name: str

    @property
    def file(self) -> str:
        """The file itself."""
        return os.path.join(self.folder, f"{self.name}.conf")


def configuration_in(folders: str | None, name: str) -> CyrusPlace | None:
    """Return the place of the configuration with a name: in a list of folders separated by `:`, or the system's."""
    for folder in SYSTEM_FOLDERS if folders is None else folders.split(":"):
        place = CyrusPlace(folder, name)
        if os.path.isfile(place.file):
            return place
    return None


class Cyrus:
    """The library, set up for one configuration."""

    def __init__(self, place: CyrusPlace) -> None:
        """Load the library and set it up; raises CyrusUnavailable."""
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise CyrusUnavailable(
                f"{place.file} needs Cyrus SASL, and {LIBRARY} cannot be loaded ({error}): "
                "install it (Debian: libsasl2-2, libsasl2-modules), or leave saslConfigDir out"
            ) from None
        _declare(self._library)
        self._locks = _Locks()
        self._library.sasl_set_mutex(*self._locks.functions)
        self._log_function = _LOG_FUNCTION(_heed)
        # The library keeps a reference to it.
        self._callbacks = (_Callback * 2)(_Callback(_LOG_CALLBACK, ctypes.cast(self._log_function, c_void_p), None))
        self._library.sasl_set_path(_CONFIGURATION_PATH, place.folder.encode())
        code = self._library.sasl_server_init(self._callbacks, place.name.encode())
        if code != _OK:
            raise CyrusUnavailable(f"{place.file}: Cyrus SASL cannot be set up: {self.error(code)}")
        self._host: bytes | None = None
        probe = self.new_exchange()
        fqdn = c_void_p()
        if self._library.sasl_getprop(probe.handle, _FQDN, byref(fqdn)) == _OK and fqdn.value:
            self._host = ctypes.string_at(fqdn.value)
        self.mechanisms = self._listed(probe)
        if not self.mechanisms:
            _log.warning("%s: Cyrus SASL offers no mechanism; its plugins may not be installed", place.file)

    def new_exchange(self) -> "_Exchange":
        """Begin an exchange; raises CyrusUnavailable."""
        handle = c_void_p()
        arguments = (SERVICE, self._host, None, None, None, None, 0, byref(handle))
        code = self._library.sasl_server_new(*arguments)
        if code != _OK:
            raise CyrusUnavailable(f"no exchange can begin: {self.error(code)}")
        exchange = _Exchange(self, self._library, handle)
        bounds = _SecurityProperties(0, 0, _BUFFER_OCTETS, 0, None, None)
        self._library.sasl_setprop(handle, _SECURITY, byref(bounds))
        return exchange

    def error(self, code: int) -> str:
        """Return the text of an error code."""
        text: bytes | None = self._library.sasl_errstring(code, None, None)
        return (text or b"").decode(errors="replace")

    def _listed(self, probe: "_Exchange") -> tuple[str, ...]:
        result, length, count = c_char_p(), c_uint(), c_int()
        code = self._library.sasl_listmech(
            probe.handle, None, b"", b" ", b"", byref(result), byref(length), byref(count)
        )
        names = (result.value or b"").decode().split() if code == _OK else []
        return tuple(sorted((name for name in names if name not in OWN_MECHANISMS), key=_rank))


@cache
def cyrus_at(place: CyrusPlace) -> Cyrus:
    """Return the library of this process, set up at the first use; raises CyrusUnavailable."""
    return Cyrus(place)


class CyrusUsers:
    """Offers the mechanisms of Cyrus."""

    def __init__(self, cyrus: Cyrus) -> None:
        self._cyrus = cyrus

    def mechanisms(self, threads: AuthenticationThreads, answer: Answer) -> list[ServerMechanismFactory]:
        """Return the mechanisms that can be offered to one peer, the best first."""
        return [InThreads(_CyrusMechanism(name, self._cyrus), threads, answer) for name in self._cyrus.mechanisms]


@dataclass(frozen=True, slots=True)
class _CyrusMechanism:
    name: str
    cyrus: Cyrus

    def start(self, hostname: str | None) -> "_CyrusSteps":
        return _CyrusSteps(self.name, self.cyrus)


class _CyrusSteps:
    """One exchange; the library learns of it with the first step, in that step's thread."""

    def __init__(self, name: str, cyrus: Cyrus) -> None:
        self._name = name
        self._cyrus = cyrus
        self._exchange: _Exchange | None = None

    def step(self, response: bytes | None) -> Step:
        """Let the library judge the client's message."""
        if self._exchange is not None:
            return self._exchange.step(response or b"")
        try:
            self._exchange = self._cyrus.new_exchange()
        except CyrusUnavailable as error:
            return Failure(str(error), SaslCode.SYS)
        return self._exchange.start(self._name, response)


class _Exchange:
    """One `sasl_conn_t`."""

    def __init__(self, cyrus: Cyrus, library: Any, handle: c_void_p) -> None:
        self.handle = handle
        self._cyrus = cyrus
        self._library = library

    def __del__(self) -> None:
        self._library.sasl_dispose(byref(self.handle))

    def start(self, mechanism: str, response: bytes | None) -> Step:
        """Take the first step."""
        out, length = c_void_p(), c_uint()
        size = 0 if response is None else len(response)
        code = self._library.sasl_server_start(
            self.handle, mechanism.encode(), response, size, byref(out), byref(length)
        )
        return self._outcome(code, out, length)

    def step(self, response: bytes) -> Step:
        """Take the next step."""
        out, length = c_void_p(), c_uint()
        code = self._library.sasl_server_step(self.handle, response, len(response), byref(out), byref(length))
        return self._outcome(code, out, length)

    def _outcome(self, code: int, out: c_void_p, length: c_uint) -> Step:
        data = ctypes.string_at(out.value, length.value) if out.value else b""
        if code == _CONTINUE:
            return Challenge(data)
        if code != _OK:
            detail: bytes | None = self._library.sasl_errdetail(self.handle)
            reason = (detail or b"").decode(errors="replace") or self._cyrus.error(code)
            return Failure(reason, SaslCode.SYS_TEMP if code in _UNAVAILABLE else SaslCode.AUTH)
        name = c_void_p()
        if self._library.sasl_getprop(self.handle, _USERNAME, byref(name)) != _OK or not name.value:
            return Failure("Cyrus SASL tells no name", SaslCode.SYS)
        try:
            return Success(ctypes.string_at(name.value).decode(), data or None)
        except UnicodeDecodeError:
            return Failure("the name is not UTF-8")


_ALLOC = ctypes.CFUNCTYPE(c_void_p)
_LOCK = ctypes.CFUNCTYPE(c_int, c_void_p)
_FREE = ctypes.CFUNCTYPE(None, c_void_p)
_LOG_FUNCTION = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_char_p)


class _Locks:
    """The locks that the library asks for, since several threads use it."""

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}
        self._last = 0
        self._all = threading.Lock()
        self.functions = (_ALLOC(self._new), _LOCK(self._lock), _LOCK(self._unlock), _FREE(self._free))

    def _new(self) -> int:
        with self._all:
            self._last += 1
            self._locks[self._last] = threading.Lock()
            return self._last

    def _lock(self, number: int | None) -> int:
        self._locks[number or 0].acquire()
        return _OK

    def _unlock(self, number: int | None) -> int:
        self._locks[number or 0].release()
        return _OK

    def _free(self, number: int | None) -> None:
        self._locks.pop(number or 0, None)


def _heed(context: int | None, level: int, text: bytes | None) -> int:
    if level >= _LOG_PASSWORDS:
        return _OK
    message = ascii((text or b"").decode(errors="replace"))
    if level == _LOG_ERROR:
        _log.warning("Cyrus SASL: %s", message)
    elif _log.is_debug:
        _log.debug("Cyrus SASL: %s", message)
    return _OK


def _rank(name: str) -> tuple[int, str]:
    """Return the order of offers: strong proofs first, mechanisms that send the password last."""
    order = ("GSSAPI", "GSS-SPNEGO", "SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "DIGEST-MD5", "CRAM-MD5")
    if name in order:
        return order.index(name), name
    return (len(order) + 1 if name in ("PLAIN", "LOGIN") else len(order)), name


def _declare(library: Any) -> None:
    pointer = POINTER(c_void_p)
    library.sasl_set_mutex.argtypes = (_ALLOC, _LOCK, _LOCK, _FREE)
    library.sasl_set_mutex.restype = None
    library.sasl_set_path.argtypes = (c_int, c_char_p)
    library.sasl_server_init.argtypes = (c_void_p, c_char_p)
    library.sasl_server_new.argtypes = (*[c_char_p] * 5, c_void_p, c_uint, pointer)
    library.sasl_dispose.argtypes = (pointer,)
    library.sasl_dispose.restype = None
    library.sasl_setprop.argtypes = (c_void_p, c_int, c_void_p)
    library.sasl_getprop.argtypes = (c_void_p, c_int, pointer)
    library.sasl_listmech.argtypes = (
        *(c_void_p, c_char_p, c_char_p, c_char_p, c_char_p),
        *(POINTER(c_char_p), POINTER(c_uint), POINTER(c_int)),
    )
    library.sasl_server_start.argtypes = (c_void_p, c_char_p, c_char_p, c_uint, pointer, POINTER(c_uint))
    library.sasl_server_step.argtypes = (c_void_p, c_char_p, c_uint, pointer, POINTER(c_uint))
    library.sasl_errdetail.argtypes = (c_void_p,)
    library.sasl_errdetail.restype = c_char_p
    library.sasl_errstring.argtypes = (c_int, c_char_p, c_void_p)
    library.sasl_errstring.restype = c_char_p
