"""Presentation MathML as TeX, for the constructs that pages use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from framework.reading.dom import Dom

__all__ = ["tex"]

_SIGNS = {
    "≠": "\\neq",
    "±": "\\pm",
    "∓": "\\mp",
    "×": "\\times",
    "·": "\\cdot",
    "⋅": "\\cdot",
    "÷": "\\div",
    "≤": "\\leq",
    "≥": "\\geq",
    "∑": "\\sum",
    "∏": "\\prod",
    "∫": "\\int",
    "∮": "\\oint",
    "∞": "\\infty",
    "∂": "\\partial",
    "∇": "\\nabla",
    "√": "\\sqrt",
    "∈": "\\in",
    "∉": "\\notin",
    "⊂": "\\subset",
    "⊆": "\\subseteq",
    "∪": "\\cup",
    "∩": "\\cap",
    "→": "\\rightarrow",
    "←": "\\leftarrow",
    "⇒": "\\Rightarrow",
    "⇔": "\\Leftrightarrow",
    "↦": "\\mapsto",
    "≈": "\\approx",
    "≡": "\\equiv",
    "∼": "\\sim",
    "∝": "\\propto",
    "∀": "\\forall",
    "∃": "\\exists",
    "¬": "\\neg",
    "∧": "\\land",
    "∨": "\\lor",
    "⟨": "\\langle",
    "⟩": "\\rangle",
    "…": "\\dots",
    "⋯": "\\cdots",
    "−": "-",
    "∗": "*",
    "′": "'",
    "{": "\\{",
    "}": "\\}",
    "∘": "\\circ",
    "⊗": "\\otimes",
    "⊕": "\\oplus",
    "\u2061": "",
    "\u2062": "",
    "\u2063": ",",
    "\u2064": "",
    "α": "\\alpha",
    "β": "\\beta",
    "γ": "\\gamma",
    "δ": "\\delta",
    "ε": "\\varepsilon",
    "ϵ": "\\epsilon",
    "ζ": "\\zeta",
    "η": "\\eta",
    "θ": "\\theta",
    "ι": "\\iota",
    "κ": "\\kappa",
    "λ": "\\lambda",
    "μ": "\\mu",
    "ν": "\\nu",
    "ξ": "\\xi",
    "π": "\\pi",
    "ρ": "\\rho",
    "σ": "\\sigma",
    "τ": "\\tau",
    "υ": "\\upsilon",
    "φ": "\\varphi",
    "ϕ": "\\phi",
    "χ": "\\chi",
    "ψ": "\\psi",
    "ω": "\\omega",
    "Γ": "\\Gamma",
    "Δ": "\\Delta",
    "Θ": "\\Theta",
    "Λ": "\\Lambda",
    "Ξ": "\\Xi",
    "Π": "\\Pi",
    "Σ": "\\Sigma",
    "Φ": "\\Phi",
    "Ψ": "\\Psi",
    "Ω": "\\Omega",
    "ℝ": "\\mathbb{R}",
    "ℕ": "\\mathbb{N}",
    "ℤ": "\\mathbb{Z}",
    "ℂ": "\\mathbb{C}",
    "ℚ": "\\mathbb{Q}",
    "%": "\\%",
    "&": "\\&",
    "#": "\\#",
    "_": "\\_",
    "|": "|",
    "‖": "\\|",
}
_ACCENTS = {
    "^": "\\hat",
    "ˆ": "\\hat",
    "~": "\\tilde",
    "˜": "\\tilde",
    "¯": "\\overline",
    "‾": "\\overline",
    "―": "\\overline",
    "→": "\\vec",
    "⃗": "\\vec",
    "˙": "\\dot",
    ".": "\\dot",
    "¨": "\\ddot",
}
_VARIANTS = {
    "bold": "\\mathbf",
    "normal": "\\mathrm",
    "double-struck": "\\mathbb",
    "script": "\\mathcal",
    "fraktur": "\\mathfrak",
    "sans-serif": "\\mathsf",
}
_FUNCTIONS = words(
    """
    sin cos tan log ln exp lim max min sup inf det dim ker arg gcd sinh cosh tanh
    """
)


def tex(dom: Dom, node: int) -> str:
    """Return the TeX of a MathML element."""
    return " ".join(_children(dom, node).split())


def _children(dom: Dom, node: int) -> str:
    return " ".join(part for child in dom.children(node) if (part := _node(dom, child)))


def _arguments(dom: Dom, node: int) -> list[str]:
    return [_node(dom, child) for child in dom.children(node) if dom.tag[child]] + [""] * 3


def _group(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _node(dom: Dom, node: int) -> str:
    name = dom.tag[node]
    if not name:
        return _signs(dom.text[node])
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return _token(dom, node, name)
    if name.startswith("annotation"):
        return ""
    if name == "mtable":
        rows = [
            " & ".join(_children(dom, cell) for cell in dom.children(row) if dom.tag[cell])
            for row in dom.children(node)
            if dom.tag[row]
        ]
        return "\\begin{matrix} " + " \\\\ ".join(rows) + " \\end{matrix}"
    if name == "mfenced":
        inner = ", ".join(part for part in _arguments(dom, node) if part)
        return f"{dom.get(node, 'open') or '('}{inner}{dom.get(node, 'close') or ')'}"
    if name == "msqrt":
        return f"\\sqrt{{{_children(dom, node)}}}"
    shape = _SHAPES.get(name)
    return shape(*_arguments(dom, node)[:3]) if shape else _children(dom, node)


def _token(dom: Dom, node: int, name: str) -> str:
    content = dom.words(node)
    if name in ("mtext", "ms"):
        return f"\\text{{{content}}}" if content else ""
    written = _signs(content)
    if name == "mi" and len(content) > 1 and content.isascii() and content.isalpha():
        return (
            f"\\{content}"
            if content in _FUNCTIONS
            else f"\\text{{{content}}}"
            if len(content) > 2
            else content
        )
    variant = _VARIANTS.get(dom.get(node, "mathvariant"))
    return f"{variant}{{{written}}}" if variant and written else written


def _signs(text: str) -> str:
    return " ".join(
        "".join(f" {_SIGNS[char]} " if char in _SIGNS else char for char in text).split()
    )


def _over(base: str, over: str, _: str) -> str:
    accent = _ACCENTS.get(over)
    return (
        f"{accent}{{{base}}}"
        if accent
        else f"\\overset{{{over}}}{{{base}}}"
        if not base.startswith("\\sum")
        else f"{base}^{_group(over)}"
    )


_SHAPES = {
    "mfrac": lambda a, b, _: f"\\frac{{{a}}}{{{b}}}",
    "mroot": lambda a, b, _: f"\\sqrt[{b}]{{{a}}}",
    "msup": lambda a, b, _: f"{_base(a)}^{_group(b)}",
    "msub": lambda a, b, _: f"{_base(a)}_{_group(b)}",
    "msubsup": lambda a, b, c: f"{_base(a)}_{_group(b)}^{_group(c)}",
    "munderover": lambda a, b, c: f"{_base(a)}_{_group(b)}^{_group(c)}",
    "munder": lambda a, b, _: f"{_base(a)}_{_group(b)}",
    "mover": _over,
}


def _base(text: str) -> str:
    return f"{{{text}}}" if " " in text else text
