"""Tests of faults: the matrix of faults, and runs that are killed, cut off or out of disk space.

`matrix` lists the faults, one in a row, and `test_matrix` makes each of them happen. `trial`
carries out a run that is struck at moments drawn by chance: a few of them in `test_strikes`, any
number with `bench/faults.py`.
"""
