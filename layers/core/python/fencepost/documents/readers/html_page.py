"""Converts the visible content of an HTML page to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fencepost.documents.readers.markdown_writer import MarkdownWriter
from fencepost.kernel.links import plain_text

_UNSEEN: Final = (
    frozenset({"head", "script", "style", "template", "noscript", "svg", "math", "canvas", "iframe", "object", "embed"})
    | frozenset({"audio", "video", "map", "nav", "footer", "dialog", "menu"})
    | frozenset({"button", "input", "select", "textarea", "datalist"})
)
_ROLES: Final = frozenset({"navigation", "banner", "contentinfo", "search", "dialog", "alertdialog"})
_HIDDEN_STYLE: Final = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
_MAIN: Final = ("main", "[role=main]", "article")


class HtmlPage(NamedTuple):
    """A page as Markdown, with its title as plain text and its language (BCP 47); both empty if it states none."""

    text: str
    title: str
    language: str


def read_page(html: str) -> HtmlPage:
    """Return the content of a page: of its main element if it has one, without navigation and hidden elements.

    Headings, lists, quotations, tables, code and links keep their structure. Emphasis is dropped, and pictures are
    replaced by their descriptions.
    """
    document = LexborHTMLParser(html)
    text = next((written for root in _roots(document) if (written := _markdown(root))), "")
    return HtmlPage(text, _title(document), _language(document))


def _roots(document: LexborHTMLParser) -> Iterator[LexborNode]:
    """Yield elements that may hold the content, the best first. Several articles are a list, not the content."""
    for selector in _MAIN:
        found = document.css(selector)
        if len(found) == 1:
            yield found[0]
    if document.body:
        yield document.body


def _markdown(root: LexborNode) -> str:
    """Return the Markdown of a tree. Walks it without recursion, since pages may nest deeper than the stack allows."""
    writer = MarkdownWriter()
    node: LexborNode | None = root
    open_nodes: list[LexborNode] = []
    while node is not None:
        entered = _enter(writer, node)
        if entered and (child := node.first_child):
            open_nodes.append(node)
            node = child
            continue
        if entered:
            writer.close(node.tag or "", node.attributes)
        while open_nodes and node.next is None:
            node = open_nodes.pop()
            writer.close(node.tag or "", node.attributes)
        node = node.next if open_nodes else None
    return writer.text()


def _enter(writer: MarkdownWriter, node: LexborNode) -> bool:
    """Write the beginning of a node, and tell whether to visit its children."""
    if node.is_text_node:
        writer.say(node.text_content or "")
        return False
    if not node.is_element_node or _is_unseen(node):
        return False
    writer.open(node.tag or "", node.attributes)
    return True


def _is_unseen(node: LexborNode) -> bool:
    attributes = node.attributes
    return (
        node.tag in _UNSEEN
        or "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") in _ROLES
        or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))
    )


def _title(document: LexborHTMLParser) -> str:
    for selector in ("head > title", "h1"):
        found = document.css_first(selector)
        if found and (title := plain_text(found.text())):
            return title
    return ""


def _language(document: LexborHTMLParser) -> str:
    root = document.root
    language = (root.attributes.get("lang") or "").strip() if root else ""
    return language if _LANGUAGE.fullmatch(language) else ""
