"""The static site: ranking, links, data files, and words that must not be in it."""

from __future__ import annotations

import csv
import html
import io
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from careeval.core.scenario import Rubric
from careeval.people.audit.sample import OTHER_ANSWERS
from careeval.report.documents import FigureMarkup
from careeval.report.page import render_page
from careeval.report.panels.graders import grader_panels
from careeval.report.site import folder, render_site, tables
from careeval.report.site.contents import contents, slugs
from careeval.report.site.folder import data_files
from careeval.report.site.scenarios import errors_by_scenario
from careeval.results.entries import entries
from careeval.results.findings import Findings, findings
from careeval.results.harms import harms
from careeval.results.tables import Runs
from careeval.sheets.json_output import summary_json
from careeval.sheets.kinds import DECIMAL, ESTIMATE
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.words import headline_sentence
from careeval.stats.estimate import Estimate
from support.outline import Outline

from .conftest import SECRET, audit_of, half_resolved, having, whole, with_columns

CANARY = "canary of the tests"
Site = dict[str, str]


def fake_figure(name: str, title: str, caption: str, draw: Any) -> folder.CaptionedFigure:
    """Return an empty figure, since drawing takes most of the time of a test."""
    return folder.CaptionedFigure(
        FigureMarkup(Markup("<svg></svg>"), Markup("<svg></svg>")), caption
    )


def rendered(results: Findings, **more: Any) -> Site:
    """A site without its figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "_figure", fake_figure)
        return dict(render_site(results, **more))


BOTH = ("actions", "ladder")


def two_graders() -> Runs:
    """Two systems, both judged by one grader, and one of them by another too."""
    both, one = whole(), whole(["alpha"], "other/judge (batched)")
    return Runs.sorted(both.responses, pl.concat([both.judgments, one.judgments]))


@pytest.fixture(scope="module")
def runs() -> Runs:
    """Two systems that may be ranked."""
    return whole()


@pytest.fixture(scope="module")
def two_systems(runs: Runs) -> Findings:
    """All that is found in them."""
    return findings(runs)


@pytest.fixture(scope="module")
def on_both() -> Findings:
    """The same systems, judged on both rubrics."""
    return findings(whole(rubrics=BOTH))


@pytest.fixture(scope="module")
def site(two_systems: Findings) -> Site:
    """A site of two systems, its figures drawn."""
    return dict(render_site(two_systems, canary=CANARY))


def rows(site: Site, name: str) -> list[dict[str, str]]:
    """A data file's rows."""
    return list(csv.DictReader(io.StringIO(site[f"data/{name}.csv"])))


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """The pages of a site."""
    return ((path, text) for path, text in site.items() if path.endswith(".html"))


def addresses(page: str) -> list[str]:
    """All that a page links to, but for its empty icon."""
    found = Outline(page).attributes("href", "src", "action")
    return [address for address in found if address != "data:,"]


# What is ranked


def test_the_ranked_table_is_what_the_findings_say(site: Site, two_systems: Findings) -> None:
    """Each ranked entry is a row with its two numbers, its rank sets and its n."""
    (ranking,) = two_systems.rankings
    table = rows(site, "leaderboard")
    assert [row["system"] for row in table] == [ranked.system for ranked in ranking.ranked]
    for row, ranked in zip(table, ranking.ranked, strict=True):
        summary = two_systems.entries[ranked.place]
        assert ranked.severe_ranks is not None
        assert (int(row["rank_best"]), int(row["rank_worst"])) == ranked.ranks
        severe_ranks = int(row["severe_rank_best"]), int(row["severe_rank_worst"])
        assert severe_ranks == ranked.severe_ranks
        assert float(row["score"]) == summary.score.value
        assert float(row["severe"]) == summary.severe.share.value
        ends = float(row["score_ci95_low"]), float(row["score_ci95_high"])
        assert ends == summary.score.ci95
        assert (row["n_scenarios"], row["n_epochs"]) == ("8", "2")
        assert row["grader_card"] == "evidence.html#vendor-judge-batched"
        assert (row["rubric"], row["not_ranked"]) == ("actions", "")


def test_severe_errors_stand_before_the_score(site: Site) -> None:
    """In the ranking and on a system's page severe errors come first, then the score."""
    for path, head in (("index.html", "Score actions"), ("models/alpha.html", "Score, actions")):
        text = Markup(site[path].partition("<h2")[2]).striptags()
        assert text.index("Severe errors") < text.index(head), path


