"""What the documents say is what there is."""

import re
from pathlib import Path

import pytest

from docs.options_page import SECTIONS, page
from oslo_messaging_amqp1 import options

DRIVER = Path(__file__).resolve().parents[2]
PAGES = [DRIVER / "README.md", *sorted((DRIVER / "docs").glob("*.md"))]
TREE = DRIVER.parent


def test_the_page_of_the_options_is_up_to_date() -> None:
    assert (DRIVER / "docs/options.md").read_text() == page()
    assert [one for _, found in SECTIONS for one in found] == options.OPTIONS


in_the_tree = pytest.mark.skipif(
    not (TREE / "configs/openstack.conf").is_file(), reason="a distribution of the driver has no router beside it"
)


@in_the_tree
def test_every_link_between_the_pages_leads_somewhere() -> None:
    broken = [
        (path.name, target)
        for path in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_every_option_that_a_page_names_exists() -> None:
    names = {one.dest for one in options.OPTIONS}
    section = re.compile(r"\[oslo_messaging_amqp\]\n(.*?)```", re.S)
    sections = [text for path in PAGES for text in section.findall(path.read_text())]
    named = {name for text in sections for name in re.findall(r"^(\w+) *=", text, re.M)}
    assert named - names == set()
    assert named != set()


@in_the_tree
def test_the_licence_is_that_of_the_router() -> None:
    assert (DRIVER / "LICENSE").read_text() == (TREE / "LICENSE").read_text()


@in_the_tree
def test_the_router_is_told_every_prefix_that_addresses_begin_with() -> None:
    configuration = (TREE / "configs/openstack.conf").read_text()
    told = dict(re.findall(r"prefix: (\S+)\n\s+distribution: (\w+)", configuration))
    expected = {
        f"{options_by_name[prefix].default}/{options_by_name[word].default}": distribution
        for prefix in ("rpc_address_prefix", "notify_address_prefix")
        for word, distribution in (
            ("multicast_address", "multicast"),
            ("unicast_address", "closest"),
            ("anycast_address", "balanced"),
        )
    }
    expected |= {"broadcast": "multicast", "unicast": "closest", "exclusive": "closest"}
    assert told == expected


options_by_name = {one.dest: one for one in options.OPTIONS}
