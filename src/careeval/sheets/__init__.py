"""Tables of published numbers, and the formats that they are written in.

A `Field` declares a number once: its key in files, its head, its description, and its `Kind`, which
says how such a value is written and stored. A `Sheet` is fields and rows. A `View` chooses columns
of a sheet for a reader. Each renderer in `formats` takes any of them.
"""
