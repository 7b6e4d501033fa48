"""Inputs at URLs, which htslib reads: a server on this machine that answers requests for parts of files."""

import functools
import http.server
import os
import re
import threading

from harness import ENV, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, read, tool, write
from vep_support import MINI

# This machine's own server is not reached through a proxy.
ENV.update(no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            return self.send_error(404)
        content = read(path)
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        begin = int(part.group(1)) if part else 0
        if begin > len(content):
            return self.send_error(416)
        end = min(int(part.group(2)) + 1, len(content)) if part and part.group(2) else len(content)
        self.send_response(206 if part else 200)
        if part:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, end - 1, len(content)))
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        try:
            self.wfile.write(content[begin:end])
        except ConnectionError:
            pass  # the reader has what it wants

    def log_message(self, *_):
        pass


class Served:
    """A folder and its URL."""

    def __init__(self, directory):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=directory))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/" % self.server.server_address[1]

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def folder(zipped=False, indexed=True):
    directory = fresh()
    path = write(directory, "ref.fa", read(data("mini.fa")))
    if zipped:
        tool("bgzip", path)
        path += ".gz"
    if indexed:
        tool("samtools", "faidx", path)
    write(directory, "in.vcf", read(MINI))
    return directory, os.path.basename(path)


def vep_case(zipped, indexed):
    directory, name = folder(zipped, indexed)
    before = sorted(os.listdir(directory))
    base = ("vep", "-m", model(), "-w", "24", "--no-version")
    wanted = ok(*base, "-f", data("mini.fa"), MINI)
    with Served(directory) as url:
        got = ok(*base, "-f", url + name, url + "in.vcf")
    expect_equal(got.out.replace(url.encode(), b""), wanted.out.replace(os.path.dirname(data("mini.fa")).encode(), b""), "records")
    expect_equal(("built in memory" in got.err), not indexed, "a warning about the index")
    expect_equal(sorted(os.listdir(directory)), before, "files at the URL")


@case
def reference_at_a_url():
    vep_case(zipped=False, indexed=True)
    vep_case(zipped=True, indexed=True)


@case
def reference_at_a_url_without_an_index():
    vep_case(zipped=False, indexed=False)


@case
def reference_at_a_url_with_a_part_of_its_index():
    directory, name = folder()
    index = os.path.join(directory, name + ".fai")
    write(directory, name + ".fai", b"".join(read(index).splitlines(True)[:-1]))
    with Served(directory) as url:
        expect_failure(carbon("score", "-m", model(), "-r", "c1:10-90", url + name), name + ".fai ends before", "further sequences")


@case
def regions_and_whole_files():
    directory, name = folder()
    local = os.path.join(directory, name)
    with Served(directory) as url:
        for options in ((), ("-r", "c1:10-90", "-r", "c2")):
            expect_equal(ok("score", "-m", model(), "-O", "tsv", *options, url + name).out,
                         ok("score", "-m", model(), "-O", "tsv", *options, local).out, "scores " + " ".join(options))


@case
def what_is_not_there():
    with Served(fresh()) as url:
        for command in (("vep", "-f", url + "no.fa", MINI), ("score", "-r", "c1", url + "no.fa"), ("score", url + "no.fa")):
            expect_failure(carbon(command[0], "-m", model(), *command[1:]), url + "no.fa")


@case
def urls_that_htslib_cannot_read():
    url = "nosuch://127.0.0.1/a"
    for command in (("vep", "-f", url + ".fa", MINI), ("vep", "-f", data("mini.fa"), url + ".vcf.gz"), ("score", url + ".fa"),
                    ("score", "-r", "c1", url + ".fa"), ("score", "-R", url + ".bed", data("mini.fa"))):
        expect_failure(carbon(command[0], "-m", model(), *command[1:]), url, "is a URL", "download the file first")
    # A file of this machine may have such a name.
    directory = fresh()
    os.makedirs(os.path.join(directory, "nosuch:"))
    write(directory, "nosuch:/ref.fa", read(data("mini.fa")))
    ok("score", "-m", model(), "nosuch://ref.fa", cwd=directory)


if __name__ == "__main__":
    main()
