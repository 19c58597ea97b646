# Memory as the compiled form has it, in place of `memory`: room is not cleared, a bytearray that is cut keeps its
# memory, and references are counted.

cdef extern from *:
    """
    #include <Python.h>
    #include <string.h>

    static inline PyObject *routerd_new(Py_ssize_t size) {
        return PyByteArray_FromStringAndSize(NULL, size);
    }

    static inline int routerd_resize(PyObject *object, Py_ssize_t size) {
        PyByteArrayObject *data = (PyByteArrayObject *)object;
        if (size < data->ob_alloc && data->ob_start == data->ob_bytes && data->ob_exports == 0) {
            Py_SET_SIZE(data, size);
            data->ob_start[size] = 0;
            return 0;
        }
        return PyByteArray_Resize(object, size);
    }

    static inline Py_ssize_t routerd_capacity(PyObject *object) {
        Py_ssize_t size = ((PyByteArrayObject *)object)->ob_alloc - 1;
        return size > Py_SIZE(object) ? size : Py_SIZE(object);
    }

    static inline int routerd_is_viewed(PyObject *object) {
        return ((PyByteArrayObject *)object)->ob_exports > 0;
    }

    static inline void routerd_copy(
        unsigned char *target, Py_ssize_t at, const unsigned char *source, Py_ssize_t start, Py_ssize_t size
    ) {
        memcpy(target + at, source + start, (size_t)size);
    }

    static inline Py_ssize_t routerd_put_word(unsigned char *target, Py_ssize_t at, unsigned int value) {
        target[at] = (unsigned char)(value >> 24);
        target[at + 1] = (unsigned char)(value >> 16);
        target[at + 2] = (unsigned char)(value >> 8);
        target[at + 3] = (unsigned char)value;
        return at + 4;
    }

    static inline Py_ssize_t routerd_put_uint(unsigned char *target, Py_ssize_t at, unsigned int value) {
        if (value == 0) {
            target[at] = 0x43;
            return at + 1;
        }
        if (value < 256) {
            target[at] = 0x52;
            target[at + 1] = (unsigned char)value;
            return at + 2;
        }
        target[at] = 0x70;
        return routerd_put_word(target, at + 1, value);
    }

    static inline int routerd_is_same(
        const unsigned char *one, Py_ssize_t at, const unsigned char *other, Py_ssize_t size
    ) {
        return memcmp(one + at, other, (size_t)size) == 0;
    }

    static inline int routerd_is_ours_alone(PyObject *object) {
        return Py_REFCNT(object) == 1;
    }
    """
    bytearray new "routerd_new" (Py_ssize_t size)
    int resize "routerd_resize" (bytearray data, Py_ssize_t size) except -1
    Py_ssize_t capacity "routerd_capacity" (bytearray data) noexcept
    bint is_viewed "routerd_is_viewed" (bytearray data) noexcept
    void copy "routerd_copy" (
        unsigned char* target, Py_ssize_t at, const unsigned char* source, Py_ssize_t start, Py_ssize_t size
    ) noexcept
    Py_ssize_t put_word "routerd_put_word" (unsigned char* target, Py_ssize_t at, unsigned int value) noexcept
    Py_ssize_t put_uint "routerd_put_uint" (unsigned char* target, Py_ssize_t at, unsigned int value) noexcept
    bint is_same "routerd_is_same" (
        const unsigned char* one, Py_ssize_t at, const unsigned char* other, Py_ssize_t size
    ) noexcept
    bint is_ours_alone "routerd_is_ours_alone" (object value) noexcept
