"""Sweeps: runs of many systems over one bank, cut into cells that any machine can carry out.

A *cell* is one system, one slice of the scenarios and one stage: to ask, or to grade. Each is a run
in a folder of its own (`protocol.sweep_cells`); together the slices of a system are one run.

```text
sweep_file  the description of a sweep, from its TOML file
drive       gives out the cells that are left
engines     the engines for cells: this machine, or a Ray cluster
cells       finds a cell on the disk, and carries it out on the machine that got it
server      the server of a model, which a cell may start; guardian ends it when the cell is killed
progress    the progress of a sweep, from its files
```
"""
