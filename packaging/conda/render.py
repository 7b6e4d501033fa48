"""The conda recipe as conda-build reads it, without conda-build. Needs jinja2 and PyYAML.

render.py FOLDER writes each variant of the meta.yaml there, for x86-64, as FOLDER/rendered-cpu.yaml and the like.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What the functions of the recipe stand for on conda-forge for Linux.
COMPILERS = {"cuda": "cuda-nvcc", "cxx": "gxx", "c": "sysroot"}


def read(name, folder=HERE):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def variants():
    """The versions of CUDA that the recipe is built for, "None" without."""
    found = re.search(r"^cuda_compiler_version:\n((?:  - .*\n)+)", read("conda_build_config.yaml"), re.M).group(1)
    return re.findall(r'- "?([\w.]+)', found)


def recipe(cuda_compiler_version, machine="x86_64", folder=HERE):
    """The recipe of a variant: lines chosen by `# [condition]`, then jinja2, then YAML."""
    import jinja2
    import yaml
    known = {"linux": True, "x86_64": machine == "x86_64", "aarch64": machine == "aarch64",
             "cuda_compiler_version": cuda_compiler_version}
    lines = []
    for line in read("meta.yaml", folder).splitlines():
        condition = re.search(r"# \[(.+)\]$", line)
        if condition is None or eval(condition.group(1), {}, known):
            lines.append(line[:condition.start()] if condition else line)
    rendered = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("\n".join(lines)).render(
        **known, PKG_HASH="1234567", compiler=COMPILERS.get, stdlib=COMPILERS.get, pin_subpackage=lambda name, **_: name)

    class Loader(yaml.SafeLoader):
        """Refuses a key that is there twice, of which YAML keeps the last."""

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise ValueError("a key of %r is there twice" % keys)
        return loader.construct_mapping(node, deep=True)
    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return yaml.load(rendered, Loader)


def main(folder):
    import yaml
    for version in variants():
        name = "rendered-%s.yaml" % ("cpu" if version == "None" else "cuda" + version)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            yaml.safe_dump(recipe(version, folder=folder), file, sort_keys=False)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
