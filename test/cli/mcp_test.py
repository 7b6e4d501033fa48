"""carbon mcp: messages of a client, and the numbers of the commands. With the official package mcp (PyPI) its client, too."""

import json
import os
import random
import struct
import subprocess

from harness import CARBON, ENV, Skip, carbon, case, expect, expect_equal, expect_failure, fresh, main, ok

random.seed(5)
GENE = "".join(random.choice("ACGT") for _ in range(700))


class Client:
    """A process and its lines."""

    def __init__(self, *options):
        self.process = subprocess.Popen([CARBON, "mcp", "-q", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=ENV)
        self.next = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *problem):
        self.process.stdin.close()
        if kind:
            return self.process.kill()  # the case says what is wrong
        expect_equal(self.process.stdout.read(), "", "what is left")
        expect_equal(self.process.wait(60), 0, "exit status")

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def line(self):
        return json.loads(self.process.stdout.readline())

    def begin(self, method, parameters=None, **more):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters or {}, **more})
        return self.next

    def ask(self, method, parameters=None):
        number = self.begin(method, parameters)
        answer = self.line()
        expect_equal(answer["id"], number, "id")
        return answer

    def tool(self, name, **arguments):
        answer = self.ask("tools/call", {"name": name, "arguments": arguments})
        expect("result" in answer, answer)
        return answer["result"]

    def results(self, name, **arguments):
        answer = self.tool(name, **arguments)
        expect(not answer["isError"], answer["content"])
        return answer["structuredContent"]["results"]

    def refused(self, words, name, **arguments):
        answer = self.tool(name, **arguments)
        expect(answer["isError"], answer)
        text = answer["content"][0]["text"]
        expect(words in text, "%s is not in %s" % (words, text))


