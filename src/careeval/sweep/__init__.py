"""Sweeps: runs of many systems over one bank, cut into cells that any machine can carry out.

A *cell* is one system, one slice of the scenarios and one stage: to ask, or to grade. Each is a run
in a folder of its own (`protocol.sweep_cells`); together the slices of a system are one run.

```text
description  the systems, gradings, scenarios and cells of a sweep, and the files that have them
drive        gives out the cells that are left
engines      carry out cells on this machine, or on a Ray cluster
cells        carries out one cell, and finds on the disk what is done of it
server       starts the server of a model for a cell; guardian ends it when the cell is killed
progress     reads the progress of a sweep from its files
```
"""
