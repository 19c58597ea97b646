"""What is given becomes a value of the attribute's type, or is refused with the reason."""

import pytest

from routerd.management import Attribute, ValueRefused, ValueType, convert, shown

STRING = Attribute("s", ValueType.STRING, "")
LIST_IN_STRING = Attribute("s", ValueType.STRING, "", separator=",")
INTEGER = Attribute("i", ValueType.INTEGER, "")
PRIORITY = Attribute("i", ValueType.INTEGER, "", least=0, most=9)
BOOLEAN = Attribute("b", ValueType.BOOLEAN, "")
MODE = Attribute("e", ValueType.ENUM, "", tags=("standalone", "interior"))
PATH = Attribute("p", ValueType.PATH, "")
PROPERTIES = Attribute("o", ValueType.PROPERTIES, "")
MAP = Attribute("m", ValueType.MAP, "")
LIST = Attribute("l", ValueType.LIST, "")
ENTITY_ID = Attribute("n", ValueType.ENTITY_ID, "")

TAKEN = [
    (STRING, "a b", "a b"),
    (STRING, "", ""),
    (STRING, 5672, "5672"),
    (STRING, 1.5, "1.5"),
    (STRING, True, "true"),
    (STRING, False, "false"),
    (LIST_IN_STRING, ["a", "b"], "a,b"),
    (PATH, "~/x", "~/x"),
    (ENTITY_ID, 7, "7"),
    (INTEGER, "7", 7),
    (INTEGER, " -1_000 ", -1000),
    (INTEGER, 7, 7),
    (INTEGER, 7.0, 7),
    (PRIORITY, "0", 0),
    (PRIORITY, "9", 9),
    *((BOOLEAN, text, True) for text in ("yes", "true", "on", "YES", "True", True, 1, 0.5)),
    *((BOOLEAN, text, False) for text in ("no", "false", "off", "NO", "False", False, 0, 0.0)),
    (MODE, "interior", "interior"),
    (MODE, "1", "interior"),
    (MODE, 0, "standalone"),
    (PROPERTIES, {"a": {"é": 1}}, {"a": {"é": 1}}),
    (MAP, {"é": []}, {"é": []}),
    (LIST, [1, "a"], [1, "a"]),
]


@pytest.mark.parametrize(("attribute", "given", "value"), TAKEN)
def test_a_fitting_value_is_taken(attribute: Attribute, given: object, value: object) -> None:
    converted = convert(attribute, given)
    assert (converted, type(converted)) == (value, type(value))


REFUSED = [
    (STRING, ["a"], "a list is not text"),
    (STRING, {"a": 1}, "a map is not text"),
    (LIST_IN_STRING, ["a", 1], "a list is not text"),
    (PATH, "a\0b", "the text contains NUL"),
    (INTEGER, "abc", "'abc' is not a whole number"),
    (INTEGER, "5s", "'5s' is not a whole number: write the number alone, without a unit"),
    (INTEGER, "10 ms", "'10 ms' is not a whole number: write the number alone, without a unit"),
    (INTEGER, "1.5", "'1.5' is not a whole number"),
    (INTEGER, 1.5, "1.5 is not a whole number"),
    (INTEGER, float("inf"), "inf is not a whole number"),
    (INTEGER, True, "True is not a whole number"),
    (INTEGER, {}, "a map is not a whole number"),
    (PRIORITY, "10", "10 is too large"),
    (PRIORITY, -1, "-1 is too small"),
    (BOOLEAN, "maybe", "Invalid Boolean value ''maybe''"),
    (BOOLEAN, "1", "Invalid Boolean value ''1''"),
    (BOOLEAN, [], "Invalid Boolean value 'a list'"),
    (MODE, "foo", "Invalid value for enum['standalone', 'interior']: 'foo'"),
    (MODE, "Interior", "Invalid value for enum['standalone', 'interior']: 'Interior'"),
    (MODE, "2", "Invalid value for enum['standalone', 'interior']: '2'"),
    (MODE, -1, "Invalid value for enum['standalone', 'interior']: -1"),
    (MODE, ["interior"], "Invalid value for enum['standalone', 'interior']: a list"),
    (PROPERTIES, "a", "Properties must be a map: 'a' is not"),
    (PROPERTIES, {"é": 1}, "Property keys must be ASCII encoded: 'é' is not"),
    (MAP, [1], "a list is not a map"),
    (LIST, "a", "'a' is not a list"),
]


@pytest.mark.parametrize(("attribute", "given", "reason"), REFUSED)
def test_what_does_not_fit_is_refused_with_the_reason(attribute: Attribute, given: object, reason: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        convert(attribute, given)
    assert str(refused.value) == reason


def test_a_long_value_is_shown_in_part() -> None:
    assert shown("x" * 150) == f"'{'x' * 100}'... (50 more)"
    assert shown(10**100) == "a number of more than 77 digits"


def test_a_value_is_shown_in_one_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
