"""The workbench in the browser, where people rate scenarios and label judgments.

`careeval.review.web.app` serves it, `careeval.review.store` keeps the answers,
`careeval.review.study` and `careeval.review.audit` say what is asked. No score is computed here.
Store and study can be used without the app, so nothing is imported here.
"""
