"""carbon completion: what bash and zsh offer on a command line, asked of the shells themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

from harness import CARBON, ENV, Skip, carbon, case, command, expect, expect_equal, expect_failure, fresh, main, ok, write

COMMANDS = [line.split()[0] for line in ok("--help").lines() if re.match(r"    [a-z]+ ", line)]


def in_bash(*words, cwd=None):
    """What bash offers for the last of the words, split as bash splits them."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _carbon "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    path = write(fresh(), "carbon.bash", ok("completion", "bash").out)
    result = command(["bash", "-c", script, "bash", path, CARBON, *words], cwd=cwd)
    expect(result.rc == 0 and result.err == "", "the script of completion fails", result)
    return [line for line in result.lines() if line]


@case
def bash_offers_every_option_of_the_help():
    expect(len(COMMANDS) > 4, "carbon --help lists %r" % COMMANDS)
    expect_equal(in_bash(""), COMMANDS + ["help", "--help", "--version"], "commands")
    expect_equal(in_bash("help", ""), COMMANDS, "commands to ask help for")
    for name in COMMANDS:
        wanted = re.findall(r"^ +(?:-.,)?(--[a-z][a-z0-9-]*)", ok(name, "--help").text, re.M)
        expect_equal(sorted(in_bash(name, "-")), sorted(wanted), "options of " + name)


@case
def bash_offers_values():
    for words, wanted in ((("vep", "--strand", ""), ["+", "-", "both"]), (("vep", "-c", ""), ["w", "e", "x"]),
                          (("vep", "--check-ref", "="), ["w", "e", "x"]), (("vep", "--dtype", "=", "b"), ["bf16"]),
                          (("score", "--level", "t"), ["token"]), (("vep", "-O", ""), ["u", "b", "v", "z", "t", "bigwig"]),
                          (("scan", "--device", "c"), ["cpu", "cuda"]), (("vep", "--recipe", ""), ["centered", "next-token", "anchored", "head", "table"]),
                          (("bench", "--tests", "sc"), ["score", "scan"]), (("generate", "--no-stop", "p"), ["prompt"]),
                          (("scan", "--frames", ""), ["1", "2", "3", "6"]), (("score", "-v", ""), ["0", "1", "3", "4", "5"]),
                          (("generate", "--draft-tokens", ""), ["auto"]), (("score", "--rope-scaling", ""), ["none"]),
                          # A number in a help is no value to offer.
                          (("score", "--batch-tokens", ""), []), (("scan", "--context", ""), []), (("serve", "--port", ""), []),
                          (("embed", "--pool", ""), ["separator", "last", "mean", "none"]),
                          (("vep", "--write-index", "=", ""), ["csi", "tbi"]), (("vep", "--window", ""), []),
                          (("vep", "--win"), ["--window"]), (("score", "--win"), ["--window"]), (("embed", "--win"), [])):
        expect_equal(in_bash(*words), wanted, " ".join(words))


@case
def bash_offers_files():
    d = fresh()
    for name in ("a.vcf", "b.fa"):
        write(d, name, "")
    os.mkdir(os.path.join(d, "model"))
    for words, wanted in ((("vep", ""), ["a.vcf", "b.fa", "model"]), (("vep", "-f", ""), ["a.vcf", "b.fa", "model"]),
                          (("vep", "-m", ""), ["a.vcf", "b.fa", "carbon-tiny", "model"]), (("vep", "-m", "carb"), ["carbon-tiny"]), (("vep", "-q", "a"), ["a.vcf"]),
                          # The word after a lone -W is the input.
                          (("vep", "--write-index", ""), ["a.vcf", "b.fa", "model"])):
        expect_equal(sorted(in_bash(*words, cwd=d)), wanted, " ".join(words))


@case
def bash_offers_plugins_and_their_options():
    names = re.findall(r"^    (\+\S+)", ok("plugin", "-l").text, re.M)
    expect("+auroc" in names, "plugins are %r" % names)
    expect_equal(in_bash("+"), names, "plugins")
    before, after = in_bash("+auroc", "-"), in_bash("+auroc", "x.vcf", "--", "-")
    expect("--targets" in before and "--label" not in before, "before --: %r" % before)
    expect("--label" in after and "--targets" not in after, "after --: %r" % after)
    for words, wanted in ((("+rank", "x.vcf", "--", "--by", ""), ["none", "trinucleotide", "type"]), (("+niah", "--", "--sampler", "=", "m"), ["marginal"]),
                          (("+combine", "--", "--by", "none"), [])):
        expect_equal(in_bash(*words), wanted, " ".join(words))


def in_zsh(*asked):
    """Types each line into zsh with Tab behind it, and waits until what is wanted stands there, or is listed."""
    if shutil.which("zsh") is None:
        raise Skip("zsh is not installed")
    d = fresh()
    write(d, "_carbon", ok("completion", "zsh").out)
    write(d, ".zshrc", "PS1='READY>'\nfpath=(%s $fpath)\nautoload -Uz compinit && compinit -u -d %s/dump\n"
          "unsetopt zle_bracketed_paste 2> /dev/null; zstyle ':completion:*' list-colors\nLISTMAX=1000\n"
          "PATH=%s:$PATH\n" % (d, d, os.path.dirname(CARBON)))
    near, far = pty.openpty()
    env = {**ENV, "ZDOTDIR": d, "TERM": "dumb", "HOME": d}
    process = subprocess.Popen(["zsh", "-i"], stdin=far, stdout=far, stderr=far, env=env, cwd=d, start_new_session=True)
    os.close(far)

    def until(mark, start=0):
        """Reads until the mark has come."""
        nonlocal seen
        deadline = time.monotonic() + 30
        while mark not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07]", "", seen[start:]):
            if time.monotonic() > deadline:
                raise AssertionError("zsh did not say %r:\n%s" % (mark, seen))
            if select.select([near], [], [], 0.5)[0]:
                seen += os.read(near, 65536).decode(errors="replace")

    seen = ""
    try:
        until("READY>")
        for line, wanted in asked:
            start = len(seen)
            os.write(near, line.encode() + b"\t")
            until(wanted, start)
            start = len(seen)
            os.write(near, b"\x15\n")  # ^U: away with the line
            until("READY>", start)
    finally:
        process.kill()
        process.wait()
        os.close(near)


@case
def zsh_completes():
    in_zsh(("carbon vep --fasta", "--fasta-ref="), ("carbon score --level t", "--level token"), ("carbon vep --strand ", "both"),
           ("carbon +aur", "+auroc "), ("carbon +auroc x -- --lab", "--label "))


@case
def a_wrong_shell_is_refused():
    for args in ((), ("fish",), ("bash", "zsh")):
        expect_failure(carbon("completion", *args), "carbon completion bash", "zsh")


if __name__ == "__main__":
    main()
