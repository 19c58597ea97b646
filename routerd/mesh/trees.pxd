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
cdef class Network:
    cdef int size
    cdef int[::1] rank
    cdef int[::1] settled
    cdef int settled_count
    cdef int[::1] first
    cdef int[::1] end
    cdef long long[::1] cost
    cdef int[::1] _ranked
    cdef int _rank_bits
    cdef long long[::1] _heap
    cdef int _heap_size

    @cython.locals(rank=int, number=int)
    cdef int number_routers(self, int size, dict numbers) except -1
    @cython.locals(total=Py_ssize_t, at=int, router=int)
    cdef int lay_out(self, list links, dict numbers) except -1
    @cython.locals(at=int)
    cdef bint replace(self, int router, dict links, dict numbers) except -1
    cdef int _fill(self, int at, dict links, dict numbers) except -1
    cdef int count_links(self, int router) except -1
    @cython.locals(other=Network, size=int, total=int, link=int, router=int, at=int, free="int[::1]")
    cdef Network reversed(self)
    @cython.locals(
        tree=Tree, mask="long long", label="long long", nearest="long long", router=int, link=int, end=int,
        distance="long long", known="long long"
    )
    cdef Tree tree_from(self, int root)
    @cython.locals(at=int, above=int, other="long long")
    cdef void _put(self, long long label) noexcept
    @cython.locals(nearest="long long", size=int, label="long long", at=int, below=int, other="long long")
    cdef long long _take_nearest(self) noexcept


@cython.final
cdef class Approaches:
    cdef int[::1] _rank
    cdef Network _backwards
    cdef dict _trees
    cdef dict _parents

    cdef look_at(self, Network network)
    cdef int trees_for(self, int end) except -1
    @cython.locals(
        size=int, router=int, parent=int, parents="int[::1]", now="long long", saving="long long", is_nearer=bint,
        to_start=Tree, to_end=Tree
    )
    cdef mark_affected(self, signed char[::1] marks, int start, int end, object cost)
    @cython.locals(router=int, to_end=Tree)
    cdef mark_those_that_reach(self, signed char[::1] marks, int end)
    @cython.locals(later="long long")
    cdef bint _is_later(self, int root, int one, int other) except -1
    @cython.locals(tree=Tree)
    cdef Tree _tree_to(self, int end)
    @cython.locals(
        network=Network, size=int, parents="int[::1]", to_end=Tree, to_before=Tree, link=int, before=int, router=int,
        cost="long long", distance="long long"
    )
    cdef object _parents_of(self, int end)
