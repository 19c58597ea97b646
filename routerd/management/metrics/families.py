"""All series that a router has at `/metrics`, with what is said of each."""

from collections.abc import Sequence

from routerd.management.metrics.exposition import Family, Kind

_COUNTER, _GAUGE, _UNKNOWN = Kind.COUNTER, Kind.GAUGE, Kind.UNKNOWN
_PEER = "peer"
_DELIVERIES = ("direction", _PEER)
_WORKER = ("worker",)

OLD_FAMILIES: Sequence[Family] = (
    Family("qdr_connections_total", _UNKNOWN, "Connections of clients and routers now."),
    Family("qdr_links_total", _UNKNOWN, "Links of clients and routers now."),
    Family("qdr_addresses_total", _UNKNOWN, "Addresses in use now."),
    Family("qdr_routers_total", _UNKNOWN, "Other routers of the network that are known now."),
    Family("qdr_link_routes_total", _UNKNOWN, "Configured link routes."),
    Family("qdr_auto_links_total", _UNKNOWN, "Configured auto-links."),
    Family("qdr_presettled_deliveries_total", _COUNTER, "Deliveries of clients that arrived settled."),
    Family("qdr_dropped_presettled_deliveries_total", _COUNTER, "Settled deliveries that were dropped."),
    Family("qdr_accepted_deliveries_total", _COUNTER, "Deliveries that came in and were accepted."),
    Family("qdr_released_deliveries_total", _COUNTER, "Deliveries that came in and were released."),
    Family("qdr_rejected_deliveries_total", _COUNTER, "Deliveries that came in and were rejected."),
    Family("qdr_modified_deliveries_total", _COUNTER, "Deliveries that came in and were modified."),
    Family("qdr_deliveries_ingress_total", _COUNTER, "Deliveries received from clients, edge routers and containers."),
    Family("qdr_deliveries_egress_total", _COUNTER, "Deliveries sent to clients, edge routers and containers."),
    Family("qdr_deliveries_transit_total", _COUNTER, "Deliveries that went on to interior routers."),
    Family("qdr_deliveries_ingress_route_container_total", _COUNTER, "Deliveries received from containers."),
    Family("qdr_deliveries_egress_route_container_total", _COUNTER, "Deliveries sent to containers."),
    Family("qdr_deliveries_delayed_1sec_total", _COUNTER, "Deliveries settled after 1 s to 10 s."),
    Family("qdr_deliveries_delayed_10sec_total", _COUNTER, "Deliveries settled after more than 10 s."),
    Family("qdr_deliveries_stuck_total", _UNKNOWN, "Deliveries under way for more than 10 s now."),
    Family("qdr_links_blocked_total", _UNKNOWN, "Links without credit for 10 s now."),
    Family("qdr_deliveries_redirected_to_fallback_total", _COUNTER, "Deliveries sent to fallback destinations."),
)
"""Under the names that the old router has; a gauge with the name of a counter has no type."""

