"""The entry point by which Inspect finds careeval's task, solvers, scorer and two providers."""

from inspect_ai.model import ModelAPI, modelapi

from careeval.protocol.asking import ask, recorded
from careeval.protocol.grader import grade, grader_given
from careeval.protocol.task import careeval

__all__ = ["ask", "careeval", "gguf", "grade", "grader_given", "program", "recorded"]


@modelapi(name="gguf")
def gguf() -> type[ModelAPI]:
    """Return the provider of models in this process: `gguf/smollm2-135m` and `gguf/PATH.gguf`."""
    from careeval.protocol.gguf import GgufAPI

    return GgufAPI


@modelapi(name="careeval")
def program() -> type[ModelAPI]:
    """Return the provider of `careeval/lexical` and of the other programs that grade."""
    from careeval.protocol.program_api import ProgramAPI

    return ProgramAPI
