"""The views: tables of canned entities, in the layout that the reference prints (section 6.2), with figures of ours."""

import time
from typing import Any

import pytest

from routerd.cli.manage.output import as_text
from routerd.cli.manage.table import Block, Message, tabulate
from routerd.cli.manage.views.catalogue import VIEWS
from routerd.cli.manage.views.connections import authentication, connections_table, edge_blocks, security, tenant
from routerd.cli.manage.views.general import general_record, memory_blocks
from routerd.cli.manage.views.links import auto_links_table, link_routes_table, links_table
from routerd.cli.manage.views.log import log_message
from routerd.cli.manage.views.network import addresses_table, nodes_blocks
from routerd.cli.manage.views.policies import (
    group_defaults,
    policy_records,
    vhost_groups_blocks,
    vhost_stats_blocks,
    vhosts_block,
)
from routerd.cli.manage.views.workers import ACTOR_COLUMNS, workers_table


def shown(*blocks: Block) -> str:
    return "\n".join(as_text(blocks))


ROUTER = {
    **{"version": "1.19.0", "mode": "interior", "id": "QDR.A", "workerThreads": 1, "uptimeSeconds": 253},
    **{"memoryUsage": 187_904_819, "area": "0", "linkRouteCount": 2, "autoLinkCount": 2, "linkCount": 35},
    **{"nodeCount": 1, "addrCount": 25, "connectionCount": 5, "presettledDeliveries": 5},
    **{"droppedPresettledDeliveries": 0, "acceptedDeliveries": 1234, "rejectedDeliveries": 0, "releasedDeliveries": 0},
    **{"modifiedDeliveries": 0, "deliveriesDelayed1Sec": 0, "deliveriesDelayed10Sec": 0, "deliveriesStuck": 0},
    **{"deliveriesRedirectedToFallback": 0, "linksBlocked": 0, "deliveriesIngress": 7, "deliveriesEgress": 8},
    **{"deliveriesTransit": 9, "deliveriesIngressRouteContainer": 0, "deliveriesEgressRouteContainer": 0},
}


def test_general_is_as_the_reference_prints_it() -> None:
    assert shown(general_record(ROUTER)) == """\
Router Statistics
  attr                             value
  ===============================================
  Version                          1.19.0
  Mode                             interior
  Router Id                        QDR.A
  Worker Threads                   1
  Uptime                           000:00:04:13
  Memory Usage                     179 MiB
  Area                             0
  Link Routes                      2
  Auto Links                       2
  Links                            35
  Nodes                            1
  Addresses                        25
  Connections                      5
  Presettled Count                 5
  Dropped Presettled Count         0
  Accepted Count                   1234
  Rejected Count                   0
  Released Count                   0
  Modified Count                   0
  Deliveries Delayed > 1sec        0
  Deliveries Delayed > 10sec       0
  Deliveries Stuck > 10sec         0
  Deliveries to Fallback           0
  Links Blocked                    0
  Ingress Count                    7
  Egress Count                     8
  Transit Count                    9
  Deliveries from Route Container  0
  Deliveries to Route Container    0"""


def test_general_leaves_out_what_is_not_there() -> None:
    record = general_record({"version": "1", "memoryUsage": None, "linkCount": 3})
    assert [line.label for line in record.lines] == ["Version", "Links"]


def connection(**attributes: Any) -> dict[str, Any]:
    return {
        **{"identity": "8", "host": "127.0.0.1:57200", "container": "testclient", "role": "normal"},
        **{"protocol": "amqp", "dir": "in", "isEncrypted": False, "isAuthenticated": True, "sasl": "ANONYMOUS"},
        **{"user": "anonymous", "sslProto": None, "sslCipher": None, "tenant": None, "active": True},
        **{"lastDlvSeconds": 178, "uptimeSeconds": 179},
        **attributes,
    }


