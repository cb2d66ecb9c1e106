"""Structure: what each construct of a page becomes, written whole and exactly."""

from __future__ import annotations

import pytest

from framework.reading import BlockKind, read, to_markdown

URL = "https://site.test/docs/page"
INTRO = (
    "<p>A first paragraph of running text, long enough to be the content of a page by "
    "itself, said so.</p>"
)
OUTRO = (
    "<p>A last paragraph of running text, long enough to be the content of a page by "
    "itself, said so.</p>"
)

STRUCTURES = {
    "heading": ("<h2>Usage</h2>", "## Usage"),
    "heading permalink": ('<h2>Usage <a href="#usage">¶</a></h2>', "## Usage"),
    "heading edit link": (
        '<h2>Usage<span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2>',
        "## Usage",
    ),
    "bold and italic": (
        "<p>a <b>bold</b> and <em>italic </em>word.</p>",
        "a **bold** and *italic* word.",
    ),
    "hard break": ("<p>one<br>two</p>", "one  \ntwo"),
    "escaped marks": ("<p>2 * 3 * 4 and _x_ and `y`</p>", "2 \\* 3 \\* 4 and \\_x\\_ and \\`y\\`"),
    "snake case": ("<p>the snake_case_name of it</p>", "the snake_case_name of it"),
    "escaped tag": ("<p>the &lt;div&gt; element</p>", "the \\<div> element"),
    "number at the start": (
        "<p>1984. A year like any other.</p>",
        "1984\\. A year like any other.",
    ),
    "hash at the start": ("<p># is a sign.</p>", "\\# is a sign."),
    "inline code": ("<p>call <code>f(x)</code> now</p>", "call `f(x)` now"),
    "code with ticks": ("<p>write <code>a`b</code> so</p>", "write ``a`b`` so"),
    "link": (
        '<p>see <a href="../other">the other</a> page</p>',
        "see [the other](https://site.test/other) page",
    ),
    "link with brackets": (
        '<p>see <a href="/a_(b)">it</a> here</p>',
        "see [it](https://site.test/a_%28b%29) here",
    ),
    "script link": ('<p>press <a href="javascript:go()">here</a> now</p>', "press here now"),
    "bullets": ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
    "numbers": ('<ol start="3"><li>one</li><li>two</li></ol>', "3. one\n4. two"),
    "nested list": (
        "<ul><li>one<ol><li>a</li><li>b</li></ol></li><li>two</li></ul>",
        "- one\n  1. a\n  2. b\n- two",
    ),
    "list of paragraphs": ("<ul><li><p>one</p><p>more</p></li></ul>", "- one\n\n  more"),
    "code in a list": (
        "<ul><li>run<pre>make\nall</pre></li></ul>",
        "- run\n\n  ```\n  make\n  all\n  ```",
    ),
    "task list": (
        '<ul><li><input type="checkbox" checked>done</li><li><input type="checkbox">open</li></ul>',
        "- [x] done\n- [ ] open",
    ),
    "quote": ("<blockquote><p>one</p><p>two</p></blockquote>", "> one\n>\n> two"),
    "rule": ("<hr>", "---"),
    "definition list": ("<dl><dt>Term</dt><dd>What it means.</dd></dl>", "Term\n: What it means."),
    "details": (
        "<details><summary>More</summary><p>Inside of it.</p></details>",
        "**More**\n\nInside of it.",
    ),
    "accordion": (
        (
            '<h3><button aria-expanded="false" aria-controls="p1">How?</button></h3>'
            '<div id="p1" hidden><p>Like this.</p></div>'
        ),
        "### How?\n\nLike this.",
    ),
    "list of sections": (
        (
            "<ul><li><section><h3>size</h3><div>int size()</div></section></li><li><h3>add</h3>"
            "<p>Adds one.</p></li></ul>"
        ),
        "### size\n\nint size()\n\n### add\n\nAdds one.",
    ),
    "list of headings alone": ("<ul><li><h3>size</h3></li></ul>", "- ### size"),
    "term that links to itself": (
        '<dl><dt id="f"><a href="#f"><code>f</code></a></dt><dd>A function.</dd></dl>',
        "`f`\n: A function.",
    ),
    "details under a heading": (
        (
            "<details open><summary><section><a href='/src'>Source</a><h4>fn new()</h4></section>"
            "</summary><p>Makes one.</p></details>"
        ),
        "#### fn new()\n\nMakes one.",
    ),
    "picture in a summary": (
        (
            '<details><summary><img src="/i.png" alt="A red house"> More</summary><p>Inside.</p>'
            "</details>"
        ),
        "![A red house](https://site.test/i.png) More\n\nInside.",
    ),
    "permalink of no width": (
        '<h2>Next steps<a href="#next" title="Link">&#8203;</a></h2>',
        "## Next steps",
    ),
    "heading named after what surrounds it": (
        '<h2 class="anchorWithStickyNavbar_x7">Next steps</h2>',
        "## Next steps",
    ),
    "image": (
        '<p><img src="/i.png" alt="A red house"></p>',
        "![A red house](https://site.test/i.png)",
    ),
    "image with caption": (
        '<figure><img src="/i.png" alt="A red house"><figcaption>The house.</figcaption></figure>',
        "![](https://site.test/i.png)\n\nThe house.",
    ),
    "lazy image": (
        '<p><img src="data:image/gif;base64,R0lG" data-src="/i.png" alt="A red house"></p>',
        "![A red house](https://site.test/i.png)",
    ),
    "source set": (
        '<p><img srcset="/s.png 100w, /l.png 900w"></p>',
        "![](https://site.test/l.png)",
    ),
    "picture": (
        '<picture><source srcset="/w.webp 2x"><img src="data:image/gif;base64,R0lG"></picture>',
        "![](https://site.test/w.webp)",
    ),
    "file name as text": (
        '<p><img src="/i.png" alt="DSC_0231.jpg"></p>',
        "![](https://site.test/i.png)",
    ),
    "file name of several words as text": (
        '<p><img src="/i.png" alt="The head of a dinosaur.png"></p>',
        "![](https://site.test/i.png)",
    ),
    "words that say nothing as text": (
        '<p><img src="/i.png" alt="Image for post"></p>',
        "![](https://site.test/i.png)",
    ),
    "image deep in a figure with a caption": (
        (
            f"<figure>{'<div>' * 6}<img src='/i.png' alt='The house'>{'</div>' * 6}"
            "<figcaption>The house.</figcaption></figure>"
        ),
        "![](https://site.test/i.png)\n\nThe house.",
    ),
    "embedded video": (
        '<iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe>',
        "![](https://www.youtube.com/watch?v=abcdefghijk)",
    ),
    "elements of no known kind as blocks": (
        "<my-list><my-item>one</my-item> <my-item>two</my-item></my-list>",
        "one\n\ntwo",
    ),
    "link around blocks": (
        '<a href="/s"><div><img src="/s.jpg"></div><h3>A story</h3><p>What it is about.</p></a>',
        "![](https://site.test/s.jpg)\n\n### [A story](https://site.test/s)\n\nWhat it is about.",
    ),
    "link around a line": (
        '<a href="/s"><div>The story of the day</div></a>',
        "[The story of the day](https://site.test/s)",
    ),
    "link around a picture": (
        '<a href="/s"><div><img src="/s.jpg"></div></a>',
        "[![](https://site.test/s.jpg)](https://site.test/s)",
    ),
    "small picture of a large one": (
        '<p><a href="/large/a.jpg"><img src="/small/a.jpg" alt="The square"></a></p>',
        "![The square](https://site.test/large/a.jpg)",
    ),
    "picture for readers without scripts": (
        (
            '<figure><img src="data:image/gif;base64,R0lG"><noscript><img src="/i.png" alt="A red '
            'house"></noscript></figure>'
        ),
        "![A red house](https://site.test/i.png)",
    ),
    "picture of a script and one without": (
        '<figure><img data-src="/large.png"><noscript><img src="/small.png"></noscript></figure>',
        "![](https://site.test/large.png)",
    ),
    "words for readers without scripts": (
        "<div>one<noscript><p>Please turn on scripts. <img src=/i.png></p></noscript></div>",
        "one",
    ),
    "accelerated picture": (
        '<amp-img src="/i.png" alt="A red house"></amp-img>',
        "![A red house](https://site.test/i.png)",
    ),
    "film": (
        '<video poster="/p.jpg"><source src="/v.mp4"></video>',
        "![](https://site.test/v.mp4)",
    ),
    "film of a script": (
        '<p>one<video poster="/p.jpg"></video></p>',
        "one![](https://site.test/p.jpg)",
    ),
    "heading that is its own permalink": ('<h2><a href="#use">Usage</a></h2>', "## Usage"),
    "heading that leads elsewhere": (
        '<h2><a href="/use#top">Usage</a></h2>',
        "## [Usage](https://site.test/use#top)",
    ),
    "list straight in a list": (
        "<ul><li>one</li><ul><li>a</li><li>b</li></ul><li>two</li></ul>",
        "- one\n  - a\n  - b\n- two",
    ),
    "source of a quote": (
        "<blockquote>It is so.<footer>— Ann</footer></blockquote>",
        "> It is so.\n>\n> — Ann",
    ),
    "element of no known kind in a line": (
        "<p>so <g-emoji>😀</g-emoji> <code>it</code> <st1:city>is</st1:city></p>",
        "so 😀 `it` is",
    ),
    "element of no known kind beside text": (
        "<div>seen <relative-time>two days ago</relative-time> by us</div>",
        "seen two days ago by us",
    ),
    "link around a break": ('<p>one<a href="#x"><br></a>two</p>', "one two"),
    "who is quoted": (
        "<blockquote><cite>ann wrote:</cite>With what?</blockquote>",
        "> *ann wrote:*  \n> With what?",
    ),
    "ordinals": ("<p>the 19<sup>th</sup> of m<sup>2</sup></p>", "the 19th of m<sup>2</sup>"),
    "emphasis of nothing": ("<p>so <b>&nbsp;</b></p><p><i>&nbsp; </i></p>", "so"),
    "emphasis beside a hard space": ("<p>so <b>it&nbsp;</b>is</p>", "so **it**\xa0is"),
    "emoji": ('<p>so <img alt="😀" src="/1f600.svg"> it is</p>', "so 😀 it is"),
    "smiley": ('<p>so <img alt=":)" src="/smilies/1.gif"> it is</p>', "so :) it is"),
    "words over code": (
        "<div><p>Shell we go</p><pre>ls</pre></div>",
        "Shell we go\n\n```\nls\n```",
    ),
    "heading by its role": (
        '<div role="heading" aria-level="3">Usage</div>',
        "### Usage",
    ),
    "code right behind code": (
        "<p>call <code>a</code><code>.b()</code> now</p>",
        "call `a.b()` now",
    ),
    "ruby": ("<p>漢<rt>kan</rt>字 is a word.</p>", "漢(kan)字 is a word."),
    "soft hyphen": ("<p>Donau&shy;dampf&shy;schiff</p>", "Donaudampfschiff"),
}

