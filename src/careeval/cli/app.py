"""The commands, loaded only when they are called, and how a command ends.

Data goes to stdout, messages to stderr. Exit status: 0 done, 1 done with some samples failed, 2 the
command cannot be carried out as asked, 3 a check failed, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, Parameter
from cyclopts.config import Env, Toml

import careeval
from careeval.errors import CareEvalError, UsageError

OK, SOME_FAILED, USAGE, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses."""

app = App(
    name="careeval",
    help="Does a language model decide like an expert caregiver when it physically helps a person?",
    version=careeval.__version__,
    config=[Env("CAREEVAL_"), Toml("careeval.toml", must_exist=False)],
    default_parameter=Parameter(show_env_var=False),
)
for _name, _help in {
    "demo": "Evaluate a small embedded model offline, and open the result.",
    "run": "Ask a model, or take recorded answers, and grade them.",
    "grade": "Grade a run's stored responses again, beside the old judgments.",
    "summary": "The table: score, worst case, errors, by activity and domain.",
    "report": "One offline HTML page of one or more runs.",
    "bank": "The scenarios: check what authors write.",
    "audit": "Is this grader any good?",
}.items():
    app.command(f"careeval.cli.{_name}:app", name=_name, help=_help)


def run(argv: Sequence[str]) -> int:
    """Carry out one command line; its exit status comes back."""
    try:
        status = app(argv, exit_on_error=False, print_error=True, result_action="return_value")
    except CareEvalError as error:
        complain(error)
        return USAGE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of a pipe has gone; what it wanted, it has
        sys.stderr.close()
        return OK
    except OSError as error:
        if error.filename is None:
            raise
        complain(UsageError(f"{error.filename}: {error.strerror}"))
        return USAGE
    except Exception as error:
        # cyclopts prints its own errors of usage, then raises them
        if type(error).__module__.startswith("cyclopts"):
            return USAGE
        raise
    return status if isinstance(status, int) else OK


def complain(error: CareEvalError) -> None:
    """Say on stderr what cannot be done and what to do about it."""
    print(plain(f"careeval: {error}"), file=sys.stderr)
    if error.hint:
        print(plain(f"  hint: {error.hint}"), file=sys.stderr)


def plain(message: str) -> str:
    """A message without the control characters that a terminal would obey."""
    return "".join(c for c in message if c.isprintable() or c in "\n\t")
