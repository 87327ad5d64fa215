"""Sweeps: many systems over one bank, cut into cells that any machine can carry out.

A *cell* is one system, one slice of the scenarios and one stage: to ask, or to grade. Each is a run
in a folder of its own (`protocol.runs.sweep_cells`); together the slices of a system are one run.

```text
spec      what a sweep is made of, from its TOML file
attend    carry out one cell, on the machine that it was given to
engines   where cells are carried out: here, or on a Ray cluster
drive     give out what is left, until nothing is
progress  how far a sweep is, from its files
```
"""
