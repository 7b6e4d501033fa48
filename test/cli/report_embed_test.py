"""carbon report: embeddings. Components against numpy's SVD, groups, samples of points, files that are wrong."""

import html
import json
import os
import re
import shutil
import struct
import xml.etree.ElementTree

import numpy as np

from harness import (Skip, carbon, case, command, CARBON, data, expect, expect_close, expect_equal, expect_failure, fresh, main, model,
                     ok, peak_memory, read, tree, write)

SVG = "{http://www.w3.org/2000/svg}"


def save(matrix, names=None, suffix=".npy", counts=None):
    """A matrix as carbon embed writes it, with a row for each name or as many as `counts` says."""
    stem = os.path.join(fresh(), "x")
    names = names or ["s%d" % i for i in range(len(matrix))]
    counts = counts or [1] * len(names)
    lines, first = ["#name\tfirst_row\trows"], 0
    for name, count in zip(names, counts):
        lines.append("%s\t%d\t%d" % (name, first, count))
        first += count
    write(os.path.dirname(stem), "x.names.tsv", "\n".join(lines) + "\n")
    if suffix == ".npy":
        np.save(stem, matrix)
    else:
        header = json.dumps({"embeddings": {"dtype": {"f4": "F32", "f2": "F16"}[matrix.dtype.str[1:]], "shape": matrix.shape,
                                            "data_offsets": [0, matrix.nbytes]}}).encode()
        write(os.path.dirname(stem), "x" + suffix, struct.pack("<Q", len(header)) + header + matrix.tobytes())
    return stem + suffix


def report(*args, **options):
    """The page, the pictures and the plots of MultiQC by name."""
    folder = fresh()
    page, pictures, plots = (os.path.join(folder, name) for name in ("r.html", "svg", "mqc"))
    ok("report", *args, "-o", page, "--svg", pictures, "--multiqc", plots, "--no-version", **options)
    out = {name[len("carbon_"):-len("_mqc.json")]: json.loads(read(os.path.join(plots, name))) for name in os.listdir(plots)}
    return read(page).decode(), {name[:-4]: read(os.path.join(pictures, name)).decode() for name in os.listdir(pictures)}, out


def drawn_points(plot):
    """{name: (x, y)} of a scatter plot; names are different."""
    points = [point for group in plot["data"][0].values() for point in group]
    expect_equal(len({p["name"] for p in points}), len(points), "names")
    return {p["name"]: (p["x"], p["y"]) for p in points}


def definition(matrix):
    """Shares of the variance and scores, by the singular values of the centred matrix; as scikit-learn's PCA with svd_solver full."""
    centred = matrix.astype("f8") - matrix.astype("f8").mean(axis=0)
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])
    return s ** 2 / (s ** 2).sum(), u * s * signs, s


def check(matrix, plots, names, stem="x"):
    shares, scores, singular = definition(matrix)
    count = min(10, matrix.shape[1], len(matrix) - 1, int((shares > 1e-13).sum()))
    bars = plots[stem + "_scree"]["data"][0]
    expect_equal(list(bars), ["PC%d" % (k + 1) for k in range(count)], "components")
    for k in range(count):
        found = bars["PC%d" % (k + 1)]["percent of the variance"]
        expect_close(found, 100 * shares[k], 1e-6 * 100 * shares[k], "share of PC%d" % (k + 1))
    for first in (0, 2):
        if first + 1 >= count:
            continue
        points = drawn_points(plots["%s_pc%d_pc%d" % (stem, first + 1, first + 2)])
        if len(matrix) <= 2000:
            expect_equal(set(points), set(names), "sequences")
        for i, name in enumerate(names):
            if name not in points:
                continue
            for axis in (0, 1):
                expect_close(points[name][axis], scores[i, first + axis], 1e-6 * singular[first + axis],
                             "%s along PC%d" % (name, first + axis + 1))


@case
def components_are_those_of_numpy():
    rng = np.random.default_rng(1)
    for rows, columns in ((300, 32), (40, 200), (12, 3), (3, 7), (700, 150), (150, 700)):
        # Like hidden states: a spectrum that falls off, and columns far from zero.
        matrix = (rng.normal(size=(rows, columns)) @ np.diag(np.exp(-np.arange(columns) / 9.0)) @ rng.normal(size=(columns, columns))
                  + 20 * rng.normal(size=columns)).astype("f4")
        for suffix in (".npy", ".safetensors"):
            for kind in ("f4", "f2"):
                path = save(matrix.astype(kind), suffix=suffix)
                _, _, plots = report(path)
                check(matrix.astype(kind), plots, ["s%d" % i for i in range(rows)])