CODE = {
    "pre and code": ('<pre><code class="language-python">x = 1\n</code></pre>', "python", "x = 1"),
    "lang class": ('<pre class="lang-rust">let x;</pre>', "rust", "let x;"),
    "sphinx": (
        (
            '<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre>'
            "</div></div>"
        ),
        "python",
        "x",
    ),
    "github": ('<div class="highlight highlight-source-shell"><pre>ls</pre></div>', "shell", "ls"),
    "confluence": (
        '<pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: bash">x</pre>',
        "bash",
        "x",
    ),
    "bare class": ('<pre class="rust item"><code>x</code></pre>', "rust", "x"),
    "data-lang": ('<pre data-lang="go">x</pre>', "go", "x"),
    "brush": ('<pre class="brush: java; gutter: false">x</pre>', "java", "x"),
    "no language": ("<pre>plain\n  text</pre>", "", "plain\n  text"),
    "break elements": ("<pre>one<br>two</pre>", "", "one\ntwo"),
    "a line an element": ("<pre><code><div>one</div><div>two</div></code></pre>", "", "one\ntwo"),
    "gutter column": (
        (
            '<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv">'
            "<pre>1\n2</pre></div></td>"
            '<td class="code"><div class="highlight"><pre>a\nb</pre></div></td></tr></table>'
        ),
        "",
        "a\nb",
    ),
    "gutter spans": (
        '<pre><span class="lineno">1</span>a\n<span class="lineno">2</span>b</pre>',
        "",
        "a\nb",
    ),
    "numbers by any name": (
        (
            '<pre><code><span><span class="xq">9</span><span>def f():</span></span>\n'
            '<span><span class="xq">10</span>  <span>return 1</span></span>\n'
            '<span class="xq">11</span>\n<span class="xq">12</span># end</code></pre>'
        ),
        "",
        "def f():\n  return 1\n\n# end",
    ),
    "numbers that are the code": (
        "<pre><span>1</span>\n<span>2</span>\n<span>3</span></pre>",
        "",
        "1\n2\n3",
    ),
    "numbers that don't count lines": (
        "<pre><span>1</span> + x\n<span>3</span> + y</pre>",
        "",
        "1 + x\n3 + y",
    ),
    "numbers of some lines": (
        "<pre><span>1</span> + x\ny = [<span>2</span>]\n<span>2</span> + z</pre>",
        "",
        "1 + x\ny = [2]\n2 + z",
    ),
    "numbered items": (
        '<pre class="prettyprint linenums"><ol class="linenums"><li>a</li><li>b</li></ol></pre>',
        "",
        "a\nb",
    ),
    "lines without breaks": (
        '<pre><code><span class="line">a</span><span class="line">b</span></code></pre>',
        "",
        "a\nb",
    ),
    "lines with breaks": (
        '<pre><code><span class="line">a</span>\n<span class="line">b</span></code></pre>',
        "",
        "a\nb",
    ),
    "label above": (
        "<div><p>JavaScript</p><pre>let a</pre></div>",
        "javascript",
        "let a",
    ),
    "label and class": (
        '<div><p>js</p><pre class="brush: js">let a</pre></div>',
        "javascript",
        "let a",
    ),
    "attribute": ('<pre data-enlighter-language="php">echo 1;</pre>', "php", "echo 1;"),
    "language in the second column": (
        (
            '<table class="lntable"><tr><td class="lntd"><pre><code><span class="lnt">1\n2\n</span>'
            '</code></pre></td><td class="lntd"><pre><code class="language-go">a\nb</code></pre>'
            "</td></tr></table>"
        ),
        "go",
        "a\nb",
    ),
    "copy button": ("<pre>x = 1<button>Copy</button></pre>", "", "x = 1"),
    "code without pre": ('<code style="white-space: pre">a\n  b</code>', "", "a\n  b"),
}

