"""routerd, the launcher: reads the configuration, starts the router, waits for its end.

Ray is imported when a router is started on it, and only then.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from routerd.cli.announcements import announce_configuration, announce_readiness
from routerd.cli.arguments import parse
from routerd.cli.daemon import DaemonError, Parent, PidFile, become_daemon, become_user
from routerd.cli.drop_in import as_drop_in
from routerd.cli.exit_status import FAILURE, SUCCESS
from routerd.cli.lifetime import Lifetime, Router, traceback_of
from routerd.cli.options import OptionError, Options, read_options, write_sample
from routerd.cli.runtime_folder import LOG_SOCKET, RuntimeFolderError, runtime_folder
from routerd.cli.version import version, version_text
from routerd.config import (
    DEFAULT_USER_FILE,
    ConfigErrors,
    ConfigRejected,
    LogModuleConfig,
    RouterConfig,
    UserFileError,
    differences,
    line_of,
    load_config,
    read_users,
    with_directory,
)
from routerd.config.kinds import in_every_folder
from routerd.core import RouterMode
from routerd.io import (
    AuthenticationUnusable,
    InProcessRouter,
    ListenFailed,
    LogFileError,
    LogReceiver,
    check_profiles,
    check_record_directory,
    configure_logs,
    finish_logs,
    module_log,
    reserve,
    use_tricks,
)
from routerd.management import ChangeRefused

_main_log = module_log("MAIN")
_server_log = module_log("SERVER")


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the status to exit with."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    if arguments.version:
        print(version_text())
        return SUCCESS
    if arguments.sample_options:
        write_sample(sys.stdout)
        return SUCCESS
    try:
        options = read_options(vars(arguments), os.environ)
        if arguments.stop is not None:
            return _stop(arguments.stop, options)
        config = load_config(arguments.config, is_strict=arguments.strict)
        config = _adapted(config, options, has_test_hooks=arguments.test_hooks)
        unusable, faults = list(_faults_of_profiles(config, arguments.config)), list[str]()
        if arguments.strict:
            faults += (f"Cannot load configuration file {one}" for one in unusable)
        else:
            told = [f"{one}: connections that need the profile are refused" for one in unusable]
            config = replace(config, warnings=(*config.warnings, *told), faults=config.faults.union(told))
        if config.router.user_file is not None and not arguments.user:
            faults += _faults_of_users(config.router.user_file)
    except (OptionError, ConfigRejected) as error:
        if isinstance(error, ConfigErrors):
            for line in (*error.warnings, error.errors[0].old_sentence):
                _complain(line)
        _complain(str(error))
        return FAILURE
    if faults:
        _complain("\n".join(faults))
        return FAILURE
    if arguments.check:
        _tell_of(arguments.config, config, options, is_explained=arguments.explain is not None)
        return SUCCESS
    if (arguments.pidfile or arguments.user) and not arguments.daemon:
        _complain("-P and -U mean nothing without -d")
    parent = Parent()
    # The waiting command hears of a failure when nothing of the daemon is left, not even its pid file.
    try:
        with ExitStack() as at_exit:
            if arguments.daemon:
                _warn_of_lost_logs(config)
                pid_file = PidFile(arguments.pidfile) if arguments.pidfile else None
                parent = become_daemon()
                _settle_in(pid_file, arguments.user, at_exit)
            at_exit.callback(finish_logs)
            return _run(config, options, parent, at_exit)
    except (DaemonError, LogFileError, RuntimeFolderError) as error:
        _complain(str(error))
        parent.tell_failed(str(error))
        return FAILURE
    except StartFailed as failure:
        parent.tell_failed(str(failure))
        return FAILURE


def _tell_of(path: str, config: RouterConfig, options: Options, *, is_explained: bool) -> None:
    """Say what there is to say about a file that is right."""
    if not is_explained:
        _complain("\n".join(config.warnings))
    print(f"{path}: no errors")
    if is_explained:
        told = [one.told(path) for one in differences(path, is_drop_in=options.drop_in)]
        print("\n".join((*config.warnings, *told)))


def _faults_of_profiles(config: RouterConfig, path: str) -> Iterator[str]:
    """Yield why profiles cannot be used, with where the file says so."""
    for fault in check_profiles(config.ssl_profiles, (*config.listeners, *config.connectors)):
        line = line_of(path, "sslProfile", fault.profile, fault.attribute)
        place = "" if line is None else f"line {line}: "
        yield f"{path}: {place}{fault}"


def _faults_of_users(path: str) -> list[str]:
    try:
        read_users(path)
    except UserFileError as error:
        return [f"Cannot use the user file {error}"]
    return []


def _warn_of_lost_logs(config: RouterConfig) -> None:
    """Say which part of the log a daemon loses: its standard output and error are the null device."""
    default = next((one for one in config.logs.modules if one.module == "DEFAULT"), LogModuleConfig(module="DEFAULT"))
    lost = [
        one.module
        for one in (default, *(module for module in config.logs.modules if module.module != "DEFAULT"))
        if (one.output_file or default.output_file or "stderr") in ("stderr", "stdout")
    ]
    if lost:
        modules = "the log" if "DEFAULT" in lost else f"the log of {', '.join(lost)}"
        _complain(
            f"-d: {modules} goes to standard output or error, which a daemon does not have, and is lost: "
            "name a file in 'outputFile' of a section 'log', or syslog"
        )


class StartFailed(Exception):
    """Why the router did not start; its log has said so."""


def _run(config: RouterConfig, options: Options, parent: Parent, at_exit: ExitStack) -> int:
    """Start the router and stay with it to its end."""
    configure_logs(config.logs, router_id=config.router.id, as_json=options.log_format == "json")
    announce_configuration(config)
    try:
        config = _with_reserved_ports(config, at_exit)
        lifetime = Lifetime(_router(config, options, at_exit), options.shutdown_grace)
        listening = lifetime.start()
    except ListenFailed as failure:
        _server_log.error("Listener error on %s", failure)
        _server_log.critical("Shutting down, required listener failed %s:%s", failure.host, failure.port)
        raise StartFailed(f"Listener error on {failure}") from failure
    except (LogFileError, RuntimeFolderError):
        raise
    except AuthenticationUnusable as error:
        _main_log.critical("Router start-up failed: %s", error)
        raise StartFailed(f"Router start-up failed: {error}") from error
    except Exception as error:
        _main_log.critical("Router start-up failed: %s", error, exc_info=traceback_of(error))
        raise StartFailed(f"Router start-up failed: {error}") from error
    if listening is None:
        return SUCCESS
    announce_readiness(listening, config.listeners, _workers(config, options))
    parent.tell_ready()
    return SUCCESS if options.detach else lifetime.stay()


def _stop(router_id: str, options: Options) -> int:
    """End a router that goes on without a launcher."""
    if options.ray_address is None:
        raise OptionError("stop: say with ray_address in which Ray the router runs")
    from actors import JoinFailed, start

    try:
        was_there = start.stop_router(
            router_id,
            ray_address=options.ray_address,
            ray_namespace=options.ray_namespace,
            grace_s=options.shutdown_grace,
        )
    except JoinFailed as error:
        _complain(str(error))
        return FAILURE
    if not was_there:
        _complain(f"There is no router {router_id} in namespace {options.ray_namespace} of this Ray")
        return FAILURE
    return SUCCESS


def _with_reserved_ports(config: RouterConfig, at_exit: ExitStack) -> RouterConfig:
    """Return the configuration with numbers for the ports that may be any, and keep all of them for this router."""
    listeners = []
    sections = list(config.sections)
    places = (at for at, (name, _) in enumerate(sections) if name == "listener")
    for listener, at in zip(config.listeners, places, strict=True):
        reservation = reserve(listener.host, listener.port, family=listener.family, name=listener.name)
        at_exit.callback(reservation.close)
        listeners.append(replace(listener, port=reservation.port))
        if listener.port == 0:
            sections[at] = ("listener", {**sections[at][1], "port": str(reservation.port)})
    return replace(config, listeners=tuple(listeners), sections=tuple(sections))


def _workers(config: RouterConfig, options: Options) -> int:
    """Return how many workers share the listeners: one in an edge router, which is a small one."""
    return 1 if options.in_process or config.router.mode is RouterMode.EDGE else options.connection_actors


def _router(config: RouterConfig, options: Options, at_exit: ExitStack) -> Router:
    use_tricks(options.tricks)
    if options.in_process:
        return InProcessRouter(config, busy_poll_s=options.busy_poll / 1e6, keeps_core=options.keep_core)
    from actors import start

    folder = at_exit.enter_context(runtime_folder(options.runtime_directory, is_kept=options.detach))
    receiver = LogReceiver(os.path.join(folder, LOG_SOCKET))
    at_exit.callback(receiver.close)
    receiver.start()
    return start.Router(
        config,
        start.RouterOptions(
            connection_actors=_workers(config, options),
            ray_address=options.ray_address,
            ray_namespace=options.ray_namespace,
            placement=options.placement,
            busy_poll_s=options.busy_poll / 1e6,
            keeps_core=options.keep_core,
            uses_tricks=options.tricks,
            folder=folder,
            is_folder_private=options.runtime_directory is None,
            log_socket=receiver.path,
            logs_as_json=options.log_format == "json",
            is_detached=options.detach,
        ),
    )


def _adapted(config: RouterConfig, options: Options, *, has_test_hooks: bool) -> RouterConfig:
    """Return the configuration with what the options override, and with no file name that depends on a folder."""
    logs = config.logs
    modules = logs.modules
    if options.log_level is not None:
        others = (replace(module, enable=None) for module in modules if module.module != "DEFAULT")
        default = next((module for module in modules if module.module == "DEFAULT"), LogModuleConfig(module="DEFAULT"))
        modules = (*others, replace(default, enable=options.log_level))
    modules = tuple(replace(module, output_file=in_every_folder(module.output_file)) for module in modules)
    users = options.user_file or (DEFAULT_USER_FILE if os.path.exists(DEFAULT_USER_FILE) else None)
    config = as_drop_in(config) if options.drop_in else config
    router = replace(config.router, version=version(), has_test_hooks=has_test_hooks, user_file=users)
    if router.sasl_config_dir is not None:
        folders = ":".join(map(os.path.abspath, router.sasl_config_dir.split(":")))
        router = replace(router, sasl_config_dir=folders)
    config = _with_one_worker(config) if router.mode is RouterMode.EDGE else config
    sections = tuple(
        (name, _adapted_log(values, modules) if name == "log" else values) for name, values in config.sections
    )
    config = replace(config, router=router, logs=replace(logs, modules=modules), sections=sections)
    return _with_records(config, options.record_directory)


def _with_records(config: RouterConfig, directory: str | None) -> RouterConfig:
    """Return the configuration with a folder for records that can be used; raises OptionError."""
    given = next((values for name, values in config.sections if name == "record"), None)
    record, values = with_directory(config.record, given, directory)
    try:
        check_record_directory(record)
    except ChangeRefused as refusal:
        raise OptionError(f"record_directory, or the section `record`: {refusal}") from refusal
    others = tuple((name, one) for name, one in config.sections if name != "record")
    sections = others if values is None else (*others, ("record", values))
    return replace(config, record=record, sections=sections)


def _with_one_worker(config: RouterConfig) -> RouterConfig:
    """Return the configuration of an edge router, whose one uplink is at its only connection actor."""
    return replace(
        config,
        listeners=tuple(replace(one, dedicated_actor=False) for one in config.listeners),
        connectors=tuple(replace(one, dedicated_actor=False) for one in config.connectors),
    )


def _adapted_log(values: Mapping[str, Any], modules: tuple[LogModuleConfig, ...]) -> Mapping[str, Any]:
    """Return the attributes of a section `log` as its module has them now."""
    module = next(one for one in modules if one.module == values["module"])
    return {**values, "enable": module.enable, "outputFile": module.output_file}


def _settle_in(pid_file: PidFile | None, user: str | None, at_exit: ExitStack) -> None:
    """Write the pid file, then become the user: in this order, since the user may not be allowed to write there."""
    if pid_file is not None:
        pid_file.write()
        at_exit.callback(pid_file.remove)
    if user is not None:
        become_user(user)


def _complain(text: str) -> None:
    for line in text.splitlines():
        print(f"{sys.argv[0]}: {line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
