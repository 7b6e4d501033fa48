"""docs/site.py: the documents and manual pages as HTML in one folder, whose links lead somewhere and which needs no other host."""

import os
import re
import shutil
import sys

from harness import Skip, case, command, expect, expect_equal, fresh, main, read, write

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def site(folder, source=SOURCE):
    for program in ("cmark-gfm", "mandoc"):
        if shutil.which(program) is None:
            raise Skip(program + " is not installed")
    return command([sys.executable, os.path.join(source, "docs", "site.py"), folder], timeout=240)


@case
def the_site_is_whole():
    folder = os.path.join(fresh(), "site")
    said = site(folder)
    expect(said.rc == 0 and said.text == folder + "/index.html\n", "the site", said)
    for name in os.listdir(os.path.join(SOURCE, "man")):
        if re.search(r"\.[157]$", name):
            expect(os.path.exists(os.path.join(folder, "man", name + ".html")), "no page of " + name)
    for name in os.listdir(os.path.join(SOURCE, "docs")):
        if name.endswith(".md"):
            expect(os.path.exists(os.path.join(folder, "docs", name[:-3] + ".html")), "no page of docs/" + name)
    seen = 0
    for top, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                text = read(os.path.join(top, name)).decode()
                seen += len(re.findall(r'href="(?!\w+:)', text))
                loaded = re.findall(r'<(?:img|script|link|iframe)[^>]*(?:src|href)="(\w+:|//)', text)
                expect(not loaded and "url(" not in text, "%s loads something from elsewhere: %s" % (name, loaded))
    expect(seen > 1000, "%d links" % seen)
    # A second time in the same place, but never over something else.
    expect_equal(site(folder).rc, 0, "the site again")
    other = fresh()
    write(other, "kept", "")
    said = site(other)
    expect(said.rc == 1 and "has other files" in said.err and os.path.exists(os.path.join(other, "kept")), "a folder of somebody", said)


@case
def broken_links_are_named():
    source = fresh()
    for folder in ("docs", "man"):
        os.mkdir(os.path.join(source, folder))
    shutil.copy(os.path.join(SOURCE, "docs", "site.py"), os.path.join(source, "docs"))
    shutil.copy(os.path.join(SOURCE, "man", "carbon.1"), os.path.join(source, "man"))
    write(source, "NEWS.md", "# News\n\n## One `more` heading, twice\n\n## One `more` heading, twice\n")
    for name in ("usage", "recipes", "serving", "python"):
        write(source, "docs/%s.md" % name, "# %s\n" % name)
    good = "# Title\n\n[1](NEWS.md#one-more-heading-twice) [2](NEWS.md#one-more-heading-twice-1) [3](docs/) [4](#title) [5](https://example.org)\n" + \
        "[6](docs/usage.md) [7](docs/recipes.md) [8](docs/serving.md) [9](docs/python.md) carbon(1)\n"
    write(source, "README.md", good)
    man = read(os.path.join(source, "man", "carbon.1")).decode()
    write(source, "man/carbon.1", re.sub(r"carbon(\\-\w+)+\\fR\(\d\)|carbon\\-glossary \(7\)|carbon(\\-\w+)+", "carbon", man))
    said = site(os.path.join(fresh(), "site"), source)
    expect_equal(said.rc, 0, "good links: " + said.text)
    expect('href="man/carbon.1.html">carbon(1)</a>' in read(said.text.strip()).decode(), "the link to a manual page")
    for bad, wanted in (("[x](docs/nosuch.md)", "README.md links to docs/nosuch.md, which does not exist"), ("[x](../outside)", "../outside, which does not exist"),
                        ("[x](NEWS.md#nosuch)", "index.html links to NEWS.html#nosuch, which has no such heading"),
                        ("[x](#nosuch)", "index.html links to #nosuch, which has no such heading"), ("carbon-nosuch(1)", "names carbon-nosuch(1), which does not exist")):
        write(source, "README.md", good + bad + "\n")
        said = site(os.path.join(fresh(), "site"), source)
        expect(said.rc == 1 and wanted in said.text, bad, said)


if __name__ == "__main__":
    main()
