"""The plugin door: finding, listing, loading and installing plugins, those of others and bad ones included."""

import os
import re
import shutil

from harness import CARBON, DATA, Skip, carbon, case, command, expect, expect_equal, expect_failure, fresh, main, model, ok, read, tool, write
from plugin_compile import HEAD, PARTS, SOURCE, compiled, cpp, run

BUILD = os.path.dirname(CARBON)
MINI = os.path.join(DATA, "mini.vcf")
SHIPPED = sorted(name[:-4] for name in os.listdir(os.path.join(SOURCE, "plugins")) if name.endswith(".cpp"))


# ---- finding and listing


@case
def a_plugin_of_somebody_runs():
    directory = compiled("theirs")
    result = run(directory, "+theirs")
    expect(result.rc == 0 and result.text == "hello\n" and result.err == "", "expected its greeting", result)
    expect_equal(run(directory, "plugin", "theirs").text, "hello\n", "carbon plugin NAME")
    expect_equal(carbon("+" + os.path.join(directory, "theirs.so")).text, "hello\n", "by its path")
    out = os.path.join(fresh(), "out.gz")
    run(directory, "+theirs", "-o", out)
    expect_equal(tool("gzip", "-dc", out).text, "hello\n", "-o FILE.gz")


@case
def the_header_is_c99_and_cpp():
    header = os.path.join(SOURCE, "plugins", "carbon_plugin.h")
    for compiler in (("gcc", "-std=c99", "-pedantic", "-x", "c"), ("gcc", "-std=c11", "-x", "c"), ("g++", "-std=c++11", "-pedantic", "-x", "c++")):
        result = tool(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", header)
        expect_equal(result.err, "", " ".join(compiler))


@case
def listing():
    result = ok("plugin", "-l")
    for name in SHIPPED:
        expect(re.search(r"^ +\+%s +\d+\.\d+\.\d+ +\S" % name, result.text, re.M), "no line of +" + name, result)
    expect(BUILD in result.text and result.err == "", "expected the directory", result)
    directory = compiled("theirs")
    compiled("auroc", directory)
    listed = run(directory, "plugin", "-l")
    expect(re.search(r"^ +\+theirs +7\.5 +a plugin of somebody$", listed.text, re.M), "no line of +theirs", listed)
    expect_equal(len(re.findall(r"\+auroc ", listed.text)), 1, "the first of a name alone")
    expect_equal(listed.lines()[0], directory, "first directory")
    long = run(directory, "plugin", "-l", "-v")
    for name in ("theirs", "auroc"):
        expect(os.path.join(directory, name + ".so") in long.text, "no path of +" + name, long)
    expect("hidden" in long.text, "the hidden +auroc is not shown", long)
    expect_equal(run(directory, "+auroc").text, "hello\n", "the first directory wins")


@case
def several_directories():
    first, second = compiled("one"), compiled("two")
    for name in ("one", "two"):
        result = run("%s::%s" % (first, second), "+" + name)
        expect(result.rc == 0 and result.text == "hello\n", "expected +%s to run" % name, result)


@case
def unknown_plugins():
    expect_failure(carbon("+nonsense"), "nonsense.so", "carbon plugin -l", "CARBON_PLUGINS")
    expect_failure(carbon("help", "+nonsense"), "nonsense.so")
    for name in ("+", "+../auroc", "+a b", "+./nonsense.so"):
        expect_failure(carbon(name), ("not the name of a plugin", "no such file"))
    directory = fresh()
    write(directory, "text.so", "no library")
    expect_failure(run(directory, "+text"), "+text", "cannot be loaded")


@case
def help_and_usage():
    for name in SHIPPED:
        direct, helped, own = ok("+" + name, "--help"), ok("help", "+" + name), ok("+" + name, "--", "--help")
        expect("Usage: carbon +%s" % name in direct.text and direct.err == "", "expected usage on stdout", direct)
        expect_equal(helped.text, direct.text, "help +" + name)
        expect(own.text and direct.text.endswith(own.text), "the plugin's own options are not at the end", direct)
    result = carbon("plugin")
    expect(result.rc == 1 and result.out == b"" and "carbon plugin -l" in result.err, "expected usage on stderr", result)
    expect_failure(carbon("+auroc", "--label", "X", MINI), "--label is an option of the plugin", "after --")


@case
def without_model_there_are_no_model_options():
    directory = compiled("theirs")
    expect_failure(run(directory, "+theirs", "-m", model()), "-m")
    expect_failure(run(directory, "+theirs", "file"), "file")
    expect("--model" not in run(directory, "+theirs", "--help").text, "--model is offered")


# ---- options that a plugin declares

OPTIONS = """static const carbon_option options[] = {
  {"distance", "BP", "between two", "1", "1000", CARBON_VALUE_WHOLE, 'd', 0}, {"share", "SHARE", "of all", "0", "1", CARBON_VALUE_REAL, 0, 0},
  {"kind", "near|far", "of which kind", NULL, NULL, CARBON_VALUE_WORD, 0, 0}, {"name", "TEXT", "of a part", NULL, NULL, CARBON_VALUE_TEXT, 'n', 1},
  {"count", NULL, "count them", NULL, NULL, CARBON_VALUE_TEXT, 'c', 0}, {NULL, NULL, NULL, NULL, NULL, 0, 0, 0}};
static int said_count; static char **said;
"""


def declared(name, options=OPTIONS, table="options"):
    """A plugin that declares options, and prints what init is given of them."""
    manifest = PARTS["manifest"].replace("static const carbon_plugin plugin = {", "static const carbon_declared_plugin plugin = {{").replace(
        "};", "}, %s};" % table)
    return compiled(name, uses="CARBON_DECLARES_OPTIONS", before=options, manifest=manifest,
                    usage='static const char *usage(void) { return "Examples:\\n"; }',
                    init=PARTS["init"].replace("(void)argc; (void)argv;", "said_count = argc; said = argv;"),
                    finish="static int finish(carbon_run *run, void *state) { carbon_output *out; int i; (void)state;"
                           " out = run->api->output_open(run, NULL); if (!out) return CARBON_ERROR;"
                           " for (i = 1; i < said_count; ++i) if (run->api->output_write(run, out, said[i], strlen(said[i])) ||"
                           ' run->api->output_write(run, out, " ", 1)) return CARBON_ERROR; return CARBON_DONE; }',
                    entry=PARTS["entry"].replace("&plugin", "&plugin.plugin"))


@case
def declared_options_are_read_as_those_of_commands():
    directory = declared("tells")
    for words, wanted in (((), ""), (("--dist", "7", "-c"), "--distance=7 --count "), (("-d7", "-nx", "--name=-y", "-n", "a=b"), "--distance=7 --name=x --name=-y --name=a=b "),
                          (("--share", "+0.5", "--kind=far"), "--share=0.5 --kind=far "), (("--distance", "+010"), "--distance=10 ")):
        expect_equal(run(directory, "+tells", "--", *words).text, wanted, " ".join(words))
    for words, message in ((("--distance", "0"), "--distance: expected a number from 1 to 1000, not '0'"), (("--distance=1.5",), "'1.5'"), (("--share", "2"), "from 0 to 1"),
                           (("--share", "nan"), "'nan'"), (("--kind", "farther"), "near or far"), (("--nothing",), "unrecognized option '--nothing'"),
                           (("--kind",), "--kind needs a value: near|far"), (("--name=",), "--name is empty"), (("word",), "word"),
                           (("-x",), "'-x'"), (("--kind", "far", "--kind", "near"), "--kind")):
        expect_failure(run(directory, "+tells", "--", *words), "[E::main_+tells] ", message, "carbon +tells --help")
    expect_failure(run(directory, "+tells", "--kind", "far"), "--kind is an option of the plugin", "'carbon +tells input -- --kind'")
    expect_failure(run(directory, "+tells", "-c"), "-c is an option of the plugin")
    text = run(directory, "+tells", "--help").text
    expect("  -d,--distance BP              between two\n" in text and "  --kind near|far " in text and text.endswith("count them\n\nExamples:\n"), text)


@case
def options_that_cannot_be_are_refused():
    for change, words in ((('"share"', '"distance"'), "--distance"), (('"share"', '"Share"'), "--Share"), (('"share"', '"s"'), "--s"), (('"share"', '"help"'), "--help"),
                          (("'n'", "'d'"), "--name"), (("'n'", "'h'"), "--name"), (("'n'", "'-'"), "--name"), (('"of a part"', "NULL"), "--name"),
                          (('"1000"', '"many"'), "--distance")):
        refused(declared("wrong", OPTIONS.replace(*change)), "wrong", "declares the option " + words)
    refused(declared("null", OPTIONS.partition("};\n")[2], "NULL"), "null", "`options` is null")


# ---- bad plugins


def refused(directory, name, *words):
    """By carbon +NAME with exit 1, and by the listing, which goes on."""
    out = os.path.join(fresh(), "out")
    result = run(directory, "+" + name, "-o", out)
    expect_failure(result, "[E::plugin] ", "+" + name, *words)
    expect(not os.path.exists(out), "an output appeared")
    listed = run(directory, "plugin", "-l")
    expect(listed.rc == 0 and any("+" + name in line for line in listed.messages("W")), "expected a warning", listed)
    expect("+auroc" in listed.text, "the listing stops at a bad plugin", listed)


@case
def a_wrong_abi():
    directory = compiled("older", manifest=PARTS["manifest"].replace("CARBON_PLUGIN_ABI", "1"))
    refused(directory, "older", "interface version 1, this carbon has 2", "carbon_plugin.h")


CRASH = "static void __attribute__((constructor)) crash(void) { volatile int *nowhere = NULL; *nowhere = 1; }"


@case
def one_that_segfaults_on_load():
    refused(compiled("segv", before=CRASH), "segv", "crashes while it is loaded", "signal 11")


@case
def one_that_aborts_exits_or_hangs_up_on_load():
    refused(compiled("aborts", before=CRASH.replace("*nowhere = 1", "(void)nowhere; abort()")), "aborts", "crashes", "signal 6")
    refused(compiled("exits", before=CRASH.replace("*nowhere = 1", "(void)nowhere; exit(0)")), "exits", "ends the process")


@case
def one_that_throws_on_load():
    entry = PARTS["entry"].replace("{", '{ throw std::runtime_error("no licence");')
    entry = 'extern "C" ' + entry
    refused(cpp("throws", before="#include <stdexcept>", entry=entry), "throws", "throws an exception", "no licence")
    refused(cpp("constructor", before="struct T { T() { throw 5; } } t;", entry='extern "C" ' + PARTS["entry"]), "constructor",
            ("throws", "crashes"))


@case
def incomplete_ones():
    refused(compiled("empty", entry="const carbon_plugin *unused(void); const carbon_plugin *unused(void) { return &plugin; }"), "empty",
            "carbon_plugin_entry")
    refused(compiled("null", entry=PARTS["entry"].replace("&plugin", "NULL") + " const carbon_plugin *const unused = &plugin;"), "null",
            "returned null")
    refused(compiled("halves", manifest=PARTS["manifest"].replace("usage, init", "NULL, init"), usage=""), "halves", "incomplete")
    refused(compiled("small", manifest=PARTS["manifest"].replace("sizeof(carbon_plugin)", "8")), "small", "sizeof(carbon_plugin)")
    refused(compiled("future", uses="1024"), "future", "newer")
    refused(compiled("mixed", uses="CARBON_READS_RECORDS"), "mixed", "contradicts itself")
    refused(compiled("symbols", before="int not_there(void);", finish=PARTS["finish"].replace("(void)state;", "(void)state; not_there();")),
            "symbols", "cannot be loaded", "not_there")


THROWING = 'static int finish(carbon_run *run, void *) { run->api->output_open(run, 0); throw std::runtime_error("too late"); }'


@case
def one_that_throws_while_it_runs():
    for part in ("finish", "init"):
        text = THROWING if part == "finish" else PARTS["init"].replace("{", '{ throw std::runtime_error("too late");')
        directory = cpp("throws", before="#include <stdexcept>", entry='extern "C" ' + PARTS["entry"], **{part: text})
        out = os.path.join(fresh(), "out")
        expect_failure(run(directory, "+throws", "-o", out), "[E::plugin] +throws", "too late")
        expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")
    usage = 'static const char *usage() { throw 1; }'
    expect_failure(run(cpp("throws", usage=usage, entry='extern "C" ' + PARTS["entry"]), "+throws", "--help"), "+throws")


@case
def one_that_crashes_while_it_runs():
    bodies = {"segv": ("volatile int *nowhere = NULL; *nowhere = 1;", 11), "aborts": ("abort();", 6)}
    for name, (body, number) in bodies.items():
        finish = PARTS["finish"].replace("return run->api->output_write", body + " return run->api->output_write")
        out = os.path.join(fresh(), "out")
        result = run(compiled(name, finish=finish.replace("carbon_output *out;", "carbon_output *out;")
                              if name != "segv" else finish.replace(body, "{ " + body + " }")), "+" + name, "-o", out)
        expect_equal(result.rc, -number, "status")
        expect(re.search(r"^\[E::plugin\] \+%s crashed .*signal %02d" % (name, number), result.err, re.M), "no message", result)
        expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")


@case
def one_that_crashes_when_the_program_ends():
    out = os.path.join(fresh(), "out")
    result = run(compiled("late", before=CRASH.replace("constructor", "destructor")), "+late", "-o", out)
    expect(result.rc == -11 and "[E::plugin] +late crashed" in result.err, "expected a report", result)
    expect_equal(read(out), b"hello\n", "the output, which was complete before")


@case
def a_stack_that_overflows_is_reported_as_well():
    finish = ("static int deeper(volatile int *n) { volatile int here[4096]; here[0] = *n + 1; return deeper(here) + here[0]; }"
              "static int finish(carbon_run *run, void *state) { volatile int n = 0; (void)run; (void)state; return deeper(&n); }")
    directory = compiled("deep", finish=finish, compiler=("gcc", "-O0", "-w"))
    result = run(directory, "+deep")
    expect(result.rc == -11 and "+deep crashed" in result.err, "expected a report", result)


@case
def failures_have_a_reason():
    own = PARTS["finish"].replace("return run->api->output_write", 'if (out) return run->api->fail(run, "chr1:5: too odd; do not"); return run->api->output_write')
    out = os.path.join(fresh(), "out")
    result = run(compiled("fails", finish=own), "+fails", "-o", out)
    expect_failure(result, "[E::fails] chr1:5: too odd; do not")
    expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")
    silent = PARTS["init"].replace("CARBON_DONE", "CARBON_ERROR")
    expect_failure(run(compiled("silent", init=silent), "+silent"), "+silent failed without giving a reason")
    program = PARTS["finish"].replace("run->api->output_open(run, NULL)", 'run->api->output_open(run, "/no/such/folder/x")')
    expect_failure(run(compiled("program", finish=program), "+program"), "/no/such/folder/x")
    model_less = PARTS["finish"].replace("(void)state;", "(void)state; if (!run->api->property(run, CARBON_MODEL_ID)) return CARBON_ERROR;")
    expect_failure(run(compiled("less", finish=model_less), "+less"), "CARBON_USES_MODEL")


@case
def installed_and_used_from_there():
    """make install, a plugin compiled with nothing but what it put down, and make uninstall."""
    if shutil.which("make") is None or not os.path.exists(os.path.join(SOURCE, "carbon")):
        raise Skip("no make or no ./carbon")
    if "sanitize" in os.path.basename(BUILD):
        raise Skip("a program with sanitizers is not installed")
    root = fresh()
    # What is built stays as it is: the tests of one run are all of the same program.
    cuda = os.path.join(BUILD, "carbon-cuda.so")
    built = ["carbon", cuda] + [os.path.join(BUILD, "plugins", name + ".so") for name in SHIPPED]
    settings = ["DESTDIR=" + root, "prefix=/usr", "BUILD=" + BUILD] + [word for path in built for word in ("-o", path)]
    if not os.path.exists(cuda):
        settings.append("WITH_CUDA=no")
    done = command(["make", "-C", SOURCE, "install", *settings], env={"MAKEFLAGS": ""}, timeout=120)
    expect(done.rc == 0, "make install failed", done)
    include_dir = os.path.join(root, "usr", "include")
    for path in ["include/carbon_plugin.h", "share/man/man5/carbon-plugins.5"] + \
            ["libexec/carbon/%s.so" % n for n in SHIPPED] + ["share/man/man1/carbon-%s.1" % n for n in SHIPPED]:
        expect(os.path.isfile(os.path.join(root, "usr", path)), "not installed: " + path)
    directory = fresh()
    source = write(directory, "outside.c", HEAD + "\n".join(
        (PARTS[p] % {"uses": "0", "process_name": "NULL"}) if p == "manifest" else PARTS[p] for p in PARTS))
    tool("gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-fPIC", "-shared", "-I", include_dir, "-o",
         os.path.join(directory, "outside.so"), source)
    installed = os.path.join(root, "usr", "bin", "carbon")
    env = {"CARBON_PLUGINS": directory + ":" + os.path.join(root, "usr", "libexec", "carbon")}
    expect_equal(command([installed, "+outside"], env=env).text, "hello\n", "a plugin from outside")
    listed = command([installed, "plugin", "-l"], env=env)
    for name in SHIPPED:
        expect("+" + name in listed.text, "not listed: " + name, listed)
    expect("cuda" not in listed.text + listed.err, "the program's own libraries are no plugins", listed)
    done = command(["make", "-C", SOURCE, "uninstall", *settings], env={"MAKEFLAGS": ""}, timeout=120)
    expect(done.rc == 0, "make uninstall failed", done)
    left = [os.path.join(where, name) for where, _, files in os.walk(root) for name in files]
    expect_equal(left, [], "left by make uninstall")


if __name__ == "__main__":
    main()
