"""The engine language: one YAML file in, an engine of pure functions out.

Files are read by `source`, merged by `inherit`, validated by `model` (`recover` keeps going after a
mistake), checked by `checks`, and compiled into requests (`plan`) and readers (`read`);
`compiler` runs all of it, `catalogue` keeps many engines, `check` proves one against recordings.
"""
