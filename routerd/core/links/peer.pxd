from routerd.core.links.role cimport ConnectionRole
from routerd.core.links.trunk cimport Trunk


cdef class Peer:
    cdef readonly long long number
    cdef readonly str role_name
    cdef readonly str place
    cdef public ConnectionRole role
    cdef readonly bint is_fabric
    cdef readonly bint is_inner
    cdef public bint is_followed
    cdef public bint is_fair
    cdef readonly bint is_router
    cdef readonly bint is_container
    cdef readonly bint keeps_messages
    cdef readonly bint is_edge
    cdef readonly bint is_external
    cdef public bint is_initiator
    cdef public long long cost
    cdef public object error
    cdef public Trunk trunk
    cdef readonly Py_ssize_t capacity
    cdef public long long reach_octets
    cdef public Py_ssize_t unheld_octets
    cdef public Py_ssize_t unheld_max
    cdef public bint strips_in
    cdef readonly bint strips_out
    cdef public bint gives_credit_at_once
    cdef readonly bint is_told
    cdef readonly bint is_multi_tenant
    cdef public str tenant
    cdef public str user
    cdef public object service_rules
    cdef public str policy_vhost
    cdef public object grant
    cdef public unsigned long long max_message_size
    cdef public int sibling
    cdef public bint is_open
    cdef public double opened_at
    cdef public double active_at
    cdef public bint is_watched
    cdef public bint is_draining
    cdef public bint is_blocked
    cdef public bint is_full
    cdef public dict starved
    cdef readonly dict inlets
    cdef readonly dict outlets
    cdef readonly dict routed
    cdef readonly dict stuck
    cdef public Py_ssize_t unconfirmed
    cdef public Py_ssize_t routed_out
    cdef public Py_ssize_t routed_in
    cdef public object connection
    cdef public object shell
    cdef public object details
