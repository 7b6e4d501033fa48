"""The page of carbon serve in a headless Chromium, against the real server. CARBON, MODEL, CHROMIUM (/usr/bin/chromium) and
SHOTS (a folder for pictures, none by default) from the environment."""

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from checks import Server, check, done, equal

VIEWS = {"light": dict(viewport={"width": 1280, "height": 900}),
         "dark": dict(viewport={"width": 1280, "height": 900}, color_scheme="dark"),
         "phone": dict(viewport={"width": 360, "height": 740})}


def wait_for_text(page, selector, pattern):
    """Not by wait_for_function, which the page's Content-Security-Policy forbids."""
    for _ in range(1200):
        if re.search(pattern, page.text_content(selector)):
            return
        page.wait_for_timeout(100)
    raise TimeoutError(f"{selector} is {page.text_content(selector)!r}, not {pattern}")


def read_to_end(page):
    wait_for_text(page, "#progress", "^Done")
    page.wait_for_selector("#results:not([hidden]) .stage svg")
    page.wait_for_timeout(300)


def picture(page, name):
    if os.environ.get("SHOTS"):
        page.screenshot(path=f"{os.environ['SHOTS']}/{name}.png", full_page=True)


def download(page, selector, folder):
    with page.expect_download() as event:
        page.click(selector)
    path = folder / event.value.suggested_filename
    event.value.save_as(path)
    return path


def rows(text):
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def compare(what, page_rows, command_rows, names, numbers):
    """All columns are the same text; of numbers that are not, says how many and the largest difference."""
    equal(f"{what}: rows", len(page_rows), len(command_rows))
    equal(f"{what}: names, places and letters", [[r[i] for i in names] for r in page_rows], [[r[i] for i in names] for r in command_rows])
    pairs = [(mine[i], theirs[i], i, mine[:names[-1] + 1]) for mine, theirs in zip(page_rows, command_rows) for i in numbers]
    other = [pair for pair in pairs if pair[0] != pair[1]]
    worst = max(other, key=lambda pair: abs(float(pair[0]) - float(pair[1])), default=None)
    check(f"{what}: {len(pairs)} numbers", not other,
          worst and f"{len(other)} differ, in columns {sorted({pair[2] + 1 for pair in other})}; "
          f"most at {' '.join(worst[3])}: page {worst[0]}, command {worst[1]}")


def run(command, folder):
    """A command line of the page, with the program under test. The page gives the model's served name, which carbon finds only
    among installed models, so the model is put there."""
    models = folder / "share/carbon/models"
    if not models.exists():
        models.mkdir(parents=True)
        (models / "carbon-tiny").symlink_to(os.environ["MODEL"])
    line = re.sub(r"^carbon ", shlex.quote(os.environ["CARBON"]) + " ", command)
    if os.environ.get("VERBOSE"):
        print("      $", command)
    return subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "XDG_DATA_HOME": str(folder / "share")})


def follow_commands(page, folder, setting):
    base = download(page, "#save-bases", folder)
    variants = download(page, "#save-variants", folder)
    download(page, "#save-sequence", folder)
    mine, mine_variants = rows(base.read_text()), rows(variants.read_text())
    base.unlink()
    variants.unlink()
    for command in page.locator("#command-list code").all_text_contents():
        if " generate " in command:
            continue
        done_ = run(command, folder)
        equal(f"{setting}: `{command}` exits with 0", (done_.returncode, done_.stderr if done_.returncode else ""), (0, ""))
        if " score " in command:
            compare(f"{setting}: page's table and carbon score", mine, rows(base.read_text()), [0, 1, 2], range(3, 9))
        elif "bigwig" not in command:
            compare(f"{setting}: page's changes and carbon scan", mine_variants, rows(variants.read_text()), [0, 1, 2, 3], [4])


