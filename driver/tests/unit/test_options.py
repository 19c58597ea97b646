"""The options: names, types, defaults, bounds; and how configuration, URL and query become settings."""

import logging
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg, generator
from oslo_messaging import TransportURL
from oslo_messaging.exceptions import ConfigurationError
from oslo_messaging.transport import InvalidTransportURL

from oslo_messaging_amqp1 import options
from oslo_messaging_amqp1.driver import AMQPDriver
from oslo_messaging_amqp1.settings import Settings, read_settings

OLD = "amqp1"
EXPECTED = [
    ("container_name", cfg.StrOpt, None, None, OLD),
    ("idle_timeout", cfg.IntOpt, 10, None, OLD),
    ("trace", cfg.BoolOpt, False, None, OLD),
    ("connection_retry_interval", cfg.IntOpt, 1, 1, None),
    ("connection_retry_backoff", cfg.IntOpt, 2, 0, None),
    ("connection_retry_interval_max", cfg.IntOpt, 30, 1, None),
    ("prefer_first_host", cfg.BoolOpt, False, None, None),
    ("fail_back_interval", cfg.IntOpt, 60, 0, None),
    ("link_retry_delay", cfg.IntOpt, 10, 1, None),
    ("ssl", cfg.BoolOpt, False, None, None),
    ("ssl_ca_file", cfg.StrOpt, "", None, OLD),
    ("ssl_cert_file", cfg.StrOpt, "", None, OLD),
    ("ssl_key_file", cfg.StrOpt, "", None, OLD),
    ("ssl_key_password", cfg.StrOpt, None, None, OLD),
    ("ssl_verify_vhost", cfg.BoolOpt, False, None, None),
    ("sasl_mechanisms", cfg.StrOpt, "", None, OLD),
    ("sasl_config_dir", cfg.StrOpt, "", None, OLD),
    ("sasl_config_name", cfg.StrOpt, "", None, OLD),
    ("sasl_default_realm", cfg.StrOpt, "", None, None),
    ("default_reply_retry", cfg.IntOpt, 0, -1, None),
    ("default_reply_timeout", cfg.IntOpt, 10, 5, None),
    ("default_send_timeout", cfg.IntOpt, 30, 5, None),
    ("default_notify_timeout", cfg.IntOpt, 30, 5, None),
    ("default_sender_link_timeout", cfg.IntOpt, 600, 1, None),
    ("addressing_mode", cfg.StrOpt, "dynamic", None, None),
    ("pseudo_vhost", cfg.BoolOpt, True, None, None),
    ("server_request_prefix", cfg.StrOpt, "exclusive", None, OLD),
    ("broadcast_prefix", cfg.StrOpt, "broadcast", None, OLD),
    ("group_request_prefix", cfg.StrOpt, "unicast", None, OLD),
    ("rpc_address_prefix", cfg.StrOpt, "openstack.org/om/rpc", None, None),
    ("notify_address_prefix", cfg.StrOpt, "openstack.org/om/notify", None, None),
    ("multicast_address", cfg.StrOpt, "multicast", None, None),
    ("unicast_address", cfg.StrOpt, "unicast", None, None),
    ("anycast_address", cfg.StrOpt, "anycast", None, None),
    ("default_notification_exchange", cfg.StrOpt, None, None, None),
    ("default_rpc_exchange", cfg.StrOpt, None, None, None),
    ("reply_link_credit", cfg.IntOpt, 200, 1, None),
    ("rpc_server_credit", cfg.IntOpt, 100, 1, None),
    ("notify_server_credit", cfg.IntOpt, 100, 1, None),
    ("pre_settled", cfg.MultiStrOpt, ["rpc-reply"], None, None),
    ("resend_released", cfg.MultiStrOpt, ["rpc-cast", "notify"], None, None),
    ("return_at_once", cfg.MultiStrOpt, [], None, None),
]
TESTED = sorted(path for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_options.py")


def read(conf: cfg.ConfigOpts, url: str = "amqp://h") -> Settings:
    return read_settings(conf, TransportURL.parse(conf, url))


def test_the_options_are_these() -> None:
    assert [
        (
            *(one.dest, type(one), one.default, getattr(one.type, "min", None)),
            one.deprecated_opts[0].group if one.deprecated_opts else None,
        )
        for one in options.OPTIONS
    ] == EXPECTED


def test_every_option_is_explained_and_the_password_is_secret() -> None:
    assert [one.dest for one in options.OPTIONS if not (one.help or "").endswith(".")] == []
    assert [one.dest for one in options.OPTIONS if one.secret] == ["ssl_key_password"]


def test_every_option_is_a_setting_and_has_a_test() -> None:
    names = [one.dest for one in options.OPTIONS]
    assert sorted(Settings.__dataclass_fields__) == sorted(names)
    tests = "".join(path.read_text() for path in TESTED)
    assert [name for name in names if name not in tests] == []


def test_options_are_registered_as_often_as_one_likes(conf: cfg.ConfigOpts) -> None:
    for _ in range(2):
        options.register(conf)
        AMQPDriver(conf, TransportURL.parse(conf, "amqp://h"))
    assert conf.oslo_messaging_amqp.rpc_server_credit == 100


def test_the_old_group_is_read_still(tmp_path: Path) -> None:
    file = tmp_path / "conf"
    file.write_text("[amqp1]\ncontainer_name = me\nidle_timeout = 7\n[oslo_messaging_amqp]\nlink_retry_delay = 3\n")
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(file)])
    settings = read(conf)
    assert (settings.container_name, settings.idle_timeout, settings.link_retry_delay) == ("me", 7, 3)