def test_connections_are_as_the_reference_prints_them() -> None:
    rows = [
        connection(identity="5", host="127.0.0.1:53618", container="QDR.E", role="edge", lastDlvSeconds=1),
        connection(),
        connection(identity="33", container="broker", role="route-container", lastDlvSeconds=None, uptimeSeconds=6),
        connection(identity="39", container="9f6728bb", isAuthenticated=False, sasl=None),
    ]
    assert shown(connections_table(rows)).splitlines() == [
        "Connections",
        "  id  host             container   role             proto  dir  security     authentication  tenant  "
        "last dlv      uptime",
        "  " + "=" * 127,
        "  5   127.0.0.1:53618  QDR.E       edge             amqp   in   no-security  anonymous-user          "
        "000:00:00:01  000:00:02:59",
        "  8   127.0.0.1:57200  testclient  normal           amqp   in   no-security  anonymous-user          "
        "000:00:02:58  000:00:02:59",
        "  33  127.0.0.1:57200  broker      route-container  amqp   in   no-security  anonymous-user          "
        "-             000:00:00:06",
        "  39  127.0.0.1:57200  9f6728bb    normal           amqp   in   no-security  no-auth                 "
        "000:00:02:58  000:00:02:59",
    ]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, ("no-security", "anonymous-user", None)),
        ({"isEncrypted": True, "sslProto": "TLSv1.3", "sslCipher": "AES"}, ("TLSv1.3(AES)", "anonymous-user", None)),
        ({"isEncrypted": True, "sasl": "GSSAPI", "user": "ann"}, ("Kerberos", "ann(Kerberos)", None)),
        ({"sasl": "EXTERNAL", "user": "CN=ann", "tenant": "acme/"}, ("no-security", "CN=ann(x.509)", "acme")),
        ({"sasl": "PLAIN", "user": "ann"}, ("no-security", "ann(PLAIN)", None)),
        ({"sasl": "PLAIN", "user": None}, ("no-security", "PLAIN", None)),
        ({"isAuthenticated": False}, ("no-security", "no-auth", None)),
    ],
)
def test_security_is_told_in_a_word(attributes: dict[str, Any], expected: tuple[Any, ...]) -> None:
    one = connection(**attributes)
    assert (security(one), authentication(one), tenant(one)) == expected


def test_edge_connections_are_those_of_edge_routers() -> None:
    assert shown(*edge_blocks([connection(), connection(identity="5", role="edge", container="E", active=False)])) == (
        """\
Edge Router Connections
  id  host             container  role  dir  security     authentication  tenant  active
  ========================================================================================
  5   127.0.0.1:57200  E          edge  in   no-security  anonymous-user          no"""
    )
    assert shown(*edge_blocks([])) == "No Edge Router Connections"
    assert shown(*edge_blocks([connection()])) == ""


def link(**attributes: Any) -> dict[str, Any]:
    counters = (
        *("undeliveredCount", "unsettledCount", "deliveryCount", "presettledCount", "droppedPresettledCount"),
        *("acceptedCount", "rejectedCount", "releasedCount", "modifiedCount", "deliveriesDelayed1Sec"),
        *("deliveriesDelayed10Sec", "deliveriesStuck", "zeroCreditSeconds", "settleRate"),
    )
    return {
        **{"linkType": "endpoint", "linkDir": "out", "connectionId": "8", "identity": "49", "peer": None},
        **{"owningAddr": "M0examples", "capacity": 250, "creditAvailable": 250, "adminStatus": "enabled"},
        **{"operStatus": "up", "linkName": "receiver-1", "priority": 4},
        **dict.fromkeys(counters, 0),
        **attributes,
    }


def test_links_are_as_the_reference_prints_them() -> None:
    rows = [
        link(linkType="edge-downlink", connectionId="5", identity="20", owningAddr="HQDR.E"),
        link(
            linkType="router-control",
            linkDir="in",
            connectionId="6",
            identity="28",
            owningAddr=None,
            priority=9,
            deliveryCount=18,
            presettledCount=18,
        ),
        link(deliveryCount=20, acceptedCount=20, creditAvailable=9, deliveriesDelayed1Sec=2, deliveriesDelayed10Sec=1),
        link(identity="57", owningAddr="Ltemp.n4b04QWl3RjUGyA", creditAvailable=0, zeroCreditSeconds=3661),
    ]
    assert shown(links_table(rows)).splitlines() == [
        "Router Links",
        "  type            dir  conn id  id  peer  class   addr                  phs  cap  pri  undel  unsett  deliv  "
        "presett  psdrop  acc  rej  rel  mod  delay  rate  stuck  cred  blkd",
        "  " + "=" * 180,
        "  edge-downlink   out  5        20        edge    QDR.E                      250  4    0      0       0      "
        "0        0       0    0    0    0    0      0     0      250   -",
        "  router-control  in   6        28                                           250  9    0      0       18     "
        "18       0       0    0    0    0    0      0     0      250   -",
        "  endpoint        out  8        49        mobile  examples              0    250  4    0      0       20     "
        "0        0       20   0    0    0    3      0     0      9     -",
        "  endpoint        out  8        57        local   temp.n4b04QWl3RjUGyA       250  4    0      0       0      "
        "0        0       0    0    0    0    0      0     0      0     01:01:01",
    ]
    rows[0]["abortedCount"] = 3
    assert links_table(rows, is_verbose=True).titles()[-4:] == ("abort", "admin", "oper", "name")


