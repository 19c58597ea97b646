"""Memory that a worker and the process which writes its records both see."""

import itertools
import mmap
import os
import weakref
from typing import Any

_numbers = itertools.count(1)


class SharedMemory(mmap.mmap):
    """So many octets, for whoever is given the descriptor; gone when nobody has them any more."""

    number: int
    """What it is called by."""
    descriptor: int

    def __new__(cls, octets: int) -> "SharedMemory":
        """Ask the system for it."""
        descriptor = os.memfd_create("mobula-records", os.MFD_CLOEXEC)
        try:
            os.ftruncate(descriptor, octets)
            self = super().__new__(cls, descriptor, octets)
        except BaseException:
            os.close(descriptor)
            raise
        self.number = next(_numbers)
        self.descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)
        return self

    @classmethod
    def of(cls, view: "memoryview[Any]") -> "SharedMemory":
        """Return what `shared_memory` has returned a view of."""
        memory = view.obj
        assert isinstance(memory, cls)
        return memory


def shared_memory(octets: int) -> "memoryview[Any]":
    """Return so many octets that can be shared."""
    return memoryview(SharedMemory(octets))


def map_memory(descriptor: int) -> "memoryview[Any]":
    """Return what somebody else shares, and close the descriptor."""
    try:
        return memoryview(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
