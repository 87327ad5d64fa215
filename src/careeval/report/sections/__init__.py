"""The sections of a report, in order."""

from careeval.report.sections.activities import ACTIVITIES
from careeval.report.sections.answer import ANSWER
from careeval.report.sections.domains import DOMAINS_SECTION
from careeval.report.sections.further_numbers import FURTHER_NUMBERS
from careeval.report.sections.grader import GRADER
from careeval.report.sections.harms import HARMS
from careeval.report.sections.methods import METHODS
from careeval.report.sections.responses import RESPONSES
from careeval.report.sections.situations import SITUATIONS

SECTIONS = (
    ANSWER,
    ACTIVITIES,
    DOMAINS_SECTION,
    HARMS,
    SITUATIONS,
    FURTHER_NUMBERS,
    GRADER,
    RESPONSES,
    METHODS,
)
"""All sections, as a tree."""
