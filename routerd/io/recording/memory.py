"""Memory that a worker shares with the process that writes its records."""

import itertools
import mmap
import os
import weakref
from typing import Any

_numbers = itertools.count(1)


class SharedMemory(mmap.mmap):
    """Shared octets, for the holders of the descriptor; they are freed with the last holder."""

    number: int
    """The descriptor."""
    descriptor: int

    def __new__(cls, octets: int) -> "SharedMemory":
        """Allocate it."""
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
        """Return the object behind a view that `shared_memory` returned."""
        memory = view.obj
        assert isinstance(memory, cls)
        return memory


def shared_memory(octets: int) -> "memoryview[Any]":
    """Return memory of this size that can be shared."""
    return memoryview(SharedMemory(octets))


def map_memory(descriptor: int) -> "memoryview[Any]":
    """Map the memory that another process shares, and close the descriptor."""
    try:
        return memoryview(mmap.mmap(descriptor, 0))
    finally:
        os.close(descriptor)
