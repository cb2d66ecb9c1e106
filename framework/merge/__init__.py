"""From the rows of several engines to one ranked list: identity, consensus, guard, fan-out."""