@case
def a_client_is_greeted_and_told_the_tools():
    with Client() as client:
        for asked, version in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")):
            hello = client.ask("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
            expect_equal(hello["result"]["protocolVersion"], version, "version for " + asked)
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        expect_equal(client.ask("ping")["result"], {}, "ping")
        tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
        expect_equal(sorted(tools), ["embed", "generate", "models", "scan", "score", "variants"], "tools")
        expect_equal(tools["generate"]["inputSchema"]["required"], ["length"], "what generate needs")
        expect("regions" not in tools["scan"]["inputSchema"]["properties"], "regions without a reference")
        answer = client.tool("models")
        expect(any(model.get("name") == "carbon-tiny" for model in answer["structuredContent"]["models"]), answer)


@case
def an_answer_leaves_nothing_out_without_a_word():
    with Client("--root", fresh()) as client:
        for sequences in (["ACGTTGCA" * 40] * 60, ["ACG"] * 60, ["ACGUUGCA"] * 60):
            lines = client.tool("score", sequences=sequences)["content"][0]["text"].splitlines()
            shown = [line for line in lines if line.split(":")[0].isdigit()]
            more, = [int(line.split()[0]) for line in lines if "more results are in" in line]
            expect(len(lines) <= 50 and len(shown) > 30 and len(shown) + more == 60, "\n".join(lines))


@case
def numbers_are_those_of_the_commands():
    folder = fresh()
    fasta = os.path.join(folder, "gene.fa")
    with open(fasta, "w") as file:
        file.write(">c\n%s\n" % GENE)
    with Client("-f", fasta) as client:
        short = GENE[:120]
        score, = client.results("score", sequences=[short], strand="both")
        with open(os.path.join(folder, "short.fa"), "w") as file:
            file.write(">s\n%s\n" % short)
        line = ok("score", "--strand", "both", os.path.join(folder, "short.fa")).lines()[-1].split("\t")
        expect_equal(["%d" % score["n_scored"], "%.10g" % score["sum_logp"]], line[4:6], "score")
        expect_equal(len(score["logp"]), 120, "values")
        variants = client.results("variants", variants=["c:100 %s>A" % GENE[99], {"chrom": "c", "pos": 101, "ref": GENE[100], "alt": "T"},
                                                        {"chrom": "c", "pos": 50, "ref": GENE[49], "alt": "<DEL>", "end": 56},
                                                        {"chrom": "d", "pos": 50, "ref": "A", "alt": "C"}], window=240)
        vcf = os.path.join(folder, "v.vcf")
        with open(vcf, "w") as file:
            file.write("##fileformat=VCFv4.2\n##contig=<ID=c>\n##contig=<ID=d>\n##ALT=<ID=DEL,Description=x>\n"
                       "##INFO=<ID=END,Number=1,Type=Integer,Description=x>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
                       "c\t50\t.\t%s\t<DEL>\t.\t.\tEND=56\nc\t100\t.\t%s\tA\t.\t.\t.\nc\t101\t.\t%s\tT\t.\t.\t.\nd\t50\t.\tA\tC\t.\t.\t.\n"
                       % (GENE[49], GENE[99], GENE[100]))
        table = [line.split("\t") for line in ok("vep", "--no-version", "-w", "240", "-f", fasta, "-O", "t", vcf).lines() if line[0] != "#"]
        by_place = {(row[0], row[1]): row for row in table}
        for variant, place in zip(variants, (("c", "100"), ("c", "101"), ("c", "50"), ("d", "50"))):
            shown = "." if variant["values"][0] is None else "%g" % as_float(variant["values"][0])
            expect_equal([shown, variant["flag"] or "."], by_place[place][5:7], "variant at %s:%s" % place)
        bases = client.tool("reference", region="c:11-20")["structuredContent"]
        expect_equal(bases, {"chrom": "c", "pos": 11, "bases": GENE[10:20]}, "reference")
        client.refused("no contig of the variants (d, ...) is in the reference (c)", "variants", variants=["e:50 A>C", "d:5 A>C"])
        wrong = ["c:%d %s>%s" % (i + 1, "ACGT"["TGCA".index(GENE[i])], GENE[i]) for i in range(50, 54)]
        client.refused("wrong assembly? REF differs from the reference in 4 of 4", "variants", variants=wrong)
        client.refused("or raise max_ref_mismatch", "variants", variants=wrong)
        flags = [row["flag"] for row in client.results("variants", variants=wrong, max_ref_mismatch=1)]
        expect_equal(flags, ["ref_mismatch"] * 4, "flags of another assembly")
        client.refused("several regions", "reference", region="c:1-3,c:5-9")
        region, = client.results("scan", regions=["c:101-130"])
        expect_equal([region["chrom"], region["pos"], region["bases"], len(region["logp"])], ["c", 101, GENE[100:130], 30], "scan")
        sample, = client.results("generate", prompts=["ATGGCC"], length=30, seed=3)
        with open(os.path.join(folder, "p.fa"), "w") as file:
            file.write(">p\nATGGCC\n")
        expect_equal(sample["sequence"], ok("generate", "-l", "30", "--seed", "3", os.path.join(folder, "p.fa")).lines()[-1], "generate")


def as_float(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@case
def what_is_wrong_is_said():
    with Client() as client:
        for message, code in (("{", -32700), ("[]", -32600), ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
                              ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, -32600), ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
                              ({"jsonrpc": "2.0", "id": 1, "method": "no"}, -32601),
                              *(({"jsonrpc": "2.0", "id": "x", "method": method, "params": parameters}, -32602) for method, parameters in (
                                  ("tools/call", {"name": "vep"}), ("tools/call", {"name": 5}), ("tools/call", None), ("tools/call", []),
                                  ("tools/call", {"name": "models", "_meta": None}), ("initialize", {"protocolVersion": 5}),
                                  ("tools/call", {"name": "models", "_meta": {"progressToken": [1]}})))):
            client.send(message)
            answer = client.line()
            expect_equal(answer["error"]["code"], code, message)
            expect_equal(answer["id"], message["id"] if isinstance(message, dict) and "x" == message["id"] else answer["id"], message)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]})
        client.send({"jsonrpc": "2.0", "id": 4, "result": {}})  # an answer to nothing
        client.send({"jsonrpc": "2.0", "method": "notifications/other"})
        client.refused("sequences is missing", "score")
        client.refused("windows is not a field", "score", sequences=["A"], windows=6)
        client.refused("strand is 'x'", "score", sequences=["A"], strand="x")
        client.refused("top_k 5:", "generate", length=6, sampler="chain", top_k=5)
        client.refused("more than an answer holds", "score", sequences=[GENE])
        client.refused("more than an answer holds", "score", sequences=[GENE[:150]] * 2)
        client.refused("--root", "score", fasta_file="x.fa")
        client.refused("regions is not a field", "score", sequences=["ACGT"], regions=["ACGT"])
        client.refused("variants[0] is empty", "variants", variants=[" "], sequence=GENE)
        client.refused("set it with window", "score", sequences=["ACGT"], window=7)
        client.refused("sequences[0] has '>'", "score", sequences=["AC>GT"])
        client.refused("sequence", "variants", variants=["c:1 A>C"])
        client.refused("expected a place", "variants", variants=["1:A:C"], sequence=GENE)
        client.refused("text", "score", sequences=[1])
        client.refused("list", "score", sequences="ACGT")