TABLES = {
    "divisions in cells": (
        "<table>"
        + "".join(
            f"<tr><td><div><div>{a}</div></div></td><td><div><div>{b}</div></div></td></tr>"
            for a, b in ("ab", "cd", "ef")
        )
        + "</table>",
        "| a | b |\n| --- | --- |\n| c | d |\n| e | f |",
    ),
    "head and body": (
        (
            "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td>"
            "</tr></tbody></table>"
        ),
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    "no head": (
        "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
    ),
    "column span": (
        (
            "<table><tr><th colspan=2>A</th><th>B</th></tr><tr><td>1</td><td>2</td><td>3</td>"
            "</td></tr></table>"
        ),
        "| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
    ),
    "row span": (
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td rowspan=2>1</td><td>2</td></tr><tr>"
            "<td>3</td></tr></table>"
        ),
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |",
    ),
    "pipes": (
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td>x|y</td><td><code>a|b</code></td></tr>"
            "</table>"
        ),
        "| A | B |\n| --- | --- |\n| x\\|y | `a\\|b` |",
    ),
    "breaks and blocks": (
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td>x<br>y</td><td><p>p</p><p>q</p></td>"
            "</td></tr></table>"
        ),
        "| A | B |\n| --- | --- |\n| x<br>y | p<br>q |",
    ),
    "caption": (
        (
            "<table><caption>Sizes</caption><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2"
            "</td></tr></table>"
        ),
        "Sizes\n\n| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    "layout": ("<table><tr><td><p>left</p></td></tr></table>", "left"),
    "one row of values": (
        "<table><tr><td>Law</td><td>91</td><td>166</td><td>20.9</td></tr></table>",
        "| Law | 91 | 166 | 20.9 |\n| --- | --- | --- | --- |",
    ),
    "one row of an equation": (
        (
            '<table><tr><td></td><td><math alttext="E=mc^2" display="block"><mi>E</mi></math></td>'
            "<td>(1)</td></tr></table>"
        ),
        "$$\nE=mc^2\n$$\n\n(1)",
    ),
    "one row of texts": (
        (
            "<table><tr><td>The left column of a page from long ago.</td><td>The middle column, "
            "with more of it.</td><td>The right column, with links in it.</td></tr></table>"
        ),
        (
            "The left column of a page from long ago.\n\nThe middle column, with more of it.\n\n"
            "The right column, with links in it."
        ),
    ),
}

