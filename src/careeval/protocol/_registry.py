"""The entry point by which Inspect finds careeval's task, solvers, scorer and two providers."""

from __future__ import annotations

import json

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from careeval.errors import ProtocolError
from careeval.modes import MODES
from careeval.modes.grading import Judgments
from careeval.modes.mode import PROVIDER, Case
from careeval.protocol.grader import grade, grader_given
from careeval.protocol.solvers import act, ask, recorded
from careeval.protocol.task import careeval

__all__ = ["ProgramAPI", "act", "ask", "careeval", "gguf", "grade", "grader_given", "recorded"]


@modelapi(name="gguf")
def gguf() -> type[ModelAPI]:
    """Return the provider of models in this process: `gguf/smollm2-135m` and `gguf/PATH.gguf`."""
    from careeval.protocol.gguf import GgufAPI

    return GgufAPI


@modelapi(name="careeval")
class ProgramAPI(ModelAPI):
    """The provider `careeval`: `careeval/lexical` and the other grader programs of the modes."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  (as the base class has it)
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.name = f"{PROVIDER}/{self.service_model_name()}"
        programs = {name: each for mode in MODES.values() for name, each in mode.programs.items()}
        if self.name not in programs:
            raise ProtocolError(
                f"{self.name} is not a grader program", hint=f"use {' or '.join(programs)}"
            )
        self.program = programs[self.name]

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Return the program's judgments of the case in the last message's metadata.

        Raises:
            ProtocolError: There is no case, since the program was asked instead of grading.
        """
        case = input[-1].metadata or {}
        if "items" not in case:
            raise ProtocolError(
                f"{self.name} can only grade, but was asked a question",
                hint=f"give it as the grader: --grader {self.name}",
            )
        reply = Judgments(judgments=[*self.program(Case(**case))])
        output = ModelOutput.from_content(self.name, json.dumps(reply.model_dump()))
        output.usage = ModelUsage(input_tokens=0, output_tokens=0, total_tokens=0)
        return output

    def service_model_name(self) -> str:
        """Return the model's name without `careeval/`."""
        return self.model_name.removeprefix(f"{PROVIDER}/")