FAMILIES: Sequence[Family] = (
    *OLD_FAMILIES,
    Family("mobula_router_info", _GAUGE, "What the router is; always 1.", ("id", "mode", "version")),
    Family("mobula_uptime_seconds", _GAUGE, "For how long the router has run."),
    Family("mobula_connections", _GAUGE, "Connections of clients and routers now."),
    Family("mobula_links", _GAUGE, "Links of clients and routers now."),
    Family("mobula_links_blocked", _GAUGE, "Links without credit for 10 s now."),
    Family("mobula_addresses", _GAUGE, "Addresses in use now."),
    Family(
        "mobula_deliveries_total",
        _COUNTER,
        "Deliveries that came in or went out, by the peer: client, router, fabric (other actors) or inner (endpoints).",
        _DELIVERIES,
    ),
    Family(
        "mobula_deliveries_settled_total",
        _COUNTER,
        "Deliveries by outcome: presettled, accepted, rejected, released or modified.",
        (*_DELIVERIES, "outcome"),
    ),
    Family(
        "mobula_deliveries_dropped_total",
        _COUNTER,
        "Settled deliveries, and copies of multicast ones, that were dropped.",
        _DELIVERIES,
    ),
    Family(
        "mobula_deliveries_delayed_total",
        _COUNTER,
        "Deliveries that were settled late: after 1 s to 10 s, or after more than 10 s.",
        (*_DELIVERIES, "seconds"),
    ),
    Family("mobula_deliveries_stuck", _GAUGE, "Deliveries under way for more than 10 s now."),
    Family("mobula_received_bytes_total", _COUNTER, "AMQP octets that came, by the peer.", (_PEER,)),
    Family("mobula_sent_bytes_total", _COUNTER, "AMQP octets that went, by the peer.", (_PEER,)),
    Family("mobula_credit_stalls_total", _COUNTER, "How often a consumer or router had no credit or room left."),
    Family("mobula_authentication_failures_total", _COUNTER, "How often a client could not prove who it is."),
    Family("mobula_policy_connections_total", _COUNTER, "Connections that policy has looked at."),
    Family(
        "mobula_policy_denials_total",
        _COUNTER,
        "What policy has refused: connection, session, link or message_size.",
        ("what",),
    ),
    Family("mobula_log_lines_total", _COUNTER, "Lines that the connection actors have logged.", ("level",)),
    Family("mobula_trunk_connections", _GAUGE, "Open connections to a neighbour.", ("router", "role")),
    Family("mobula_trunk_cost", _GAUGE, "The least cost of the trunks to a neighbour.", ("router",)),
    Family("mobula_edge_connections", _GAUGE, "Open connections of edge routers."),
    Family("mobula_connector_up", _GAUGE, "Whether a connector is connected.", ("connector", "role")),
    Family("mobula_routers", _GAUGE, "Other routers of the network that are known now."),
    Family("mobula_routers_unreachable", _GAUGE, "Those of them to which there is no way now."),
    Family("mobula_topology_changes_total", _COUNTER, "How often the ways through the network changed."),
    Family(
        "mobula_topology_last_change_timestamp_seconds", _GAUGE, "When they last did, in seconds since 1970."
    ),
    Family(
        "mobula_certificate_expiry_timestamp_seconds",
        _GAUGE,
        "When the first own certificate of a TLS profile expires, in seconds since 1970.",
        ("profile",),
    ),
    Family("mobula_recording_up", _GAUGE, "Whether all actors record; only where recording is configured."),
    Family("mobula_recording_rows_total", _COUNTER, "Rows of records, by result: written or lost.", ("result",)),
    Family("mobula_recording_rows_pending", _GAUGE, "Rows of records that wait to be written."),
    Family("mobula_recording_files_total", _COUNTER, "Files of records, by result: written or deleted.", ("result",)),
    Family("mobula_recording_written_bytes_total", _COUNTER, "Octets of records that were written."),
    Family("mobula_recording_errors_total", _COUNTER, "How often records could not be written."),
    Family("mobula_topics", _GAUGE, "Topics now. Series of topics are there only where an address has `delivery`."),
    Family("mobula_topic_subscriptions", _GAUGE, "Subscriptions of the network to these now."),
    Family("mobula_topic_publishers", _GAUGE, "Publishers that are attached at this router now."),
    Family("mobula_topic_unsettled", _GAUGE, "Deliveries that entered here and are not done."),
    Family("mobula_topic_unsettled_bytes", _GAUGE, "Octets of these deliveries."),
    Family("mobula_topic_held", _GAUGE, "Deliveries that this router holds for its subscribers now."),
    Family("mobula_topic_oldest_seconds", _GAUGE, "Age of the oldest delivery that entered here without an outcome."),
    Family("mobula_topic_accepted_total", _COUNTER, "Deliveries that all subscriptions have accepted."),
    Family("mobula_topic_rejected_total", _COUNTER, "Deliveries that a subscription has rejected."),
    Family("mobula_topic_unknown_total", _COUNTER, "Deliveries whose publishers were told nothing."),
    Family("mobula_topic_expired_total", _COUNTER, "Subscriptions that ended since they were away too long."),
    Family(
        "mobula_actor_restarts_total",
        _COUNTER,
        "How often the table, the engine or the management actor was started again.",
        ("actor",),
    ),
    Family("mobula_worker_up", _GAUGE, "Whether a connection actor has answered this scrape.", _WORKER),
    Family("mobula_worker_restarts_total", _COUNTER, "How often a connection actor was started again.", _WORKER),
    Family("mobula_worker_uptime_seconds", _GAUGE, "Time since the actor was started.", _WORKER),
    Family("mobula_worker_connections", _GAUGE, "Connections of clients and routers at the actor now.", _WORKER),
    Family("mobula_worker_fabric_connections", _GAUGE, "Other actors that it is connected to.", _WORKER),
    Family("mobula_worker_memory_bytes", _GAUGE, "Memory that its process takes.", _WORKER),
    Family("mobula_worker_buffered_bytes", _GAUGE, "What waits to be written to sockets.", _WORKER),
    Family(
        "mobula_worker_event_loop_lag_seconds", _GAUGE, "How late its event loop was when last measured.", _WORKER
    ),
    Family(
        "mobula_worker_event_loop_lag_max_seconds",
        _GAUGE,
        "How late its event loop was at most in the last second.",
        _WORKER,
    ),
)
"""In the order of `/metrics`."""