MATHS = {
    "katex": (
        (
            '<p>so <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x'
            "</mi></mrow>"
            '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true">x2</span></span> holds</p>'
        ),
        "so $x^2$ holds",
    ),
    "katex display": (
        (
            '<span class="katex-display"><span class="katex"><math display="block"><semantics>'
            "<mi>x</mi>"
            '<annotation encoding="application/x-tex">\\sum x</annotation></semantics></math>'
            "</span></span>"
        ),
        "$$\n\\sum x\n$$",
    ),
    "tex script": ('<p>so <script type="math/tex">a+b</script> holds</p>', "so $a+b$ holds"),
    "data attribute": ('<p>so <span data-latex="a+b">img</span> holds</p>', "so $a+b$ holds"),
    "alttext": ('<p>so <math alttext="a_1"><mi>a</mi></math> holds</p>', "so $a_1$ holds"),
    "presentation": (
        "<p>so <math><msup><mi>x</mi><mn>2</mn></msup></math> holds</p>",
        "so $x^2$ holds",
    ),
    "fraction": (
        "<p>so <math><mfrac><mn>1</mn><mi>n</mi></mfrac></math> holds</p>",
        "so $\\frac{1}{n}$ holds",
    ),
    "drawn by an address": (
        '<p>so <img src="https://latex.codecogs.com/svg.image?a%2Bb_1"> holds</p>',
        "so $a+b_1$ holds",
    ),
    "brackets": ("<p>so \\(a_1 * b_1\\) holds</p>", "so $a_1 * b_1$ holds"),
    "dollars": ("<p>so $a_1 * b_1$ holds</p>", "so $a_1 * b_1$ holds"),
    "double dollars": ("<p>$$a_1 = b_1$$</p>", "$$\na_1 = b_1\n$$"),
    "square brackets": ("<p>\\[a_1 = b_1\\]</p>", "$$\na_1 = b_1\n$$"),
    "prices": ("<p>from $5_000 to $6_000 a piece</p>", "from $5_000 to $6_000 a piece"),
    "sums of money": ("<p>$20 * 3 or $30 * 2</p>", "$20 \\* 3 or $30 \\* 2"),
    "an expression": ("<p>match \\(word\\) now</p>", "match \\\\(word\\\\) now"),
    "drawn": ('<p>so <img class="latex" alt="a+b" src="/latex.php?x"> holds</p>', "so $a+b$ holds"),
}