@case
def components_of_noise_are_those_of_numpy():
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(900, 400)).astype("f4")
    _, _, plots = report(save(matrix))
    check(matrix, plots, ["s%d" % i for i in range(900)])


@case
def components_are_those_of_scikit_learn():
    try:
        from sklearn.decomposition import PCA
    except ImportError:
        raise Skip("no scikit-learn; compared with numpy only")
    rng = np.random.default_rng(3)
    matrix = (rng.normal(size=(200, 30)) @ rng.normal(size=(30, 30))).astype("f4")
    pca = PCA(n_components=10, svd_solver="full")
    scores = pca.fit_transform(matrix.astype("f8"))
    _, _, plots = report(save(matrix))
    for k in range(10):
        share = plots["x_scree"]["data"][0]["PC%d" % (k + 1)]["percent of the variance"]
        expect_close(share / 100, pca.explained_variance_ratio_[k], 1e-6 * pca.explained_variance_ratio_[k], "share")
    for name, (x, y) in drawn_points(plots["x_pc1_pc2"]).items():
        i = int(name[1:])
        expect_close(abs(x), abs(scores[i, 0]), 1e-6 * np.abs(scores[:, 0]).max(), "PC1")
        expect_close(abs(y), abs(scores[i, 1]), 1e-6 * np.abs(scores[:, 1]).max(), "PC2")


@case
def every_format_of_embed_gives_the_same_report():
    fasta = data("mini.fa")
    for pool in ("mean", "none"):
        folder = fresh()
        for name in ("x.npy", "y.safetensors", "z.tsv", "w.tsv.gz"):
            ok("embed", "-m", model(), "--pool", pool, "-o", os.path.join(folder, name), fasta)
        pages = [report(os.path.join(folder, name)) for name in ("x.npy", "y.safetensors", "z.tsv", "w.tsv.gz")]
        matrix = np.load(os.path.join(folder, "x.npy"))
        bars = [plots[stem + "_scree"]["data"] for (_, _, plots), stem in zip(pages, "xyzw")]
        expect_equal(bars[1:], bars[:1] * 3, "bars")
        scatters = [plots[stem + "_pc1_pc2"]["data"] for (_, _, plots), stem in zip(pages, "xyzw")]
        expect_equal(scatters[1:], scatters[:1] * 3, "points")
        shares, _, _ = definition(matrix)
        expect_close(bars[0][0]["PC1"]["percent of the variance"], 100 * shares[0], 1e-4 * shares[0], "share")
        expect(("a row of a sequence, one for each 6-mer" in pages[0][0]) == (pool == "none"), "what a point is")


@case
def colours_are_those_of_the_column():
    rng = np.random.default_rng(4)
    names = ["seq%d" % i for i in range(60)]
    matrix = rng.normal(size=(60, 5)).astype("f4")
    groups = {name: "big" if i < 30 else "mid" if i < 45 else "small" for i, name in enumerate(names[:50])}
    table = write(fresh(), "g.tsv", "#id\tkind\tgc\n" + "".join("%s\t%s\t%g\n" % (n, g, 0.01 * i) for i, (n, g) in enumerate(groups.items()))
                  + "elsewhere\tbig\t.\n")
    page, pictures, plots = report(save(matrix, names), "--groups", table, "--colour", "kind")
    tips = json.loads(html.unescape(re.search(r'<figure id="x_pc1_pc2">\s*<div class="picture" data-points="([^"]*)"', page)[1]))
    expect_equal([t[2] for t in tips], ["%s\nkind: %s" % (n, groups.get(n, "no value")) for n in names], "what points say")
    circles = re.search(r'stroke-linecap="round"[^>]* d="([^"]*)"', pictures["x_pc1_pc2"])[1]
    expect(all("M%g %gh0" % tuple(t[:2]) in circles for n, t in zip(names, tips) if n not in groups), "points that say something lie elsewhere")
    found = {group: len(points) for group, points in plots["x_pc1_pc2"]["data"][0].items()}
    expect_equal(found, {"big": 30, "mid": 15, "small": 5, "no value": 10}, "groups")
    for group, points in plots["x_pc1_pc2"]["data"][0].items():
        for point in points:
            expect_equal(groups.get(point["name"], "no value"), group, "group of " + point["name"])
    for words in ("big (30)", "no value (10)", "1 name of the table of groups is not among", "Sequences by kind"):
        expect(words in page, "the page does not say %r" % words)
    cells = page[page.index("Sequences by kind</caption>"):]
    expect(cells.index("<td>big</td><td class=\"number\">30</td>") < cells.index("<td>small</td><td class=\"number\">5</td>"), "order")
    texts = [t.text for t in xml.etree.ElementTree.fromstring(pictures["x_pc1_pc2"]).iter(SVG + "text")]
    expect_equal([t for t in texts if t and t.endswith(")") and "%" not in t], ["big (30)", "mid (15)", "small (5)", "no value (10)"], "legend")
    _, pictures, plots = report(save(matrix, names), "--groups", table, "--colour", "gc")
    expect_equal(sorted(plots["x_pc1_pc2"]["data"][0])[-1], "no value", "a scale")
    expect_equal(sorted(plots["x_pc1_pc2"]["data"][0]), ["gc", "no value"], "the column and those without")
    texts = [t.text for t in xml.etree.ElementTree.fromstring(pictures["x_pc1_pc2"]).iter(SVG + "text")]
    expect(texts[texts.index("gc") + 1:][:4] == ["0.0", "0.2", "0.4", "no value (10)"], "the scale: %r" % texts)
    colours = [plots["x_pc1_pc2"]["data"][0]["gc"][i]["color"] for i in (0, 49)]
    expect_equal(colours, ["#c98500", "#0c3c74"], "the ends of the scale")
    expect(len({p["color"] for p in plots["x_pc1_pc2"]["data"][0]["gc"]}) > 40, "colours of 50 numbers")


