"""What can go wrong between a tool and a router; the text of each is one line for the operator."""


class ToolFailed(Exception):
    """The root of everything that ends a tool with status 1."""


class Unreachable(ToolFailed):
    """There is no connection to a router, or it was lost."""

    def __init__(self, where: str, reason: str, hint: str = "") -> None:
        super().__init__(f"cannot reach a router at {where}: {reason}" + (f"; {hint}" if hint else ""))
        self.where, self.reason, self.hint = where, reason, hint


class NoAnswer(ToolFailed):
    """The router is there, and its management is not, or is too slow."""


class BadAnswer(ToolFailed):
    """An answer that is none of the management protocol."""


_STATUS_NAMES = {
    400: "BadRequestStatus",
    401: "UnauthorizedStatus",
    403: "ForbiddenStatus",
    404: "NotFoundStatus",
    500: "InternalServerErrorStatus",
    501: "NotImplementedStatus",
}


class Refused(ToolFailed):
    """The router answered with the status of a failure."""

    def __init__(self, status: int, description: str) -> None:
        name = _STATUS_NAMES.get(status, f"Status{status}")
        super().__init__(f"{name}: {description}")
        self.status, self.description = status, description


class WrongUse(Exception):
    """What was typed makes no sense; ends a tool with usage and status 2."""
