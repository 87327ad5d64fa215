"""The static leaderboard: a folder of pages and data that deploys as it is.

Each page is a few functions over `careeval.results.findings.Findings`, and a template that decides
nothing. Nothing is fetched: a page works from a disk, without scripts too, and lets nothing in.
"""

from careeval.report.site.folder import render_site, write_site

__all__ = ["render_site", "write_site"]
