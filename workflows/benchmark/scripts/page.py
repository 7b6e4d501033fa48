"""page.py BOOTSTRAP SEED BENCHMARK.json OUT.html TASK/RECIPE.vcf.gz...: the page of carbon report on all scores, with the table of
all tasks and recipes at its beginning."""

import html
import json
import os
import subprocess
import sys
import tempfile

HEADS = (("Task", ""), ("Recipe", ""), ("Metric", ""),
         ("Here", "number"), ("Interval, 95 %", "number"), ("Published", "number"), ("Difference", "number"), ("Verdict", ""),
         ("Rows", "number"), ("Rows per second", "number"), ("Tokens per row", "number"))
WORDS = {"scored": "scored", "contig_end": "at the end of a contig", "duplicate": "repeated", "ref_mismatch": "with another ref than the FASTA",
         "ref_seq_mismatch": "with another window than the FASTA", "var_seq_mismatch": "with a window that has not alt",
         "no_contig": "on an unknown contig", "outside": "outside of the contig", "not_acgt": "with other letters",
         "no_class": "without a class", "other_label": "repeated with another class", "no_sequence": "without a sequence"}


def shown(value, form):
    return "" if value is None else form % value


def cells(row):
    limits = "" if row["lower"] is None else "%.4f to %.4f" % (row["lower"], row["upper"])
    return (row["task"], row["recipe"], row["metric"], shown(row["value"], "%.4f"), limits, shown(row["published"], "%.4f"),
            shown(row["difference"], "%+.4f"), row["verdict"] or "", str(row["used"]), shown(row["rows_per_s"], "%.4g"),
            shown(row["tokens_per_row"], "%.0f"))


def report(bootstrap, seed, files):
    """The page that carbon report writes. Recipes of several tasks have the same file names, so links name the task as well."""
    with tempfile.TemporaryDirectory() as folder:
        links = []
        for path in files:
            links.append(os.path.join(folder, ".".join(path.split("/")[-2:])))
            os.symlink(os.path.abspath(path), links[-1])
        command = ["carbon", "report", "--no-version", "--title", "carbon benchmark", "--label", "LABEL", "--bootstrap", bootstrap,
                   "--seed", seed, *links]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def section(found):
    """The table, and what was read for each task."""
    size = found["published"]
    about = "Model %s. %s docs/benchmark.md explains the columns." % (found["model"], (
        "Published are the numbers of the makers for %s. A row differs if its published number is outside of the interval." % size
        if size else "No numbers of this model are published for these tasks."))
    yield '<section id="benchmark">\n<h2>All tasks and recipes</h2>\n<p>%s</p>' % html.escape(about)
    yield '<div class="table"><div class="scroll" tabindex="0" role="region" aria-label="All tasks and recipes"><table>'
    yield "<thead><tr>%s</tr></thead><tbody>" % "".join(
        '<th scope="col"%s>%s</th>' % (' class="number"' if kind else "", html.escape(head)) for head, kind in HEADS)
    for row in found["rows"]:
        yield "<tr>%s</tr>" % "".join('<td%s>%s</td>' % (' class="number"' if kind else "", html.escape(cell))
                                      for cell, (_, kind) in zip(cells(row), HEADS))
    yield "</tbody></table></div></div>"
    for task, settings in found["tasks"].items():
        counts = settings["counts"]
        said = ", ".join("%d %s" % (counts[key], words) for key, words in WORDS.items() if counts.get(key))
        yield "<p>%s</p>" % html.escape("%s: %d of %d rows read, of which %s." % (task, counts["read"], counts["rows"], said))
    yield "</section>"


def main():
    bootstrap, seed, results, out, *files = sys.argv[1:]
    with open(results) as text:
        found = json.load(text)
    page = report(bootstrap, seed, files)
    with open(out, "w") as written:
        written.write(page.replace("</header>", "</header>\n" + "\n".join(section(found)), 1))


if __name__ == "__main__":
    main()