def test_the_sample_generator_knows_the_group(tmp_path: Path) -> None:
    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    sample = tmp_path / "sample"
    conf(["--namespace", "oslo.messaging.amqp1", "--output-file", str(sample)])
    generator.generate(conf)
    text = sample.read_text()
    assert "[oslo_messaging_amqp]" in text
    assert [one.dest for one in options.OPTIONS if f"#{one.dest} =" not in text] == []


def test_what_the_query_says_wins(conf: cfg.ConfigOpts) -> None:
    conf.set_override("idle_timeout", 5, options.GROUP)
    settings = read(conf, "amqp://h/?idle_timeout=9&ssl=on&container_name=x&pre_settled=notify&pre_settled=rpc-call")
    assert (settings.idle_timeout, settings.ssl, settings.container_name) == (9, True, "x")
    assert settings.pre_settled == {"notify", "rpc-call"}


def test_an_unknown_option_in_the_query_is_an_error_of_either_library(conf: cfg.ConfigOpts) -> None:
    for error in (cfg.NoSuchOptError, InvalidTransportURL):
        with pytest.raises(error, match="names an option nonsense"):
            AMQPDriver(conf, TransportURL.parse(conf, "amqp://u:secret@h/?nonsense=1"))


@pytest.mark.parametrize("query", ["idle_timeout=soon", "rpc_server_credit=0", "addressing_mode=by-car", "ssl=maybe"])
def test_a_wrong_value_in_the_query_is_an_error(conf: cfg.ConfigOpts, query: str) -> None:
    for error in (ValueError, InvalidTransportURL):
        with pytest.raises(error, match=f"Option {query.split('=')[0]} of the transport URL") as raised:
            AMQPDriver(conf, TransportURL.parse(conf, f"amqp://u:secret@h/?{query}"))
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("addressing_mode", "by-car", "'by-car' is none of legacy, routable, dynamic"),
        ("ssl_ca_file", "/no/such/file", "there is no file /no/such/file"),
        ("ssl_cert_file", "/no/such/file", "there is no file /no/such/file"),
        ("ssl_key_file", "/no/such/file", "there is no file /no/such/file"),
    ],
)
def test_a_wrong_value_in_the_configuration_is_an_error(
    conf: cfg.ConfigOpts, name: str, value: Any, words: str
) -> None:
    conf.set_override(name, value, options.GROUP)
    with pytest.raises(ConfigurationError, match=rf"\[oslo_messaging_amqp\] {name}: {words}"):
        read(conf)


def test_a_value_out_of_bounds_in_a_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "conf"
    file.write_text("[oslo_messaging_amqp]\ndefault_send_timeout = 1\n")
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(file)])
    with pytest.raises(ConfigurationError, match=r"\[oslo_messaging_amqp\] default_send_timeout"):
        read(conf)


@pytest.mark.parametrize(
    ("name", "given", "expected", "words"),
    [
        (
            *("pre_settled", ["RPC-Cast", "rpc-repply"], {"rpc-cast", "rpc-reply"}),
            "rpc-repply, which is none of rpc-call, rpc-reply, rpc-cast, notify; in force: rpc-cast, rpc-reply",
        ),
        (
            *("resend_released", ["notfy"], {"rpc-cast", "notify"}),
            "notfy, which is none of rpc-call, rpc-cast, notify; in force: notify, rpc-cast",
        ),
        ("return_at_once", ["all"], set(), "all, which is none of rpc-cast, fanout; in force: none"),
    ],
)
def test_an_unknown_kind_of_message_is_ignored_with_a_warning_and_takes_no_default_away(
    conf: cfg.ConfigOpts, caplog: pytest.LogCaptureFixture, name: str, given: list[str], expected: set[str], words: str
) -> None:
    conf.set_override(name, given, options.GROUP)
    assert getattr(read(conf), name) == expected
    assert [one.message for one in caplog.records if one.levelno == logging.WARNING] == [f"{name}: ignored {words}"]


@pytest.mark.parametrize("name", ["pre_settled", "resend_released"])
def test_kinds_of_messages_can_be_turned_off_in_a_file_and_in_the_query(conf: cfg.ConfigOpts, name: str) -> None:
    assert getattr(read(conf, f"amqp://h/?{name}=none"), name) == set()
    conf.set_override(name, [""], options.GROUP)
    assert getattr(read(conf), name) == set()
