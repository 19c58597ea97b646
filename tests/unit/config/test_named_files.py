"""What requests to management may name: files of one folder, or none, and no variable of the environment."""

from pathlib import Path
from typing import Any

import pytest

from routerd.config import CONFIGURABLES, check_named_files
from routerd.management import ENTITY_TYPES, ChangeForbidden, ConfiguredEntity, find_entity_type


def entity(section: str, **values: Any) -> ConfiguredEntity:
    entity_type = find_entity_type(section)
    assert entity_type is not None
    return ConfiguredEntity(
        type=entity_type, identity="i", name="n", values=dict.fromkeys(entity_type.attributes) | values
    )


def refusal(
    new: ConfiguredEntity, folder: Path | None, old: ConfiguredEntity | None = None, kept: tuple[str, ...] = ()
) -> str:
    """Why it is refused, empty if it is not."""
    try:
        check_named_files(new, old, None if folder is None else str(folder), kept)
    except ChangeForbidden as forbidden:
        return str(forbidden)
    return ""


NAMING = [(one.section, name) for one in CONFIGURABLES if one.is_changeable for name in one.file_attributes]
SECRET = [(one.section, attribute) for one in CONFIGURABLES for attribute in one.passwords]


@pytest.mark.parametrize(("section", "attribute"), NAMING)
def test_no_file_is_named_without_a_folder_for_them(section: str, attribute: str, tmp_path: Path) -> None:
    new = entity(section, **{attribute: "/etc/hostname"})
    assert refusal(new, None) == (
        f"{attribute}: '/etc/hostname' is a file, and requests to management may name none; to allow files of one"
        " folder, set managementFileDir in the router section"
    )
    assert refusal(new, tmp_path) == (
        f"{attribute}: '/etc/hostname' is not in the folder '{tmp_path}' (managementFileDir of the router section),"
        " and requests to management may name no other file"
    )
    assert refusal(entity(section), None) == ""
    assert refusal(entity(section, **{attribute: f"{tmp_path}/a/b"}), tmp_path) == ""
    assert refusal(new, Path("/")) == ""


@pytest.mark.parametrize(("section", "attribute"), SECRET)
def test_a_password_is_in_no_file_and_no_variable(section: str, attribute: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    in_folder = entity(section, **{attribute: f"file:{tmp_path}/secret"})
    assert refusal(in_folder, tmp_path) == ""
    assert "may name none" in refusal(in_folder, None)
    assert "is not in the folder" in refusal(entity(section, **{attribute: "file:/etc/hostname"}), tmp_path)
    for folder in (None, tmp_path, Path("/")):
        assert refusal(entity(section, **{attribute: "env:RAY_AUTH_TOKEN_PATH"}), folder) == (
            f"{attribute}: 'env:RAY_AUTH_TOKEN_PATH' names a variable of the router's environment, which requests to"
            " management may not do; give the password itself, or name the variable in the configuration file"
        )
    for text in ("hunter2", "pass:env:HOME", "literal:file:x", ""):
        assert refusal(entity(section, **{attribute: text}), None) == ""


def test_links_and_dots_lead_where_they_lead(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "out").symlink_to("/etc")
    (folder / "in").symlink_to(folder)
    (tmp_path / "alias").symlink_to(folder)
    (tmp_path / "files2").mkdir()
    for outside in (folder / ".." / "x", folder / "out" / "hostname", tmp_path / "files2" / "x", tmp_path):
        assert "is not in the folder" in refusal(entity("log", outputFile=str(outside)), folder)
    for inside in (folder / "in" / "x", folder / "y" / ".." / "x", tmp_path / "alias" / "x"):
        assert refusal(entity("log", outputFile=str(inside)), folder) == ""
    assert refusal(entity("log", outputFile=str(folder / "x")), tmp_path / "alias") == ""


def test_a_log_may_go_where_the_process_writes_anyway() -> None:
    for stream in ("stderr", "stdout", "syslog"):
        assert refusal(entity("log", outputFile=stream), None) == ""


def test_what_the_configuration_file_names_may_stay() -> None:
    old = entity("log", outputFile="/var/log/router.log")
    assert refusal(entity("log", outputFile="/var/log/router.log", enable="trace+"), None, old) == ""
    assert refusal(entity("log", outputFile="/var/log/router.log2"), None, old) != ""


def test_what_is_the_routers_own_is_named_by_nobody(tmp_path: Path) -> None:
    own, token = tmp_path / "runtime", tmp_path / "auth_token"
    own.mkdir()
    (tmp_path / "link").symlink_to(own)
    for place in (own / "ray" / "token", token, tmp_path / "link" / "x", own):
        new = entity("connector", saslPassword=f"file:{place}")
        kept = f"saslPassword: '{place}' belongs to the router itself; name another file"
        assert refusal(new, Path("/"), kept=(str(own), str(token))) == kept
    assert refusal(entity("log", outputFile=f"{own}2"), Path("/"), kept=(str(own), str(token))) == ""


def test_every_attribute_for_a_path_is_bounded() -> None:
    """Those that requests can set, whatever is added to the schema."""
    paths = {
        (one.section or one.name, attribute.name)
        for one in ENTITY_TYPES.values()
        for attribute in one.attributes.values()
        if attribute.type.value == "path" and {"CREATE", "UPDATE"} & set(one.operations) and attribute.is_settable
    }
    assert paths - set(NAMING) == set()