CALLOUTS = {
    "bare class of an aside": (
        '<aside class="warning"><p>Text of it.</p></aside>',
        "> [!warning]\n> Text of it.",
    ),
    "bare class of a box": (
        '<div class="doc-block note"><p>Text of it.</p></div>',
        "> [!note]\n> Text of it.",
    ),
    "confluence": (
        (
            '<div class="confluence-information-macro confluence-information-macro-warning">'
            '<p class="title">Careful</p><div class="confluence-information-macro-body">'
            "<p>Text of it.</p></div></div>"
        ),
        "> [!warning] Careful\n> Text of it.",
    ),
    "part of a class": ('<div class="note-taking"><p>Text of it.</p></div>', "Text of it."),
    "obsidian": (
        (
            '<div class="callout" data-callout="tip"><div class="callout-title">Good to know</div>'
            '<div class="callout-content"><p>Text of it.</p></div></div>'
        ),
        "> [!tip] Good to know\n> Text of it.",
    ),
    "sphinx": (
        (
            '<div class="admonition warning"><p class="admonition-title">Careful</p><p>Text of '
            "it.</p></div>"
        ),
        "> [!warning] Careful\n> Text of it.",
    ),
    "aside": (
        '<aside class="admonition tip"><p>Text of it.</p></aside>',
        "> [!tip]\n> Text of it.",
    ),
    "role": (
        '<div class="alert alert-warning" role="alert"><p>Text of it.</p></div>',
        "> [!warning]\n> Text of it.",
    ),
    "github": (
        (
            '<div class="markdown-alert markdown-alert-note"><p '
            'class="markdown-alert-title">Note</p><p>Text of it.</p></div>'
        ),
        "> [!note] Note\n> Text of it.",
    ),
}