def test_columns_for_which_a_router_is_too_old_are_left_out() -> None:
    old = {name: value for name, value in link().items() if name not in ("priority", "deliveriesDelayed10Sec")}
    assert {"pri", "delay"}.isdisjoint(links_table([old]).titles())


def node(**attributes: Any) -> dict[str, Any]:
    return {
        **{"id": "QDR.A", "nextHop": "(self)", "routerLink": None, "protocolVersion": 1, "lastTopoChange": 0},
        **{"linkState": ["QDR.B"], "validOrigins": []},
        **attributes,
    }


def test_nodes_are_as_the_reference_prints_them() -> None:
    nodes = [
        node(id="QDR.B", nextHop=None, routerLink=0, cost=2, linkState=["QDR.A"]),
        node(lastTopoChange=1_795_176_512),
    ]
    assert shown(*nodes_blocks(nodes, is_verbose=True)) == """\
Routers in the Network
Last Topology Change: Friday Nov 20 12:08:32 2026 GMT
  router-id  next-hop  link  ver  cost  neighbors  valid-origins
  ================================================================
  QDR.A      (self)    -     1          ['QDR.B']  []
  QDR.B      -         0     1    2     ['QDR.A']  []"""
    assert shown(*nodes_blocks([node()])) == """\
Routers in the Network
  router-id  next-hop  link
  ===========================
  QDR.A      (self)    -"""
    assert shown(*nodes_blocks([])) == "Router is Standalone - No Router List"


def address(name: str, **attributes: Any) -> dict[str, Any]:
    counters = (
        *("inProcess", "subscriberCount", "remoteCount", "containerCount", "deliveriesIngress", "deliveriesEgress"),
        *("deliveriesRedirectedToFallback", "deliveriesTransit", "deliveriesToContainer", "deliveriesFromContainer"),
    )
    return {"distribution": "balanced", **dict.fromkeys(counters, 0), "name": name, "priority": -1, **attributes}


def test_addresses_are_as_the_reference_prints_them() -> None:
    rows = [
        address("M0examples", subscriberCount=1, deliveriesEgress=20),
        address("M0$management", distribution="closest", deliveriesIngress=153),
        address("Clr", distribution="linkBalanced", subscriberCount=5, containerCount=2),
        address("M0a.x.b", distribution="closest", priority=7, subscriberCount=1),
        address("MFfb.1"),
        address("Tqdrouter", distribution="flood", remoteCount=1, deliveriesTransit=4000),
    ]
    assert shown(addresses_table(rows)) == """\
Router Addresses
  class    addr         phs  distrib       pri  local  remote  in   out  thru   fallback
  ========================================================================================
  mobile   $management  0    closest       -    0      0       153  0    0      0
  mobile   a.x.b        0    closest       7    1      0       0    0    0      0
  mobile   examples     0    balanced      -    1      0       0    20   0      0
  mobile   fb.1         F    balanced      -    0      0       0    0    0      0
  link-in  lr                linkBalanced  -    2      0       0    0    0      0
  topo     qdrouter          flood         -    0      1       0    0    4,000  0"""
    verbose = addresses_table(rows, is_verbose=True).titles()
    assert verbose[5] == "in-proc"
    assert verbose[-2:] == ("to-proc", "from-proc")


