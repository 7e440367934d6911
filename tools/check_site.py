"""Check the built site: every link of its pages leads to a file of the site, every anchor exists: python tools/check_site.py FOLDER"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page refers to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken(file: Path, pages: dict[Path, Page]) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in sorted(set(pages[file].links)):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue  # other sites
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        anchors = pages[target].anchors if target in pages else None
        if not target.is_file() or (anchors is not None and parts.fragment and unquote(parts.fragment) not in anchors):
            found.append(link)
    return found


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    pages = {file: Page(file.read_text()) for file in sorted(root.rglob("*.html")) if "_static" not in file.parts}
    faults = [f"{file.relative_to(root)}: {link}" for file in pages for link in broken(file, pages)]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(pages)} pages, {sum(len(set(page.links)) for page in pages.values())} links, {len(faults)} broken")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
