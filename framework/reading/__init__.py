"""Reading: from the bytes of any page to Markdown whose every block knows its place.

`read` is the one entry; windows, projections, passages and tokens work on what it returns.
"""

from framework.reading.document import (
    Block,
    BlockKind,
    Document,
    DocumentKind,
    Heading,
    Link,
    Metadata,
    StructuredData,
)
from framework.reading.reader import read, to_markdown

__all__ = [
    "Block",
    "BlockKind",
    "Document",
    "DocumentKind",
    "Heading",
    "Link",
    "Metadata",
    "StructuredData",
    "read",
    "to_markdown",
]
