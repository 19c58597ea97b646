"""The check of each message on links of users with limited rights."""

from collections.abc import Mapping

from routerd.core.directory.addresses import canonical
from routerd.core.policy.settings import GroupSettings
from routerd.core.policy.vhost import Group
from routerd.wire import AmqpValue, DecodeError, Error, InvalidField, Message, NeedsMore
from routerd.wire.sections import Sections

USER_ID_PROXY = Error(condition="amqp:unauthorized-access", description="user_id proxy violation")
WRONG_TARGET = Error(condition="amqp:unauthorized-access", description="policy violation on target")
OWN_REQUEST = Error(condition="amqp:not-allowed", description="the request is about its connection")
"""Is no refusal: the request is about what belongs to its connection, and is answered at its worker."""
FORBIDDEN_REQUEST = Error(
    condition="amqp:unauthorized-access", description="You are not allowed to perform this operation."
)

_MANAGEMENT = ("$management", "$_management_internal")
_CONNECTION = "connection"
LINK_ROUTE_TYPES = {"router.connection.linkRoute", "connection.linkRoute"}
_PREFIX = "org.apache.qpid.dispatch."
_CHANGES = ("CREATE", "UPDATE", "DELETE")
_NOTHING = b""
_ANYTHING = Group("", GroupSettings(name="anything", targets=("*",), allows_user_id_proxy=True))
_READ_ONLY = Group(
    "",
    GroupSettings(
        name="managementAccess", targets=("*",), allows_user_id_proxy=True, allows_management_changes=False
    ),
)


def is_management(text: str) -> bool:
    """Whether an address is that of management, of this router or of another."""
    return canonical(text).rpartition("/")[2] in _MANAGEMENT


class MessageGuard:
    """Checks the messages of one link against the rights of a group."""

    def __init__(self, group: Group, user: str, address: str | None, finds_own: bool = False) -> None:
        """`address` is the target of the link; None if each message has its destination in `to`.

        With `finds_own`, all messages are requests to this router, and those about their connection are found.
        """
        self._finds_own = finds_own
        settings = group.settings
        self._user = None if settings.allows_user_id_proxy else user.encode()
        self._targets = group.targets if address is None and not group.targets.allow_anything else None
        self._user_name = user
        self._settings = settings
        allows_all = (
            settings.allows_management_changes
            and settings.allows_admin_status_update
            and settings.allows_dynamic_link_routes
        )
        self._reads_requests = not allows_all and (address is None or is_management(address))
        self._is_anonymous = address is None
        self._sections = Sections(_NOTHING)

    @property
    def is_needed(self) -> bool:
        """Whether messages need a check."""
        return self._user is not None or self._targets is not None or self._reads_requests or self._finds_own

    def refusal(self, to: str | None, data: bytes | bytearray, start: int, end: int, is_partial: bool) -> Error | None:
        """Return the error if a message is refused.

        `to` overrides the message's own destination. Raises NeedsMore and DecodeError.
        """
        sections = self._sections
        sections.reset(data, start, end, is_partial)
        try:
            if self._user is not None:
                user_id = sections.user_id
                if user_id and user_id != self._user:
                    return USER_ID_PROXY
            if self._is_anonymous and to is None:
                to = sections.to
            is_own = self._finds_own and self._is_own(sections)
        finally:
            sections.reset(_NOTHING, 0, 0, False)  # release the octets
        if to and self._targets is not None and not self._targets.allow(to, self._user_name):
            return WRONG_TARGET
        if self._reads_requests and (not self._is_anonymous or (to and is_management(to))):
            if is_partial:
                raise NeedsMore("whether a request is allowed lies in all of it")
            if self._is_forbidden(bytes(data[start:end])):
                return FORBIDDEN_REQUEST
        if is_own:
            if is_partial:
                raise NeedsMore("a request is answered once all of it has come")
            return OWN_REQUEST
        return None

    def _is_own(self, sections: Sections) -> bool:
        try:
            return is_about_own(sections.application_properties)
        except (DecodeError, InvalidField):
            # Management does not understand this message either.
            return False

    def _is_forbidden(self, octets: bytes) -> bool:
        try:
            message = Message.decode(octets)
        except (DecodeError, InvalidField):
            # Management does not understand this message either.
            return False
        properties = message.application_properties or {}
        operation = str(properties.get("operation", "")).upper().replace("_", "-")
        if operation not in _CHANGES:
            return False
        settings = self._settings
        if not settings.allows_management_changes:
            return True
        types = {short_type(properties.get("type")), short_type(properties.get("entityType"))}
        if operation == "UPDATE" and not settings.allows_admin_status_update:
            body = message.body.value if isinstance(message.body, AmqpValue) else None
            return _CONNECTION in types and isinstance(body, Mapping) and "adminStatus" in body
        is_route = not types.isdisjoint(LINK_ROUTE_TYPES)
        return operation == "CREATE" and is_route and not settings.allows_dynamic_link_routes


def own_request_guard() -> MessageGuard:
    """Return a check that finds requests about their connection, for connections without policy."""
    return MessageGuard(_ANYTHING, "", "$management", True)


def is_about_own(properties: object) -> bool:
    """Whether the application-properties of a request are about link routes of its connection."""
    if not isinstance(properties, Mapping):
        return False
    types = (short_type(properties.get("type")), short_type(properties.get("entityType")))
    return types[0] in LINK_ROUTE_TYPES or types[1] in LINK_ROUTE_TYPES


def read_only_guard(address: str | None) -> MessageGuard:
    """Return a check that keeps a client from changing other routers, for connections without policy."""
    return MessageGuard(_READ_ONLY, "", address)


def short_type(name: object) -> str:
    """Return the name of a type of management without what all begin with."""
    return str(name).removeprefix(_PREFIX)
