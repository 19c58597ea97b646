"""The options of the group `oslo_messaging_amqp`, as oslo.config registers them and lists them for sample files."""

from collections.abc import Sequence

from oslo_config import cfg

GROUP = "oslo_messaging_amqp"
OLD_GROUP = "amqp1"

ADDRESSING_MODES = ("legacy", "routable", "dynamic")
MESSAGE_KINDS = ("rpc-call", "rpc-reply", "rpc-cast", "notify")
RESENT_KINDS = ("rpc-call", "rpc-cast", "notify")
POSTED_KINDS = ("rpc-cast", "fanout")
NO_KIND = "none"
"""Stands for no kind at all: oslo.messaging leaves empty values out of the query of a URL."""

CONNECTION_OPTIONS = [
    cfg.StrOpt(
        "container_name",
        deprecated_group=OLD_GROUP,
        help="Name of this AMQP container. It must be unique among all that are connected; by default one is made up "
        "from the host, the program and the process.",
    ),
    cfg.IntOpt(
        "idle_timeout",
        default=10,
        deprecated_group=OLD_GROUP,
        help="Seconds of silence after which a connection counts as dead. 0 turns this off.",
    ),
    cfg.BoolOpt(
        "trace",
        default=False,
        deprecated_group=OLD_GROUP,
        help="Write every AMQP frame that is sent or received to the output of the process, for debugging.",
    ),
    cfg.IntOpt(
        "connection_retry_interval",
        default=1,
        min=1,
        help="Seconds to wait when all hosts of the transport URL were tried in vain, for the first time. Up to half "
        "of every such wait is left out at random, so that clients do not all come back at once.",
    ),
    cfg.IntOpt(
        "connection_retry_backoff",
        default=2,
        min=0,
        help="Factor by which that time grows each time that all hosts fail. With 0, further attempts follow at once.",
    ),
    cfg.IntOpt(
        "connection_retry_interval_max",
        default=30,
        min=1,
        help="Most seconds to wait before all hosts are tried again.",
    ),
    cfg.BoolOpt(
        "prefer_first_host",
        default=False,
        help="Try the hosts of the transport URL in the order in which they stand there, and go back to an earlier one "
        "when it can be connected to again. By default the first is chosen at random, and a connection stays where it "
        "is.",
    ),
    cfg.IntOpt(
        "fail_back_interval",
        default=60,
        min=0,
        help="Seconds between two looks for an earlier host, with prefer_first_host. 0 turns going back off.",
    ),
    cfg.IntOpt(
        "link_retry_delay",
        default=10,
        min=1,
        help="Seconds to wait before a link that was refused or detached is attached again, and before a message that "
        "was released is sent again.",
    ),
]

SECURITY_OPTIONS = [
    cfg.BoolOpt(
        "ssl",
        default=False,
        help="Connect with TLS. Without an ssl_ca_file, the certificates that the system trusts are used.",
    ),
    cfg.StrOpt(
        "ssl_ca_file",
        default="",
        deprecated_group=OLD_GROUP,
        help="File (PEM) with the certificates of the authorities that may have signed the server's. Turns TLS on.",
    ),
    cfg.StrOpt(
        "ssl_cert_file",
        default="",
        deprecated_group=OLD_GROUP,
        help="File (PEM) with the certificate that identifies this client. Turns TLS on.",
    ),
    cfg.StrOpt(
        "ssl_key_file",
        default="",
        deprecated_group=OLD_GROUP,
        help="File (PEM) with the private key of the certificate in ssl_cert_file, if it is not in there.",
    ),
    cfg.StrOpt(
        "ssl_key_password",
        deprecated_group=OLD_GROUP,
        secret=True,
        help="Password of the private key, if it is encrypted.",
    ),
    cfg.BoolOpt(
        "ssl_verify_vhost",
        default=False,
        help="Look for the virtual host of the transport URL in the server's certificate, not for the name of the host "
        "that is connected to.",
    ),
    cfg.StrOpt(
        "sasl_mechanisms",
        default="",
        deprecated_group=OLD_GROUP,
        help="SASL mechanisms that may be used, separated by spaces. By default, whatever both sides know.",
    ),
    cfg.StrOpt(
        "sasl_config_dir",
        default="",
        deprecated_group=OLD_GROUP,
        help="Folder with the configuration of the SASL library.",
    ),
    cfg.StrOpt(
        "sasl_config_name",
        default="",
        deprecated_group=OLD_GROUP,
        help="Name of the SASL configuration file in that folder, without its .conf.",
    ),
    cfg.StrOpt(
        "sasl_default_realm",
        default="",
        help="Realm that is appended, after an @, to a user name of the transport URL that has none.",
    ),
]

