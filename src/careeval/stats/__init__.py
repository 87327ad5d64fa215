"""Statistics of arrays of numbers, without files, systems or tables.

NaN in an array given is a missing or unresolved entry. A result that is not defined is never 0: a
single number raises `careeval.errors.StatsError`, whose reason the caller keeps in an `Estimate`;
in an array of results, its element is NaN.
"""
