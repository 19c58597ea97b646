"""The short run: what happens, one thing after the other."""

import time

from bench.demo_exactly_once.stage import PUBLISHERS, ROUTERS, SUBSCRIBERS, Stage


class Story:
    """Tells what happens while it does."""

    def __init__(self, stage: Stage, phase_s: float) -> None:
        self._stage = stage
        self._phase_s = phase_s

    def happen(self) -> None:
        """Let it all happen."""
        stage = self._stage
        subscriber, publisher = stage.subscribers[0], stage.publishers[0]
        self._go_on(f"{PUBLISHERS} publishers and {SUBSCRIBERS} subscribers are attached, two at each router")
        stage.kill("B")
        self._go_on("kill -9 of router B; its clients go to the others")
        stage.start("B")
        stage.kill_client(subscriber)
        stage.kill_client(publisher)
        self._go_on("router B is started again; kill -9 of a publisher and of a subscriber")
        subscriber.start()
        publisher.start()
        self._go_on("both are started again, with what is in their databases")
        stage.kill(*ROUTERS)
        stage.start(*ROUTERS)
        self._go_on("kill -9 of all routers at once; they are started again, and know nothing")

    def _go_on(self, what: str) -> None:
        """Say what has happened, let the clients go on for a while, and say how far they are."""
        self._stage.happens(what)
        time.sleep(self._phase_s)
        self._stage.tell_processed()
