"""An RPC server: `python -m bench.demo_mesh.server PORT NAME` adds numbers for whoever asks.

It answers first, and accepts the request when its answer was accepted. So a request that is accepted was answered, and
one whose answer did not arrive goes back to its caller. An answer takes a while, so that there is always something
under way when something fails.
"""

import sys
import time
from collections import deque
from collections.abc import Sequence

from bench.demo_mesh.endpoint import ConnectionLost, Endpoint
from bench.demo_mesh.layout import ADDRESS
from routerd.wire import Accepted, AmqpValue, Delivery, Message, Properties, Receiver, Source, is_outcome

CREDIT = 50
SERVICE_S = 0.02
"""How long an answer takes."""
RETRY_S = 0.1


class Server(Endpoint):
    """One connection with a receiver for requests, and a sender for answers to anywhere."""

    def __init__(self, port: int, name: str) -> None:
        super().__init__(port, f"server-{name}")
        self._server = name
        self._answers = self.sender(None)
        self._waiting: deque[tuple[float, Delivery, Message]] = deque()
        self._requests = self.receiver(Source(address=ADDRESS), CREDIT)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take a request."""
        request = Message.decode(bytes(data[start:end]))
        assert request.properties is not None
        assert isinstance(request.body, AmqpValue)
        answer = Message(
            properties=Properties(to=request.properties.reply_to, correlation_id=request.properties.correlation_id),
            body=AmqpValue({"server": self._server, "sum": sum(request.body.value)}),
        )
        self._waiting.append((time.monotonic() + SERVICE_S, delivery, answer))

    def serve(self) -> None:
        """Give the answers that are due, and wait for the next one or for more requests."""
        while self._waiting and self._waiting[0][0] <= time.monotonic() and self._answers.credit > 0:
            _, request, answer = self._waiting.popleft()
            self._answers.send(answer.encode()).context = request
        left = self._waiting[0][0] - time.monotonic() if self._waiting else 1.0
        self.turn(max(left, 0.001))

    def on_disposition(self, delivery: Delivery) -> None:
        """Settle the request as its answer fared."""
        outcome = delivery.remote_state
        if delivery.is_incoming or delivery.settled or not (is_outcome(outcome) or delivery.remote_settled):
            return
        if not delivery.remote_settled:
            delivery.settle()
        request = delivery.context
        if isinstance(outcome, Accepted):
            request.accept()
        else:
            request.modify(delivery_failed=True)
        if self._requests.credit <= CREDIT // 2:
            self._requests.grant(CREDIT - self._requests.credit)


def main(arguments: Sequence[str]) -> None:
    """Serve until killed, over one connection after the other."""
    port, name = int(arguments[0]), arguments[1]
    while True:
        try:
            server = Server(port, name)
            while True:
                server.serve()
        except ConnectionLost:
            time.sleep(RETRY_S)


if __name__ == "__main__":
    main(sys.argv[1:])
