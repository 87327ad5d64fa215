"""The lexical grader as an Inspect model, so that it goes the way every grader goes."""

from __future__ import annotations

import json

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from careeval.core.grader import LEXICAL
from careeval.errors import ProtocolError
from careeval.protocol.lexical import judgments


class LexicalAPI(ModelAPI):
    """`careeval/lexical` as an Inspect model. It grades, and does nothing else."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  (as the base class has it)
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if self.service_model_name() != "lexical":
            raise ProtocolError(
                f"there is no model careeval/{self.service_model_name()}",
                hint="use careeval/lexical",
            )

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Judge the response and items that the request's metadata carries."""
        asked = input[-1].metadata or {}
        if "items" not in asked:
            raise ProtocolError(
                "careeval/lexical was asked a question, and can only grade",
                hint="use it as --grader",
            )
        reply = json.dumps({"judgments": judgments(asked["response"], asked["items"])})
        output = ModelOutput.from_content(LEXICAL, reply)
        output.usage = ModelUsage(input_tokens=0, output_tokens=0, total_tokens=0)
        return output

    def service_model_name(self) -> str:
        """The name after the provider's."""
        return self.model_name.removeprefix("careeval/")
