"""Plugins that tests write themselves: compiled by gcc as C99 against the header that `make install` puts down, as somebody
else would. Not a test."""

import os
import shutil

from harness import carbon, expect, fresh, tool, write

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A whole plugin; tests change its parts.
HEAD = '#include <carbon_plugin.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
PARTS = {
    "before": "",
    "usage": 'static const char *usage(void) { return "  --nothing  no options\\n"; }',
    "init": "static int init(carbon_run *run, int argc, char **argv, void **state)"
            " { (void)run; (void)argc; (void)argv; (void)state; return CARBON_DONE; }",
    "process": "",
    "finish": 'static int finish(carbon_run *run, void *state) { carbon_output *out; (void)state;'
              ' out = run->api->output_open(run, NULL); if (!out) return CARBON_ERROR;'
              ' return run->api->output_write(run, out, "hello\\n", 6); }',
    "manifest": 'static const carbon_plugin plugin = { CARBON_PLUGIN_ABI, sizeof(carbon_plugin), "7.5", "a plugin of somebody",'
                ' %(uses)s, usage, init, %(process_name)s, finish, NULL };',
    "entry": "CARBON_EXPORT const carbon_plugin *carbon_plugin_entry(void) { return &plugin; }",
}
_include = []


def include():
    """The folder with the header, as installed."""
    if not _include:
        header = os.path.join(SOURCE, "plugins", "carbon_plugin.h")
        _include.append(fresh())
        shutil.copy(header, _include[0])
    return _include[0]


def compiled(name, directory=None, uses="0", compiler=("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"), suffix=".c", **parts):
    """directory/NAME.so; returns the directory, for CARBON_PLUGINS."""
    directory = directory or fresh()
    text = {**PARTS, **parts}
    text["manifest"] = text["manifest"] % {"uses": uses, "process_name": "process" if text["process"] else "NULL"}
    source = write(directory, name + suffix, HEAD + "\n".join(text[part] for part in PARTS) + "\n")
    done = tool(*compiler, "-fPIC", "-shared", "-I", include(), "-o", os.path.join(directory, name + ".so"), source)
    expect(done.err == "", "the compiler complains", done)
    return directory


def cpp(name, **parts):
    return compiled(name, compiler=("g++", "-std=c++17", "-w"), suffix=".cpp", **parts)


def run(directory, *args, **options):
    return carbon(*args, env={"CARBON_PLUGINS": directory}, **options)
