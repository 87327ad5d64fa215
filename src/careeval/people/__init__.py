"""Studies, in which people rate scenarios, and audits, in which they label judgments.

`careeval.people.web.app` serves it, `careeval.people.store` keeps the answers,
`careeval.people.study` and `careeval.people.audit` say what is asked and what came of it.
Store and study can be used without the app, so nothing is imported here.
"""
