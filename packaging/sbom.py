#!/usr/bin/env python3
"""sbom.py PROGRAM | --archive FILE | --notices FOLDER: a list of what carbon is made of, with versions and licences, as SPDX 2.3 in its
form of lines "Name: value".

People read it, and tools do (it is a "software bill of materials", SBOM). Versions are those of the Debian packages of this
machine, so run it where PROGRAM was built; the Debian package and the image hold the list of their own build. It contains the
libraries that PROGRAM is linked with, and the headers that were compiled into it. The libraries' own libraries are left to the
package manager. The time is SOURCE_DATE_EPOCH if that is set, so that a build can be repeated to the byte.

FILE is an archive of build-portable.sh, which says itself what is linked in; this can be asked on any machine, and the time is that of
the archive.

--notices writes into FOLDER the copyright notices and licences of the libraries of which only headers are used: they are compiled into
every program, so that who gets the program has to get these. It prints a line for each: name, version and licence, between tabs.
"""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import time
import typing

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = "/usr/share/doc"


class Library(typing.NamedTuple):
    """A line of the table of libraries, which names Debian's source package, its packages, and conda's."""
    source: str
    headers: str
    library: str
    conda: str
    linked_by: str
    included: str
    licence: str


with open(os.path.join(TOP, "packaging", "libraries"), encoding="ascii") as table:
    LIBRARIES = [Library(*line.strip().split(None, 6)) for line in table if not line.startswith("#")]
