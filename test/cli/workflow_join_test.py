"""workflows/join-scan.sh: the parts of a scan, put together, are one run's output; what is no part is refused."""

import os

from harness import bgzip, case, command, decompress, expect, expect_equal, fresh, is_bgzf, main, ok, read, records, tool, write
from workflow_support import SCAN, WORKFLOWS, checkpoint, genome_to_scan, one_scan

SCRIPT = os.path.join(WORKFLOWS, "join-scan.sh")
EMPTY_BLOCK = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")  # at the end of a BGZF file
TYPES = {"tsv.gz": "t", "bedgraph.gz": "bedgraph", "bcf": "b", "vcf.gz": "z"}


def parts(directory, suffix, count, *args):
    """The paths of the shares, in order."""
    paths = [os.path.join(directory, "part %d.%s" % (i, suffix)) for i in range(1, count + 1)]
    for i, path in enumerate(paths):
        ok("scan", "-q", "-m", checkpoint(), "-f", os.path.join(directory, "genome.fa"), *(args or SCAN), "-O", TYPES[suffix],
           "--shard", "%d/%d" % (i + 1, count), "-o", path)
    return paths


def join(directory, suffix, paths):
    tool("bgzip", "--version")
    tool("bcftools", "--version")
    path = os.path.join(directory, "whole." + suffix)
    return command(["bash", SCRIPT, path, *paths]), path


@case
def parts_become_one_output():
    d = fresh()
    genome_to_scan(d, contigs=4, length=1600)  # shares of more and of less than a block
    for suffix, count in (("tsv.gz", 2), ("tsv.gz", 5), ("bedgraph.gz", 3), ("bcf", 3), ("vcf.gz", 2)):
        result, path = join(d, suffix, parts(d, suffix, count))
        expect(result.rc == 0, "%d parts of %s" % (count, suffix), result)
        expect(is_bgzf(read(path)) and read(path).count(EMPTY_BLOCK) == 1, "not one BGZF file: " + path)
        wanted, got = one_scan(d, "-O", TYPES[suffix]), decompress(read(path))
        if suffix in ("bcf", "vcf.gz"):
            wanted, got = (tool("bcftools", "view", "--no-version", "-", stdin=content).out for content in (wanted, read(path)))
        expect_equal(got.decode().splitlines(), wanted.decode().splitlines(), "%d parts of %s" % (count, suffix))
        tool("bgzip", "-t", path)
    expect_equal([name for name in os.listdir(d) if name.endswith(".joining")], [], "files left behind")


@case
def an_index_finds_the_lines_of_joined_blocks():
    d = fresh()
    genome_to_scan(d, contigs=2, length=4000)
    result, path = join(d, "tsv.gz", parts(d, "tsv.gz", 3))
    expect(result.rc == 0, "three parts", result)
    tool("tabix", "-s1", "-b2", "-e2", path)
    lines = records(decompress(read(path)).decode())
    expect_equal(len(lines), 3 * 7999, "lines")
    for contig, begin, end in (("c0", 1, 9), ("c0", 2600, 2700), ("c1", 1300, 1400), ("c1", 3990, 4000)):
        wanted = [line for line in lines if line.startswith(contig + "\t") and begin <= int(line.split("\t")[1]) <= end]
        expect_equal(tool("tabix", path, "%s:%d-%d" % (contig, begin, end)).lines(), wanted, "lines of a region")


@case
def shares_without_a_base_and_one_share():
    d = fresh()
    genome_to_scan(d, contigs=1, length=5)
    for count in (1, 9):
        result, path = join(d, "tsv.gz", parts(d, "tsv.gz", count))
        expect(result.rc == 0, "%d parts" % count, result)
        expect_equal(decompress(read(path)), one_scan(d), "%d parts of five bases" % count)


@case
def headers_may_name_the_shares():
    """Without --no-version the lines on the command differ; the first part's stand at the top, once."""
    d = fresh()
    genome_to_scan(d, contigs=2, length=300)
    paths = parts(d, "tsv.gz", 3, *SCAN[:-1])
    result, path = join(d, "tsv.gz", paths)
    expect(result.rc == 0, "three parts", result)
    lines = decompress(read(path)).decode().splitlines()
    header = [line for line in decompress(read(paths[0])).decode().splitlines() if line[0] == "#"]
    expect_equal(lines[:len(header)], header, "header of the first part")
    expect_equal(lines[len(header):], records(one_scan(d).decode()), "lines")


@case
def what_is_no_part_is_refused():
    d = fresh()
    genome_to_scan(d, contigs=1, length=900)
    first, second = parts(d, "tsv.gz", 2)
    content = read(second)
    long = write(d, "long.tsv", "##x=" + "x" * 70000 + "\n" + decompress(content).decode())
    for name, paths, word in (("whole.tsv.gz", [first, os.path.join(d, "absent.tsv.gz")], "absent"),
                              ("whole.tsv.gz", [first, write(d, "cut.tsv.gz", content[:-1000])], "complete"),
                              ("whole.tsv.gz", [write(d, "cut.tsv.gz", content[:-28]), second], "complete"),
                              ("whole.tsv.gz", [first, write(d, "plain.tsv.gz", decompress(content))], "BGZF"),
                              ("whole.tsv.gz", [first, bgzip(long)], "--no-version"),
                              ("whole.bcf", [first, second], "whole.bcf"),
                              ("whole.tsv", [first, second], ".tsv.gz"), ("whole.tsv.gz", [], "usage")):
        result = command(["bash", SCRIPT, os.path.join(d, name), *paths])
        expect(result.rc != 0 and (word in result.err or name == "whole.bcf"), "no message of %r for %s" % (word, paths), result)
        expect(not [n for n in os.listdir(d) if n.startswith("whole.")], "an output of %s" % paths, result)


if __name__ == "__main__":
    main()
