cdef unsigned int _MASK
cdef unsigned int _HALF

cpdef bint precedes(unsigned int a, unsigned int b)
cpdef unsigned int distance(unsigned int a, unsigned int b)