def test_memory_is_a_table_of_pools_and_their_sum() -> None:
    pools = [
        {
            **{"identity": f"allocator/{name}", "typeSize": size, "transferBatchSize": 64, "localFreeListMax": 128},
            **{"totalAllocFromHeap": 1000, "heldByThreads": 10},
            **{"batchesRebalancedToThreads": 0, "batchesRebalancedToGlobal": 1},
        }
        for name, size in (("qd_message_t", 160), ("qd_buffer_t", 536))
    ]
    assert shown(*memory_blocks(pools, {"memoryUsage": 1_288_490_189})) == """\
Memory Pools
  type          size  batch  thread-max  total  in-threads  rebal-in  rebal-out
  ===============================================================================
  qd_buffer_t   536   64     128         1,000  10          0         1
  qd_message_t  160   64     128         1,000  10          0         1

Memory Summary
  Memory Usage  Pooled
  =======================
  1.20 GiB      680 KiB"""
    assert shown(*memory_blocks([], {})) == "No memory statistics available"
    assert shown(*memory_blocks([{"identity": "a", "totalAllocFromHeap": None}], {})) == (
        "No memory statistics available"
    )


def test_a_router_without_pools_has_its_objects_counted() -> None:
    pools = [
        {
            **{"identity": f"allocator/{name}", "typeSize": size, "transferBatchSize": 1, "localFreeListMax": 0},
            **{"totalAllocFromHeap": count, "heldByThreads": count},
            **{"batchesRebalancedToThreads": 0, "batchesRebalancedToGlobal": 0},
        }
        for name, size, count in (("qdr_link_t", 264, 1000), ("qd_connection_t", 216, 10))
    ]
    assert shown(*memory_blocks(pools, {"memoryUsage": 45_300_000})) == """\
Objects
this router keeps no pools: these are the objects that it has most of, each without what it refers to
  type             size  count  octets
  ========================================
  qd_connection_t  216   10     2.11 KiB
  qdr_link_t       264   1,000  258 KiB

Memory Summary
  Memory Usage  In These Objects
  ================================
  43.2 MiB      260 KiB"""


def test_a_policy_is_two_records() -> None:
    policy = {
        **{"maxConnections": 65535, "maxMessageSize": 0, "enableVhostPolicy": False},
        **{"enableVhostNamePatterns": False, "policyDir": "", "defaultVhost": "$default"},
        **{"connectionsProcessed": 12, "connectionsDenied": 0, "connectionsCurrent": 3, "linksDenied": 0},
        **{"maxMessageSizeDenied": 0, "totalDenials": 0},
    }
    assert shown(*policy_records(policy)) == """\
Policy Configuration
  attr                            value
  ==========================================
  Maximum Concurrent Connections  65535
  Maximum Message Size            0
  Enable Vhost Policy             False
  Enable Vhost Name Patterns      False
  Policy Directory                (nil)
  Default Vhost                   $default

Policy Status
  attr                         value
  ====================================
  Connections Processed        12
  Connections Denied           0
  Connections Current          3
  Links Denied                 0
  Maximum Message Size Denied  0
  Total Denials                0"""


def test_auto_links_are_as_the_reference_prints_them() -> None:
    rows = [
        {
            **{"address": "wp.q1", "direction": direction, "phase": phase, "externalAddress": external},
            **{"linkRef": reference, "operStatus": "active", "lastError": None},
        }
        for direction, phase, external, reference in (("in", 1, None, "109"), ("out", 0, "q1x", "110"))
    ]
    assert shown(auto_links_table(rows)) == (
        "AutoLinks\n"
        "  addr   dir  phs  extAddr  link  status  lastErr\n"
        "  =================================================\n"
        "  wp.q1  in   1             109   active  \n"
        "  wp.q1  out  0    q1x      110   active  "
    )
    assert shown(auto_links_table([])) == "AutoLinks\nNo AutoLinks found"


def test_link_routes_show_prefixes_only_if_there_are_some() -> None:
    route = {
        **{"prefix": None, "direction": "in", "distribution": "linkBalanced", "operStatus": "active"},
        **{"pattern": "lr.#", "addExternalPrefix": None, "delExternalPrefix": None},
    }
    assert shown(link_routes_table([route, {**route, "prefix": "a"}])) == """\
Link Routes
  address  dir  distrib       status
  ====================================
  a        in   linkBalanced  active
  lr.#     in   linkBalanced  active"""
    titles = link_routes_table([{**route, "addExternalPrefix": "x."}]).titles()
    assert titles[-2:] == ("add-ext-prefix", "del-ext-prefix")
    assert shown(link_routes_table([])) == "Link Routes\nNo Link Routes found"


