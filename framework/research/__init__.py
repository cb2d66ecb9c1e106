"""Deep research: a bounded loop of query, read, cite and judge; every citation is a true quote.

`loop.Research` runs it over values; searching, fetching, the model and the clock are arguments.
"""
