"""Tables of published numbers, and the formats that they are written in.

A `Field` declares a number once: key in files, column head, description, and `Kind`, which says how
such values are written and stored. A `Sheet` is fields and rows. A `View` chooses columns
of a sheet for a reader. `terminal`, `latex`,
`markup` and `data_files` write views and data files.
"""
