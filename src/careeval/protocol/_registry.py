"""What Inspect finds when it looks for careeval: the task, and the two providers."""

from inspect_ai.model import ModelAPI, modelapi

from careeval.protocol.grade.grader import grade, grader_given
from careeval.protocol.grade.solvers import ask, recorded
from careeval.protocol.grade.task import careeval

__all__ = ["ask", "careeval", "gguf", "grade", "grader_given", "program", "recorded"]


@modelapi(name="gguf")
def gguf() -> type[ModelAPI]:
    """`gguf/smollm2-135m`, or `gguf/PATH.gguf`: a model that runs inside this process."""
    from careeval.protocol.models.gguf import GgufAPI

    return GgufAPI


@modelapi(name="careeval")
def program() -> type[ModelAPI]:
    """`careeval/lexical`, and what other programs grade."""
    from careeval.protocol.models.program_api import ProgramAPI

    return ProgramAPI
