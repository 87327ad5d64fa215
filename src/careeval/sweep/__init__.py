"""Sweeps: runs of many systems over one bank, cut into cells that any machine can carry out.

A *cell* is one system, one slice of the scenarios and one stage: to ask, or to grade. Each is a run
in a folder of its own (`protocol.sweep_cells`); together the slices of a system are one run.

```text
spec      the description of a sweep, from its TOML file
attend    carries out one cell, on the machine that got it
engines   the engines for cells: this machine, or a Ray cluster
drive     gives out the cells that are left
progress  the progress of a sweep, from its files
server    the server of a model, which a cell may start
```
"""
