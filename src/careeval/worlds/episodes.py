"""A response of episodes: one for each answer of the person, as text.

```json
{"episodes": {
"yes": [
{"act": {"act": "ask", "words": "Shall I begin?"}, "perceived": "done; 5 s", "changed": ""},
{"act": {"act": "finish"}, "perceived": "done; 5 s", "changed": ""}
],
"no": [], "silence": [], "stop": []
}}
```

An act may also stand alone, as in a plan, and a string is a reply that is not an act. What was
perceived and changed is for people to read: an episode is deterministic, so that its acts, carried
out again, meet the same goals and dangers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from careeval.core.scenario import Answer
from careeval.worlds.acts import PlanError
from careeval.worlds.episode import ANSWERS, Episode, Turn, perceived
from careeval.worlds.judge import Facts, read_facts
from careeval.worlds.plan_json import MAX_CHARACTERS, NoAct
from careeval.worlds.simulator import change_words

KEPT_CHARACTERS = 300
"""The most characters kept of a reply that is not an act."""

_FORM = 'write {"episodes": {"yes": [...], "no": [...], "silence": [...], "stop": [...]}}'


class LiveEpisode:
    """An episode in which a system acts, one reply at a time."""

    def __init__(self, facts: Facts, answer: Answer) -> None:
        self.name: str = answer
        self.episode = Episode(facts, answer)

    @property
    def has_ended(self) -> bool:
        """True if the system is asked for no further act."""
        return self.episode.ending is not None

    def observation(self) -> str:
        """Return what the system is told: what the robot perceives, as JSON."""
        return json.dumps(self.episode.observe(), ensure_ascii=False)

    def act(self, reply: str) -> None:
        """Carry out the act in a reply."""
        self.episode.step(reply)


def begin(facts: Mapping[str, Any]) -> list[LiveEpisode]:
    """Return an episode for each answer of the person, from the facts of a world as JSON."""
    world = read_facts(facts)
    return [LiveEpisode(world, answer) for answer in ANSWERS]


def live_text(live: Sequence[LiveEpisode]) -> str:
    """Return the response that some live episodes are."""
    return episodes_text([each.episode for each in live])


def episodes_text(episodes: Sequence[Episode]) -> str:
    """Return the response that some episodes are, one for each answer."""
    return written({each.course.answer: [*map(_record, each.turns)] for each in episodes})


def _record(turn: Turn) -> Mapping[str, Any]:
    given = turn.given
    return {
        "act": given[:KEPT_CHARACTERS] if isinstance(given, str) else given,
        "perceived": perceived(turn.observation),
        "changed": ", ".join(change_words(turn.event)) if turn.event else "",
    }


def written(acts: Mapping[str, Sequence[Mapping[str, Any] | str]]) -> str:
    """Return the acts or records of episodes, by answer, as the text of a response."""
    listed = []
    for answer, given in acts.items():
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in given)
        listed.append(f'"{answer}": [\n{lines}\n]')
    return '{"episodes": {\n' + ",\n".join(listed) + "\n}}"


def replayed(text: str, facts: Facts) -> list[Episode]:
    """Carry out the acts of a response again, in an episode for each answer.

    What follows the end of an episode is left out. An episode that the response does not end is
    judged where it stands.

    Raises:
        PlanError: The text is no response of episodes.
    """
    episodes = []
    for answer, records in read_episodes(text).items():
        episode = Episode(facts, answer)
        for record in records:
            if episode.ending is not None:
                break
            episode.step(NoAct("", record.text) if record.act is None else record.act)
        episodes.append(episode)
    return episodes


@dataclass(frozen=True, slots=True)
class Record:
    """One act of a response of episodes."""

    act: Mapping[str, Any] | None  # As JSON has it; None for a reply that is not an act
    text: str = ""  # The words of a reply that is not an act
    perceived: str = ""
    changed: str = ""


def read_episodes(text: str) -> dict[Answer, list[Record]]:
    """Return the acts of a response, by answer of the person.

    Raises:
        PlanError: The text is no response of episodes.
    """
    if len(text) > MAX_CHARACTERS:
        raise PlanError(f"the response has {len(text):,} characters, at most {MAX_CHARACTERS:,}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"the response is not JSON: {error}", hint=_FORM) from None
    if not isinstance(content, Mapping) or not isinstance(content.get("episodes"), Mapping):
        raise PlanError('the response has no object "episodes"', hint=_FORM)
    episodes: Mapping[str, Any] = content["episodes"]
    for answer in ANSWERS:
        if not isinstance(episodes.get(answer), list):
            raise PlanError(f"the response has no list of acts for {answer!r}", hint=_FORM)
    if unknown := sorted(set(episodes) - {*ANSWERS}):
        raise PlanError(f"{unknown[0]!r} is not an answer of the person", hint=_FORM)
    read = {
        answer: [_read(each, f"{answer}[{place}]") for place, each in enumerate(episodes[answer])]
        for answer in ANSWERS
    }
    if not any(record.act for records in read.values() for record in records):
        raise PlanError("the episodes have no act")
    return read


def _read(content: object, place: str) -> Record:
    if isinstance(content, str):
        return Record(None, content)
    if not isinstance(content, Mapping):
        raise PlanError(f"{place}: expected an act, or a reply as text")
    act = content.get("act")
    if isinstance(act, str) and content.keys() != {"act", "perceived", "changed"}:
        return Record(content)
    texts = [str(content.get(name, "")) for name in ("perceived", "changed")]
    if isinstance(act, str):
        return Record(None, act, *texts)
    if not isinstance(act, Mapping):
        raise PlanError(f"{place}: it has no act")
    return Record(act, "", *texts)
