"""A router made of frames, which joins a real one and can tell it anything."""

from typing import Any

from routerd.io.routing.control_messages import decoded, encoded
from routerd.mesh import ControlMessage
from routerd.wire import Source, Symbol, Target, Transfer
from tests.system.raw_client import RawClient

CONTROL_IN, CONTROL_OUT, DATA_IN, DATA_OUT = range(4)
CREDIT = 1000
INSTANCE = 1_700_000_000
TO_NEIGHBOURS = "amqp:/_local/qdhello"
COMMON = {"pv": 1, "area": "0"}


class RawRouter(RawClient):
    """One connection with a pair of links for control and another for messages."""

    def __init__(self, port: int, router_id: str) -> None:
        super().__init__(port)
        self.id = router_id
        self._their_control = -1

    def join(self) -> None:
        """Open the connection and attach all links, as the side that connects does."""
        self.open(container_id=self.id)
        for capability, receiving, sending in (
            ("qd.router", CONTROL_IN, CONTROL_OUT),
            ("qd.router-data", DATA_IN, DATA_OUT),
        ):
            termini = {
                "source": Source(capabilities=(Symbol(capability),)),
                "target": Target(capabilities=(Symbol(capability),)),
            }
            answer = self.attach_consumer(None, handle=receiving, **termini)
            if receiving == CONTROL_IN:
                self._their_control = answer.handle
            self.attach_producer(None, handle=sending, **termini)
            self.grant(CREDIT, handle=receiving)

    def tell_octets(self, octets: bytes) -> None:
        """Send octets as a control message."""
        self.transfer(octets, handle=CONTROL_OUT, settled=True)

    def tell(self, opcode: str, to: str, **body: Any) -> None:
        """Send a control message."""
        own = f"0/{self.id}"
        self.tell_octets(encoded(ControlMessage(to, opcode, {"id": self.id, **COMMON} | body, own, (own,))))

    def greet(self, *seen: str, **body: Any) -> None:
        """Send a greeting to a neighbour that these were heard by us."""
        self.tell("HELLO", TO_NEIGHBOURS, **{"instance": INSTANCE, "seen": [*seen]} | body)

    def advertise(self, ls_seq: int, mobile_seq: int = 0, **body: Any) -> None:
        """Tell all routers how far we have come."""
        numbers = {"instance": INSTANCE, "ls_seq": ls_seq, "mobile_seq": mobile_seq}
        self.tell("RA", "amqp:/_topo/0/all/qdrouter", **numbers | body)

    def answer_links(self, to: str, ls_seq: int, peers: dict[str, int], **body: Any) -> None:
        """Tell a router what our neighbours are."""
        state = {"id": self.id, "area": "0", "ls_seq": ls_seq, "peers": peers}
        self.tell("LSU", f"amqp:/_topo/0/{to}/qdrouter", **{"instance": INSTANCE, "ls_seq": ls_seq, "ls": state} | body)

    def hear(self, opcode: str) -> ControlMessage:
        """Return the next control message of a kind; what else comes is passed over."""
        while True:
            frame = self.frame()
            if isinstance(frame.performative, Transfer) and frame.performative.handle == self._their_control:
                message = decoded(frame.payload)
                if message.opcode == opcode:
                    return message

    def become_neighbour(self, of: str) -> None:
        """Greet, and again when we are greeted as one that was heard."""
        self.greet()
        self.wait_heard()
        self.greet(of)
        self.wait_taken(of)

    def wait_heard(self) -> None:
        """Wait for a greeting to us as one that was heard."""
        while self.id not in self.hear("HELLO").body["seen"]:
            pass

    def wait_taken(self, of: str) -> None:
        """Wait until the neighbour has taken all that we sent."""
        self.tell("LSR", f"amqp:/_topo/0/{of}/qdrouter")
        self.hear("LSU")
