"""`routermanage user`: the users of a router that are in its user file. It works on the file, and asks no router."""

import argparse
import os
import sys
from collections.abc import Mapping
from getpass import getpass

from routerd.cli.exit_status import SUCCESS
from routerd.cli.manage.failures import ToolFailed, WrongUse
from routerd.cli.manage.suggestions import did_you_mean
from routerd.config import DEFAULT_USER_FILE, UserFileError, editing, read_users
from routerd.wire import ValueRangeError
from routerd.wire.sasl import prepared

USER = "user"
ACTIONS = ("add", "passwd", "del", "list")
VARIABLE = "ROUTERD_USER_FILE"


class UserRefused(ToolFailed):
    """The user is there already, or is not there."""


def manage_users(options: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> int:
    """Do what was typed behind `routermanage user`."""
    action, *names = options.arguments or [""]
    if action not in ACTIONS:
        raise WrongUse(f"user needs one of {', '.join(ACTIONS)}{did_you_mean(action, ACTIONS)}")
    path = options.user_file or environment.get(VARIABLE) or DEFAULT_USER_FILE
    try:
        if action == "list":
            _expect(not names, "user list takes no name")
            print("".join(f"{name}\n" for name in read_users(path).names()), end="")
            return SUCCESS
        _expect(len(names) == 1, f"user {action} needs the name of one user, and no password")
        name = prepared(names[0])
        if action == "del":
            _delete(path, name)
        else:
            password = _new_password(name, options.password_file)
            _put(path, name, password, options.iterations, is_new=action == "add")
    except UserFileError as error:
        raise UserRefused(str(error)) from None
    except ValueRangeError as error:
        raise WrongUse(str(error)) from None
    return SUCCESS


def _expect(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise WrongUse(otherwise)


def _put(path: str, name: str, password: str, iterations: int | None, *, is_new: bool) -> None:
    with editing(path) as users:
        if is_new and name in users.verifiers:
            raise UserRefused(f"{path}: there is a user {name} already; `user passwd` changes the password")
        if not is_new and name not in users.verifiers:
            raise UserRefused(f"{path}: there is no user {name}")
        users.put(name, password, iterations)


def _delete(path: str, name: str) -> None:
    read_users(path)
    with editing(path) as users:
        if users.verifiers.pop(name, None) is None:
            raise UserRefused(f"{path}: there is no user {name}")


def _new_password(name: str, file: str | None) -> str:
    if file is not None:
        return _password_in(file)
    if not sys.stdin.isatty():
        raise WrongUse("a password is asked for at a terminal only; say --password-file, `-` for stdin")
    password = getpass(f"New password of {name}: ")
    if getpass("Once more: ") != password:
        raise WrongUse("the two passwords are not the same")
    return password


def _password_in(file: str) -> str:
    """Return the first line of a file."""
    try:
        if file == "-":
            return sys.stdin.readline().removesuffix("\n")
        with open(file, encoding="utf-8") as opened:
            return opened.readline().removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"the password in {file} cannot be read: {getattr(error, 'strerror', error)}") from None
