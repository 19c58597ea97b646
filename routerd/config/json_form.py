"""The JSON form of a configuration file: a list of lists of a section's name and a map of its attributes (1.5)."""

from routerd.config.json_reader import JsonReader, SyntaxFault, Text
from routerd.config.sections import Sections

_SHAPE = 'a list of sections, each a list like ["listener", {"port": 5672}]'


def read_json_form(source: str) -> Sections:
    """Return the sections of a text in JSON form; raises SyntaxFault."""
    reader = JsonReader(Text(source))
    sections = Sections()
    _open(reader, "[", "A configuration in JSON form is a list")
    for _ in reader.items("]"):
        _read_section(reader, sections)
    if reader.peek():
        raise reader.fault("Extra data")
    return sections


def _read_section(reader: JsonReader, sections: Sections) -> None:
    line = reader.line
    _open(reader, "[", "A section is a list of its name and a map")
    if reader.peek() != '"':
        raise SyntaxFault("A section begins with its name", reader.line, _SHAPE)
    section = sections.open(reader.string(), line)
    _open(reader, ",", f"Section '{section.name}' has no map of attributes")
    _open(reader, "{", f"The attributes of section '{section.name}' are a map")
    for name, value, attribute_line in reader.members():
        sections.give(section, name, value, attribute_line)
    _open(reader, "]", f"Section '{section.name}' has more than a name and a map")


def _open(reader: JsonReader, character: str, otherwise: str) -> None:
    found = reader.peek()
    if not found:
        raise reader.fault("Expecting value")
    if found != character:
        raise SyntaxFault(otherwise, reader.line, _SHAPE)
    reader.position += 1
