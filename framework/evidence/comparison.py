"""All that the classifier of nli.py sees of a text and a claim with no model: numbers and signs."""

from __future__ import annotations

from framework.evidence.alignment import aligned_features
from framework.evidence.kinship import kin, kinship_features
from framework.evidence.signals import conflicting, facts, named_features, share

__all__ = ["FEATURES", "features", "signs"]

#: Share of a claim that a text must bear out before another place or rival speaks against it.
_SAME = 0.5


def _named(premise: str, hypothesis: str) -> dict[str, float]:
    text, claim = facts(premise), facts(hypothesis)
    return {
        **named_features(text, claim),
        **aligned_features(claim, text, premise, hypothesis),
        **kinship_features(claim, text),
    }


def features(premise: str, hypothesis: str) -> tuple[float, ...]:
    """Return the numbers of `FEATURES` for a text and a claim."""
    return tuple(_named(premise, hypothesis).values())


def signs(premise: str, hypothesis: str) -> tuple[str, ...]:
    """Name the explicit signs against a claim: those of `conflicting`, and place and rival.

    Place: the text names another country's places where the claim names one; rival: it names
    another thing of a sort of which only one is meant.
    """
    text, claim = facts(premise), facts(hypothesis)
    found = kin(claim, text)
    near = share(len(found.left), len(claim.content)) <= 1.0 - _SAME
    more = [("place", found.elsewhere), ("rival", found.rivals)]
    return (
        *conflicting(premise, hypothesis),
        *(name for name, count in more if near and count and claim.content),
    )


#: Names of the features in their order.
FEATURES: tuple[str, ...] = tuple(_named("A text.", "A claim."))