@pytest.mark.parametrize("make", [whole, half_resolved, lambda: whole(rubrics=BOTH)])
def test_the_site_s_numbers_are_those_of_the_summary(make: Callable[[], Runs]) -> None:
    """Severe errors and score are equal in `summary --json`, the site's CSV and its JSON."""
    results = findings(make())
    made = rendered(results)
    entries = summary_json(results.entries)["entries"]
    in_json = json.loads(made["data/entries.json"])["rows"]
    in_csv = rows(made, "entries")
    assert len(entries) == len(in_json) == len(in_csv)
    for entry in entries:
        (number,) = [k for k, row in enumerate(in_json) if _key(row) == _key(entry)]
        one, other = in_json[number], in_csv[number]
        assert _key(other) == _key(entry)
        for name, number_json in (("severe", entry["severe"]["share"]), ("score", entry["score"])):
            ends = number_json["ci95"] or (None, None)
            bounds = (
                number_json.get("low", number_json["value"]),
                number_json.get("high", number_json["value"]),
            )
            expected = (number_json["value"], *bounds, *ends)
            keys = [name + end for end in ("", "_low", "_high", "_ci95_low", "_ci95_high")]
            assert tuple(one[key] for key in keys) == expected
            assert tuple(float(other[key]) if other[key] else None for key in keys) == expected
        severe = [one[f"severe_{name}"] for name in ("count", "n", "upper_at_zero")]
        assert severe == [entry["severe"].get(name) for name in ("count", "n", "upper_at_zero")]


def _key(entry: dict[str, str]) -> tuple[str, str, str]:
    return entry["system"], entry["grader"], entry["rubric"]


def test_severe_errors_are_split_where_the_bank_says_which_is_which() -> None:
    """Every −2 item that may injure: its share is that of all, and nothing is known of rights."""
    runs = whole()
    assert {row["severe_injury"] for row in rows(rendered(findings(runs)), "entries")} == {""}
    with_harm = replace(
        runs, judgments=having(runs.judgments, pl.col("points") == -2, harm="injury")
    )
    for row in rows(rendered(findings(with_harm)), "entries"):
        assert row["severe_injury"] == row["severe"] != ""
        assert row["severe_rights"] == ""


def test_no_key_of_the_data_has_a_dot_or_an_old_name(site: Site) -> None:
    """Columns are named as the core names its numbers."""
    for path, text in site.items():
        if path.endswith(".csv"):
            keys = next(csv.reader(io.StringIO(text)))
            assert not [k for k in keys if "." in k or "action_" in k or k.endswith("_unknown")]
            assert len(keys) == len(set(keys)), path


def test_every_ranked_entry_leads_to_its_grader_s_card(site: Site) -> None:
    """The leaderboard names the grader above its table, and leads to a card that is there."""
    (anchor,) = re.findall(r'Grader: <a href="evidence.html#([\w-]+)">', site["index.html"])
    assert anchor in Outline(site["evidence.html"]).ids


@pytest.mark.parametrize(
    ("grader", "model", "why"),
    [
        ("careeval/lexical (batched, prompt 0)", "openai/alpha", "lexical"),
        ("gguf/small (batched)", "openai/alpha", "embedded"),
        ("vendor/judge (batched)", "gguf/small", "embedded"),
    ],
)
def test_lexical_and_embedded_are_never_ranked(grader: str, model: str, why: str) -> None:
    """Lexical and embedded grades, and embedded models, stand apart with the reason."""
    runs = with_columns(whole(["alpha"], grader), "alpha", model=model)
    made = rendered(findings(runs))
    (row,) = rows(made, "leaderboard")
    assert why in row["not_ranked"]
    assert (row["rank_best"], row["severe_rank_best"]) == ("", "")
    assert "No entry can be ranked" in made["index.html"]


def test_what_may_not_be_ranked_is_grey_with_the_reason() -> None:
    """Below the ranked rows stands a grey one without a rank, and its card says why too."""
    made = rendered(findings(half_resolved()))
    table = rows(made, "leaderboard")
    assert [(row["system"], row["rank_best"]) for row in table] == [("alpha", "1"), ("beta", "")]
    assert "items of −2 are unresolved" in table[1]["not_ranked"]
    (grey,) = re.findall(r'<tr class="grey".*?</tr>', made["index.html"], re.DOTALL)
    assert "beta" in grey
    assert f"not ranked: {table[1]['not_ranked']}" in grey
    assert "Not ranked: " in made["models/beta.html"]
    assert "Not ranked: " not in made["models/alpha.html"]


