"""The options as the driver works with them: read once from configuration and URL, checked, then never changed."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from oslo_config import cfg
from oslo_messaging._drivers.common import ConfigOptsProxy

from . import options
from .errors import InvalidOption, InvalidURLOption, UnknownURLOption

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One field for each option, under its name; kinds of messages are sets, and words in lower case."""

    container_name: str | None
    idle_timeout: int
    trace: bool
    connection_retry_interval: int
    connection_retry_backoff: int
    connection_retry_interval_max: int
    prefer_first_host: bool
    fail_back_interval: int
    link_retry_delay: int
    ssl: bool
    ssl_ca_file: str
    ssl_cert_file: str
    ssl_key_file: str
    ssl_key_password: str | None
    ssl_verify_vhost: bool
    sasl_mechanisms: str
    sasl_config_dir: str
    sasl_config_name: str
    sasl_default_realm: str
    default_reply_retry: int
    default_reply_timeout: int
    default_send_timeout: int
    default_notify_timeout: int
    default_sender_link_timeout: int
    addressing_mode: str
    pseudo_vhost: bool
    server_request_prefix: str
    broadcast_prefix: str
    group_request_prefix: str
    rpc_address_prefix: str
    notify_address_prefix: str
    multicast_address: str
    unicast_address: str
    anycast_address: str
    default_notification_exchange: str | None
    default_rpc_exchange: str | None
    reply_link_credit: int
    rpc_server_credit: int
    notify_server_credit: int
    pre_settled: frozenset[str]
    resend_released: frozenset[str]
    return_at_once: frozenset[str]

    def __repr__(self) -> str:
        return "Settings(...)"

    @property
    def is_tls(self) -> bool:
        """Whether connections are made with TLS."""
        return self.ssl or bool(self.ssl_ca_file) or bool(self.ssl_cert_file)


_KINDS = {
    "pre_settled": options.MESSAGE_KINDS,
    "resend_released": options.RESENT_KINDS,
    "return_at_once": options.POSTED_KINDS,
}
_DEFAULTS = {one.dest: one.default for one in options.OPTIONS}
_FILES = ("ssl_ca_file", "ssl_cert_file", "ssl_key_file")


def read_settings(conf: cfg.ConfigOpts, url: Any) -> Settings:
    """Return the options of a configuration, with those in the query of the transport URL before them."""
    options.register(conf)
    for name in url.query:
        if name not in conf[options.GROUP]:
            raise UnknownURLOption(_without_secrets(url), name)
    group = None
    values: dict[str, Any] = {}
    for field in fields(Settings):
        try:
            if group is None:
                group = ConfigOptsProxy(conf, url, options.GROUP)[options.GROUP]
            values[field.name] = _checked(field.name, group[field.name])
        except ValueError as error:
            raise _fault(url, field.name, error) from error
    return Settings(**values)


def _fault(url: Any, name: str, error: ValueError) -> Exception:
    if url.query:
        for given, value in url.query.items():
            option = next(one for one in options.OPTIONS if one.dest == given)
            try:
                _checked(given, option.type(value))
            except ValueError as reason:
                return InvalidURLOption(_without_secrets(url), given, reason)
    return InvalidOption(name, error)


def _checked(name: str, value: Any) -> Any:
    if name in _KINDS:
        return _kinds(name, [value] if isinstance(value, str) else value)
    if name == "addressing_mode" and value not in options.ADDRESSING_MODES:
        raise ValueError(f"{value!r} is none of {', '.join(options.ADDRESSING_MODES)}")
    if name in _FILES and value and not os.path.isfile(value):
        raise ValueError(f"there is no file {value}")
    return value


def _kinds(name: str, given: Sequence[str]) -> frozenset[str]:
    known = _KINDS[name]
    kinds = {word.strip().lower() for one in given for word in one.split(",")} - {"", options.NO_KIND}
    unknown = sorted(kinds.difference(known))
    if not unknown:
        return frozenset(kinds)
    # A mistyped word must not remove the default.
    kinds = kinds.intersection(known).union(_DEFAULTS[name])
    words = "%s: ignored %s, which is none of %s; in force: %s"
    _log.warning(words, name, ", ".join(unknown), ", ".join(known), ", ".join(sorted(kinds)) or options.NO_KIND)
    return frozenset(kinds)


def _without_secrets(url: Any) -> str:
    return ",".join(f"{one.hostname}:{one.port}" for one in url.hosts)
