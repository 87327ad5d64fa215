"""The static leaderboard site: a folder of pages and data files, ready to deploy.

Each page is a template with values from `careeval.results.findings.Findings`. A page fetches
nothing, and works from a disk and without scripts.
"""

from careeval.report.site.folder import render_site, write_site

__all__ = ["render_site", "write_site"]