def written(inner: str) -> str:
    """Return the Markdown of a fragment between two paragraphs of a page."""
    page = f"<!doctype html><html><body><main>{INTRO}{inner}{OUTRO}</main></body></html>"
    text = to_markdown(page.encode(), URL)
    start = text.index("said so.") + len("said so.")
    return text[start : text.index("A last paragraph")].strip()


@pytest.mark.parametrize(("source", "expected"), STRUCTURES.values(), ids=STRUCTURES.keys())
def test_structure(source: str, expected: str) -> None:
    assert written(source) == expected


@pytest.mark.parametrize(("source", "language", "text"), CODE.values(), ids=CODE.keys())
def test_code(source: str, language: str, text: str) -> None:
    assert written(source) == f"```{language}\n{text}\n```"


def test_a_fence_is_longer_than_any_in_its_text() -> None:
    assert written("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````"


@pytest.mark.parametrize(("source", "expected"), TABLES.values(), ids=TABLES.keys())
def test_table(source: str, expected: str) -> None:
    assert written(source) == expected


@pytest.mark.parametrize(("source", "expected"), MATHS.values(), ids=MATHS.keys())
def test_maths(source: str, expected: str) -> None:
    assert written(source) == expected


@pytest.mark.parametrize(("source", "expected"), CALLOUTS.values(), ids=CALLOUTS.keys())
def test_callout(source: str, expected: str) -> None:
    assert written(source) == expected


def test_links_honour_the_base() -> None:
    page = f'<base href="https://cdn.test/v2/"><main>{INTRO}<p><a href="x">that</a> one.</p></main>'
    assert "[that](https://cdn.test/v2/x)" in to_markdown(page.encode(), URL)


def test_sections_are_the_headings_above() -> None:
    page = (
        f"<main>{INTRO}<h2>One</h2><p>In one of them.</p><h3>Two</h3><p>In both of them.</p>"
        f"<h2>Three</h2>{OUTRO}</main>"
    )
    document = read(page.encode(), URL)
    sections = {document.block_text(block): block.section for block in document.blocks}
    assert sections["In one of them."] == ("One",)
    assert sections["In both of them."] == ("One", "Two")
    assert sections["Three"] == ()
    assert [(heading.level, heading.text) for heading in document.headings] == [
        (2, "One"),
        (3, "Two"),
        (2, "Three"),
    ]
    lines = document.markdown.split("\n")
    assert all(lines[heading.line - 1].endswith(heading.text) for heading in document.headings)


@pytest.mark.parametrize("outer", ["blockquote", "ul><li", "ol><li"])
def test_the_language_of_nested_code_is_no_text(outer: str) -> None:
    source = f'<main>{INTRO}<{outer}><pre class="lang-py">x = 1</pre></{outer[:2]}>{OUTRO}</main>'
    document = read(source.encode(), URL)
    assert "x = 1" in document.text
    assert "py" not in document.text


def test_block_text_has_no_marks() -> None:
    page = (
        f'<main>{INTRO}<p>a <b>bold</b> <a href="/x">link</a> with <code>code</code> '
        f'&lt;b&gt;</p><pre>x = "*"</pre></main>'
    )
    document = read(page.encode(), URL)
    texts = {block.kind: document.block_text(block) for block in document.blocks}
    assert texts[BlockKind.PARAGRAPH] == "a bold link with code <b>"
    assert texts[BlockKind.CODE] == 'x = "*"'
