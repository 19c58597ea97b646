"""The AMQP types that Python lacks, as values (AMQP 1.0 part 1).

Python has one integer, one float and one text. AMQP tells ubyte from ulong and symbol from string. Each class here is a
subclass of the Python type that it resembles. So a decoded value can be used at once, and it encodes to its original
type.

Some types need no class. Null is None, boolean is bool, long is int, double is float, string is str, binary is bytes,
list is list, and uuid is uuid.UUID. A map is a dict unless a dict would lose something (see PairMap).

`FieldType` and `Composite` declare the performatives.
"""

import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum, auto
from typing import Any, ClassVar, Self
from uuid import UUID

from routerd.wire.errors import ValueRangeError


class RangedInt(int):
    """An integer of an AMQP type with a fixed width."""

    __slots__ = ()
    LOW: ClassVar[int]
    HIGH: ClassVar[int]

    def __new__(cls, value: int) -> Self:
        if not cls.LOW <= value <= cls.HIGH:
            raise ValueRangeError(f"{value} is not from {cls.LOW} to {cls.HIGH}, the range of {cls.__name__}")
        return super().__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


class UByte(RangedInt):
    """An unsigned integer of 8 bits."""

    __slots__ = ()
    LOW = 0
    HIGH = 0xFF


class UShort(RangedInt):
    """An unsigned integer of 16 bits."""

    __slots__ = ()
    LOW = 0
    HIGH = 0xFFFF


class UInt(RangedInt):
    """An unsigned integer of 32 bits."""

    __slots__ = ()
    LOW = 0
    HIGH = 0xFFFFFFFF


class ULong(RangedInt):
    """An unsigned integer of 64 bits."""

    __slots__ = ()
    LOW = 0
    HIGH = 0xFFFFFFFFFFFFFFFF


class Byte(RangedInt):
    """A signed integer of 8 bits."""

    __slots__ = ()
    LOW = -0x80
    HIGH = 0x7F


class Short(RangedInt):
    """A signed integer of 16 bits."""

    __slots__ = ()
    LOW = -0x8000
    HIGH = 0x7FFF


class Int(RangedInt):
    """A signed integer of 32 bits."""

    __slots__ = ()
    LOW = -0x80000000
    HIGH = 0x7FFFFFFF


class Timestamp(RangedInt):
    """Milliseconds since the Unix epoch, in 64 signed bits."""

    __slots__ = ()
    LOW = -0x8000000000000000
    HIGH = 0x7FFFFFFFFFFFFFFF


class Float(float):
    """A number of single precision: the value is rounded at creation."""

    __slots__ = ()

    def __new__(cls, value: float) -> Self:
        try:
            number = float(value)
            if number == number:  # a NaN is kept unchanged, because of its payload
                (number,) = _SINGLE.unpack(_SINGLE.pack(number))
        except OverflowError:
            raise ValueRangeError(f"{value} is beyond single precision") from None
        return super().__new__(cls, number)

    def __repr__(self) -> str:
        return f"Float({float(self)})"

    def __str__(self) -> str:
        return float.__repr__(self)


class Symbol(str):
    """A name from a constrained domain, in ASCII."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not text.isascii():
            raise ValueRangeError(f"the symbol {text!r} is not ASCII")
        return super().__new__(cls, text)

    def __repr__(self) -> str:
        return f"Symbol({str(self)!r})"


class Char(str):
    """One Unicode code point, surrogates excepted."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if len(text) != 1 or "\ud800" <= text <= "\udfff":
            raise ValueRangeError(f"{text!r} is not one Unicode character")
        return super().__new__(cls, text)

    def __repr__(self) -> str:
        return f"Char({str(self)!r})"


class OpaqueDecimal(bytes):
    """An IEEE 754 decimal, kept as its octets."""

    __slots__ = ()
    WIDTH: ClassVar[int]

    def __new__(cls, octets: bytes) -> Self:
        if len(octets) != cls.WIDTH:
            raise ValueRangeError(f"{cls.__name__} has {cls.WIDTH} octets, not {len(octets)}")
        return super().__new__(cls, octets)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({bytes(self)!r})"


class Decimal32(OpaqueDecimal):
    """A decimal number of 32 bits."""

    __slots__ = ()
    WIDTH = 4


class Decimal64(OpaqueDecimal):
    """A decimal number of 64 bits."""

    __slots__ = ()
    WIDTH = 8


