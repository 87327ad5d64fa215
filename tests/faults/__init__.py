"""What can go wrong with a run, made to happen: the matrix of faults, and runs that are struck.

`matrix` lists what can go wrong, a row a fault, and `test_matrix` has each of them happen. `trial`
carries out a run that is killed, cut off or out of room at moments drawn by chance: a few of them
in `test_strikes`, as many as wanted with `bench/faults.py`.
"""
