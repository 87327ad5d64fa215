"""`careeval study consented` and `terms`: consent on paper, and terms that change."""

from __future__ import annotations

from pathlib import Path

from careeval.cli.app import OK, say
from careeval.cli.shared import invitations
from careeval.errors import UsageError
from careeval.review.changes import FormId
from careeval.review.study.plan import read_plan, study_id


def consented(study: Path, rater: str, *, typed_by: str) -> int:
    """Record that a rater agreed to the terms on paper, so that status and results count it.

    Keep the signed form apart from the study: it has a name on it.

    Args:
        study: The study's file.
        rater: Pseudonym.
        typed_by: Who saw the signed form: a role or a pseudonym, kept with the record.
    """
    from careeval.review.workbench import CONSENT

    typist = invitations.typist(typed_by)
    with invitations.opened(study, "study") as store:
        if rater not in {each.id for each in store.raters()}:
            raise UsageError(f"there is no rater {rater!r}")
        terms = read_plan(store.plans("study")[-1]).consent
        form = FormId.new(store.newest(rater, CONSENT))
        store.save(rater, CONSENT, {"given": terms.digest}, form, typed_by=typist)
    say(f"Recorded: {rater} agreed on paper, as {typist} says.")
    return OK


def terms(study: Path, *, consent: Path | None = None, ethics: str = "", contact: str = "") -> int:
    """Change what raters agree to; all who have not agreed to just this are asked anew.

    What is not given stays as it is. Answers stay; nobody goes on before they have agreed again.

    Args:
        study: The study's file.
        consent: File with what raters agree to; an empty line begins a paragraph.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: Whom raters ask, and how.
    """
    with invitations.opened(study, "study") as store:
        texts = store.plans("study")
        plan = read_plan(texts[-1])
        before = plan.consent
        now = invitations.consent(
            consent, ethics or before.ethics, contact or before.contact, before.text
        )
        if now == before:
            raise UsageError(
                "these are the terms already", hint="--consent FILE, --ethics or --contact"
            )
        update = {"consent": now, "study_id": study_id(texts)}
        store.amend_plan(plan.model_copy(update=update).json_text())
    say(f"The terms have changed. Stop and start careeval study serve {study}.")
    return OK