_ADDRESS = ("address", "class")
_LINK = ("connection", "link", "direction", "address", "container")
_TOPIC = ("topic",)
_CONNECTION = ("connection", "role", "container", "host", "user")

DETAILED_FAMILIES: dict[str, Sequence[Family]] = {
    "address": (
        Family("mobula_address_producers", _GAUGE, "Producers of an address now.", _ADDRESS),
        Family("mobula_address_consumers", _GAUGE, "Consumers of an address now.", _ADDRESS),
        Family("mobula_address_ingress_total", _COUNTER, "Deliveries received from its producers.", _ADDRESS),
        Family("mobula_address_egress_total", _COUNTER, "Deliveries sent to its consumers.", _ADDRESS),
        Family("mobula_address_transit_total", _COUNTER, "Deliveries from one router to another.", _ADDRESS),
        Family("mobula_address_waiting", _GAUGE, "Messages that wait for a consumer.", _ADDRESS),
        Family("mobula_address_waiting_age_seconds", _GAUGE, "For how long the oldest of them waits.", _ADDRESS),
    ),
    "connection": (
        Family("mobula_connection_uptime_seconds", _GAUGE, "For how long a connection has been open.", _CONNECTION),
        Family("mobula_connection_producers", _GAUGE, "Producers of a connection now.", _CONNECTION),
        Family("mobula_connection_consumers", _GAUGE, "Consumers of a connection now.", _CONNECTION),
        Family("mobula_connection_blocked", _GAUGE, "Whether its peer takes less than there is for it.", _CONNECTION),
    ),
    "link": (
        Family("mobula_link_deliveries_total", _COUNTER, "Deliveries of a link.", _LINK),
        Family("mobula_link_credit", _GAUGE, "Deliveries that may be begun now.", _LINK),
        Family("mobula_link_unsettled", _GAUGE, "Deliveries without a settlement now.", _LINK),
        Family("mobula_link_undelivered", _GAUGE, "Messages that wait at a link now.", _LINK),
        Family("mobula_link_stalls_total", _COUNTER, "How often there was no credit or room left.", _LINK),
        Family("mobula_link_zero_credit_seconds", _GAUGE, "For how long the link has had no credit.", _LINK),
    ),
    "router": (
        Family("mobula_route_cost", _GAUGE, "The cost of the way to another router.", ("router", "next_hop")),
    ),
    "exchange": (
        Family(
            "mobula_exchange_messages_total", _COUNTER, "Messages of an exchange, by result.", ("exchange", "result")
        ),
    ),
    "topic": (
        Family("mobula_delivery_topic_subscriptions", _GAUGE, "Subscriptions of a topic now.", _TOPIC),
        Family("mobula_delivery_topic_publishers", _GAUGE, "Its publishers at this router now.", _TOPIC),
        Family("mobula_delivery_topic_unsettled", _GAUGE, "Its deliveries that entered here and are not done.", _TOPIC),
        Family("mobula_delivery_topic_oldest_seconds", _GAUGE, "Age of the oldest one without an outcome.", _TOPIC),
        Family("mobula_delivery_topic_accepted_total", _COUNTER, "Its deliveries that all have accepted.", _TOPIC),
        Family("mobula_delivery_topic_expired_total", _COUNTER, "Its subscriptions that were away too long.", _TOPIC),
    ),
    "vhost": (
        Family("mobula_vhost_connections", _GAUGE, "Connections that a vhost has now.", ("vhost",)),
        Family("mobula_vhost_connections_total", _COUNTER, "Connections, by result.", ("vhost", "result")),
        Family("mobula_vhost_denials_total", _COUNTER, "What its policy has refused.", ("vhost", "what")),
    ),
}
"""By the names that `family` has at `/metrics/detailed`, in the order of the answer."""

LEFT_OUT = Family(
    "mobula_detailed_left_out", _GAUGE, "Things without series here, as there would have been too many.", ("family",)
)
