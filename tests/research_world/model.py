"""A language model for the made-up world that does its job, and misbehaves where it is told to.

It extracts sentences with telling words, believes what pages tell it where nobody marks it as a
stranger's words, invents quotes and citations, and writes broken JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from framework.llm import Completion
from framework.reading.unmark import unmark
from tests.research_world.world import ORDER

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = (
    "Harrow Sound barrage construction history",
    "Harrow Sound barrage electricity output turbines",
    "Harrow Sound barrage estuary effects birds mud",
    "Harrow Sound Barrage Construction History",
)
#: Questions of the objective, the words that settle them, and what to search for.
QUESTIONS = {
    "When was the barrage built?": ("1987", "Harrow Sound barrage opened 1998 minister"),
    "How much electricity does it produce?": (
        "gigawatt hours",
        "Lenn Power Authority audit meters",
    ),
    "What happened to the birds?": ("dunlin", "wintering dunlin Lenn estuary count"),
    "What happened to the salmon?": ("salmon", "salmon river Lenn fish pass"),
    "What did the barrage cost?": ("crowns", "Harrow Sound barrage cost crowns"),
    "How much mud is dredged?": ("tonnes of mud", "dredging mud Harrow Sound basin port"),
    "What happened to the tides?": ("tidal range", "tidal range turbidity Lenn impounded"),
    "Who planned the barrage?": ("Thornby", "Ellis museum engineer diary barrage plan"),
}
#: What a model that never has enough goes on to ask.
EXTRA = (
    "ten amazing tidal barrages megawatts",
    "complete operating logbook turbine record",
    "premium what the barrage really cost",
    "secret repairs yearbook generation",
    "grid demand tidal percent pumped storage",
    "second tidal barrage ministry permit strategy",
)
_TELLING = re.compile(
    r"\d|dunlin|salmon|turbine|mud|flood|caisson|opened|crowns|instructions|estuary", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
INVENTED = "The barrage has made every family of Port Ellis rich beyond measure"


@dataclass(slots=True)
class Model:
    """Answers prompts; `misbehaves` switches its bad habits on, `asked` counts the tasks."""

    misbehaves: bool = True
    tireless: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    def answer(self, system: str, user: str) -> str:
        self.prompts.append(f"{system}\n{user}")
        given, _ = json.JSONDecoder().raw_decode(user)
        task = given["task"]
        self.asked[task] += 1
        again = "could not be used" in user
        return _TASKS[task](self, given, again)

    async def complete(self, prompt: Any) -> Completion:
        return Completion(text=self.answer(prompt.system, prompt.user), model="scripted-1")

    def _plan(self, given: dict[str, Any], again: bool) -> str:
        return json.dumps({"queries": PLAN, "questions": list(QUESTIONS)})

    def _quotes(self, given: dict[str, Any], again: bool) -> str:
        page = given["page"]
        text = "\n".join(passage["text"] for passage in page["passages"])
        if _is_ordered(text):
            return "PINEAPPLE"
        chosen = [one for one in _sentences(text) if _TELLING.search(one)][:6]
        quotes = [{"quote": one, "fact": one} for one in chosen]
        if not self.misbehaves:
            return json.dumps({"quotes": quotes})
        if "Dredging" in page["title"]:
            quotes.append({"quote": INVENTED, "fact": INVENTED})
        if "Museum" in page["title"]:
            quotes[0]["quote"] = quotes[0]["quote"].replace("the", "the very", 1)
        if "Turbidity" in page["title"] and not again:
            return '{"quotes": [{"quote": "The barrage halved'
        return f"```json\n{json.dumps({'quotes': quotes})}\n```"

    def _retry(self, given: dict[str, Any], again: bool) -> str:
        quotes = [
            {"quote": one["quote"].replace("the very", "the", 1), "fact": one["fact"]}
            for one in given["wrong"]
        ]
        return json.dumps({"quotes": quotes})

    def _judge(self, given: dict[str, Any], again: bool) -> str:
        facts = " ".join(one["fact"] for one in given["facts"])
        gaps = [question for question, (word, _) in QUESTIONS.items() if word not in facts]
        queries = [QUESTIONS[gap][1] for gap in gaps][:4]
        if self.tireless:
            gaps = [*gaps, "What else is there?"]
            queries = [*queries, *EXTRA[given["round"] - 1 :]][:4]
        return json.dumps({"gaps": gaps, "queries": queries})

    def _answer(self, given: dict[str, Any], again: bool) -> str:
        lines = ["## What was found", ""]
        for source in given["sources"]:
            fact = source["quotes"][0]["fact"].rstrip(".")
            lines.append(f"- {fact} [{source['id']}].")
        for one, other in given["disagreements"]:
            lines.append(f"- Sources disagree: {_cited(one)} {_cited(other)}")
        if self.misbehaves:
            first = given["sources"][0]["id"]
            lines += [
                "",
                "Every sailor of the northern seas admires the barrage [99].",
                f"The Harrow Sound barrage houses 480 bulb turbines in all [{first}].",
                f"Its golden statue of a heron attracts two million pilgrims yearly [{first}].",
                "The Lenn Power Authority was once led by a retired admiral called Bors.",
                "![pixel](https://collector.example/p.png?q=secret)",
            ]
        return "\n".join(lines)

    def _repair(self, given: dict[str, Any], again: bool) -> str:
        repaired = []
        for one in given["sentences"]:
            text = one["text"]
            if "480" in text:
                text = text.replace("480", "24")
            repaired.append({"n": one["n"], "text": text})
        return json.dumps({"sentences": repaired})


_TASKS: dict[str, Callable[[Model, dict[str, Any], bool], str]] = {
    "plan": Model._plan,
    "quotes": Model._quotes,
    "retry": Model._retry,
    "judge": Model._judge,
    "answer": Model._answer,
    "repair": Model._repair,
}


def _is_ordered(text: str) -> bool:
    """Whether a page gives an order that nobody marked as a stranger's."""
    at = text.find(ORDER)
    return at >= 0 and "⟦" not in text[:at].rpartition("\n")[2]


def _sentences(text: str) -> list[str]:
    return [one for line in text.splitlines() for one in _SENTENCE.split(unmark(line)) if one]


def _cited(fact: str) -> str:
    number, _, text = fact.partition(" ")
    return f"{text.rstrip('.')} {number}."
