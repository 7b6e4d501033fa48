"""Reads the pages of carbon report: their elements, texts, tables and figures. Not a test."""

import os
import shutil
from html.parser import HTMLParser

from harness import Skip, command, fresh

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """`elements`: (name, attributes) of all; `tables`: rows of texts, the first that of the columns; `captions`: of the
    tables, "" for none; `figures`: {id: (caption, its rows)}; `facts`: pairs of the foot; `paragraphs`; `headings`;
    `models`, the sentences of the head."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.tables, self.captions, self.paragraphs, self.headings, self.models = [], [], [], [], [], []
        self.figures, self.facts, self.svg_texts = {}, [], []
        self._stack, self._texts, self._figure = [], [], None
        self.feed(text)
        self.close()
        assert not self._stack, "elements are not closed: %r" % self._stack

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name in VOID:
            return
        self._stack.append(name)
        self._texts.append("")
        if name == "figure":
            self._figure = dict(attributes)["id"]
            assert self._figure not in self.figures, "two figures are called " + self._figure
            self.figures[self._figure] = ["", None]
        if name == "table":
            self.tables.append([])
            self.captions.append("")
            if self._figure:
                self.figures[self._figure][1] = self.tables[-1]
        if name == "tr":
            self.tables[-1].append([])

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_data(self, text):
        if self._texts:
            self._texts[-1] += text

    def handle_endtag(self, name):
        assert self._stack and self._stack[-1] == name, "%s ends within %r" % (name, self._stack)
        self._stack.pop()
        text = self._texts.pop()
        if name == "figure":
            self._figure = None
        elif name in ("td", "th"):
            self.tables[-1][-1].append(text)
        elif name == "caption":
            self.captions[-1] = text
        elif name == "figcaption":
            self.figures[self._figure][0] = text
        elif name == "p":
            (self.models if "header" in self._stack else self.paragraphs).append(text)
        elif name in ("h1", "h2", "h3"):
            self.headings.append(text)
        elif name == "dt":
            self.facts.append([text])
        elif name == "dd":
            self.facts[-1].append(text)
        elif name == "text" and "svg" in self._stack:
            self.svg_texts.append(text)
        elif name in ("span", "a") and self._texts:
            self._texts[-1] += text

    def table(self, words):
        """The rows of the only table whose caption has these words, as dictionaries."""
        found = [t for t, c in zip(self.tables, self.captions) if words in c]
        assert len(found) == 1, "%d tables are called %r: %r" % (len(found), words, self.captions)
        return [dict(zip(found[0][0], row)) for row in found[0][1:]]


def number(text):
    """A number as pages have it: with a minus sign and commas; None for a point."""
    return None if text == "." else float(text.replace("\u2212", "-").replace(",", ""))


def browser(*args):
    """Runs Chromium without a window, as CHROMIUM or the path names it."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        raise Skip("no Chromium; pages are not looked at")
    folder = fresh()
    return command([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + folder,
                    "--virtual-time-budget=3000", *args], timeout=120)
