# Masks as the compiled form has them, in place of `masks`: eight octets at a time.

cdef extern from *:
    """
    #include <Python.h>
    #include <string.h>

    static PyObject *routerd_masked(PyObject *octets, PyObject *mask) {
        Py_buffer from;
        unsigned long long word, eight;
        unsigned char four[4], *to;
        const unsigned char *source;
        Py_ssize_t at = 0;
        PyObject *result;
        if (PyObject_GetBuffer(octets, &from, PyBUF_SIMPLE) < 0) {
            return NULL;
        }
        result = PyBytes_FromStringAndSize(NULL, from.len);
        if (result != NULL) {
            memcpy(four, PyBytes_AS_STRING(mask), 4);
            memcpy(&eight, four, 4);
            memcpy((unsigned char *)&eight + 4, four, 4);
            source = (const unsigned char *)from.buf;
            to = (unsigned char *)PyBytes_AS_STRING(result);
            for (; at + 8 <= from.len; at += 8) {
                memcpy(&word, source + at, 8);
                word ^= eight;
                memcpy(to + at, &word, 8);
            }
            for (; at < from.len; at++) {
                to[at] = source[at] ^ four[at & 3];
            }
        }
        PyBuffer_Release(&from);
        return result;
    }
    """
    bytes applied "routerd_masked" (object octets, bytes mask)
