"""The connection to the message bus: one socket and one engine at a time, made again whenever they are lost.

One thread, the I/O thread, waits for the socket and for timers, connects and reads. Other threads put their work for
the engine into a queue. The thread that gets the lock does all the work in the queue, and writes the output. Mostly it
is the thread that brought the work, so sending a message switches no threads. A thread that does not get the lock
leaves its work to the thread that has it. That thread looks into the queue again after it has released the lock. So
only the I/O thread waits for the lock, and work that comes at once goes out in one write.
"""

import collections
import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import proton

from .dialing import Dialing, Rotation
from .engine import CLOSED_SOCKET, Engine
from .errors import InvalidOption
from .identity import container_name, process_properties
from .readiness import Readiness
from .security import security_properties
from .settings import Settings
from .timers import Timer, Timers
from .url import Host

_log = logging.getLogger(__name__)

READ_BYTES = 262_144
DIAL_LIMIT_S = 10.0
"""How long one address may take to answer."""
OPEN_LIMIT_S = 10.0
"""How long a peer that answered may take to open the connection."""
CLOSE_LIMIT_S = 5.0
"""How long a peer may take to confirm that the connection is closed."""
JOIN_LIMIT_S = 30.0
SLICES_AT_ONCE = 8
"""How many parts of large messages are written before other threads have their turn."""
ROUNDS = 3
"""How often a thread looks for work that others have brought, before it leaves that to the I/O thread."""
UNAUTHORIZED = "amqp:unauthorized-access"
GRACE_S = 0.002
"""How long the outcome of a request may wait for the reply that follows it, to go out in one write."""


class Bus(Protocol):
    """The owner of the connection's links, which outlives its interruptions."""

    def connected(self, engine: Engine, product: str | None) -> None:
        """The peer has opened the connection."""

    def disconnected(self, reason: str, is_round_over: bool) -> None:
        """The connection was lost, or an attempt to make it failed; maybe at the last of the hosts."""

    def shut_down(self) -> None:
        """Nothing will be sent any more."""