class Decimal128(OpaqueDecimal):
    """A decimal number of 128 bits."""

    __slots__ = ()
    WIDTH = 16


@dataclass(slots=True, unsafe_hash=True)
class Described:
    """A value with a descriptor for its meaning; both may be of any type."""

    descriptor: object
    value: object


@dataclass(frozen=True, slots=True)
class DescribedType:
    """The element type of an array whose elements share a descriptor."""

    descriptor: object
    type: "str | DescribedType"


TYPE_NAMES = frozenset(
    {"null", "boolean", "ubyte", "ushort", "uint", "ulong", "byte", "short", "int", "long", "float", "double"}
    | {"decimal32", "decimal64", "decimal128", "char", "timestamp", "uuid", "binary", "string", "symbol"}
    | {"list", "map", "array"}
)


@dataclass(slots=True)
class Array:
    """Values of one type; an empty array has a type too.

    `type` is one of TYPE_NAMES, or a DescribedType; the values are those behind the descriptor then.
    """

    type: str | DescribedType
    values: list[Any]

    def __post_init__(self) -> None:
        innermost = self.type
        while isinstance(innermost, DescribedType):
            innermost = innermost.type
        if innermost not in TYPE_NAMES:
            raise ValueRangeError(f"{innermost!r} is not an AMQP type")


class PairMap(Mapping[Any, Any]):
    """A map for which a dict would lose information: ordered, with keys compared by AMQP type and value.

    Decoding returns one for keys that cannot be hashed, such as lists. It also returns one for keys that are equal only
    in Python, such as UInt(1) and True. Maps in different order are different (1.6.23).
    """

    __slots__ = ("_pairs",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self._pairs: dict[Hashable, tuple[Any, Any]] = {}
        for key, value in pairs:
            name = identity(key)
            if name in self._pairs:
                raise ValueRangeError(f"the key {key!r} is there twice")
            self._pairs[name] = (key, value)

    def __getitem__(self, key: object) -> Any:
        try:
            return self._pairs[identity(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairMap):
            return NotImplemented
        return [*self._pairs] == [*other._pairs] and [*self.values()] == [*other.values()]

    def __repr__(self) -> str:
        return f"PairMap({[*self._pairs.values()]!r})"


def identity(value: object) -> Hashable:
    """Return a key that two Python values share exactly when they are the same AMQP value."""
    match value:
        case float():
            return type(value), _DOUBLE.pack(value)
        case UUID():
            return UUID, value.bytes
        case bytearray() | memoryview():
            return bytes, bytes(value)
        case list() | tuple():
            return list, tuple(map(identity, value))
        case dict() | PairMap():
            return dict, tuple((identity(key), identity(item)) for key, item in value.items())
        case Described():
            return Described, identity(value.descriptor), identity(value.value)
        case DescribedType():
            return DescribedType, identity(value.descriptor), identity(value.type)
        case Array():
            return Array, identity(value.type), identity(value.values)
    return type(value), value


_SINGLE = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")


class FieldType(Enum):
    """The type of a field of a composite type, by its name in the standard."""

    BOOLEAN = auto()
    UBYTE = auto()
    USHORT = auto()
    UINT = auto()
    ULONG = auto()
    STRING = auto()
    SYMBOL = auto()
    BINARY = auto()
    DELIVERY_TAG = auto()
    """A binary of at most 32 octets (2.8.7)."""
    MAP = auto()
    SYMBOLS = auto()
    """A symbol field that is `multiple`: any number of symbols (1.4)."""
    ANY = auto()
    SOURCE = auto()
    TARGET = auto()
    STATE = auto()
    OUTCOME = auto()
    UNSETTLED = auto()
    """A map from delivery tags to delivery states."""
    ERROR = auto()


class Composite:
    """A value of a composite type: a dataclass whose fields are in the order of the standard.

    A field is `name: Annotated[python type, FieldType, allowed values]`. The last part is left out if every value of
    the type is allowed. A field without a default is mandatory.
    """

    __slots__ = ()
    CODE: ClassVar[int]
    """The numeric descriptor."""

    def __repr__(self) -> str:
        """Show the fields that differ from their defaults; a field with repr=False hides its value."""
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                shown.append(f"{field.name}={value!r}" if field.repr else f"{field.name}=...")
        return f"{type(self).__name__}({', '.join(shown)})"
