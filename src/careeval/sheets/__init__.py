"""Published numbers as tables: a sheet says what it holds, a view which of it is shown.

A `Field` declares a number once: its key in files, its head, what it holds, and its `Kind`, which
knows how such a value is written and stored. A `Sheet` is fields and rows. A `View` chooses columns
of a sheet for a reader. Each renderer in `formats` takes any of them.
"""