def test_no_score_is_ranked_without_its_interval() -> None:
    """A system asked four scenarios has no interval, so that it is not ranked, and why is said."""
    runs = whole()
    few = pl.col("scenario").is_in([f"dressing-{n:03}" for n in range(1, 5)])
    cut = Runs(runs.responses.filter(few), runs.judgments.filter(few))
    (board,) = contents(findings(cut)).boards
    assert board.ranked == ()
    assert all("no interval" in entry.not_ranked_reason for entry in board.left_out)


@pytest.mark.parametrize(
    ("columns", "n_boards"),
    [
        ({"bank": "imported-bank"}, 2),
        ({"bank_version": "2-A"}, 2),
        ({"bank_hash": "def456"}, 2),
        ({"protocol": "3-A"}, 2),
        ({"bank_version": "1-B"}, 1),
        ({"protocol": "2-B"}, 1),
    ],
)
def test_what_does_not_compare_never_shares_a_table(columns: dict[str, str], n_boards: int) -> None:
    """Another bank, scenarios, or N of bank or protocol is another table; another X is not."""
    site = contents(findings(with_columns(whole(), "beta", **columns)))
    assert len(site.boards) == n_boards
    assert len(site.entries) == 2


def test_two_banks_share_no_scenario_page() -> None:
    """One id in two banks is two scenarios: each has its page, its text and its own systems."""
    runs = with_columns(whole(), "beta", bank="imported-bank", scenario_text="Another text.")
    made = rendered(findings(runs))
    ours, theirs = (
        made[f"scenarios/{b}-1-eating-001.html"] for b in ("made-bank", "imported-bank")
    )
    assert "Another text." in theirs
    assert "Another text." not in ours
    assert "alpha" in ours
    assert "beta" not in ours.partition("<main")[2]
    assert "scenarios/imported-bank-1-eating-001.html" in made["models/beta.html"]


def test_each_grader_has_its_own_table_and_section() -> None:
    """Judged by two graders, a system stands in two tables, and its page has a section for each."""
    made = rendered(findings(two_graders()))
    assert {row["system"] for row in rows(made, "leaderboard")} == {"alpha", "beta"}
    assert [row["system"] for row in rows(made, "leaderboard-actions-other-judge")] == ["alpha"]
    ids = Outline(made["models/alpha.html"]).ids
    assert {"actions--vendor-judge", "actions--other-judge"} <= set(ids)


def test_two_rubrics_never_share_a_table(on_both: Findings) -> None:
    """Judged on both rubrics, a system has one page with a section for each, and two tables."""
    made = rendered(on_both)
    for name, rubric in (("leaderboard", "actions"), ("leaderboard-ladder-vendor-judge", "ladder")):
        table = rows(made, name)
        assert [row["rubric"] for row in table] == [rubric, rubric]
        assert {row["system"] for row in table} == {"alpha", "beta"}
    assert [path for path in made if path.startswith("models/")] == [
        "models/beta.html",
        "models/alpha.html",
    ]
    page = made["models/alpha.html"]
    assert {"actions", "ladder"} <= set(Outline(page).ids)
    for summary in on_both.entries:
        n = html.unescape(page).count(headline_sentence(summary))
        assert n == (summary.system == "alpha"), summary


def test_a_system_keeps_its_name_in_its_sentence() -> None:
    """A hyphen in a name stays a hyphen where the numbers are said in words."""
    made = rendered(findings(whole(["alpha-1"])))
    assert "of alpha-1's responses hold a severe error" in html.unescape(
        made["models/alpha-1.html"]
    )


# What is said


def test_unknown_costs_are_said_to_be_unknown(site: Site) -> None:
    """A cost that nobody knows reads `unknown` with its reason, and is empty in the data."""
    (row, _) = rows(site, "leaderboard")
    assert row["cost_usd"] == ""
    assert "not known" in row["cost_usd_reason"]
    assert "unknown" in site["index.html"]


def test_scores_are_said_not_to_compare_with_the_paper_s(site: Site) -> None:
    """Every page and every JSON file says that its scores do not compare with the paper's."""
    texts = [text for path, text in site.items() if path.endswith((".html", ".json"))]
    assert len(texts) > 20
    assert all("do not compare with those of the CareEval paper" in text for text in texts)