@case
def rows_of_one_sequence_share_its_group():
    rng = np.random.default_rng(5)
    path = save(rng.normal(size=(9, 4)).astype("f4"), ["a", "none", "b"], counts=[4, 0, 5])
    table = write(fresh(), "g.tsv", "id\tkind\na\tfirst\nb\tsecond\nnone\tfirst\n")
    page, _, plots = report(path, "--groups", table, "--colour", "kind")
    expect_equal({g: len(p) for g, p in plots["x_pc1_pc2"]["data"][0].items()}, {"first": 4, "second": 5}, "rows")
    expect('<td>second</td><td class="number">1</td><td class="number">5</td>' in page, "sequences and rows")


@case
def many_rows_are_drawn_as_an_even_sample():
    rng = np.random.default_rng(6)
    matrix = rng.normal(size=(25000, 3)).astype("f4")
    page, pictures, plots = report(save(matrix, ["one"], counts=[25000]))
    expect("20,000 points are drawn, an even sample of 25,000" in page, "the caption")
    dots = [p for p in xml.etree.ElementTree.fromstring(pictures["x_pc1_pc2"]).iter(SVG + "path") if p.get("d").count("h0") > 10]
    expect_equal([p.get("d").count("M") for p in dots], [20000], "points")
    expect_equal(sum(len(g) for g in plots["x_pc1_pc2"]["data"][0].values()), 2000, "points for MultiQC")
    shares, _, _ = definition(matrix)
    for k in range(3):
        expect_close(plots["x_scree"]["data"][0]["PC%d" % (k + 1)]["percent of the variance"], 100 * shares[k], 1e-6 * 100, "share")


@case
def memory_does_not_grow_with_rows():
    rng = np.random.default_rng(7)
    sizes = []
    for rows in (20000, 200000):
        path = save(rng.normal(size=(rows, 64)).astype("f4"), ["one"], counts=[rows])
        sizes.append(peak_memory("report", path, "-o", os.path.join(fresh(), "r.html")))
    expect(sizes[1] < sizes[0] + 8000, "KiB for 20,000 and 200,000 rows: %r" % sizes)


@case
def one_thread_gives_the_same_bytes():
    if shutil.which("taskset") is None:
        raise Skip("no taskset")
    rng = np.random.default_rng(8)
    path = save(rng.normal(size=(500, 300)).astype("f4"))
    page, _, _ = report(path)
    out = os.path.join(fresh(), "r.html")
    expect_equal(command(["taskset", "-c", "0", CARBON, "report", path, "-o", out, "--no-version"]).rc, 0, "rc")
    expect(read(out).decode() == page, "other bytes on one CPU")


