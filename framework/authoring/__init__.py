"""The author's loop: propose an engine file from a page, mend it after drift, record its answers.

Everything here is pure: text and trees in, text and values out.
"""