def test_simulated_runs_say_so_everywhere() -> None:
    """Every page, every row of every CSV file, and every JSON file says that nobody answered."""
    text = "SIMULATED: nobody answered."
    made = rendered(findings(with_columns(whole(), bank_provenance=text)))
    for path, page in pages(made):
        assert text in page.partition("<main")[0], path
    names = [path for path in made if path.endswith(".csv")]
    assert len(names) > 15
    for path in names:
        table = list(csv.DictReader(io.StringIO(made[path])))
        assert all(row["provenance"] == text for row in table), path
        assert "provenance" in made[path].partition("\n")[0], path
        assert json.loads(made[path.replace(".csv", ".json")])["provenance"] == text, path


def test_a_row_s_provenance_is_its_own() -> None:
    """A run beside a simulated one is not called simulated, and a pair of both says so."""
    runs = with_columns(whole(), "alpha", bank_provenance="SIMULATED: nobody answered.")
    made = rendered(findings(runs))
    assert {row["system"]: row["provenance"] for row in rows(made, "leaderboard")} == {
        "alpha": "SIMULATED: nobody answered.",
        "beta": "Made for tests.",
    }
    for row in rows(made, "pairs"):
        assert "SIMULATED: nobody answered." in row["provenance"]
        assert "Made for tests." in row["provenance"]
    records = json.loads(made["data/leaderboard.json"])["rows"]
    assert {record["provenance"] for record in records} == {
        "SIMULATED: nobody answered.",
        "Made for tests.",
    }


@pytest.mark.parametrize("name", ["leaderboard", "pairs", "entries"])
def test_data_says_what_was_asked_and_who_judged(name: str, site: Site) -> None:
    """A row of a ranking or of a pair names its bank, its versions and its grader."""
    table = rows(site, name)
    assert table
    for row in table:
        assert (row["bank"], row["bank_version"]) == ("made-bank", "1-A")
        assert (row["protocol"], row["grading_protocol"]) == ("2-A", "2-A")
        assert (row["grader"], row["rubric"]) == ("vendor/judge (batched)", "actions")
    assert json.loads(site[f"data/{name}.json"])["rows"][0]["bank"] == "made-bank"


def test_every_score_names_its_rubric(on_both: Findings) -> None:
    """Wherever a score is shown, the name of its rubric stands with it."""
    made = rendered(on_both)
    front, cards, scenario, differences = (
        Markup(made[path].partition("<main")[2]).striptags()
        for path in (
            "index.html",
            "scenarios.html",
            "scenarios/dressing-003.html",
            "compare.html",
        )
    )
    for rubric in BOTH:
        assert f"Score {rubric}, 95% interval" in front
        assert f"Score {rubric}, mean of responses" in scenario
        assert f"Score, {rubric}: the row’s system minus" in differences
    assert "Severe errors: 2 of 4 responses" in cards
    assert "mean score, actions" in cards


def test_runs_are_asked_for_only_where_they_can_be_sent(two_systems: Findings) -> None:
    """With a repository the site says how to add a run and leads there; without one it does not."""
    address = "https://example.org/lab/board"
    with_one, without = (
        rendered(two_systems, repository=each)["about.html"] for each in (address, None)
    )
    assert f'href="{address}"' in with_one
    assert "pull request" in with_one
    assert "pull request" not in without


def test_the_canary_is_in_every_data_file(site: Site) -> None:
    """Every JSON file, and every CSV file with a row, carries the bank's canary."""
    for path, text in site.items():
        if path.startswith("data/") and (path.endswith(".json") or text.count("\n") > 1):
            assert CANARY in text, path


def test_nothing_graded_is_a_site_that_says_so() -> None:
    """Of no run at all there is a site, without a ranked table, that says there is nothing."""
    made = rendered(findings(Runs.of([], [])))
    assert "Nothing has been graded yet" in made["index.html"]
    assert "<table" not in made["index.html"]
    assert "There are no two ranked systems" in made["compare.html"]


def test_one_system_has_nobody_to_compare_with(one_system: Findings) -> None:
    """Of one system there is its page, and no table of differences."""
    made = rendered(one_system)
    assert "models/alpha.html" in made
    assert "There are no two ranked systems" in made["compare.html"]