@case
def few_rows_have_a_report_without_pictures():
    page, pictures, _ = report(save(np.ones((1, 4), "f4")))
    expect("need two rows at least" in page and not pictures, "one row")
    page, pictures, _ = report(save(np.ones((5, 4), "f4")))
    expect("all rows are equal" in page and not pictures, "equal rows")
    page, pictures, _ = report(save(np.array([[1, 2], [3, 4]], "f4")))
    expect("in one direction only" in page, "two rows")
    expect_equal(list(pictures), ["x_scree"], "pictures of two rows")
    page, pictures, _ = report(write(fresh(), "empty.tsv", "#name\te0\te1\n"))
    expect("The file has 0 rows of 2 columns for 0 sequences" in page and not pictures, "no rows")


@case
def names_are_text():
    evil = '<script>alert(1)</script>&"\''
    matrix = np.random.default_rng(9).normal(size=(4, 3)).astype("f4")
    table = write(fresh(), "g.tsv", "id\t%s\n%s\t%s\ns1\t</svg><script>\n" % (evil, evil, evil))
    page, pictures, _ = report(save(matrix, [evil, "s1", "s2", "s3"]), "--groups", table, "--colour", evil)
    expect("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;" in page, "the name is not there")
    expect_equal(page.count("<script"), 1, "elements of script")
    for picture in pictures.values():
        xml.etree.ElementTree.fromstring(picture)
        expect("<script" not in picture, "a script in a picture")


def refused(*args, words):
    folder = fresh()
    before = tree(folder)
    expect_failure(carbon("report", *args, "-o", os.path.join(folder, "r.html"), "--svg", os.path.join(folder, "svg")), *words)
    expect_equal(tree(folder), before, "files")


@case
def options_that_belong_together():
    path = save(np.eye(4, dtype="f4"))
    table = write(fresh(), "g.tsv", "#id\tkind\tgc\ns1\tx\t1\n")
    refused(path, "--groups", table, words=["--groups FILE and --colour COLUMN belong together"])
    refused(path, "--colour", "kind", words=["--groups FILE and --colour COLUMN belong together"])
    refused(path, "--groups", table, "--colour", "kin", words=["no column 'kin'", "the columns are kind, gc"])
    refused(path, "--groups", table + ".absent", "--colour", "kind", words=["cannot open"])


for option, value, words in (("--tags", "X", "tags of scores are named, but no file has variants; leave out --tags"),
                             ("--label", "X", "a label of alleles is named, but no file has variants; leave out --label"),
                             ("--probabilities", "x.tsv", "but no file has variants; leave out --probabilities"),
                             ("-r", "chr1", "regions are named, but no file has scores of single bases; leave out --regions"),
                             ("--genes", "x.gff", "genes are named, but no file has variants or scores of single bases; leave out --genes")):
    @case(name="no file needs " + option)
    def needless(option=option, value=value, words=words):
        refused(save(np.eye(4, dtype="f4")), option, value, words=[words])


@case
def no_file_needs_groups():
    path = write(fresh(), "b.json", '{"strata": {}}')
    refused(path, "--groups", "g.tsv", "--colour", "x", words=["a table of groups is named, but no file has embeddings; leave out --groups"])


@case
def damaged_files_are_refused():
    good = np.random.default_rng(10).normal(size=(6, 3)).astype("f4")
    for kind, words in (("f8", "type '<f8'"), ("i4", "type '<i4'"), (">f4", "type '>f4'")):
        refused(save(good.astype(kind)), words=["x.npy: the values have " + words])
    refused(save(np.asfortranarray(good)), words=["not in C order"])
    refused(save(good.reshape(6, 3, 1)), words=["3 dimensions"])
    refused(save(np.array([[1, np.nan], [2, 3]], "f4")), words=["x.npy: row 0, column 1 is not a finite number"])
    path = save(good)
    content = read(path)
    for cut in (20, 100, len(content) - 1):
        write(os.path.dirname(path), "x.npy", content[:cut])
        refused(path, words=["x.npy: ", ("cut", "claims")])
    path = save(good, suffix=".safetensors")
    content = read(path)
    for cut in (4, 30, len(content) - 1):
        write(os.path.dirname(path), "x.safetensors", content[:cut])
        refused(path, words=["x.safetensors: "])
    path = save(good)
    os.remove(path[:-4] + ".names.tsv")
    refused(path, words=["x.names.tsv: cannot be opened"])
    path = save(good, ["a"], counts=[5])
    refused(path, words=["x.names.tsv: the matrix has more rows than the 5"])
    path = save(good, ["a"], counts=[7])
    refused(path, words=["the table has 7 rows, and the matrix has 6"])
    refused(write(fresh(), "t.tsv", "#name\te0\te1\na\t1\t2\nb\t1\tx\n"), words=["t.tsv:3: expected 2 numbers"])


if __name__ == "__main__":
    main()
