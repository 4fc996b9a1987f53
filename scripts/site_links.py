"""Hook of MkDocs: links that leave docs/ become plain text, as the site holds no other files."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """`page.file.src_uri` is the path below docs/."""
    folder = posixpath.dirname(page.file.src_uri)

    def inside(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = target.partition("#")[0]
        if not path or "://" in target:
            return match.group(0)
        place = posixpath.normpath(posixpath.join(folder, path))
        leaves = place.startswith("..") or place.startswith("schema/")
        return text if leaves else match.group(0)

    return _LINK.sub(inside, markdown)