def test_the_grader_s_card_says_what_was_not_done(two_systems: Findings) -> None:
    """A card says that people have not audited its grader, and that no probe was put to it."""
    (panel,) = grader_panels(two_systems).values()
    assert panel.sentence.startswith("Not audited by people. Not tried on")


def test_a_system_s_page_has_its_corrected_score(runs: Runs) -> None:
    """An audited grader's scores are corrected on the system's page, its card, and in the data."""
    grader, audit = audit_of(runs)
    made = rendered(findings(runs, audits={grader: audit}))
    audited = audit.by_system["alpha"].scores[Rubric.actions]
    for path in ("models/alpha.html", "evidence.html", "data/corrected-scores.csv"):
        assert audited.sentence() in html.unescape(made[path]), path
    rows = json.loads(made["data/corrected-scores.json"])["rows"]
    by_name = {(row["system"], row["rubric"]): row for row in rows}
    assert set(by_name) == {(name, "actions") for name in audit.by_system}
    assert by_name["alpha", "actions"]["corrected"] == audited.corrected.value


def test_another_run_s_pages_have_no_corrected_score(runs: Runs) -> None:
    """A run whose answers people did not read says so, and shows no score of another's."""
    other = with_columns(runs, text="I do otherwise.")
    results = findings(other, audits=dict([audit_of(runs, entries(other))]))
    made = rendered(results)
    rows = json.loads(made["data/corrected-scores.json"])["rows"]
    assert {row["corrected"] for row in rows} == {None}
    for path in ("models/alpha.html", "evidence.html"):
        assert f"Not corrected: {OTHER_ANSWERS}." in html.unescape(made[path]), path
    assert f"Not corrected: {OTHER_ANSWERS}." in html.unescape(render_page(results))


def test_without_an_audit_no_page_speaks_of_one(site: Site) -> None:
    """Without an audit no score is corrected."""
    assert rows(site, "corrected-scores") == []
    for path, text in pages(site):
        assert "corrected by people" not in text.casefold(), path


def test_a_system_s_page_does_not_repeat_its_name_or_a_caption(site: Site) -> None:
    """Remarks on a system's own page are without its name; each heading is there once."""
    alpha = site["models/alpha.html"]
    (remarks,) = re.findall('<ul class="plain">(.*?)</ul>', alpha, re.S)
    assert "2 of 16 responses are refused" in remarks or "1 of 16 responses are refused" in remarks
    assert "alpha" not in remarks
    assert alpha.count(">Too little and too much care") <= 1


def test_every_error_stands_on_its_scenario_s_page(on_both: Findings) -> None:
    """Each public error of each system on each rubric is on the page, severe ones first."""
    errors, made = errors_by_scenario(contents(on_both)), rendered(on_both)
    public = [
        harm
        for each in on_both.entries
        for severity in (-2, -1)
        for harm in each.shown(harms(each, severity))
    ]
    found = [harm for systems in errors.values() for each in systems.values() for harm in each]
    assert len(found) == len(public) > 30
    for (_, scenario), by_system in errors.items():
        assert scenario != "bathing-009"
        page = Markup(made[f"scenarios/{scenario}.html"]).striptags()
        assert page.count("✗ ") == sum(map(len, by_system.values()))
        for each in by_system.values():
            assert [harm.points for harm in each] == sorted(harm.points for harm in each)
            assert all(harm.item_text in page for harm in each)


# Pairs


def test_each_two_systems_stand_once_row_minus_column() -> None:
    """A matrix has each pair in one cell: the row's number minus the column's, rows by rank."""
    results = findings(whole(["alpha", "beta", "gamma"]))
    board = contents(results).boards[0]
    names = [each.name for each in board.ranked]
    values = {each.name: each.entry.score.value for each in board.ranked}
    _, matrix = tables.matrices(board)
    assert [matrix.head(column) for column in matrix.columns] == ["Row minus column", *names[1:]]
    assert [row["a"] for row in matrix.rows] == names[:-1]
    for at, row in enumerate(matrix.rows):
        cells = [matrix.cell(column, row) for column in matrix.columns[1:]]
        assert [bool(cell.text) for cell in cells] == [place >= at for place in range(2)]
        for other, column in list(zip(names[1:], matrix.columns[1:], strict=True))[at:]:
            first, second = values[row["a"]], values[other]
            assert first is not None
            assert second is not None
            assert row[column.key].value == pytest.approx(first - second)
    assert "▲ the row’s system is better" in Markup(rendered(results)["compare.html"]).striptags()


# What is never in it


