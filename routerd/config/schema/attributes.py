"""Attributes that many types have in similar form."""

from routerd.config.schema.model import INTEGER, NONE, Attribute, Rights


def limit(
    name: str, description: str, rights: Rights = NONE, default: int | None = None, unit: str | None = None
) -> Attribute:
    """Return an attribute that bounds something, from 0 on."""
    return Attribute(name, INTEGER, description, rights, default, unit=unit, least=0)


def denials(name: str, of_what: str) -> Attribute:
    """Return a counter of what was refused."""
    return Attribute(name, INTEGER, f"{of_what} that were refused.", is_graph=True)
