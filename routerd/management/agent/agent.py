"""The management agent: each request gets an answer (3.3, 3.4)."""

import logging
from typing import Any

from routerd.config import CHANGES, ChangeForbidden, ChangeRefused, PolicyRefused
from routerd.management.agent.call import Call, call_of
from routerd.management.agent.entity_index import EntityIndex
from routerd.management.agent.general import GeneralView
from routerd.management.agent.live import LiveView, failure_body, live_type
from routerd.management.agent.query import Pages
from routerd.management.agent.refusals import Refusal, changes_refused
from routerd.management.backing import Backing, Unanswered
from routerd.management.messages import Answer, Request

DESCRIPTION_MAX = 1000
"""Characters of a sentence; what clients gave may be longer than anybody wants to read."""

_log = logging.getLogger(__name__)


class Agent:
    """Answers requests about a router."""

    def __init__(self, backing: Backing) -> None:
        self._settings = backing.settings
        index = EntityIndex(backing)
        pages = Pages(backing.uptime_s)
        self._live = LiveView(backing, index, pages)
        self._general = GeneralView(backing, index, pages)

    async def answer(self, request: Request) -> Answer:
        """Answer a request, whatever it says; it never raises."""
        call = call_of(request)
        try:
            if call.operation in CHANGES and not self._settings.allows_management_changes:
                raise changes_refused(self._settings.management_access)
            entity_type = live_type(call)
            if entity_type is not None:
                return await self._live.answer(call, entity_type)
            return await self._general.answer(call)
        except Refusal as refusal:
            return _failure(call, refusal.status, str(refusal))
        except ChangeForbidden as forbidden:
            return _failure(call, 403, str(forbidden))
        except PolicyRefused as refused:
            return _failure(call, 500, str(refused))
        except ChangeRefused as refused:
            return _failure(call, 400, str(refused))
        except Unanswered as unanswered:
            return _failure(call, 500, f"Part of the router gave no answer: {unanswered}")
        except Exception as failure:
            _log.exception("Management request failed: operation %s, type %s", call.operation, call.type_name)
            return _failure(call, 500, f"{type(failure).__name__}: {failure}")


def _failure(call: Call, status: int, description: str) -> Answer:
    if len(description) > DESCRIPTION_MAX:
        description = f"{description[:DESCRIPTION_MAX]}..."
    body: Any = {} if live_type(call) is None else failure_body(call.operation, status)
    return Answer(status, description, body)
