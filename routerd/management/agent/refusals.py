"""Why a request is not done: the status and the sentence that its client is told."""

from typing import ClassVar

from routerd.config.schema import EntityType
from routerd.core import ManagementAccess


class Refusal(Exception):
    """A request that is not done; the text is what its client reads."""

    status: ClassVar[int]


class BadRequest(Refusal):
    """The request is wrong in itself, or does not fit what there is."""

    status = 400


class Forbidden(Refusal):
    """Nobody may do this."""

    status = 403

    def __init__(self, text: str = "Forbidden") -> None:
        super().__init__(text)


class NotFound(Refusal):
    """The entity of a request does not exist."""

    status = 404

    def __init__(self, text: str = "Not Found") -> None:
        super().__init__(text)


class Failed(Refusal):
    """Something went wrong on the router's side."""

    status = 500


class NotImplementedHere(Refusal):
    """The operation is not one of this type, or not one of this router."""

    status = 501


def not_implemented(operation: str, entity_type: EntityType) -> NotImplementedHere:
    """Return the refusal of an operation that a type does not have."""
    operations = list(entity_type.operations)
    return NotImplementedHere(f"Operation '{operation}' not implemented for '{entity_type.full_name}' {operations}")


def no_such_type(full_name: str) -> BadRequest:
    """Return the refusal of a type that there is not."""
    return BadRequest(f"No such entity type '{full_name}'")


def changes_refused(access: ManagementAccess) -> Forbidden:
    """Return the refusal of any change at a router whose management may only be read."""
    setting = f"managementAccess is '{access.value}' in the router section"
    if access is ManagementAccess.READ:
        return Forbidden(f"Management of this router is read only: {setting}; to allow changes, set it to 'change'")
    return Forbidden(
        f"Management of this router is read only: {setting}, and no policy is enabled. To allow changes, set"
        " managementAccess: change, or enableVhostPolicy: yes in the policy section"
    )
