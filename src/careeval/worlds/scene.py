"""The picture of a world: what its robot's camera sees, in place of some words of the facts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, field_serializer, model_validator

from careeval.core.picture import DATA, picture_hash
from careeval.core.scenario import Frozen, Slug, Text
from careeval.results.conditions import DECIDING, OTHER
from careeval.worlds.questions import LETTERS

PICTURE = "picture"
"""In place of a sense, for what a system has seen in a picture: no body senses it again."""

Level = Literal["clear", "robot", "hard"]
"""The difficulty of seeing the deciding part. `clear`: large, near and unhidden. `robot`: from
where a robot stands, among ordinary things. `hard`: far away, dim or against the light, or partly
hidden."""


class SceneQuestion(Frozen):
    """A closed question about a picture."""

    ask: Text
    options: Annotated[tuple[Text, ...], Field(min_length=2, max_length=5)]
    answer: Text
    """The option that is true in the picture."""
    decides: bool = False
    """True if it asks for the fact that decides."""

    @model_validator(mode="after")
    def _has_its_answer(self) -> Self:
        if self.answer not in self.options:
            raise ValueError(f"{self.answer!r} is none of the options")
        return self

    @property
    def right_answer(self) -> str:
        """The question with its right answer, in words."""
        return f"{self.ask} {self.answer}"


class Scene(Frozen):
    """A picture of a world at the start, and what is true in it."""

    picture: Text
    """The name of a WebP file beside the world's; for a sealed world the picture itself, as
    `data:image/webp;base64,…`."""
    alt: Text
    """A description of the picture that does not tell the fact that decides."""
    level: Level
    shows: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Words of the facts, each once there, that a system is not told if it sees the picture."""
    hides: tuple[Slug, ...] = ()
    """Things whose state at the start the picture shows, and a list of names does not."""
    facts: Annotated[tuple[Text, ...], Field(min_length=10, max_length=30)]
    """Statements that are true in the picture, for a system that is told and does not see."""
    questions: Annotated[tuple[SceneQuestion, ...], Field(min_length=2, max_length=6)]
    """Closed questions about it: one or more ask for the fact that decides, others do not."""

    @model_validator(mode="after")
    def _asks_for_both(self) -> Self:
        if len({question.decides for question in self.questions}) == 1:
            raise ValueError("expected questions that decide, and others that do not")
        return self

    @field_serializer("picture")
    def _hashed(self, picture: str) -> str:
        """Dump a picture as its hash, so that a world with another picture has another hash."""
        return picture_hash(picture) if picture.startswith(DATA) else picture


class SceneChange(Frozen):
    """The differences between the picture of a twin and that of its base."""

    picture: Text
    """As in `Scene`."""
    facts: Annotated[Mapping[Text, Text], Field(min_length=1)]
    """Each of the base's `facts` that is not true here → what is true."""
    answers: Annotated[Mapping[Text, Text], Field(min_length=1)]
    """Each of the base's questions that has another answer here → that answer."""

    def replaced(self, scene: Scene | None) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield each text of the base that differs: the field here, the text, the base's texts."""
        for fact in self.facts:
            yield "facts", fact, scene.facts if scene else ()
        for ask in self.answers:
            yield "answers", ask, [question.ask for question in scene.questions] if scene else ()

    def applied_to(self, scene: Scene, was: str, now: str) -> Scene:
        """Return the scene of a twin whose facts have the words `now` for those of `was`."""
        questions = [
            question.model_copy(update={"answer": self.answers.get(question.ask, question.answer)})
            for question in scene.questions
        ]
        changes = {
            "picture": self.picture,
            "shows": tuple(words.replace(was, now) for words in scene.shows),
            "facts": tuple(self.facts.get(fact, fact) for fact in scene.facts),
            "questions": tuple(questions),
        }
        return scene.model_copy(update=changes)


def without(facts: str, shows: Sequence[str]) -> str:
    """Return the facts without the words that a picture shows."""
    for words in shows:
        facts = facts.replace(words, "")
    return " ".join(facts.split())


def described(scene: Scene, seed: str) -> str:
    """Return what is true in the picture as a list, in an order by the seed."""
    facts = list(scene.facts)
    random.Random(seed).shuffle(facts)
    return "\n".join(f"- {fact}" for fact in facts)


def question_id(question: SceneQuestion, number: int) -> str:
    """Return the id of a question, numbered from 1; it tells whether the question decides."""
    return f"{DECIDING if question.decides else OTHER}{number}"


def questions_text(scene: Scene, seed: str) -> tuple[str, tuple[str, ...]]:
    """Return the questions as text, options in an order by the seed, and the right letters."""
    lines, letters = ["The questions:"], []
    for number, question in enumerate(scene.questions, start=1):
        options = list(question.options)
        random.Random(f"{seed} {question.ask}").shuffle(options)
        lettered = dict(zip(LETTERS, options, strict=False))
        lines += [f"{number}. {question.ask}", *(f"   {k}) {text}" for k, text in lettered.items())]
        letters.append(LETTERS[options.index(question.answer)])
    return "\n".join(lines), tuple(letters)
