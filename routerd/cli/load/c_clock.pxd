# The clock as the compiled form reads it, in place of `time.monotonic_ns`: no number object is made.

cdef extern from *:
    """
    #include <time.h>
    static inline long long routerd_monotonic_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    """
    long long monotonic_ns "routerd_monotonic_ns" () noexcept