# Source package of Debian (its beginning): the licence of what carbon uses, in the words of SPDX. The compiler brings two.
LICENCES = {"gcc-": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later"}
LICENCES.update((each.source, each.licence) for each in LIBRARIES)
# What Debian's copyright files call them.
NAMES = {"Expat": "MIT", "BSD-3-clause": "BSD-3-Clause", "public-domain": "blessing"}


class Problem(Exception):
    """What is printed before the program ends with 1."""


def output(*command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()
    except FileNotFoundError:
        raise Problem("%s is not installed" % command[0])
    except subprocess.CalledProcessError as error:
        raise Problem("%s: %s" % (" ".join(command), error.stderr.decode().strip()))


def package_of(path):
    """The Debian package that a library belongs to. dpkg knows a file below /usr or below /, whichever its package names."""
    for known in (path, os.path.realpath(path), "/usr" + path, re.sub("^/usr/", "/", os.path.realpath(path))):
        try:
            return output("dpkg-query", "-S", known).split(":")[0]
        except Problem:
            continue
    raise Problem("%s belongs to no Debian package; the list can be made on Debian only" % path)


def libraries(program):
    """The packages of the libraries that the program itself names."""
    # The loader belongs to the C library, which is among the others.
    wanted = re.findall(r"\(NEEDED\).*\[((?!ld-linux).+)\]", output("readelf", "-d", program))
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", program), re.M))
    if not wanted:
        raise Problem("%s names no libraries" % program)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise Problem("%s: %s not found on this machine" % (program, ", ".join(missing)))
    return sorted({package_of(found[name]) for name in wanted})


def headers():
    """Libraries of which the program has only headers, with their installed packages: the linker leaves no trace of them. A package that
    only depends on one with a version in its name, like Boost's, stands for that."""
    found = []
    for each in LIBRARIES:
        if each.library == "-" != each.licence:
            depends = output("dpkg-query", "-W", "-f", "${Depends}", each.headers).split(", ")
            real = [d.split(" ")[0] for d in depends if re.fullmatch(each.headers.replace("-dev", "") + r"[\d.]+-dev( .*)?", d)]
            found.append((each, real[0] if real else each.headers))
    return found


def notice(package):
    """What Debian's copyright file says of a package. The licence of Boost asks for nothing in what was compiled, so that its thousands of
    files are one paragraph here."""
    with open(os.path.join(DOCUMENTS, package, "copyright"), encoding="utf-8") as file:
        paragraphs = file.read().rstrip("\n").split("\n\n")
    left_out = re.compile(r"Files:(?! \*\n)(.*\n)+License: BSL-1\.0(\n|$)")
    return "\n\n".join(each for each in paragraphs if not left_out.match(each)) + "\n"


def write_notices(folder):
    os.makedirs(folder, exist_ok=True)
    for library, package in headers():
        with open(os.path.join(folder, library.source), "w", encoding="utf-8") as file:
            file.write(notice(package))
        yield "%s\t%s\t%s\n" % (library.source, described(package)["version"], library.licence)


def licence(source, package):
    """The licence by LICENCES. Debian's own copyright file of the package must not say otherwise."""
    known = next((LICENCES[start] for start in LICENCES if source.startswith(start)), None)
    if known is None:
        raise Problem("%s: no licence is known of Debian's source package %s; add it to packaging/libraries" % (package, source))
    try:
        with open(os.path.join(DOCUMENTS, package, "copyright"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return known  # a system without documentation
    whole = re.search(r"^Files:\s+\*\n(?:.+\n)*?License:[ \t]*(\S+)", text, re.M)
    # Debian writes LGPL-2.1+ where SPDX has LGPL-2.1-or-later.
    if whole and re.sub(r"\+$", "-or-later", NAMES.get(whole.group(1), whole.group(1))) not in known:
        raise Problem("%s: Debian calls the licence %s, packaging/libraries %s" % (package, whole.group(1), known))
    return known


def described(package):
    """Version, source package, home page and architecture."""
    text = output("dpkg-query", "-W", "-f", "${Version}\n${source:Package}\n${Homepage}\n${Architecture}", package)
    version, source, homepage, architecture = text.split("\n")
    return {"name": package, "version": version, "homepage": homepage, "architecture": architecture,
            "licence": licence(source, package)}


def entry(part):
    """The lines of a package."""
    identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", part["name"])
    lines = ["PackageName: " + part["name"], "SPDXID: " + identity, "PackageVersion: " + part["version"]]
    if part.get("homepage"):
        lines.append("PackageHomePage: " + part["homepage"])
    lines += ["PackageDownloadLocation: NOASSERTION", "FilesAnalyzed: false", "PackageLicenseConcluded: NOASSERTION",
              "PackageLicenseDeclared: " + part["licence"], "PackageCopyrightText: NOASSERTION"]
    if "architecture" in part:
        quoted = [re.sub(r"[^A-Za-z0-9.~_-]", lambda letter: "%%%02X" % ord(letter.group()), part[key]) for key in ("name", "version")]
        lines.append("ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/%s@%s?arch=%s" % (*quoted, part["architecture"]))
    return identity, lines


def version():
    with open(os.path.join(TOP, "VERSION"), encoding="ascii") as file:
        return file.read().strip()


def document(number, parts, created, texts=()):
    """`parts` are (what entry() takes, its relation to carbon); `texts` are the licences that SPDX does not know, by their names."""
    body, relations = [], []
    for part, relation in [({"name": "carbon", "version": number, "licence": "Apache-2.0"}, "DESCRIBES"), *parts]:
        identity, lines = entry(part)
        body += [""] + lines
        source = "SPDXRef-DOCUMENT" if relation == "DESCRIBES" else "SPDXRef-carbon"
        relations.append("Relationship: %s %s %s" % (source, relation, identity))
    body += [""] + relations
    for name, text in texts:
        body += ["", "LicenseID: " + name, "ExtractedText: <text>%s</text>" % text.strip(), "LicenseName: NOASSERTION"]
    digest = hashlib.sha256("\n".join(body).encode()).hexdigest()[:32]
    head = ["SPDXVersion: SPDX-2.3", "DataLicense: CC0-1.0", "SPDXID: SPDXRef-DOCUMENT", "DocumentName: carbon-" + number,
            "DocumentNamespace: https://spdx.org/spdxdocs/carbon-%s-%s" % (number, digest),
            "Creator: Tool: carbon-packaging-sbom.py-" + version(),
            "Created: " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", created))))]
    return "\n".join(head + body) + "\n"


def of_program(program):
    parts = [(described(name), "DYNAMIC_LINK") for name in libraries(program)]
    parts += [(described(name), "STATIC_LINK") for _, name in headers()]
    return document(version(), parts, time.time())


def of_archive(path):
    try:
        with tarfile.open(path) as archive:
            top = archive.next().name.split("/")[0]
            listed = archive.getmember(top + "/share/libraries")
            lines = archive.extractfile(listed).read().decode().splitlines()
            parts = [dict(zip(("name", "version", "licence"), line.split("\t"))) for line in lines]
            texts = {}
            for part in parts:
                for name in re.findall(r"LicenseRef-[\w.-]+", part["licence"]):
                    text = archive.extractfile("%s/share/licenses/%s" % (top, part["name"].split(" ")[0])).read()
                    texts[name] = text.decode("utf-8", "replace")
    except (KeyError, tarfile.TarError) as error:
        raise Problem("%s is not an archive of build-portable.sh: %s" % (path, error))
    number = re.fullmatch(r"carbon-([\d.]+)-linux-\w+", top)
    if number is None:
        raise Problem("%s is not an archive of build-portable.sh: its folder is %s" % (path, top))
    return document(number.group(1), [(part, "STATIC_LINK") for part in parts], listed.mtime, sorted(texts.items()))


def main():
    task = {"--archive": of_archive, "--notices": write_notices}.get(sys.argv[1] if len(sys.argv) > 2 else "", of_program)
    if len(sys.argv) != (2 if task == of_program else 3) or sys.argv[-1].startswith("-"):
        sys.exit(__doc__)
    try:
        sys.stdout.write("".join(task(sys.argv[-1])))
    except (Problem, OSError) as problem:
        sys.exit("sbom.py: %s" % problem)


if __name__ == "__main__":
    main()