def continuation(page, folder, setting):
    page.click("#start")
    wait_for_text(page, "#generate-progress", r" of .* new bases\.$")
    page.wait_for_selector("#generated-viewer svg")
    mine = download(page, "#save-continuation", folder).read_text()
    download(page, "#save-sequence", folder)
    command = page.locator("#command-list code").all_text_contents()[-1]
    result = run(command, folder)
    equal(f"{setting}: `{command}` exits with 0", (result.returncode, result.stderr if result.returncode else ""), (0, ""))
    bases = lambda text: "".join(line for line in text.splitlines() if not line.startswith(">"))
    equal(f"{setting}: bases of the page and of carbon generate", bases(mine), bases(result.stdout))
    logp = lambda text: re.findall(r"logp=(\S+)", text)
    equal(f"{setting}: logp= in both headers", logp(mine), logp(result.stdout))
    equal(f"{setting}: headers", mine.split("\n")[0], result.stdout.split("\n")[0])


def main():
    with Server() as server, sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        print("Chromium", browser.version)
        messages, hosts = [], set()

        def fresh(view):
            page = browser.new_page(**VIEWS[view])
            page.on("console", lambda message: messages.append((message.type, message.text)))
            page.on("pageerror", lambda error: messages.append(("pageerror", str(error))))
            page.on("request", lambda request: hosts.add(request.url.split("/")[2]) if request.url.startswith("http") else None)
            return page

        page = fresh("light")
        page.goto(server.url)
        read_to_end(page)
        check("the model is named", "carbon-tiny" in page.text_content("#model"))
        check("logo and heat map are drawn", page.locator("#viewer svg").count() >= 2, str(page.locator("#viewer svg").count()))
        picture(page, "light")
        examples = page.locator("#examples button")
        for i in range(examples.count()):
            examples.nth(i).click()
            page.wait_for_timeout(100)
            read_to_end(page)
            check(f"example {examples.nth(i).text_content()}: logo has shapes",
                  page.locator("#viewer svg path, #viewer svg rect, #viewer svg use").count() > 20)
        examples.nth(0).click()
        page.wait_for_timeout(100)
        read_to_end(page)
        seen = []
        page.expose_function("carbonSeen", lambda length: seen.append(length))
        page.evaluate("new MutationObserver(() => carbonSeen(document.getElementById('bases').textContent.length))"
                      ".observe(document.getElementById('bases'), {childList: true, subtree: true, characterData: true})")
        page.fill("#length", "600")
        continuation(page, folder, "600 bases")
        check("the continuation came in pieces", len(set(seen)) > 5, str(len(set(seen))))
        picture(page, "continued")
        page.fill("#length", "100")
        page.fill("#temperature", "0.7")
        page.fill("#seed", "12345")
        continuation(page, folder, "100 bases, -T 0.7")
        page.check("#greedy")
        continuation(page, folder, "greedy")
        follow_commands(page, folder, "1 frame, +")
        for frames, strand in (("1", "both"), ("1", "-"), ("3", "+"), ("6", "both")):
            page.select_option("#frames", frames)
            page.select_option("#strand", strand)
            page.wait_for_timeout(100)
            read_to_end(page)
            follow_commands(page, folder, f"{frames} frames, {strand}")
        page.fill("#length", "10000")
        page.uncheck("#greedy")
        page.click("#start")
        page.click("#stop")                  # at once: carbon-tiny needs about a second for 10,000 bases
        page.wait_for_timeout(300)
        check("Stop stops", "stopped" in page.text_content("#generate-progress"), page.text_content("#generate-progress"))
        page.close()
        for view in ("dark", "phone"):
            page = fresh(view)
            page.goto(server.url + "/#brca1")
            read_to_end(page)
            equal(f"{view}: no wider than the window", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
            picture(page, view)
            page.close()
        page = fresh("light")
        page.goto(server.url)
        read_to_end(page)
        page.click("#own summary")
        page.fill("#text", ">mine\nACGTNNNNACGTRYACGTACGTAAA\n")
        page.click("#read")
        page.wait_for_timeout(300)
        read_to_end(page)
        follow_commands(page, folder, "own sequence with N, R and Y")
        page.fill("#text", ">mine\nACGT!XACGT\n")
        page.click("#read")
        page.wait_for_timeout(300)
        check("a wrong letter is named", "X" in page.text_content("#text-notes"), page.text_content("#text-notes"))
        page.close()
        equal("nothing on the console", messages, [])
        equal("no other host", hosts, {server.url.removeprefix("http://")})
        browser.close()
    done("page")


main()