@case
def files_lie_below_the_root():
    folder, outside = fresh(), fresh()
    for place, name in ((folder, "in.fa"), (outside, "out.fa")):
        with open(os.path.join(place, name), "w") as file:
            file.write(">a\n%s\n>b\nACGT\n" % GENE)
    os.symlink(os.path.join(outside, "out.fa"), os.path.join(folder, "link.fa"))
    os.symlink(outside, os.path.join(folder, "folder"))
    with Client("--root", folder) as client:
        answer = client.tool("score", fasta_file="in.fa")
        content = answer["structuredContent"]
        first, second = content["results"]
        expect_equal(len(second["logp"]), 4, "a short one")
        expect_equal(first["logp"], {"shape": [len(GENE)]}, "a long one")
        expect_equal(os.path.dirname(content["file"]), os.path.realpath(folder), "folder")
        expect(content["file"] in answer["content"][0]["text"], str(answer["content"]))
        with open(content["file"]) as file:
            whole = json.load(file)
        expect_equal([len(one["logp"]) for one in whole], [len(GENE), 4], "values in the file")
        expect_equal([one["sum_logp"] for one in whole], [first["sum_logp"], second["sum_logp"]], "sums in the file")
        again = client.tool("score", fasta_file=os.path.join(folder, "in.fa"))["structuredContent"]
        expect(again["file"] != content["file"], "a file was replaced")
        many = client.tool("score", sequences=["ACGTAC"] * 1_200)["structuredContent"]
        expect_equal([len(many["results"]), sum("shape" in one["logp"] for one in many["results"])], [1_000, 967], "an answer is bounded")
        with open(many["file"]) as file:
            expect_equal(len(json.load(file)), 1_200, "results in the file")
        files = os.listdir(folder)
        few = client.tool("score", sequences=["ACGTAC"] * 30)["structuredContent"]
        expect("file" not in few and os.listdir(folder) == files, "a file for a short answer")
        for path in ("link.fa", "folder/out.fa", os.path.join(outside, "out.fa"), "../" + os.path.basename(outside) + "/out.fa", "", "none.fa", "in.fa\0x"):
            client.refused("there is no file", "score", fasta_file=path)
    expect_failure(carbon("mcp", "--root", os.path.join(folder, "in.fa")), "is not a folder")


@case
def a_call_can_be_cancelled_and_tells_its_progress():
    with Client() as client:
        slow = client.begin("tools/call", {"name": "generate", "arguments": {"length": 12_000, "num": 500}})
        expect_equal(client.ask("ping")["result"], {}, "ping beside it")
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}})
        expect_equal(len(client.results("score", sequences=["ACGT"] * 3)), 3, "the next call")
        number = client.begin("tools/call", {"name": "generate", "arguments": {"length": 300, "num": 30},
                                             "_meta": {"progressToken": "t"}})
        told = []
        while "id" not in (message := client.line()):
            expect_equal(message["method"], "notifications/progress", "message")
            expect_equal(message["params"]["progressToken"], "t", "token")
            told.append(message["params"]["progress"])
        expect_equal(message["id"], number, "the answer")
        expect(told and told == sorted(told), str(told))


@case
def many_calls_at_once_and_one_after_the_other():
    with Client() as client:
        numbers = [client.begin("tools/call", {"name": "score", "arguments": {"sequences": ["ACGT" * (1 + i % 7)]}}) for i in range(40)]
        answers = {}
        for _ in numbers:
            message = client.line()
            answers[message["id"]] = message["result"]["structuredContent"]["results"][0]["n_scored"]
        expect_equal([answers[number] for number in numbers], [4 * (1 + i % 7) for i in range(40)], "answers")
        for i in range(200):
            client.results("score", sequences=["ACGTAC"])
        big = "A" * 10_000_000
        client.refused("more than an answer holds", "score", sequences=[big[:100_000]])
        client.refused("expected a place", "variants", variants=[big], sequence="ACGT")


@case
def the_official_client_understands_it():
    try:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
    except ImportError:
        raise Skip("the Python package mcp is not installed")
    import asyncio

    async def talk():
        async with stdio_client(StdioServerParameters(command=CARBON, args=["mcp", "-q"], env=ENV)) as streams:
            async with ClientSession(*streams) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                calls = {"score": {"sequences": ["ACGTAC"]}, "scan": {"sequences": ["ACGTAC"]}, "embed": {"sequences": ["ACGTAC"]},
                         "generate": {"length": 12}, "models": {}, "variants": {"variants": ["6 C>T"], "sequence": "ATGGCCAAGG"}}
                for tool in tools:
                    answer = await session.call_tool(tool.name, calls[tool.name])
                    failed = getattr(answer, "is_error", None) or getattr(answer, "isError", None)  # by the version of the package
                    expect(failed if tool.name == "embed" else not failed, (tool.name, answer))
                expect_equal(sorted(tool.name for tool in tools), sorted(calls), "tools")
    asyncio.run(talk())


main()
