"""A lane of decision models, of which the next is asked when one fails."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.lanes.asked import ask
from fingerpost.lanes.base import DecisionModel
from fingerpost.lanes.lane import Lane, LaneCall
from fingerpost.types.question import DecisionInput, DecisionResponse, Question


class FailoverDecisionModel(Lane[DecisionModel]):
    """A `DecisionModel` that asks the next of its models when one fails in a way that may help.

    What each error means is the table of chat models, `faults.FAULTS`. Answers that do not fit
    their questions fail a model and are not asked for again. A refused or abstained answer is an
    answer. Arguments as `Lane`.
    """

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        """Return the first answers of one of the models that fit the questions.

        Raises:
            LaneExhaustedError: Several attempts failed, or no endpoint may be asked now.
            ProviderTimeoutError: The deadline had passed before the first attempt.
            LaneError: The only attempt failed, or no other model could cure it.
        """
        return await LaneCall(self, "decide", deadline, query_id).first_reply(
            lambda model: ask(
                model, input, questions, deadline=deadline, query_id=query_id, clock=self.clock
            )
        )
