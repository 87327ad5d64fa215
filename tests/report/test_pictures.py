"""Pictures of worlds in the report and on the site: each once, with words for who cannot see it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import pytest

from careeval.core.picture import as_data
from careeval.core.response import Response, ResponseState
from careeval.protocol.tables import read_runs
from careeval.report.page import render_page
from careeval.report.site.folder import render_site
from careeval.results.findings import Findings, findings
from careeval.worlds.judge import JUDGE
from support.fakes import begin_recorded
from support.seen_world import OTHER, PICTURE, TWIN_ID, write_seen_bank
from support.small_world import SAFE_PLAN, WORLD_ID

ALT = "A drawn man sits at a table."


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Two plans for each of two worlds, given pictures, and one given facts."""
    root = tmp_path_factory.mktemp("seen")
    bank = write_seen_bank(root / "bank")
    for given, epochs in (("seen", 2), ("facts", 1)):
        responses = [
            Response(world, epoch, json.dumps(SAFE_PLAN), ResponseState.answered)
            for world in (WORLD_ID, TWIN_ID)
            for epoch in range(1, epochs + 1)
        ]
        task = {"bank": str(bank), "given": given, "twins": True}
        assert begin_recorded(root / "runs" / given, "arm", responses, JUDGE, task).complete
    return findings(read_runs(root / "runs"))


def data(page: str) -> dict[str, Any]:
    """Return the data of a report's reader."""
    packed = re.search(r'<script[^>]*id="data"[^>]*>([^<]+)<', page)
    assert packed is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return content


def test_the_report_has_each_picture_once(results: Findings) -> None:
    """A scenario that was shown has its picture and its words; told in facts, it has neither."""
    content = data(render_page(results))
    texts = content["texts"]
    assert [texts.count(as_data(each)) for each in (PICTURE, OTHER)] == [1, 1]
    shown = {(texts[each[8]], texts[each[9]]) for each in content["scenarios"]}
    assert shown == {("", ""), (as_data(PICTURE), ALT), (as_data(OTHER), ALT)}


def test_a_report_without_texts_has_no_picture(results: Findings) -> None:
    """A picture is part of what was asked, as words are."""
    page = render_page(results, responses=False)
    assert as_data(PICTURE) not in json.dumps(data(page))
    assert ALT not in json.dumps(data(page))


def test_the_site_shows_the_picture_beside_the_facts(results: Findings) -> None:
    """The text is that of the condition in words; the picture comes with its words."""
    pages = dict(render_site(results))
    page = pages[f"scenarios/{WORLD_ID}.html"]
    assert f'<img src="{as_data(PICTURE)}" alt="{ALT}"' in page
    assert "His bell lies on the floor." in page
    assert "The picture shows" not in page
