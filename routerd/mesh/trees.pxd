import cython

cdef int _NOBODY
cdef long long _UNREACHABLE
cdef long long _GONE


@cython.final
cdef class Tree:
    cdef int size
    cdef long long[::1] distance
    cdef int[::1] parent


@cython.final
cdef class LinkChanges:
    cdef int count
    cdef int[::1] start
    cdef int[::1] end
    cdef long long[::1] cost

    @cython.locals(i=int, start=int, end=int, parent=int, saving="long long", later="long long")
    cdef bint affect(self, Tree tree, int[::1] rank) except -1


@cython.final
cdef class Network:
    cdef int size
    cdef int[::1] rank
    cdef int[::1] settled
    cdef int settled_count
    cdef int[::1] _first
    cdef int[::1] _end
    cdef long long[::1] _cost
    cdef int[::1] _heap
    cdef int _heap_size
    cdef int[::1] _place
    cdef long long[::1] _distance

    @cython.locals(rank=int, number=int)
    cdef int number_routers(self, int size, dict numbers) except -1
    @cython.locals(total=Py_ssize_t, at=int, router=int)
    cdef int lay_out(self, list links, dict numbers) except -1
    @cython.locals(at=int)
    cdef bint replace(self, int router, dict links, dict numbers) except -1
    cdef int _fill(self, int at, dict links, dict numbers) except -1
    @cython.locals(tree=Tree, router=int, link=int, end=int, distance="long long", known="long long")
    cdef Tree tree_from(self, int root)
    cdef bint _precedes(self, int one, int other) except -1
    @cython.locals(nearest=int)
    cdef int _take_nearest(self) except -1
    @cython.locals(at=int, above=int, other=int)
    cdef int _rise(self, int router) except -1
    @cython.locals(at=int, below=int, other=int)
    cdef int _sink(self, int router) except -1
