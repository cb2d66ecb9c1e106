"""Split a claim into the statements it makes, so that each can be judged alone."""

from __future__ import annotations

import re

from framework.evidence.sentences import sentences

__all__ = ["split"]

_VERB = (
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|must|should|may|might|"
    r"needs?|"
    r"remains?|became|becomes|began|begins|won|lost|made|makes|took|takes|runs?|ran|gave|gives|"
    r"got|led|"
    r"met|sold|sells|bought|wrote|writes|lives?|lies|costs?|uses?|contains?|[a-z]{3,}(?:ed|ates|"
    r"izes|ifies))"
)
_FIRST_VERB = re.compile(rf"\b{_VERB}\b")
_JOINT = re.compile(
    rf"\s*;\s*|,?\s+(?:and|but|while|whereas|although|though)\s+(?=(?:(?:also|then|later|never|"
    rf"not|now|only)\s+)?{_VERB}\b"
    rf"|(?:it|he|she|they)\s+(?!and\b|or\b)\w+"
    rf"|(?:this|that|its|his|her|their|the|a|an)\s+(?:[\w'-]+\s+){{0,4}}?{_VERB}\b"
    rf"|(?:[A-Z][\w'-]+\s+){{1,4}}{_VERB}\b)"
)
_PAIR = re.compile(r"\b(?:between|both|either|neither|from)\b[^,;]*$", re.IGNORECASE)
_SUBJECT_MISSING = re.compile(rf"^(?:(?:also|then|later|never|not|now|only)\s+)?{_VERB}\b")
#: A verb of the present tense by its ending alone: not right after an article.
_PRESENT = re.compile(
    r"(?<=\w )(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bof )\b[a-z]{2,}(?<!s)s\b", re.IGNORECASE
)
_ARTICLE = re.compile(r"\b(?:the|a|an|its|their|his|her|this|that)\b\s*", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:it|he|she|they|this)\b", re.IGNORECASE)


def split(claim: str) -> tuple[str, ...]:
    """Return the claim's statements in order; a statement without a subject gets the one before.

    A claim of one statement comes back as it is (blanks trimmed). At most eight statements.
    """
    found: list[str] = []
    for start, end in sentences(claim):
        found += _statements(claim[start:end].strip())
    return tuple(found[:8]) or (claim.strip(),)


def _statements(sentence: str) -> list[str]:
    parts: list[str] = []
    at = 0
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[at : joint.start()], sentence[joint.end() :]
        if len(left.split()) >= 3 and len(right.split()) >= 2 and _whole(left, right, parts):
            parts.append(left)
            at = joint.end()
    parts.append(sentence[at:])
    subject = _subject(parts[0])
    return [parts[0], *(_completed(part, subject) for part in parts[1:])]


def _whole(left: str, right: str, parts: list[str]) -> bool:
    """Tell whether the left side is a statement of its own: it has a verb, and no open pair."""
    verb = _FIRST_VERB.search(left) or (_SUBJECT_MISSING.match(right) and _PRESENT.search(left))
    return bool(verb or parts) and not _PAIR.search(left)


def _subject(statement: str) -> str:
    """Return the words before the first verb, where they hold more than an article."""
    known, present = _FIRST_VERB.search(statement), _PRESENT.search(statement)
    verb = min((v for v in (known, present) if v), key=lambda v: v.start(), default=None)
    subject = statement[: verb.start()].strip() if verb else ""
    return subject if 0 < len(_ARTICLE.sub("", subject).split()) <= 8 else ""


def _completed(part: str, subject: str) -> str:
    if subject and _SUBJECT_MISSING.match(part):
        return f"{subject} {part}"
    if subject and _PRONOUN.match(part):
        return _PRONOUN.sub(lambda _: subject, part, count=1)
    return part[:1].upper() + part[1:]
