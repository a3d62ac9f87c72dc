"""Classification by a chat model: the tier, and with capabilities at hand a plan too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fingerpost.classify.conversation import shown_list, shown_turns
from fingerpost.classify.reply import (
    CLASSIFICATION_SCHEMA,
    read_classification,
    read_plan,
    read_recommendations,
)
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.plan import Capability
from fingerpost.types.query import Turn

_MAX_TOKENS = 400
_MAX_PLAN_TOKENS = 900
_MAX_CHARS = 4_000
_MAX_CAPABILITY_CHARS = 240
_PLAN_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        **dict(CLASSIFICATION_SCHEMA["properties"]),  # type: ignore[call-overload]
        "plan": {"type": "object"},
        "recommendations": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["tier", "strategy", "confidence", "plan", "recommendations"],
}


@dataclass(frozen=True, slots=True)
class ModelClassifier:
    """Asks a chat model for the tier of a question.

    Attributes:
        chat: The model.
    """

    chat: ChatModel

    async def classify(
        self,
        text: str,
        *,
        history: Sequence[Turn] = (),
        topics: Sequence[str] = (),
        tool_names: Sequence[str] = (),
        capabilities: Sequence[Capability] = (),
        deadline: float | None = None,
        query_id: str = "",
    ) -> ClassificationResult:
        """Return the tier before escalation and caps.

        Args:
            text: The question, made to stand alone.
            history: The conversation window.
            topics: What the corpus is about; at most 50 are shown.
            tool_names: Names that ``tools_needed`` may hold.
            capabilities: What may be recommended; with any, the reply holds a plan as well.
            deadline: When the call must have ended, by the lane's clock.
            query_id: For events.

        Raises:
            MalformedOutputError: Two replies could not be read.
            LaneError: A call failed.
        """
        planned = bool(capabilities)
        prompt = load_prompt("plan" if planned else "classify")
        listed = [f"{item.full_id}: {item.summary}" for item in capabilities]
        places = {"capabilities": shown_list(listed, _MAX_CAPABILITY_CHARS)}
        filled = prompt.fill(
            topics=shown_list(topics),
            conversation=shown_turns(history),
            question=text[:_MAX_CHARS],
            **(places if planned else {"tools": shown_list(tool_names)}),
        )
        request = ChatRequest(
            (Message("user", filled),),
            job="classify",
            max_tokens=_MAX_PLAN_TOKENS if planned else _MAX_TOKENS,
            temperature=0.0,
            schema=_PLAN_SCHEMA if planned else CLASSIFICATION_SCHEMA,
            deadline=deadline,
            query_id=query_id,
        )

        def read(value: object) -> ClassificationResult | None:
            found = read_classification(value, tool_names=tool_names)
            if found is None:
                return None
            return replace(
                found,
                plan=read_plan(value) if planned else None,
                recommendations=read_recommendations(value, capabilities),
                prompt=f"{prompt.name}@{prompt.fingerprint}",
            )

        return await ask_json(self.chat, request, read)