def test_no_word_of_the_held_out_split_is_in_the_site(site: Site) -> None:
    """Neither the words nor the id of a held-out scenario is in any file, or its name."""
    assert len(site) > 30
    for path, text in site.items():
        assert SECRET not in text, path
        assert "bathing-009" not in path + text, path


def held_out_elsewhere(runs: Runs, where: pl.Expr, split: str | None = "held-out") -> Runs:
    """The same runs, some responses to `eating-001` held out, with words that nobody may see."""
    of = pl.col("scenario").eq("eating-001") & where
    words = {"split": split, "text": f"{SECRET} pull her left arm through", "scenario_text": SECRET}
    secrets = dict.fromkeys(("item_text", "reason", "quote"), SECRET)
    judgments = having(runs.judgments, of, present=False, **secrets)
    judgments = having(judgments, of & (pl.col("points") < 0), present=True)
    return Runs(having(runs.responses, of, **words), judgments, runs.notes)


@pytest.mark.parametrize("system", ["alpha", "beta"])
@pytest.mark.parametrize("version", ["1-A", "1-B"])
@pytest.mark.parametrize("split", ["held-out", None])
def test_what_one_log_holds_out_no_page_shows(system: str, version: str, split: str | None) -> None:
    """Public in one log and not in another of the same N, a scenario is nowhere in the site."""
    runs = with_columns(whole(), system, bank_version=version)
    made = rendered(findings(held_out_elsewhere(runs, pl.col("system") == system, split)))
    for path, text in made.items():
        assert SECRET not in text, path
        assert "eating-001" not in path + text, path
    assert "scenarios/eating-002.html" in made


def test_a_row_s_own_split_counts_where_a_run_is_of_two_banks() -> None:
    """Held out in a second version within one run, words stay hidden though the first is public."""
    late = pl.col("epoch").eq(2) & pl.col("system").eq("beta")
    runs = held_out_elsewhere(whole(), late)
    second = pl.col("scenario").eq("eating-001") & late
    responses = having(runs.responses, second, bank_version="2-A")
    made = rendered(findings(replace(runs, responses=responses)))
    assert "scenarios/eating-001.html" in made
    for path, text in made.items():
        assert SECRET not in text, path


def test_every_link_leads_somewhere(site: Site) -> None:
    """Every address in every page is a file of the site, and its anchor is there, once."""
    ids = {path: Outline(text).ids for path, text in pages(site)}
    assert all(len(each) == len(set(each)) for each in ids.values())
    n = 0
    for path, text in pages(site):
        for address in addresses(text):
            target, _, anchor = unquote(address).partition("#")
            there = posixpath.normpath(f"{path}/../{target}") if target else path
            assert there in site, f"{path} leads to {address}"
            assert not anchor or anchor in ids[there], f"{path} leads to {address}"
            n += 1
    assert n > 200


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    """Every page has a policy that lets nothing in, and no page names an outer address to load."""
    for path, text in pages(site):
        assert "default-src &#39;none&#39;" in text, path
        assert not [each for each in addresses(text) if re.match(r"[a-z]+:|//", each)]


def test_a_site_is_the_same_for_the_same_runs(two_systems: Findings) -> None:
    """Rendered twice, every file is the same."""
    assert rendered(two_systems) == rendered(two_systems)


