#!/usr/bin/env python3
"""docs/site.py FOLDER: writes the documents and the manual pages as HTML into FOLDER, which is made anew, and checks the links.

Needs cmark-gfm and mandoc, and no network. The README is index.html; what it links to, and what that links to, keeps its place: documents
become HTML, folders lists, and other files are copied. A name such as carbon-vep(1) becomes a link. A link without a file or heading is printed, and the exit
status is then 1.
"""

import glob
import html
import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STYLE = """body { max-width: 60em; margin: 0 auto; padding: 0 1em 4em; font: 1em/1.5 sans-serif; color: #222; background: #fff }
nav { padding: .8em 0; border-bottom: 1px solid #ccc } nav a { margin-right: 1em }
pre { overflow-x: auto; padding: .8em; background: #f4f4f4 } code, pre { font-size: .9em }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { border: 1px solid #ccc; padding: .2em .5em; vertical-align: top }
table.head td, table.foot td { border: 0 } table.head, table.foot { color: #666 } img { max-width: 100% }
a.permalink { color: inherit; text-decoration: none } dd { margin-left: 2em }
"""
START = (("index.html", "carbon"), ("docs/usage.html", "Using carbon"), ("docs/recipes.html", "Recipes"), ("docs/serving.html", "Server"),
         ("docs/python.html", "Python"), ("man/index.html", "Manual pages"), ("NEWS.html", "News"))
MANUAL = re.compile(r"(?:<b>)?\b(carbon(?:-[a-z]+)*)(?:</b>)?\(([157])\)")


def output_of(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, **options).stdout.decode()