VHOST = {
    **{"hostname": "acme", "maxConnections": 10, "maxConnectionsPerUser": 5, "maxConnectionsPerHost": 5},
    **{"allowUnknownUser": True, "groups": {"admin": {"users": "ann", "maxFrameSize": 222, "sources": "a,b"}}},
}


def test_vhosts_tell_their_limits() -> None:
    assert shown(vhosts_block([VHOST])) == """\
Vhosts
  hostname  maxConnections  maxMessageSize  maxConnectionsPerUser  maxConnectionsPerHost  allowUnknownUser  groups
  ==================================================================================================================
  acme      10              None            5                      5                      True              1"""
    assert shown(vhosts_block([])) == "No Vhosts"


def test_vhosts_without_groups_have_none() -> None:
    [row] = vhosts_block([{**VHOST, "groups": None}]).rows
    assert row[-1] == 0


def test_vhost_groups_tell_settings_and_defaults() -> None:
    schema = {"entityTypes": {"vhostUserGroupSettings": {"attributes": {"maxSenders": {"default": 7}, "users": {}}}}}
    table, group = vhost_groups_blocks([VHOST], group_defaults(schema))
    lines = shown(table).splitlines()
    assert lines[0] == "Vhost Groups"
    assert lines[3].split() == ["acme", "admin", *["(nil)"] * 3, "222", *["(nil)"] * 2, "7", "(nil)", *["False"] * 7]
    assert shown(group) == """\
Vhost 'acme' UserGroup 'admin'
  attr           value
  ======================
  vhost          acme
  group          admin
  users          ann
  remoteHosts    (nil)
  sources        a,b
  targets        (nil)
  sourcePattern  (nil)
  targetPattern  (nil)"""
    assert shown(*vhost_groups_blocks([], {})) == "No Vhosts"
    assert group_defaults({}) == {}


def test_vhost_stats_tell_users_and_their_hosts() -> None:
    stats = {
        **{"hostname": "acme", "connectionsApproved": 3, "connectionsDenied": 1, "connectionsCurrent": 2},
        **{"sessionDenied": 0, "senderDenied": 0, "receiverDenied": 0, "maxMessageSizeDenied": 0},
        "perUserState": {"ann": ["127.0.0.1:1", "127.0.0.1:2"]},
    }
    assert shown(*vhost_stats_blocks([stats])).splitlines()[-4:] == [
        "Vhost User Stats",
        "  vhost  user  remote hosts",
        "  =============================================",
        "  acme   ann   ['127.0.0.1:1', '127.0.0.1:2']",
    ]
    assert shown(*vhost_stats_blocks([])) == "No Vhost Stats"


def test_a_line_of_the_log_tells_when_where_and_what() -> None:
    message = log_message([["ROUTER_CORE", "info", "[C68] \x1b[2JLink", "core.py", 1896, 1_795_176_862]])
    assert message.lines == (f"{time.ctime(1_795_176_862)} ROUTER_CORE (info) [C68] \\x1b[2JLink",)
    assert message.rows[0]["line"] == 1896


def test_actors_show_what_this_tool_does_not_know_when_asked_for_all() -> None:
    actor = {"name": "connection/0", "type": "t", "identity": "1", "pid": 4711, "bufferedOctets": 2048, "news": 3}
    table = workers_table("Connection Actors", ACTOR_COLUMNS, [actor], is_verbose=True)
    assert shown(table) == """\
Connection Actors
  name          pid   buffered  news
  ====================================
  connection/0  4711  2.00 KiB  3"""
    assert "news" not in workers_table("Connection Actors", ACTOR_COLUMNS, [actor]).titles()


def test_no_two_views_have_the_same_option() -> None:
    options = [option for view in VIEWS for option in view.options]
    assert sorted(set(options)) == sorted(options)


def test_no_two_columns_of_a_view_have_the_same_title() -> None:
    for view in VIEWS:
        titles = [column.title for column in view.columns]
        assert sorted(set(titles)) == sorted(titles)


def test_a_table_without_rows_is_its_title() -> None:
    assert shown(tabulate("Connections", (), [])) == "Connections"
    assert shown(Message(("a", "b"))) == "a\nb"
