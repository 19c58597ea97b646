"""Options of the process beside the router's configuration file: how many actors, which Ray, where files go.

Each option is described once, for oslo.config. It is looked for in this order, and the first place that has it wins:

* the command line (`--connection-actors 4`)
* the environment (`ROUTERD_CONNECTION_ACTORS=4`)
* the file that `--options-file` or `ROUTERD_OPTIONS_FILE` names (`connection_actors = 4` in its section `[DEFAULT]`)
* the default
"""

import argparse
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TextIO

from oslo_config import cfg

from routerd.config import DEFAULT_USER_FILE, LevelUnknown, parse_enable

ENVIRONMENT_PREFIX = "ROUTERD_"
_PYTHON_WORDS = (
    ("invalid literal for int()", "it has to be a whole number"),
    ("could not convert string to float", "it has to be a number"),
)
NAMESPACE = "mobula"
"""Under which oslo-config-generator finds the options."""

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.IntOpt(
        "connection_actors",
        min=1,
        sample_default="<cores - 1, at least 1>",
        help="How many actors share the connections of the router. Each has a process and an event loop of its own, "
        "so one for each core leaves none idle; one core less leaves room for everything else.",
    ),
    cfg.StrOpt(
        "ray_address",
        metavar="auto|HOST:PORT",
        help="The Ray to join: HOST:PORT of its head, or 'auto' for the one that runs on this host. The environment "
        "variable RAY_ADDRESS says the same. Where nothing does, the router starts a small Ray of its own and ends it "
        "when it ends.",
    ),
    cfg.StrOpt(
        "ray_namespace",
        default="mobula",
        help="The Ray namespace that the actors are named in. Routers of different namespaces do not see each other's "
        "actors.",
    ),
    cfg.StrOpt(
        "placement",
        choices=[
            ("spread", "the connection actors are spread over the hosts of the Ray cluster"),
            ("pack", "the connection actors are put on as few hosts as have room for them"),
        ],
        default="spread",
        help="Where Ray puts the connection actors when it has several hosts.",
    ),
    cfg.StrOpt(
        "record_directory",
        metavar="PATH",
        help="The folder that decisions are recorded in. Where the configuration file has no section `record`, sums "
        "and one decision in 100 are recorded then; else it takes the place of the folder that the section names.",
    ),
    cfg.FloatOpt(
        "shutdown_grace",
        min=0,
        default=10.0,
        metavar="SECONDS",
        help="How long deliveries under way may take to be settled when the router ends in order.",
    ),
    cfg.IntOpt(
        "busy_poll",
        min=0,
        max=10_000,
        default=200,
        metavar="MICROSECONDS",
        help="How soon work has to follow work for an actor to look for more, two and a half times as long, before it "
        "sleeps. That saves the time to wake up, much on virtual machines, and costs processor time. 0 is not at all.",
    ),
    cfg.BoolOpt(
        "keep_core",
        default=True,
        help="A busy actor that has to wait for its core goes to the one that is used least, and keeps to it while it "
        "is busy. Not where something else decides who runs on which core.",
    ),
    cfg.BoolOpt(
        "tricks",
        default=True,
        help="Use what makes the router faster, smaller or quieter by private or unusual means of Linux, Python and "
        "Ray. docs/tricks.md names each. Switch it off to find out whether one of them is at fault.",
    ),
    cfg.StrOpt(
        "log_format",
        choices=[
            ("text", "[TIMESTAMP] MODULE (level) text"),
            ("json", "one JSON object a line, with the id of the router"),
        ],
        default="text",
        help="The form of a line of the log.",
    ),
    cfg.StrOpt(
        "log_level",
        metavar="LEVELS",
        help="What all modules log, whatever the configuration file says: levels as in the attribute 'enable' of its "
        "section 'log', for example 'debug+'.",
    ),
    cfg.BoolOpt(
        "in_process",
        default=False,
        help="Run everything in one process, without Ray: one event loop, nothing is restarted. It does not go with "
        "several connection_actors.",
    ),
    cfg.BoolOpt(
        "drop_in",
        default=False,
        help="Do as qdrouterd does where this router is more careful by default: requests to management may change "
        "everything and name all files, unless a policy or the section 'router' is in the way, and settled "
        "messages may be dropped. docs/differences.md says more.",
    ),
    cfg.BoolOpt(
        "detach",
        default=False,
        help="Leave the router running in Ray when this command ends. It needs a Ray to join.",
    ),
    cfg.StrOpt(
        "user_file",
        metavar="PATH",
        sample_default=DEFAULT_USER_FILE,
        help="The router's own users, as 'routermanage user' writes them. Where nothing is said they are in "
        f"{DEFAULT_USER_FILE}, if there is such a file. A configuration of Cyrus SASL takes precedence.",
    ),
    cfg.StrOpt(
        "runtime_directory",
        metavar="PATH",
        help="Where the sockets go that the processes of the router talk through; other users must not be able to "
        "write there. Where it is not set, the router makes a private directory and removes it when it ends.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a process, each as its description above says."""

    connection_actors: int
    ray_address: str | None
    ray_namespace: str
    placement: str
    record_directory: str | None
    shutdown_grace: float
    busy_poll: int
    keep_core: bool
    tricks: bool
    log_format: str
    log_level: str | None
    in_process: bool
    drop_in: bool
    detach: bool
    user_file: str | None
    runtime_directory: str | None


class OptionError(Exception):
    """An option that has no place or a wrong value; the message says where it was given."""


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options as oslo-config-generator asks for them."""
    return [("DEFAULT", list(OPTIONS))]


def write_sample(to: TextIO) -> None:
    """Write an options file that says what every option means and has none set."""
    from oslo_config import generator

    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    conf(["--namespace", NAMESPACE], project="oslo-config-generator", default_config_files=[], default_config_dirs=[])
    generator.generate(conf, to)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser an argument for each option."""
    group = parser.add_argument_group("options of the process", "also in the environment and in the options file")
    for option in OPTIONS:
        flags = [f"--{option.name.replace('_', '-')}"]
        if option.name == "ray_address":
            flags.insert(0, "--address")
        text = (option.help or "").replace("%", "%%")
        if isinstance(option, cfg.BoolOpt):
            group.add_argument(*flags, dest=option.name, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            metavar = option.metavar or "|".join(getattr(option.type, "choices", None) or ()) or "N"
            group.add_argument(*flags, dest=option.name, metavar=metavar, help=text)


def read_options(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> Options:
    """Return the options as the command line, the environment and the options file have them."""
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS)
    conf([], project="routerd", default_config_files=[], default_config_dirs=[], use_env=False)
    path = arguments.get("options_file") or environment.get(f"{ENVIRONMENT_PREFIX}OPTIONS_FILE")
    in_file = _in_file(path) if path else {}
    for option in OPTIONS:
        place, value = next(_given(option.name, arguments, environment, in_file), (None, None))
        if place is not None:
            _set(conf, option.name, place, value)
    values = {field.name: conf[field.name] for field in fields(Options)}
    if values["in_process"] and (values["connection_actors"] or 1) > 1:
        raise OptionError(
            f"connection_actors: {values['connection_actors']} cannot be in one process, which has one event loop; "
            "leave out in_process, or connection_actors"
        )
    if values["connection_actors"] is None:
        values["connection_actors"] = max(1, len(os.sched_getaffinity(0)) - 1)
    for name in ("record_directory", "user_file", "runtime_directory"):
        # The processes of the router have folders of their own to begin with.
        values[name] = values[name] and os.path.abspath(values[name])
    return _checked(Options(**values))


def _given(
    name: str, arguments: Mapping[str, Any], environment: Mapping[str, str], in_file: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, Any]]:
    """Yield the places that have an option, with its value there; the first counts."""
    if arguments.get(name) is not None:
        yield f"--{name.replace('_', '-')}", arguments[name]
    variables = [f"{ENVIRONMENT_PREFIX}{name.upper()}", *(["RAY_ADDRESS"] if name == "ray_address" else [])]
    for variable in variables:
        if environment.get(variable):
            yield variable, environment[variable]
    if name in in_file:
        yield in_file[name]


def _in_file(path: str) -> dict[str, tuple[str, str]]:
    """Return the place and the value of each option in an options file, which has nothing else."""
    sections: dict[str, dict[str, list[str]]] = {}
    try:
        cfg.ConfigParser(path, sections).parse()
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror}") from error
    except (cfg.ParseError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: {error}") from error
    known = {option.name for option in OPTIONS}
    for section, found in sections.items():
        if section != "DEFAULT":
            raise OptionError(f"{path}: there is no section [{section}], only [DEFAULT]")
        for name in found:
            if name not in known:
                raise OptionError(f"{path}: there is no option '{name}'; there are {', '.join(sorted(known))}")
    return {name: (f"{path}: {name}", values[-1]) for name, values in sections.get("DEFAULT", {}).items()}


def _set(conf: cfg.ConfigOpts, name: str, place: str, value: Any) -> None:
    try:
        conf.set_override(name, value)
    except ValueError as error:
        reason = str(error)
        for said, meant in _PYTHON_WORDS:
            if reason.startswith(said):
                reason = meant
        raise OptionError(f"{place}: {value!r}: {reason}") from error


def _checked(options: Options) -> Options:
    """Return options that can go together."""
    if not math.isfinite(options.shutdown_grace):
        raise OptionError(f"shutdown_grace: {options.shutdown_grace} is not a number of seconds")
    if options.detach and options.in_process:
        raise OptionError("detach: what runs in one process ends with it; leave out in_process")
    if options.detach and options.ray_address is None:
        raise OptionError("detach: only a Ray that is there already keeps a router; say which with ray_address")
    if options.log_level is not None:
        try:
            parse_enable(options.log_level)
        except LevelUnknown as error:
            raise OptionError(f"log_level: {error}") from error
    return options