def plain(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


class Site:
    def __init__(self, folder):
        self.folder, self.wrong, self.waiting, self.seen = folder, [], ["README.md"], {"README.md"}
        self.manual = {os.path.basename(path): "man/%s.html" % os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "man", "*.[157]"))}

    def target(self, path):
        """Where a file of the sources is in the site."""
        if path == "README.md":
            return "index.html"
        return os.path.join(path, "index.html") if os.path.isdir(os.path.join(ROOT, path)) else re.sub(r"\.md$", ".html", path)

    def linked(self, page, link):
        """The link from a document as the site has it; the file that it names is then part of the site."""
        address = urllib.parse.unquote(html.unescape(link))
        if re.match(r"\w+:|#", address):
            return link
        name, _, anchor = address.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if os.path.isfile(os.path.join(ROOT, path, "README.md")):
            path = os.path.join(path, "README.md")
        if path.startswith("..") or not os.path.exists(os.path.join(ROOT, path)):
            self.wrong.append("%s links to %s, which does not exist" % (page, address))
            return link
        if path not in self.seen:
            self.seen.add(path)
            self.waiting.append(path)
        relative = os.path.relpath(self.target(path), os.path.dirname(self.target(page)) or ".")
        return html.escape(urllib.parse.quote(relative) + ("#" + anchor if anchor else ""))

    def with_manual(self, page, body):
        """Names of manual pages as links, except in examples, links and headings."""
        def named(found):
            file = "%s.%s" % found.groups()
            if file not in self.manual:
                self.wrong.append("%s names %s(%s), which does not exist" % (page, *found.groups()))
                return found.group()
            return '<a href="%s">%s</a>' % (os.path.relpath(self.manual[file], os.path.dirname(self.target(page)) or "."), found.group())
        parts = re.split(r"(<pre.*?</pre>|<a .*?</a>|<h\d.*?</h\d>|<table class=\"(?:head|foot)\".*?</table>)", body, flags=re.S)
        return "".join(part if i % 2 else MANUAL.sub(named, part) for i, part in enumerate(parts))

    def write(self, path, title, body):
        up = os.path.dirname(path) or "."
        links = "".join('<a href="%s">%s</a>' % (os.path.relpath(target, up), name) for target, name in START)
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
                       '<title>%s</title>\n<link rel="stylesheet" href="%s">\n</head>\n<body>\n<nav>%s</nav>\n<main>\n%s</main>\n</body>\n</html>\n'
                       % (html.escape(title), os.path.relpath("style.css", up), links, body))

    def document(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = re.sub(r"^<!--.*-->\n", "", file.read(), flags=re.M)
        body, ids = output_of("cmark-gfm", "-e", "table", "-e", "strikethrough", input=text.encode()), {}

        def heading(found):  # as GitHub names them
            name = re.sub(r"[^\w -]", "", plain(found[2]).lower()).replace(" ", "-")
            ids[name] = ids.get(name, -1) + 1
            return '<h%s id="%s">%s</h%s>' % (found[1], name + ("-%d" % ids[name] if ids[name] else ""), found[2], found[1])
        body = re.sub(r"<h(\d)>(.*?)</h\1>", heading, body, flags=re.S)
        body = re.sub(r'(href|src)="([^"]*)"', lambda found: '%s="%s"' % (found[1], self.linked(path, found[2])), body)
        self.write(self.target(path), plain(re.search(r"<h1.*?</h1>", body, re.S).group()), self.with_manual(path, body))

    def listing(self, path):
        """A page with the files of a folder that has no README."""
        rows = ""
        for top, folders, names in os.walk(os.path.join(ROOT, path)):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                file = os.path.relpath(os.path.join(top, name), os.path.join(ROOT, path))
                rows += '<li><a href="%s">%s</a></li>\n' % (self.linked(path + "/", file), html.escape(file))
        self.write(self.target(path), path, "<h1>%s</h1>\n<ul>\n%s</ul>\n" % (html.escape(path), rows))

    def pages(self):
        rows = ""
        for name in sorted(self.manual):
            body = output_of("mandoc", "-Thtml", "-Ofragment", os.path.join(ROOT, "man", name))
            about = plain(re.search(r'id="NAME".*?<p[^>]*>(.*?)</p>', body, re.S)[1]).split(" - ", 1)[1]
            title = "%s(%s)" % tuple(name.rsplit(".", 1))
            self.write(self.manual[name], title, self.with_manual("man/" + name, body))
            rows += '<tr><td><a href="%s.html">%s</a></td><td>%s</td></tr>\n' % (name, title, html.escape(about))
        self.write("man/index.html", "Manual pages", "<h1>Manual pages</h1>\n<table>\n%s</table>\n" % rows)

    def make(self):
        self.pages()
        while self.waiting:
            path = self.waiting.pop()
            if os.path.isdir(os.path.join(ROOT, path)):
                self.listing(path)
            elif path.endswith(".md"):
                self.document(path)
            else:
                os.makedirs(os.path.join(self.folder, os.path.dirname(path)), exist_ok=True)
                shutil.copyfile(os.path.join(ROOT, path), os.path.join(self.folder, path))
        with open(os.path.join(self.folder, "style.css"), "w", encoding="utf-8") as file:
            file.write(STYLE)
        self.wrong += broken_links(self.folder)


class Links(html.parser.HTMLParser):
    """The ids of a page, and the links and other files that it names."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def broken_links(folder):
    """What is wrong with the links of the pages in a folder."""
    pages = {os.path.relpath(path, folder): Links(path) for path in sorted(glob.glob(os.path.join(folder, "**", "*.html"), recursive=True))}
    wrong = []
    for page, found in pages.items():
        for link in found.links:
            if re.match(r"\w+:", link):
                continue
            name, _, anchor = urllib.parse.unquote(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.isfile(os.path.join(folder, target)):
                wrong.append("%s links to %s, which is not in the site" % (page, link))
            elif anchor and (target not in pages or anchor not in pages[target].ids):
                wrong.append("%s links to %s, which has no such heading" % (page, link))
    return wrong


def main(folder):
    for program in ("cmark-gfm", "mandoc"):
        if shutil.which(program) is None:
            sys.exit("docs/site.py: %s is not installed (Debian package %s)" % (program, program))
    if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(os.path.join(folder, "style.css")):
        sys.exit("docs/site.py: %s has other files; name a new folder" % folder)
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    site.make()
    print("\n".join(site.wrong) or "%s/index.html" % folder)
    return 1 if site.wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
