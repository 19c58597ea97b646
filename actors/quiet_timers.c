/* Preloaded into the actors of an embedded Ray: lets an idle one sleep for a tenth of a second at a time.
 *
 * The main thread of each of Ray's workers wakes up every 10 ms to see whether it has had a signal, which nobody can
 * change, and which is most of what an idle router takes of a core. That timer is the only one of this thread that is
 * so short. Where other timers are set in haste, or this is no Python, all is as without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SHORT_NS 5000000L
#define LONG_NS 10000000L
#define REST_NS 100000000L

typedef int (*set_time)(int, int, const struct itimerspec *, struct itimerspec *);

static int is_python(void) {
    static int (*is_initialized)(void);
    if (is_initialized == NULL)
        is_initialized = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    return is_initialized != NULL && is_initialized();
}

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    static set_time real;
    struct itimerspec rest;
    if (real == NULL)
        real = (set_time)dlsym(RTLD_NEXT, "timerfd_settime");
    if (!(flags & TFD_TIMER_ABSTIME) && wanted->it_value.tv_sec == 0 && wanted->it_value.tv_nsec > SHORT_NS &&
        wanted->it_value.tv_nsec <= LONG_NS && syscall(SYS_gettid) == getpid() && is_python()) {
        rest = *wanted;
        rest.it_value.tv_nsec = REST_NS;
        wanted = &rest;
    }
    return real(timer, flags, wanted, before);
}
