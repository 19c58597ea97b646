"""The operations of a management node."""

from typing import Any

import pytest

from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.failures import BadAnswer, Refused
from routerd.cli.manage.node import Node, node_address
from tests.unit.cli.manage.canned_router import AnswerRequest, CannedRouter, MemoryStream, Reply

TYPE = "org.apache.qpid.dispatch.connection"


def node_with(answer: AnswerRequest) -> tuple[Node, CannedRouter]:
    router = CannedRouter(answer)
    stream = MemoryStream(router)
    client = ManagementClient(stream, "h:1", hostname=None, container_id="t", timeout_s=1, clock=stream.clock)
    return Node(client), router


def rows_of(total: int, *, knows_paging: bool = True) -> AnswerRequest:
    def answer(address: str, properties: Any, body: Any) -> Reply:
        rows = [["normal"] for _ in range(total)]
        if knows_paging:
            rows = rows[properties["offset"] :][: properties["count"]]
        return 200, "OK", {"attributeNames": ["role"], "results": rows}

    return answer


def test_a_query_asks_as_the_stock_tools_do() -> None:
    node, router = node_with(rows_of(1))
    assert node.query(TYPE, ("role",)) == [{"role": "normal"}]
    properties = {
        **{"operation": "QUERY", "type": "org.amqp.management", "name": "self"},
        **{"entityType": TYPE, "offset": 0, "count": 500},
    }
    assert router.requests == [("$management", properties, {"attributeNames": ["role"]})]


@pytest.mark.parametrize("total", [0, 1, 499, 500, 501, 1000, 1234])
@pytest.mark.parametrize("knows_paging", [True, False])
def test_all_rows_come_once_however_many(total: int, knows_paging: bool) -> None:
    node, _ = node_with(rows_of(total, knows_paging=knows_paging))
    assert len(node.query(TYPE)) == total


@pytest.mark.parametrize(("limit", "rows"), [(None, 1234), (0, 1234), (1, 1), (500, 500), (700, 700), (5000, 1234)])
def test_a_limit_is_kept(limit: int | None, rows: int) -> None:
    node, router = node_with(rows_of(1234))
    assert len(node.query(TYPE, limit=limit)) == rows
    assert max(request[1]["count"] for request in router.requests) <= 500


def test_a_status_of_failure_is_raised_by_its_name() -> None:
    node, _ = node_with(lambda *_: (404, "No entity with name=nope", {}))
    with pytest.raises(Refused) as caught:
        node.call("READ", {"name": "nope"})
    assert str(caught.value) == "NotFoundStatus: No entity with name=nope"


@pytest.mark.parametrize("body", [None, {}, {"attributeNames": ["a"], "results": [[1, 2]]}, {"results": 3}])
def test_a_body_without_rows_is_a_bad_answer(body: Any) -> None:
    node, _ = node_with(lambda *_: (200, "OK", body))
    with pytest.raises(BadAnswer):
        node.query(TYPE)


def test_nodes_and_log_are_asked_of_the_node_itself() -> None:
    node, router = node_with(lambda _, properties, __: (200, "OK", [properties["operation"]]))
    assert node.management_nodes() == ["GET-MGMT-NODES"]
    assert node.log(5) == ["GET-LOG"]
    assert router.requests[1][1] == {
        **{"operation": "GET-LOG", "type": "org.amqp.management", "name": "self"},
        "limit": 5,
    }


def test_the_address_of_a_node_is_that_of_its_router() -> None:
    assert node_address() == "$management"
    assert node_address(router="QDR.B") == "_topo/0/QDR.B/$management"
    assert node_address(edge="QDR.E") == "_edge/QDR.E/$management"
