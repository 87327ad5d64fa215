"""Markup of documents: no name is markup, LaTeX has captions and one note, and pdflatex sets it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results.compare import compare
from careeval.results.entries import entries
from careeval.results.entry import NOT_COMPARABLE
from careeval.results.parts import Breakdown
from careeval.sheets.comparisons import comparison_document
from careeval.sheets.latex import MAX_ROWS, escaped, latex
from careeval.sheets.markup import plain_markdown
from careeval.sheets.sheet import Document
from careeval.sheets.summary import summary_document
from results.authored import by_hand, runs_of
from sheets.given_summaries import known_and_unknown_runs, of_two_sizes

LONGEST = 25
"""Words that a caption stays under."""

ODD = r'm_1 & 50% $ #{~^\} <b> -- \'\'µ 中 ÐÞðþß÷ÆØÿ ?`"<<\[ "é"'
"""A name of which LaTeX would obey almost every character."""


def documents() -> list[Document]:
    """Return documents of one table and of many, two of them of the same entries."""
    found = entries(of_two_sizes())
    marks = {f"dressing-{n}": ["11000", f"0100{n % 2}"] for n in range(8)}
    both = runs_of({ODD: marks, "other": {name: ["11000", "11000"] for name in marks}})
    return [
        summary_document(found),
        summary_document(found, in_detail=True),
        summary_document(found, (Breakdown.situation, Breakdown.actor)),
        summary_document(entries(known_and_unknown_runs())),
        summary_document(entries(both)),
        comparison_document(compare(both, ODD, "other")),
    ]


def found(command: str, tex: str) -> list[str]:
    """Return the arguments of each use of a command."""
    return re.findall(rf"\\{command}{{(.*)}}$", tex, re.MULTILINE)


def test_captions_are_short_and_a_document_has_one_note() -> None:
    """No caption is as long as a paragraph; what is known of all tables is said once."""
    for document in documents():
        tex = latex(document)
        captions = found("caption", tex)
        assert len(captions) == len([*document.views])
        assert max(len(caption.split()) for caption in captions) < LONGEST
        assert tex.count("Note: ") == 1
        assert tex.count(escaped(NOT_COMPARABLE)) == 1
        assert tex.index("Note: ") < tex.index(r"\end{table}")


def test_the_note_says_what_a_number_needs() -> None:
    """Bank, protocol, grader, n and the kind of interval are below the first table."""
    (note,) = [line for line in latex(documents()[1]).splitlines() if "Note: " in line]
    for part in ("Bank authored 1-0", "protocol 2-0", "grader judge", r"n 9 $\times$ 2",
                 "clustered by scenario"):  # fmt: skip
        assert part in note


def test_no_two_tables_of_an_article_have_one_label() -> None:
    """Several documents fit in one article, and each refers to its own first table."""
    texts = [latex(document) for document in documents()]
    labels = [label for tex in texts for label in found("label", tex)]
    assert len(set(labels)) == len(labels)
    for tex in texts:
        assert set(re.findall(r"\\ref{(.*?)}", tex)) <= {found("label", tex)[0]}


def test_a_label_survives_other_numbers() -> None:
    """A reference in an article holds when the same systems have been asked again."""
    labels = []
    for responses in (["11000", "01000"], ["00001", "11000"]):
        runs = runs_of({"a": {f"dressing-{n}": responses for n in range(6)}})
        labels.append(found("label", latex(summary_document(entries(runs)))))
    assert labels[0] == labels[1]


def test_latex_rows_have_a_cell_for_each_column() -> None:
    """Whatever a system is called, each row has as many cells as its table has columns."""
    s, _ = entries(by_hand())
    summaries = [replace(s, name=r"a & b \\ \input{x} % $ _ # ^ ~ {"), replace(s, name="[c]")]
    text = latex(summary_document(summaries))
    for kind, body in re.findall(
        r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.S
    ):
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(kind)}
    assert r"a \& b \textbackslash{}\textbackslash{} \textbackslash{}input\textbraceleft{}x" in text
    assert "\n{}[c] & " in text


@given(st.text())
def test_latex_text_has_no_command_of_its_own(text: str) -> None:
    """Escaped text has no character that LaTeX obeys but in what the escape itself writes."""
    left = re.sub(
        r"\\text[a-z]+\{\}|\\[{}$&#%_]|\\char34\{\}|\\texttt\{U\+[0-9A-F]+\}|\$-\$|\$\\(?:times|div|ge|cdot)\$|\{\}",
        "", escaped(text),
    )  # fmt: skip
    assert not set(left) & set('\\{}$&#%_^~<>|"`')
    assert "\n" not in left


def test_latex_of_many_is_cut_into_pages() -> None:
    """No table has more rows than a page holds, and none of them is lost."""
    s, _ = entries(by_hand())
    many = [replace(s, name=f"m{n}") for n in range(MAX_ROWS + 1)]
    text = latex(summary_document(many, by=[Breakdown.adl]))
    bodies = re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.S)
    counts = [body.count(r" \\") for body in bodies]
    assert max(counts) <= MAX_ROWS
    assert sum(counts) == 3 * len(many)
    assert "(1 of 3)" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_it(tmp_path: Path) -> None:
    """An article with all documents is set without an error or an unknown or doubled label."""
    for n, document in enumerate(documents()):
        (tmp_path / f"t{n}.tex").write_text(latex(document), encoding="utf-8")
    inputs = "".join(rf"\input{{t{n}}}\clearpage" for n in range(len(documents())))
    head = r"\documentclass{article}\usepackage{booktabs}"
    article = rf"{head}\begin{{document}}{inputs}\end{{document}}"
    (tmp_path / "a.tex").write_text(article, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert b"multiply defined" not in done.stdout
    assert b"undefined" not in done.stdout
    assert (tmp_path / "a.pdf").stat().st_size > 0


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("_x_", r"\_x\_"),
        ("~~y~~ and ~z~", r"\~\~y\~\~ and \~z\~"),
        ("a__b__", r"a\_\_b\_\_"),
        ("&lt;b&gt; &#60;", r"\&lt;b\&gt; \&#60;"),
        ("[a](b) [a][b] [a]: b", r"[a\](b) [a\][b] [a\]: b"),
        ("*a* `b` <c> | \\", r"\*a\* \`b\` \<c\> \| \\"),
        ("worst_at_n, R&D, 5 & 6, [0.5, 2.1], a-b", "worst_at_n, R&D, 5 & 6, [0.5, 2.1], a-b"),
        ("\x1b[31mred\n\tline", "[31mred line"),
    ],
)
def test_a_name_is_no_markup(text: str, escaped: str) -> None:
    """What GitHub would render is escaped; what it leaves alone stays readable as it is."""
    assert plain_markdown(text) == escaped
