"""Pages made from templates. All values are escaped, and values are never used as templates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from careeval.core.rating import MEANING, NEVER_NEGATIVE, Scale
from careeval.core.text import signed
from careeval.people.deck import Workbench, fields_by_item
from careeval.people.forms import ANSWER
from careeval.people.web.access import Visitor


def page(
    request: Request, template: str, title: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return a page of the app, filled in from a template.

    Args:
        request: The request; a visitor who is signed in gets the links for signed-in visitors.
        template: The name of the template without `.html`.
        title: The title of the window, and its heading.
        status: The HTTP status.
        values: The values of the template.
    """
    workbench: Workbench = request.app.state.workbench
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    frame = {"workbench": workbench, "visitor": visitor, "title": title, "path": request.url.path}
    html = environment().get_template(f"{template}.html").render(frame | values)
    return HTMLResponse(html, status)


def go_to(path: str) -> Response:
    """Redirect a browser to another page of the app."""
    return RedirectResponse(path, 303)


def wants_json(request: Request) -> bool:
    """Tell whether our script sent the request, rather than a browser that opens a page."""
    return "application/json" in request.headers.get("accept", "")


def refusal(
    request: Request,
    status: int,
    title: str,
    words: str,
    *,
    retry: bool = True,
    withdraw: bool = False,
) -> Response:
    """Return a page that says why a request is refused; for our script, the same words as JSON.

    The page shows what was typed, to be copied or, if `retry`, sent again.
    """
    if wants_json(request):
        return JSONResponse({"error": f"{title}. {words}"}, status)
    typed: Mapping[str, str] = getattr(request.state, "form", {})
    written = [
        (name.removeprefix(ANSWER), text)
        for name, text in typed.items()
        if text and name.startswith(ANSWER)
    ]
    again = typed if retry else {}
    return page(
        request,
        "refusal",
        title,
        status,
        words=words,
        again=again,
        written=written,
        withdraw=withdraw,
    )


@cache
def environment() -> Environment:
    """Return the Jinja environment that loads and fills in the templates."""
    environment = Environment(
        loader=PackageLoader("careeval.people.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["paragraphs"] = lambda text: text.strip().split("\n\n")
    environment.filters["clock"] = _clock
    environment.filters["points"] = signed
    environment.filters["by_item"] = fields_by_item
    environment.filters["shape"] = lambda kind: "scale" if isinstance(kind, Scale) else kind
    environment.globals |= {
        "POINTS_MEAN": MEANING,
        "NEVER_NEGATIVE": NEVER_NEGATIVE,
    }
    return environment


def _clock(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%H:%M UTC")
