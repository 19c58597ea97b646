import cython

cdef dict _SIGNS
cdef str _MANY


@cython.final
cdef class Place:
    cdef dict words
    cdef Place one
    cdef Place many
    cdef bint is_many
    cdef list found
    cdef unsigned long long round

    cdef bint is_empty(self) except -1


@cython.final
cdef class BindingTree:
    cdef str _separator
    cdef str _any_word
    cdef Place _root
    cdef unsigned long long _round

    @cython.locals(place=Place)
    cpdef void add(self, str key, object binding) except *
    @cython.locals(place=Place, way=list)
    cpdef void remove(self, str key, object binding) except *
    @cython.locals(active=list, following=list, found=list, place=Place, below=Place, words=list, word=str)
    cpdef list match(self, str subject)
    @cython.locals(below=Place)
    cdef void _enter(self, Place place, list active) except *
    cdef list _words(self, str key)
    @cython.locals(below=Place)
    cdef Place _below(self, Place place, str word)