def test_pages_of_a_system_that_is_gone_go_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written again without a system, its page is gone; what somebody else put there stays."""
    (tmp_path / "CNAME").write_text("example.org", encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.html").touch()
    monkeypatch.setattr(folder, "_figure", fake_figure)
    folder.write_site(findings(whole()), tmp_path)
    assert (tmp_path / "models" / "beta.html").exists()
    folder.write_site(findings(whole(["alpha"])), tmp_path)
    names = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert names == ["alpha.html", "mine.html"]
    assert (tmp_path / "CNAME").exists()


def test_nothing_outside_the_folder_is_taken_away(tmp_path: Path) -> None:
    """A list of earlier files that leads out of the folder deletes nothing there."""
    mine = tmp_path / "mine.txt"
    mine.touch()
    out = tmp_path / "site"
    out.mkdir()
    (out / folder.MANIFEST).write_text(f"../mine.txt\n{mine}\n\n", encoding="utf-8")
    folder.write_site(findings(Runs.of([], [])), out)
    assert mine.exists()


def test_hostile_names_are_harmless() -> None:
    """Names that are paths, markup, formulas or alike lead to safe, different pages."""
    names = ["../../etc/passwd", "<script>alert(1)</script>", "=cmd()|' /C calc'!A0", "CON", "a/b",
             "a-b", "\u202e{{ 7 * 7 }}", "%"]  # fmt: skip
    made = rendered(findings(whole(names)))
    models = [path for path in made if path.startswith("models/")]
    assert len(models) == len(names)
    assert all(re.fullmatch(r"[a-z0-9/.-]+", path) and ".." not in path for path in made)
    for path, text in pages(made):
        assert "<script>alert" not in text, path
        assert "49" not in Markup(text.partition("<h1>")[2].partition("</h1>")[0]).striptags()
        assert "\u202e" not in text, path
    cells = [cell for row in rows(made, "leaderboard") for cell in row.values()]
    assert "'=cmd()|' /C calc'!A0" in cells


@given(st.lists(st.text(max_size=80), max_size=8), st.sampled_from(["system", "scenario"]))
def test_slugs_are_safe_and_different(names: list[str], otherwise: str) -> None:
    """Whatever the names, their slugs are short, of safe letters, and no two are the same."""
    slug_by_name = slugs(names, otherwise)
    assert set(slug_by_name) == set(names)
    assert len(set(slug_by_name.values())) == len(slug_by_name)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in slug_by_name.values())
    assert all(len(slug) <= 80 for slug in slug_by_name.values())


def test_a_slug_depends_on_other_names_only_if_shared() -> None:
    """Another system changes no address, unless both would have the same."""
    alone = slugs(["a/b"], "system")["a/b"]
    assert slugs(["a/b", "c/d"], "system")["a/b"] == alone == "a-b"
    assert slugs(["a/b", "a-b"], "system")["a/b"] != alone


# Tables as data


def sheet_of(rows: list[Row], *fields: Field) -> Sheet:
    """A sheet of a name and what else is given."""
    return Sheet("x", "a row", (Field("system", "its name"), *fields), rows, "X")


SCORE = Field("score", "its score", ESTIMATE)


@given(st.text(max_size=20), st.floats(allow_nan=False, allow_infinity=False))
def test_no_cell_starts_a_formula(text: str, number: float) -> None:
    """A text in a CSV file never begins as a formula does, and a number stays one."""
    sheet = sheet_of([{"system": text, "n": number}], Field("n", "a number", DECIMAL))
    (_, as_csv), _ = data_files("x", sheet)
    (row,) = csv.DictReader(io.StringIO(as_csv))
    assert re.fullmatch(r"[+-]?\d*", row["system"]) or row["system"][:1] not in set("=+-@\t\r")
    assert float(row["n"]) == number


def test_a_sheet_says_the_same_as_csv_and_as_json() -> None:
    """By hand: an estimate of 50%, from 40% to 60%, and one that is unknown."""
    known, unknown = Estimate(0.5, 0.5, 0.5, (0.4, 0.6)), Estimate.unknown("no reason at all")
    rows = [{"system": "a", "score": known}, {"system": "b", "score": unknown}]
    (path, as_csv), (_, as_json) = data_files("x", sheet_of(rows, SCORE), None, "Made by hand.")
    assert path == "data/x.csv"
    assert as_csv.replace('"', "") == (
        "system,score,score_low,score_high,score_ci95_low,score_ci95_high,score_reason,provenance\n"
        "a,0.5,0.5,0.5,0.4,0.6,,Made by hand.\n"
        "b,,,,,,no reason at all,Made by hand.\n"
    )
    first, second = json.loads(as_json)["rows"]
    assert (first["score"], first["score_ci95_high"], first["score_reason"]) == (0.5, 0.6, None)
    assert (second["score"], second["score_reason"]) == (None, "no reason at all")


def test_an_empty_sheet_is_json_too() -> None:
    """A table without a row is a document with no rows."""
    (_, as_csv), (_, as_json) = data_files("x", sheet_of([]))
    assert json.loads(as_json)["rows"] == []
    assert as_csv == '"system","provenance"\n'


def test_every_column_of_a_json_file_is_described(site: Site) -> None:
    """A JSON file says in words what each column of its rows holds."""
    for path, text in site.items():
        if path.startswith("data/") and path.endswith(".json"):
            document = json.loads(text)
            for row in document["rows"]:
                assert set(row) - {"provenance"} == set(document["columns"]), path
            assert all(document["columns"].values()), path
