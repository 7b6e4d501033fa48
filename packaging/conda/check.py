#!/usr/bin/env python3
"""check.py TREE: as much of the conda recipe as can be checked without conda and without a channel.

rattler-build reads the recipe of each variant, in its own form of the same fields, so that a field that does not exist or a
dependency that is misspelled is an error. Then TREE, the prefix of a `make install`, is laid out as a .conda package of the
variant that it is, with or without CUDA, and put into a local channel, solved for, installed into a new prefix by rattler, and
the recipe's own tests and smoke.sh run there. The packages that carbon depends on are empty stand-ins in that channel: its
libraries are those of this machine. So this checks the layout, the metadata, and that the program finds its files in another
prefix; it does not check a build with conda's compilers.

Needs py-rattler and py-rattler-build from PyPI, jinja2 and PyYAML.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

import rattler
import rattler.index
import rattler_build

from render import recipe, variants

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "packaging"))
from sbom import LIBRARIES  # noqa: E402

# Needed to compile only.
HEADERS = {each.conda for each in LIBRARIES if each.library == "-"}


def in_form_of_rattler(old):
    """The fields of conda-build's recipe under the names that rattler-build has for them."""
    about = dict(old["about"])
    about["homepage"] = about.pop("home")
    requirements = {part: old["requirements"][part] for part in ("build", "host")}
    requirements["run_exports"] = old["build"]["run_exports"]
    if "ignore_run_exports_from" in old["build"]:
        requirements["ignore_run_exports"] = {"from_package": old["build"]["ignore_run_exports_from"]}
    return {"package": old["package"], "source": old["source"], "requirements": requirements, "about": about, "extra": old["extra"],
            "build": {"number": old["build"]["number"], "string": old["build"]["string"], "script": "build.sh"},
            "tests": [{"script": old["test"]["commands"], "requirements": {"run": old["test"]["requires"]}}]}


def checked_recipe(version, machine):
    """The recipe of a variant; None if it is not built there. rattler-build refuses what it cannot understand."""
    old = recipe(version, machine)
    if old["build"].get("skip"):
        return None
    found = rattler_build.Stage0Recipe.from_dict(in_form_of_rattler(old)).render(rattler_build.VariantConfig())
    assert len(found) == 1, found
    return old


def run(*command, **environment):
    subprocess.run(command, check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)


async def installed(channel, prefix, cache):
    records = await rattler.solve([rattler.Channel(channel)], ["carbon"], platforms=["linux-64", "noarch"])
    await rattler.install(records, prefix, cache_dir=cache, show_progress=False)
    return records


def main():
    if len(sys.argv) != 2 or not os.path.exists(os.path.join(sys.argv[1], "bin", "carbon")):
        sys.exit(__doc__)
    for version in variants():
        for machine in ("x86_64", "aarch64"):
            built = checked_recipe(version, machine)
            print("recipe, CUDA %s, %s: %s" % (version, machine, "valid" if built else "not built there"))

    has_cuda = os.path.exists(os.path.join(sys.argv[1], "libexec", "carbon", "carbon-cuda.so"))
    built = recipe(next(version for version in variants() if (version != "None") == has_cuda))
    depends = [name for name in built["requirements"]["host"] if name not in HEADERS] + ["libstdcxx", "libgcc"]
    with tempfile.TemporaryDirectory() as work:
        channel, prefix = os.path.join(work, "channel"), os.path.join(work, "prefix")
        for dependency in depends:  # some with a version, such as 13.0.*
            name, *bounds = dependency.split()
            version = bounds[0].replace("*", "0") if bounds else "1.0"
            rattler_build.assemble_package(name, version, "noarch", "0", os.path.join(channel, "noarch"), noarch="generic", files=[])
        package = rattler_build.assemble_package(
            "carbon", built["package"]["version"], "linux-64", built["build"]["string"], os.path.join(channel, "linux-64"),
            files_dir=sys.argv[1], build_number=built["build"]["number"], depends=depends, homepage=built["about"]["home"],
            license=built["about"]["license"], license_family=built["about"]["license_family"], summary=built["about"]["summary"],
            license_files=[os.path.join(TOP, built["about"]["license_file"])], recipe_dir=HERE)
        print("%s: %d bytes" % (os.path.basename(str(package.path)), os.path.getsize(package.path)))
        asyncio.run(rattler.index.index_fs(channel))
        records = asyncio.run(installed("file://" + channel, prefix, os.path.join(work, "cache")))
        print("installed from the local channel: " + ", ".join(sorted(record.name.source for record in records)))
        path = os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"]
        for line in built["test"]["commands"]:
            run("bash", "-euo", "pipefail", "-c", line, PATH=path, PREFIX=prefix)
        run(os.path.join(TOP, "packaging", "smoke.sh"), os.path.join(prefix, "bin", "carbon"))
        print("the tests of the recipe %s CUDA and smoke.sh pass in the new prefix" % ("with" if has_cuda else "without"))


if __name__ == "__main__":
    main()
