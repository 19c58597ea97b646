"""Where a password is: in the text itself, in a variable of the environment or in a file (9.4)."""

from collections.abc import Mapping

from routerd.config.schema.values import ValueRefused, shown

PASSWORDS_ALLOWED = ("env:NAME", "file:PATH", "pass:TEXT", "the password itself")
LINE_MAX = 1024
"""Characters that a password in a file may have."""

ENVIRONMENT, FILE, _PASSWORD = ("env:", "file:", "pass:")


def is_plain(text: str) -> bool:
    """Whether a text has the password itself."""
    return not text.startswith((ENVIRONMENT, FILE))


def password_of(text: str, environment: Mapping[str, str]) -> str:
    """Return the password that a text says, or says the place of. Raises ValueRefused."""
    if text.startswith(ENVIRONMENT):
        name = text.removeprefix(ENVIRONMENT)
        if name not in environment:
            raise ValueRefused(f"Failed to find a password in the environment variable {shown(name)}")
        return _text(environment[name], f"environment variable {shown(name)}")
    if text.startswith(FILE):
        return _first_line(text.removeprefix(FILE))
    return text.removeprefix(_PASSWORD)


def _text(password: str, place: str) -> str:
    try:
        password.encode()
    except UnicodeEncodeError:
        raise ValueRefused(f"{place} has no text") from None
    return password


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline(LINE_MAX + 1).removesuffix("\n")
    except OSError as error:
        raise ValueRefused(f"Unable to open password file {shown(path)}, error: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueRefused(f"password file {shown(path)} has no text") from None
    if not line or len(line) > LINE_MAX:
        raise ValueRefused(f"password file {shown(path)} has no password in its first line")
    return line
