"""Reports of every kind in a browser, at the width of a desk and of a phone, and printed: nothing is wider than its page, every
figure is drawn, and the script throws no error. With PICTURES=FOLDER the pictures are kept there, to be looked at.

Needs headless Chromium; skipped without it."""

import html
import json
import os
import re

from harness import case, expect, expect_equal, fresh, main, read, write
import report_kinds
from report_page import browser

WIDTHS = (1400, 400)
# After the page's own script: what it measures becomes the title of the frame's page.
PROBE = """<script type="module">
const wide = [...document.querySelectorAll("main *, header *, footer *")].filter((e) => !e.closest("svg, .scroll, .picture, .unseen, .viewer")
    && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName);
const empty = [...document.querySelectorAll("figure .picture > svg")].filter((e) => e.children.length < 3).length;
parent.postMessage(JSON.stringify({scroll: document.documentElement.scrollWidth, inner: innerWidth, wide, empty, errors: window.errors}), "*");
</script>"""
# No window of Chromium is narrower than 500 pixels, but a frame is.
FRAME = """<!DOCTYPE html><body style="margin:0"><script>addEventListener("message", (e) => { document.title = e.data; });</script>
<iframe src="%s" style="width:%dpx;height:%dpx;border:0"></iframe>"""
HEIGHT = 3000
CATCH = "<script>window.errors = []; addEventListener('error', (e) => errors.push(e.message));</script>"


def pages():
    """{kind: path of its page}."""
    browser("--version")
    folder = fresh()
    report_kinds.make_files(os.path.join(folder, "files"))
    not_drawn = report_kinds.draw(os.path.join(folder, "files"), folder)
    expect_equal(not_drawn, [], "kinds that are not drawn")
    return {name: os.path.join(folder, name + ".html") for name in report_kinds.kinds(folder)}


@case
def every_kind_fits_its_page():
    kept = os.environ.get("PICTURES")
    for name, path in pages().items():
        text = read(path).decode().replace("<head>", "<head>" + CATCH, 1)
        probed = write(os.path.dirname(path), name + ".probe.html", text.replace("</body>", PROBE + "</body>"))
        for width in WIDTHS:
            frame = lambda page: "file://" + write(os.path.dirname(path), "%s_%d.frame.html" % (name, width),
                                                   FRAME % (os.path.basename(page), width, HEIGHT))
            window = "--window-size=%d,%d" % (width, HEIGHT)
            run = browser("--dump-dom", window, frame(probed))
            found = re.search(r"<title>(\{.*?\})</title>", run.out.decode(errors="replace"))
            expect(found, "%s: the page was not measured" % name, run)
            measured = json.loads(html.unescape(found.group(1)))
            expect_equal((measured["wide"], measured["empty"], measured["errors"]), ([], 0, []), "%s at %d" % (name, width))
            expect(measured["scroll"] <= measured["inner"] == width, "%s at %d is %d pixels wide" % (name, width, measured["scroll"]))
            if kept:
                os.makedirs(kept, exist_ok=True)
                browser("--screenshot=" + os.path.join(kept, "%s_%d.png" % (name, width)), window, frame(path))
        printed = os.path.join(kept or fresh(), name + ".pdf")
        browser("--print-to-pdf=" + printed, "--no-pdf-header-footer", "file://" + path)
        expect(read(printed).startswith(b"%PDF"), name + " was not printed")


if __name__ == "__main__":
    main()