class Connection:
    """Keeps one of the hosts connected from start() to stop()."""

    def __init__(self, hosts: Sequence[Host], settings: Settings, vhost: str | None, bus: Bus) -> None:
        self._rotation = Rotation(hosts, settings)
        self._settings = settings
        self._vhost = vhost
        self._bus = bus
        self._name = container_name(settings)
        self._lock = threading.Lock()
        self._work: collections.deque[Callable[[], None]] = collections.deque()
        self._postponed: collections.deque[Callable[[], None]] = collections.deque()
        self._is_grace = False
        self._readiness = Readiness()
        self._timers = Timers()
        self._sleeps_until_s: float | None = None
        self._engine: Engine | None = None
        self._dialing: Dialing | None = None
        self._sock: socket.socket | None = None
        self._limit: Timer | None = None
        self._next_tick: Timer | None = None
        self._is_open = False
        self._opened_at_s = 0.0
        self._is_blocked = False
        self._fault: str | None = None
        self._goal: Host | None = None
        self._is_stopping = False
        self._is_done = False
        self._is_left = False
        self._thread = threading.Thread(target=self._run, name="oslo-amqp1", daemon=True)

    # Any thread may call these.

    def start(self) -> None:
        """Start the I/O thread, which connects at once."""
        self._timers.at(0, self._dial)
        self._thread.start()

    def submit(self, work: Callable[[], None]) -> None:
        """Do work with the engine: now, or as soon as the thread that has the lock is done."""
        if self._is_left:
            return
        self._work.append(work)
        for _ in range(ROUNDS):
            if not self._work or not self._lock.acquire(False):
                return
            try:
                self._do_work()
                is_waking = self._must_wake()
            finally:
                self._lock.release()
            if is_waking:
                self._readiness.wake()
        # Others bring more and more: this thread has done its share.
        self._readiness.wake()

    def submit_soon(self, work: Callable[[], None]) -> None:
        """Do work with the engine together with the next work, if that comes within a moment."""
        if not self._is_grace:
            self.submit(work)
            return
        self._postponed.append(work)
        if not self._is_grace:
            # It has just ended, and its last work may have missed this.
            self.submit(_nothing)

    def stop(self) -> None:
        """Close the connection in order and end the I/O thread; returns when that has ended."""
        self.submit(self._begin_stop)
        self._readiness.wake()
        if not self._is_left and threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join(JOIN_LIMIT_S)

    @property
    def is_left(self) -> bool:
        """Whether it belongs to the process that this one was forked from; then submit() does nothing."""
        return self._is_left

    def leave_to_the_parent(self) -> None:
        """Called in a child that was just forked: from now on nothing is done here, and nothing is sent."""
        self._is_left = self._is_done = True
        self._lock = threading.Lock()
        # Else the peer would hear nothing of the parent's end while the child lives.
        self._readiness.close_copies(self._sock)

    # Work, timers and the engine call these, with the lock held.

    @property
    def host(self) -> Host:
        """The host that is connected to, or the next to be."""
        return self._rotation.host

    @property
    def better_hosts(self) -> Sequence[Host]:
        """The hosts that are to be preferred to the present one, the best first."""
        return self._rotation.better_hosts

    def move_to(self, host: Host) -> None:
        """Close the connection in order, and connect to another host."""
        if self._engine is not None:
            self._goal = host
            self._engine.close()
            self._flush()
            self.abandon(f"{host} stands before it in the transport URL and can be connected to again")

    @property
    def progress(self) -> str:
        """How far the present attempt to connect has come, in words."""
        if self._dialing is not None:
            return f"{self.host} is being connected to"
        if self._engine is not None:
            return f"{self.host} has answered, but has not opened the connection"
        return f"{self.host} is to be tried next"

    def later(self, delay_s: float, act: Callable[[], None]) -> Timer:
        """Do something after a while."""
        return self._timers.at(time.monotonic() + delay_s, act)

    def begin_grace(self) -> None:
        """Let submit_soon() wait for other work for a moment from now on."""
        if not self._is_grace:
            self._is_grace = True
            self.later(GRACE_S, self._end_grace)

    def _end_grace(self) -> None:
        self._is_grace = False

    def abandon(self, reason: str) -> None:
        """Give the present connection up; another one is made."""
        self._fault = self._fault or reason

    def opened(self, product: str | None) -> None:
        """Called by the engine."""
        assert self._engine is not None
        self._cancel_limit()
        self._is_open, self._opened_at_s = True, time.monotonic()
        self._rotation.succeeded()
        _log.info("Connected to %s (%s)", self.host, product or "no product named")
        self._tick()
        self._bus.connected(self._engine, product)

    def failed(self, reason: str) -> None:
        """Called by the engine."""
        self.abandon(self._broken(reason))

    def _begin_stop(self) -> None:
        if self._is_stopping:
            return
        self._is_stopping = True
        self._bus.shut_down()
        if self._is_open and self._engine is not None:
            self._engine.close()
            self.later(CLOSE_LIMIT_S, self._finish)
        else:
            self._finish()

    def _finish(self) -> None:
        self._is_done = True

    def _do_work(self) -> None:
        for work in (self._work, self._postponed):
            for _ in range(len(work)):
                try:
                    work.popleft()()
                except Exception:
                    _log.exception("[%s] This should not happen", self.host)
        try:
            self._flush()
        except Exception as error:
            _log.exception("[%s] The connection is given up", self.host)
            self.abandon(f"{type(error).__name__}: {error}")

    def _must_wake(self) -> bool:
        if self._fault is not None or self._is_blocked or self._is_done:
            return True
        due_s, until_s = self._timers.next_due_s(), self._sleeps_until_s
        return due_s is not None and (until_s is None or due_s < until_s)

    def _flush(self) -> None:
        if self._engine is None or self._sock is None or self._fault is not None:
            return
        self._is_blocked = False
        try:
            for _ in range(SLICES_AT_ONCE):
                self._write(self._engine, self._sock)
                if not self._engine.send_slices():
                    return
            # The I/O thread goes on with the large messages, and reads in between.
            self._is_blocked = True
        except BlockingIOError:
            self._is_blocked = True
        except OSError as error:
            self.abandon(f"{error.strerror or error}")

    def _write(self, engine: Engine, sock: socket.socket) -> None:
        is_news = True
        while is_news:
            while data := engine.output():
                taken = sock.send(data)
                engine.written(taken)
            # Proton says some things only when it was asked for output, such as that no mechanism of SASL will do.
            is_news = engine.act()

    # The I/O thread runs these.

    def _run(self) -> None:
        try:
            while not self._is_done:
                self._turn()
        except Exception:
            _log.exception("[%s] The I/O thread ends", self.host)
        finally:
            # Under eventlet a child has this thread, too.
            if not self._is_left:
                with self._lock:
                    self._hang_up()
                    self._bus.shut_down()
                self._do_what_was_left()
                self._readiness.close()

    def _turn(self) -> None:
        with self._lock:
            timeout_s = self._until_next_timer()
            sock, is_writing = self._sock, self._is_blocked or self._dialing is not None
        self._do_what_was_left()
        readable, writable = self._readiness.wait(sock, is_writing, timeout_s)
        if self._is_left:
            return
        with self._lock:
            self._sleeps_until_s = 0.0
            try:
                self._take_part(readable, writable)
            except Exception as error:
                _log.exception("[%s] The connection is given up", self.host)
                self.abandon(f"{type(error).__name__}: {error}")
            if self._fault is not None:
                self._lost(self._fault)
        self._do_what_was_left()

    def _do_what_was_left(self) -> None:
        # Other threads may have brought work while this thread had the lock.
        if self._work:
            self.submit(_nothing)

    def _until_next_timer(self) -> float | None:
        self._sleeps_until_s = due_s = self._timers.next_due_s()
        return None if due_s is None else max(0.0, due_s - time.monotonic())

    def _take_part(self, readable: bool, writable: bool) -> None:
        if self._dialing is not None:
            if writable:
                self._connecting()
        elif readable and self._sock is not None:
            self._read()
        self._timers.run(time.monotonic())
        self._do_work()

    def _read(self) -> None:
        assert self._sock is not None
        assert self._engine is not None
        try:
            data = self._sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self.abandon(self._broken(error.strerror or str(error)))
            return
        self._engine.feed(data)
        if not data:
            if self._is_stopping:
                self._finish()
            self.abandon(self._broken(self._engine.error))

    def _broken(self, words: str) -> str:
        # A peer that expects the first bytes of another protocol mostly closes the socket without saying so.
        if self._is_open or words not in (CLOSED_SOCKET, os.strerror(errno.ECONNRESET)):
            return words
        return f"{words} before it opened the connection: it may require TLS (option ssl), or SASL (a user)"

    def _dial(self) -> None:
        host = self.host
        _log.debug("Connecting to %s", host)
        try:
            self._dialing = Dialing(host)
            self._dialing.begin()
        except (OSError, UnicodeError) as error:
            self.abandon(f"{getattr(error, 'strerror', None) or error}")
            return
        self._follow(self._dialing)

    def _follow(self, dialing: Dialing) -> None:
        self._readiness.forget()
        self._sock = dialing.sock
        self._set_limit(DIAL_LIMIT_S, self._dialed_in_vain)

    def _dialed_in_vain(self) -> None:
        assert self._dialing is not None
        self._readiness.forget()
        try:
            self._dialing.next_address(TimeoutError("no answer"))
        except OSError as error:
            self._sock = None
            self.abandon(f"{error.strerror or error}")
            return
        self._follow(self._dialing)

    def _connecting(self) -> None:
        assert self._dialing is not None
        self._readiness.forget()
        try:
            if not self._dialing.is_connected():
                self._follow(self._dialing)
                return
            self._begin_protocol()
        except OSError as error:
            self._sock = self._dialing.sock
            self.abandon(f"{error.strerror or error}")
        except (InvalidOption, proton.ProtonException) as error:
            self.abandon(f"TLS or SASL cannot be set up as the options say: {error}")

    def _begin_protocol(self) -> None:
        self._dialing = None
        self._engine = Engine(self._name, self.properties(self.host), self, self._settings.trace)
        self._engine.open()
        self._set_limit(OPEN_LIMIT_S, lambda: self.abandon("the peer does not open the connection"))
        self._tick()

    def properties(self, host: Host) -> dict[str, Any]:
        """Return the settings of pyngus for a connection to a host."""
        settings = self._settings
        properties = security_properties(settings, host, self._vhost)
        properties["properties"] = process_properties()
        if settings.idle_timeout > 0:
            properties["idle-time-out"] = settings.idle_timeout
        if self._vhost and not settings.pseudo_vhost:
            properties["hostname"] = self._vhost
        return properties

    def _tick(self) -> None:
        engine = self._engine
        if engine is None:
            return
        deadline_s = engine.tick(time.monotonic())
        if self._next_tick is not None:
            self._next_tick.cancel()
        self._next_tick = self._timers.at(deadline_s, self._judge_silence) if deadline_s else None

    def _judge_silence(self) -> None:
        # This process may have been held up: that time does not count as silence of the peer.
        if self._sock is not None and self._dialing is None:
            self._read()
        self._tick()

    def _set_limit(self, limit_s: float, act: Callable[[], None]) -> None:
        self._cancel_limit()
        self._limit = self.later(limit_s, act)

    def _cancel_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _lost(self, reason: str) -> None:
        self._fault = None
        host, was_open = self.host, self._is_open
        self._hang_up()
        if self._is_stopping:
            self._finish()
            return
        if self._goal is not None:
            _log.info("Left %s: %s", host, reason)
            self._rotation.go_to(self._goal)
            self._go_on(f"{host}: {reason}", 0.0)
            return
        delay_s = self._rotation.step(time.monotonic() - self._opened_at_s if was_open else None)
        verb = "Lost the connection to" if was_open else "Cannot connect to"
        level = logging.ERROR if reason.startswith(UNAUTHORIZED) else logging.WARNING
        _log.log(level, "%s %s%s: %s; next is %s in %.1f s", verb, host, _as_user(host), reason, self.host, delay_s)
        self._go_on(f"{host}: {reason}", delay_s)

    def _go_on(self, reason: str, delay_s: float) -> None:
        self._goal = None
        self._bus.disconnected(reason, self._rotation.is_round_over)
        self.later(delay_s, self._dial)
        self._do_work()

    def _hang_up(self) -> None:
        self._cancel_limit()
        self._is_open = self._is_blocked = False
        self._dialing = None
        self._readiness.forget()
        if self._engine is not None:
            self._engine.destroy()
            self._engine = None
        if self._sock is not None:
            self._sock.close()
            self._sock = None


def _as_user(host: Host) -> str:
    return f" as user {host.user}" if host.user else ""


def _nothing() -> None:
    pass
