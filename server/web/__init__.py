"""The browser page: search, results with their votes, and a reader; no scripts."""
