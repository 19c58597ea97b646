"""Configuration files: which of the two forms one has, and its sections."""

import os
from pathlib import Path

from routerd.config.conf_form import read_conf_form
from routerd.config.errors import ConfigError, ConfigErrors
from routerd.config.json_form import read_json_form
from routerd.config.json_reader import SyntaxFault
from routerd.config.sections import Sections


def read_text(path: str | os.PathLike[str]) -> str:
    """Return what a file says; raises ConfigErrors."""
    name = os.fspath(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = f"Not found: Configuration file could not be opened: {error.strerror}"
        raise _rejected(name, reason, None) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _rejected(name, "An octet that is not UTF-8", line) from error


def read_sections(text: str, name: str) -> Sections:
    """Return the sections of a text in the form that the name says: JSON if it ends in `.json`; raises ConfigErrors."""
    if not text:
        raise _rejected(name, "Configuration: Configuration file was empty", None)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        text.encode()
        return read_json_form(text) if name.endswith(".json") else read_conf_form(text)
    except UnicodeEncodeError as error:
        raise _rejected(name, "A character that is not text", text.count("\n", 0, error.start) + 1) from error
    except SyntaxFault as fault:
        raise _rejected(name, fault.reason, fault.line, fault.hint) from fault


def _rejected(name: str, reason: str, line: int | None, right: str | None = None) -> ConfigErrors:
    allowed = (right,) if right else ()
    return ConfigErrors([ConfigError(name, line, None, None, None, reason, allowed)])