TIMEOUT_OPTIONS = [
    cfg.IntOpt(
        "default_reply_retry",
        default=0,
        min=-1,
        help="How often a reply that could not be delivered is sent again. -1 is until its time is over.",
    ),
    cfg.IntOpt(
        "default_reply_timeout",
        default=10,
        min=5,
        help="Seconds within which a reply has to be delivered.",
    ),
    cfg.IntOpt(
        "default_send_timeout",
        default=30,
        min=5,
        help="Seconds within which a call or cast has to be over whose sender gave no time-out.",
    ),
    cfg.IntOpt(
        "default_notify_timeout",
        default=30,
        min=5,
        help="Seconds within which a notification has to be accepted.",
    ),
    cfg.IntOpt(
        "default_sender_link_timeout",
        default=600,
        min=1,
        help="Seconds after which a link to a destination that nothing is sent to any more is detached.",
    ),
]

ADDRESS_OPTIONS = [
    cfg.StrOpt(
        "addressing_mode",
        default="dynamic",
        help="How addresses are composed: 'legacy' is for brokers that do not route, 'routable' for routers, and "
        "'dynamic' looks at what the peer says it is.",
    ),
    cfg.BoolOpt(
        "pseudo_vhost",
        default=True,
        help="Make the virtual host of the transport URL a part of every address. If off, it is sent to the peer as "
        "the hostname of the connection instead.",
    ),
    cfg.StrOpt(
        "server_request_prefix",
        default="exclusive",
        deprecated_group=OLD_GROUP,
        help="Prefix of the address of one server (legacy addressing).",
    ),
    cfg.StrOpt(
        "broadcast_prefix",
        default="broadcast",
        deprecated_group=OLD_GROUP,
        help="Prefix of the address of all servers of a topic (legacy addressing).",
    ),
    cfg.StrOpt(
        "group_request_prefix",
        default="unicast",
        deprecated_group=OLD_GROUP,
        help="Prefix of the address of any one server of a topic (legacy addressing).",
    ),
    cfg.StrOpt(
        "rpc_address_prefix",
        default="openstack.org/om/rpc",
        help="Prefix of every address for RPC (routable addressing).",
    ),
    cfg.StrOpt(
        "notify_address_prefix",
        default="openstack.org/om/notify",
        help="Prefix of every address for notifications (routable addressing).",
    ),
    cfg.StrOpt(
        "multicast_address",
        default="multicast",
        help="Word behind the prefix of the address of all servers of a topic (routable addressing).",
    ),
    cfg.StrOpt(
        "unicast_address",
        default="unicast",
        help="Word behind the prefix of the address of one server (routable addressing).",
    ),
    cfg.StrOpt(
        "anycast_address",
        default="anycast",
        help="Word behind the prefix of the address of any one server of a topic (routable addressing).",
    ),
    cfg.StrOpt(
        "default_notification_exchange",
        help="Exchange of notifications whose target names none (routable addressing). By default control_exchange, "
        "or 'openstack'.",
    ),
    cfg.StrOpt(
        "default_rpc_exchange",
        help="Exchange of RPC whose target names none (routable addressing). By default control_exchange, or "
        "'openstack'.",
    ),
]

DELIVERY_OPTIONS = [
    cfg.IntOpt(
        "reply_link_credit",
        default=200,
        min=1,
        help="How many replies may be on their way to this process.",
    ),
    cfg.IntOpt(
        "rpc_server_credit",
        default=100,
        min=1,
        help="How many requests may be on their way to an RPC server on each of its addresses.",
    ),
    cfg.IntOpt(
        "notify_server_credit",
        default=100,
        min=1,
        help="How many notifications may be on their way to a listener on each of its addresses.",
    ),
    cfg.MultiStrOpt(
        "pre_settled",
        default=["rpc-reply"],
        help="Kinds of messages that are sent without waiting for their outcome: rpc-call, rpc-reply, rpc-cast or "
        "notify, or none. Given once for each kind. What is sent so may be lost, and nobody is told.",
    ),
    cfg.MultiStrOpt(
        "resend_released",
        default=["rpc-cast", "notify"],
        help="Kinds of messages that are sent again, as often as the sender's retry allows, when the peer returned "
        "them as not seen by anybody: rpc-call, rpc-cast or notify. Given once for each kind; none or an empty value "
        "turns this off, and such a message fails. A call with a retry above 0 is sent again in any case.",
    ),
    cfg.MultiStrOpt(
        "return_at_once",
        default=[],
        help="Kinds of messages whose send() returns at once, whether anybody listens or not: rpc-cast (to one server) "
        "or fanout. Given once for each kind. The message still waits for somebody who takes it, as long as its "
        "time-out or default_send_timeout says. A failure is logged.",
    ),
]

OPTIONS = [*CONNECTION_OPTIONS, *SECURITY_OPTIONS, *TIMEOUT_OPTIONS, *ADDRESS_OPTIONS, *DELIVERY_OPTIONS]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the group and its options; to do so again changes nothing."""
    conf.register_group(cfg.OptGroup(GROUP, title="AMQP 1.0 driver options"))
    conf.register_opts(OPTIONS, group=GROUP)


def list_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """Return the options for oslo.config's sample generator and validator."""
    return [(GROUP, list(OPTIONS))]
