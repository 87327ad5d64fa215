"""The workbench in the browser: people rate scenarios and label judgments. It computes nothing.

`careeval.review.web.app` is the app, `careeval.review.store` what it keeps, `careeval.review.study`
what is asked. Store and study are of use without the app, so nothing is imported here.
"""
