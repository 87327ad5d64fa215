"""`careeval study consented` and `terms`: consent on paper, and a change of terms."""

from __future__ import annotations

from pathlib import Path

from careeval.cli.app import OK, say
from careeval.cli.shared import people
from careeval.errors import UsageError
from careeval.people.forms import FormId
from careeval.people.study.plan import StudyPlan


def consented(study: Path, rater: str, *, typed_by: str) -> int:
    """Record that a rater agreed to the terms on paper, so that status and results count it.

    Keep the signed form apart from the study: it has a name on it.

    Args:
        study: The study's file.
        rater: Pseudonym.
        typed_by: Who saw the signed form: a role or a pseudonym, kept with the record.
    """
    from careeval.people.deck import CONSENT

    typist = people.expect_typist(typed_by)
    with people.open_store(study, "study") as store:
        people.expect_person(store, rater)
        terms = StudyPlan.read(store.plans("study")[-1]).consent
        form = FormId.new(store.newest(rater, CONSENT))
        store.save(rater, CONSENT, {"given": terms.digest}, form, typed_by=typist)
    say(f"Recorded: {rater} agreed on paper, as {typist} says.")
    return OK


def terms(study: Path, *, consent: Path | None = None, ethics: str = "", contact: str = "") -> int:
    """Change the terms that raters agree to; each rater is asked to agree to the new ones.

    An option that is not given leaves its part as it is. Answers stay, but nobody can go on before
    they have agreed again.

    Args:
        study: The study's file.
        consent: File with the terms; an empty line begins a paragraph.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: The person whom raters can ask, and how.
    """
    with people.open_store(study, "study") as store:
        plan = StudyPlan.read(store.plans("study")[-1])
        old_terms = plan.consent
        new_terms = people.consent(
            consent, ethics or old_terms.ethics, contact or old_terms.contact, old_terms.text
        )
        if new_terms == old_terms:
            raise UsageError(
                "nothing to change: the study has these terms already",
                hint="change a part with --consent FILE, --ethics or --contact",
            )
        store.amend_plan(plan.model_copy(update={"consent": new_terms}).json_text())
    say(f"The terms have changed. If careeval study serve {study} is running, restart it.")
    return OK
