"""Control messages: what they look like on the wire, and what of it peers may do otherwise."""

import pytest

from routerd.mesh import (
    ControlMessage,
    Hello,
    LinkStateRequest,
    LinkStateUpdate,
    MalformedControl,
    MobileAddressRequest,
    MobileAddressUpdate,
    RouterAdvertisement,
    UnsupportedVersion,
)
from routerd.wire import Array, Int, Long, PairMap, Symbol, UInt, ULong, decode, encode

