"""The mode `response`: a system says in words what it would do, and a grader reads them."""
