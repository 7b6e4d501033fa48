// What carbon.h says to calls that are wrong, late or in the wrong process: a code and a sentence.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "src/api/call.hpp"
#include "src/api/handles.hpp"
#include "src/vep/structural.hpp"
#include "test/unit/api_calls.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/serve_running.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using namespace carbon::api;
using namespace carbon::test;
using carbon_test::contains;
using carbon_test::TemporaryDirectory;
using nlohmann::json;

namespace {

// The code of what has a sentence.
int told(int code) {
  const std::string text = carbon_error_text();
  CHECK(!text.empty());
  CHECK(!contains(text, "\n"));
  return code;
}

int opened(const char* settings) {
  carbon_model* model = nullptr;
  const int code = carbon_model_open(settings, &model);
  CHECK((code == CARBON_OK) == (model != nullptr));
  if (model) must(carbon_model_close(model));
  return code;
}

int begun(const ApiModel& model, const char* verb, const char* options) {
  carbon_call* call = nullptr;
  const int code = carbon_call_new(model.model, verb, options, &call);
  CHECK((code == CARBON_OK) == (call != nullptr));
  if (call) must(carbon_call_free(call));
  return code;
}

int add(carbon_call* call, const std::string& text) {
  return carbon_call_add(call, text.data(), static_cast<int64_t>(text.size()));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("carbon.h: a VCF gives inputs of variants, and says what is wrong with it") {
  const TemporaryDirectory folder;
  const std::string header =
      "##fileformat=VCFv4.2\n##INFO=<ID=END,Number=1,Type=Integer,Description=\"e\">\n"
      "##INFO=<ID=PRECISE,Number=0,Type=Flag,Description=\"p\">\n"
      "##INFO=<ID=SVTYPE,Number=1,Type=String,Description=\"t\">\n"
      "##INFO=<ID=SVLEN,Number=A,Type=String,Description=\"l\">\n"
      "##INFO=<ID=SVINSSEQ,Number=A,Type=String,Description=\"s\">\n"
      "##INFO=<ID=AF,Number=A,Type=Float,Description=\"a\">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
  const std::string path =
      folder.put("in.vcf", header +
                               "c1\t5\t.\tA\tC,G\t.\t.\tAF=0.5,1\nc1\t6\t.\tA\t.\t.\t.\t.\n"
                               "c2\t20000000\t.\tT\t<DEL>\t.\t.\tEND=20000010;PRECISE;SVTYPE=DEL;AF=.\n"
                               "c2\t20000020\t.\tT\t<DEL>,<dup>\t.\t.\tSVLEN=-10,12;SVINSSEQ=.,ACG\n"
                               "c3\t1\t.\tT\t<DEL>\t.\t.\tSVLEN=-900000000000000\n"
                               "c2\t20000030\t.\tT\t<DEL>,A,<CNV>\t.\t.\tEND=20000090\n");
  carbon_vcf* vcf = nullptr;
  const char* variant = nullptr;
  must(carbon_vcf_open(path.c_str(), &vcf));
  std::vector<nlohmann::json> found;
  while (carbon_vcf_next(vcf, &variant) == CARBON_OK) found.push_back(nlohmann::json::parse(variant));
  CHECK(carbon_vcf_next(vcf, &variant) == CARBON_E_END);
  CHECK(variant == nullptr);
  REQUIRE(found.size() == 9);
  CHECK(found[0] == nlohmann::json{{"chrom", "c1"}, {"pos", 5}, {"ref", "A"}, {"alt", "C"}});
  CHECK(found[1]["alt"] == "G");
  CHECK(found[2]["svlen"] == 10);
  CHECK(found[3]["svlen"] == 10);
  CHECK(found[4]["svlen"] == 12);
  // What the file has is what the verb reads.
  VcfReader reader(path);
  size_t i = 0;
  for (VcfRecord record; reader.next(record);) {
    std::vector<std::string> alts;
    for (const std::string& alt : record.alts()) alts.push_back(to_upper(alt));
    const auto wanted = structural_alleles(record.pos(), alts,
                                           [&](const std::string& tag) { return reader.info(record, tag); });
    for (size_t alt = 0; alt < alts.size(); ++alt) {
      CAPTURE(i);
      const PlacedVariant read = read_variant("row", found.at(i++).dump(), false, [](const std::string&) {});
      CHECK(read.contig == record.contig());
      CHECK(read.variant.pos == record.pos());
      CHECK(read.variant.ref == record.ref());
      CHECK(read.variant.alts == std::vector{record.alts()[alt]});
      const std::optional<StructuralAllele>& allele = read.variant.structural.at(0);
      REQUIRE(allele.has_value() == wanted[alt].has_value());
      if (!allele) continue;
      CHECK(allele->kind == wanted[alt]->kind);
      CHECK(allele->length == wanted[alt]->length);
      CHECK(allele->inserted == wanted[alt]->inserted);
    }
  }
  CHECK(i == found.size());
  // A whole number is exact as a double, too.
  const PlacedVariant real = read_variant(
      "row", R"({"chrom":"c1","pos":20000000,"ref":"T","alt":"<DEL>","info":{"END":20000010.0}})", false,
      [](const std::string&) {});
  REQUIRE(real.variant.structural[0]);
  CHECK(real.variant.structural[0]->length == 10);
  // A list of one, as pysam gives it, is what it holds; what cannot be read is never taken for absent.
  const auto with = [](const std::string& alt, const std::string& tag, const nlohmann::json& value) {
    const nlohmann::json row = {
        {"chrom", "c1"}, {"pos", 100}, {"ref", "T"}, {"alt", alt}, {"info", {{"END", 110}, {tag, value}}}};
    return read_variant("row", row.dump(), false, [](const std::string&) {}).variant.structural.at(0);
  };
  const struct {
    const char *alt, *tag;
    nlohmann::json value;
  } claims[] = {{"<DEL>", "ALGORITHMS", "depth"},
                {"<DEL>", "EVIDENCE", "RD"},
                {"<DEL>", "CT", "5to5"},
                {"<DEL>", "SVTYPE", "BND"},
                {"<INV>", "STRANDS", "++:4"},
                {"<DUP>", "CN", "5"},
                {"<DUP>", "CN", 5},
                {"<DEL>", "IMPRECISE", "yes"},
                {"<DEL>", "SVINSLEN", 4}};
  for (const auto& claim : claims) {
    const auto& [alt, tag, value] = claim;
    CAPTURE(claim.tag);
    CHECK(!with(alt, tag, value));
    CHECK(!with(alt, tag, nlohmann::json::array({value})));
    for (const auto& nested : {nlohmann::json::object(), nlohmann::json::array({nlohmann::json::array()}),
                               nlohmann::json::array({true})})
      CHECK_THROWS_WITH_AS(with(alt, tag, nested), doctest::Contains((std::string("info.") + tag).c_str()),
                           Error);
  }
  CHECK(with("<DEL>", "SVINSSEQ", nlohmann::json::array({"ACGT"}))->inserted == "ACGT");
  CHECK(with("<DEL>", "SVTYPE", nullptr));
  CHECK(!with("<DEL>", "EVIDENCE", {"RD", "BAF"}));
  CHECK(with("<DEL>", "EVIDENCE", {"RD", "SR"}));
  must(carbon_vcf_close(vcf));
  CHECK(told(carbon_vcf_close(vcf)) == CARBON_E_HANDLE);
  CHECK(told(carbon_vcf_next(vcf, &variant)) == CARBON_E_HANDLE);
  CHECK(told(carbon_vcf_open(nullptr, &vcf)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_vcf_open(path.c_str(), nullptr)) == CARBON_E_ARGUMENT);
  for (const std::string& text :
       {std::string(), std::string("c1\t5\t.\tA\tC\t.\t.\t.\n"), std::string(">c1\nACGT\n")}) {
    const std::string wrong = folder.put("wrong.vcf", text);
    CHECK(told(carbon_vcf_open(wrong.c_str(), &vcf)) == CARBON_E_INPUT);
    CHECK(std::string(carbon_error_text()).starts_with(wrong + ": "));
    CHECK(vcf == nullptr);
  }
}

TEST_CASE("carbon.h: null pointers and numbers that are none") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  carbon_call* call = nullptr;
  const void* data = nullptr;
  char* text = nullptr;
  CHECK(told(carbon_model_open("{}", nullptr)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_model_describe(nullptr, 0, &text)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_model_describe(model.model, 0, nullptr)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_model_close(nullptr)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_new(nullptr, "score", nullptr, &call)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_new(model.model, nullptr, nullptr, &call)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_new(model.model, "score", nullptr, nullptr)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_new(model.model, "svore", nullptr, &call)) == CARBON_E_ARGUMENT);
  CHECK(call == nullptr);
  CHECK(told(carbon_log_next(nullptr)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_models(nullptr)) == CARBON_E_ARGUMENT);
  int64_t number = 0;
  CHECK(told(carbon_call_progress(nullptr, &number, &number)) == CARBON_E_ARGUMENT);
  carbon_free(nullptr);

  must(carbon_call_new(model.model, "score", nullptr, &call));
  CHECK(told(carbon_call_add(call, "ACGT", -1)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_add(call, nullptr, 4)) == CARBON_E_ARGUMENT);
  CHECK(told(carbon_call_add(call, "AC\0GT", 5)) == CARBON_E_INPUT);
  CHECK(told(carbon_call_add(call, "AC>GT", 5)) == CARBON_E_INPUT);
  CHECK(told(carbon_call_add(call, "\xff\xfe\x80", 3)) == CARBON_E_INPUT);
  CHECK(told(carbon_call_next(call, -1)) == CARBON_E_ARGUMENT);
  CHECK(carbon_call_next(call, 0) == CARBON_E_AGAIN);
  CHECK(std::string(carbon_error_text()) == "");
  CHECK(told(carbon_call_array(call, "logp", &data, nullptr, nullptr, nullptr, nullptr)) ==
        CARBON_E_ARGUMENT);
  // What was wrong has changed nothing.
  must(carbon_call_add(call, "ACGT", 4));
  must(carbon_call_add(call, nullptr, 0));
  must(carbon_call_end(call));
  CHECK(told(carbon_call_add(call, "ACGT", 4)) == CARBON_E_ARGUMENT);
  must(carbon_call_next(call, 60'000));
  CHECK(take_array(call, "n_scored").i64() == 4);
  CHECK(told(carbon_call_array(call, "nothing", &data, nullptr, nullptr, nullptr, nullptr)) ==
        CARBON_E_ARGUMENT);
  CHECK(contains(carbon_error_text(), "sum_logp"));
  CHECK(told(carbon_call_array(call, "logp", nullptr, nullptr, nullptr, nullptr, nullptr)) ==
        CARBON_E_ARGUMENT);
  must(carbon_call_next(call, 60'000));
  CHECK(take_array(call, "logp").size() == 0);
  CHECK(carbon_call_next(call, 0) == CARBON_E_END);
  CHECK(carbon_call_next(call, 0) == CARBON_E_END);
  must(carbon_call_free(call));
  CHECK(told(carbon_call_free(call)) == CARBON_E_HANDLE);
  CHECK(told(carbon_call_next(call, 0)) == CARBON_E_HANDLE);
  CHECK(told(carbon_call_next(reinterpret_cast<carbon_call*>(model.model), 0)) == CARBON_E_HANDLE);
  CHECK(told(carbon_call_cancel(reinterpret_cast<carbon_call*>(~uintptr_t{0}))) == CARBON_E_HANDLE);
}

TEST_CASE("carbon.h: settings and options that cannot be used") {
  const GeneratedCheckpoint files(tiny());
  const std::string dir = json(files.dir()).dump();
  for (const std::string& settings : {std::string("{"),
                                      std::string("[]"),
                                      "{\"model\":" + dir + ",\"treads\":2}",
                                      std::string("{\"model\":3}"),
                                      "{\"model\":" + dir + ",\"threads\":0}",
                                      "{\"model\":" + dir + ",\"threads\":1e999}",
                                      "{\"model\":" + dir + ",\"threads\":NaN}",
                                      "{\"model\":" + dir + ",\"dtype\":\"f64\"}",
                                      "{\"model\":" + dir + ",\"rope_scaling\":\"yarn\"}",
                                      "{\"model\":" + dir + ",\"prefix\":\"x\",\"species\":\"fungi\"}",
                                      "{\"model\":" + dir + ",\"tag_grammar\":\"card\"}",
                                      std::string("{\"model\":\"\"}"),
                                      "{\"model\":" + dir + ",\"lora\":\"\"}",
                                      "{\"model\":" + dir + ",\"prefix\":\"\"}",
                                      "{\"model\":" + dir + ",\"device\":\"tpu\"}",
                                      std::string(1000, '['),
                                      "{\"model\":" + dir + ",\"prefix\":\"a\\u0000b\"}",
                                      std::string("{\"model\":\"/no\\u0000\"}"),
                                      std::string("{\"model\":\"\xff\"}"),
                                      std::string("{\"\xff\":1}"),
                                      std::string("{\"\\u0000\":1}"),
                                      "{\"model\":" + dir + ",\"threads\":1" + std::string(400, '0') + "}"}) {
    CAPTURE(settings);
    CHECK(told(opened(settings.c_str())) == CARBON_E_SETTING);
  }
  CHECK(told(opened("{\"model\":\"/no/such/model\"}")) == CARBON_E_MODEL);
  // A type that only GPUs have, on a CPU.
  CHECK(told(opened(("{\"model\":" + dir + ",\"dtype\":\"f16\",\"device\":\"cpu\"}").c_str())) ==
        CARBON_E_MODEL);
  CHECK(told(opened(("{\"model\":" + dir + ",\"lora\":\"/no/such\"}").c_str())) == CARBON_E_MODEL);

  const ApiModel model(files.dir());
  CHECK(begun(model, "score", "{\"strand\":\"both\"}") == CARBON_OK);
  for (const char* options : {"", "nonsense", "{\"strand\":\"x\"}", "{\"window\":7}", "{\"window\":NaN}",
                              "{\"sequences\":[]}", "{\"level\":\"token\",\"strand\":\"both\"}",
                              "{\"level\":\"token\",\"probabilities\":true}", "{\"window\":-6}",
                              "{\"strand\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]"
                              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"}) {
    CAPTURE(options);
    CHECK(told(begun(model, "score", options)) == CARBON_E_SETTING);
  }
  CHECK(told(begun(model, "generate", "{}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "\xff\n", "{}")) == CARBON_E_ARGUMENT);
  CHECK(told(begun(model, "scan", "{\"fasta_ref\":\"/no\\u0000\"}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "generate", "{\"length\":10,\"temperature\":-1}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "embed", "{\"layer\":99}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "embed", "{\"pool\":\"none\",\"strand\":\"both\"}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "variants", "{}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "variants", "{\"fasta_ref\":\"/no/such.fa\"}")) == CARBON_E_INPUT);
  for (const char* verb : {"variants", "scan"}) {
    CHECK(told(begun(model, verb, "{\"fasta_ref\":\"\"}")) == CARBON_E_SETTING);
    CHECK(std::string(carbon_error_text()).starts_with("options.fasta_ref is empty"));
  }
  CHECK(told(begun(model, "variants", "{\"sequence\":\"ACGT\",\"horizon\":5}")) == CARBON_E_SETTING);
  CHECK(told(begun(model, "predict", "{}")) == CARBON_E_MODEL);

  carbon_call* call = model.begin("variants", {{"sequence", "ACGTACGTACGT"}});
  for (const char* input :
       {"", "x", "{}", "{\"pos\":1,\"ref\":\"A\"}", "{\"pos\":1,\"ref\":\"A\",\"alt\":\"\"}",
        "{\"pos\":\"1\",\"ref\":\"A\",\"alt\":\"C\"}", "{\"pos\":1,\"ref\":\"A\",\"alt\":\"C\",\"x\":1}"})
    CHECK(told(add(call, input)) == CARBON_E_INPUT);
  must(carbon_call_free(call));
  // Prompt and new bases do not fit: the prompt is what is wrong.
  call = model.begin("generate", {{"length", 20'000}});
  CHECK(told(add(call, random_bases(20'000, 1))) == CARBON_E_INPUT);
  must(carbon_call_free(call));
}

TEST_CASE("carbon.h: a file that is wrong is never complete") {
  const TemporaryDirectory folder;
  const char *variant = nullptr, *name = nullptr, *bases = nullptr;
  int64_t length = 0;
  carbon_vcf* vcf = nullptr;
  must(carbon_vcf_open(folder
                           .put("in.vcf",
                                "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
                                "c\t1\t.\tA\tC\t.\t.\t.\nc\tx\t.\tA\tC\t.\t.\t.\nc\t2\t.\tA\tC\t.\t.\t.\n")
                           .c_str(),
                       &vcf));
  must(carbon_vcf_next(vcf, &variant));
  CHECK(told(carbon_vcf_next(vcf, &variant)) == CARBON_E_INPUT);
  const std::string said = carbon_error_text();
  for (int i = 0; i < 3; ++i) {
    CHECK(told(carbon_vcf_next(vcf, &variant)) == CARBON_E_INPUT);
    CHECK(carbon_error_text() == said);
  }
  must(carbon_vcf_close(vcf));
  carbon_fasta* fasta = nullptr;
  must(carbon_fasta_open(folder.put("in.fa", ">a\nACGT\n>\nACGT\n>b\nACGT\n").c_str(), &fasta));
  int code = CARBON_OK;
  while (code == CARBON_OK) code = carbon_fasta_next(fasta, &name, &bases, &length);
  CHECK(code == CARBON_E_INPUT);
  for (int i = 0; i < 3; ++i) CHECK(told(carbon_fasta_next(fasta, &name, &bases, &length)) == CARBON_E_INPUT);
  must(carbon_fasta_close(fasta));
}

TEST_CASE("carbon.h: variants of another assembly end a call after a thousand records") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  const TemporaryDirectory folder;
  const std::string contig(5000, 'A'), path = folder.put("ref.fa", ">c\n" + contig + "\n");
  size_t most_added = 0;
  // How many results come before the end, which has this code. No allele is one that is scored.
  const auto results_of = [&](size_t records, size_t alleles, size_t wrong, int wanted) {
    carbon_call* const call = model.begin("variants", {{"fasta_ref", path}});
    size_t added = 0, results = 0;
    int code = CARBON_OK;
    while (code == CARBON_OK || code == CARBON_E_AGAIN) {
      for (; added < records * alleles; ++added) {
        const size_t record = added / alleles;
        const json row = {
            {"chrom", "c"}, {"pos", record % 5000 + 1}, {"ref", record < wrong ? "C" : "A"}, {"alt", "*"}};
        if (add(call, row.dump()) != CARBON_OK) break;
      }
      if (added == records * alleles) must(carbon_call_end(call));
      code = carbon_call_next(call, 60'000);
      results += code == CARBON_OK ? 1 : 0;
    }
    CHECK(code == wanted);
    if (code == CARBON_E_INPUT) {
      CHECK(
          std::string(carbon_error_text()).starts_with("wrong assembly? REF differs from " + path + " in "));
      CHECK(std::string(carbon_error_text())
                .ends_with(" variants checked; give the FASTA that they were made with, or raise "
                           "max_ref_mismatch"));
    }
    must(carbon_call_free(call));
    most_added = std::max(most_added, added);
    return results;
  };
  CHECK(results_of(4000, 1, 52, CARBON_E_INPUT) == 1000);
  CHECK(results_of(4000, 1, 50, CARBON_E_END) == 4000);
  // Alleles that need no computation are held back like others, so that an endless input ends, too.
  CHECK(results_of(500'000, 1, 500'000, CARBON_E_INPUT) == 1000);
  CHECK(most_added < 400'000);
  // The alleles of a record are counted once.
  CHECK(results_of(2, 3, 2, CARBON_E_END) == 6);
  CHECK(results_of(3, 3, 3, CARBON_E_INPUT) == 9);
  CHECK(results_of(1200, 2, 52, CARBON_E_INPUT) == 1999);
}

TEST_CASE("carbon.h: what is closed stays closed") {
  const GeneratedCheckpoint files(tiny());
  carbon_model* model = nullptr;
  must(carbon_model_open(json{{"model", files.dir()}}.dump().c_str(), &model));
  char* text = nullptr;
  must(carbon_model_describe(model, 1, &text));
  const json description = json::parse(text);
  carbon_free(text);
  CHECK(description["bases_per_token"] == 6);
  CHECK(description["sha256"].get<std::string>().size() == 64);
  CHECK(description["verbs"] == json{"score", "variants", "scan", "embed", "generate"});
  carbon_call* call = nullptr;
  must(carbon_call_new(model, "score", nullptr, &call));
  must(add(call, random_bases(20'000, 1)));
  int code = CARBON_OK;
  std::thread waiting([&] { code = carbon_call_next(call, 60'000); });
  must(carbon_model_close(model));
  waiting.join();
  CHECK((code == CARBON_E_HANDLE || code == CARBON_OK));
  CHECK(told(carbon_call_add(call, "A", 1)) == CARBON_E_HANDLE);
  CHECK(told(carbon_call_next(call, 0)) == CARBON_E_HANDLE);
  must(carbon_call_free(call));
  CHECK(told(carbon_model_close(model)) == CARBON_E_HANDLE);
  CHECK(told(carbon_model_describe(model, 0, &text)) == CARBON_E_HANDLE);
  CHECK(told(carbon_call_new(model, "score", nullptr, &call)) == CARBON_E_HANDLE);
}

TEST_CASE("carbon.h: several threads close one model and free one call") {
  const GeneratedCheckpoint files(tiny());
  for (int round = 0; round < 20; ++round) {
    carbon_model* model = nullptr;
    must(carbon_model_open(json{{"model", files.dir()}, {"threads", 1}}.dump().c_str(), &model));
    carbon_call* call = nullptr;
    must(carbon_call_new(model, "score", nullptr, &call));
    must(add(call, random_bases(9'000, 1)));
    std::atomic<int> closed{0}, freed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { closed += carbon_model_close(model) == CARBON_OK; });
      threads.emplace_back([&] { freed += carbon_call_free(call) == CARBON_OK; });
      threads.emplace_back([&] {
        for (int code = CARBON_OK; code <= CARBON_E_END; code = carbon_call_next(call, 1)) continue;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(closed == 1);
    CHECK(freed == 1);
  }
}

TEST_CASE("carbon.h: a call takes no more than it has room for, and ends when it is cancelled") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir(), 1);
  carbon_call* const call = model.begin("score", {{"strand", "both"}});
  const std::string bases = random_bases(24'000, 1);
  size_t added = 0;
  int code = CARBON_OK;
  while ((code = add(call, bases)) == CARBON_OK && added < 10'000) ++added;
  CHECK(code == CARBON_E_AGAIN);
  CHECK(added < 100);
  int ended = CARBON_OK;
  double waited = 0;
  std::thread waiting([&] {
    std::chrono::steady_clock::time_point begin;
    while (ended == CARBON_OK) {
      begin = std::chrono::steady_clock::now();
      ended = carbon_call_next(call, 60'000);
    }
    waited = seconds_since(begin);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  must(carbon_call_cancel(call));
  waiting.join();
  CHECK(seconds_since(begin) < 20);  // 0.2 s on a machine that does nothing else
  CHECK(waited < 60);
  CHECK((ended == CARBON_E_CANCELLED || ended == CARBON_E_AGAIN));
  CHECK(told(add(call, bases)) == CARBON_E_CANCELLED);
  CHECK(told(carbon_call_next(call, 0)) == CARBON_E_CANCELLED);
  must(carbon_call_free(call));
  // The model goes on.
  CHECK(model.ask("score", {}, {"ACGT"}, {"n_scored"}).at(0).at("n_scored").i64() == 4);
}

TEST_CASE("carbon.h: a model holds no pages of a cancelled call, and at most ends the pass at hand") {
  const GeneratedCheckpoint files(tiny());
  LogQueue log;
  const auto model = std::make_shared<OpenModel>(
      Fields({{"model", files.dir()}, {"threads", 1}, {"batch_tokens", 64}}, ""), log);
  Call call(model, NamedVerb("score", *model, Fields(json::object(), "")));
  while (call.add(random_bases(24'000, 1)) == CARBON_OK) {
  }
  while (model->state().pages == 0) std::this_thread::yield();
  call.stop(Problem(CARBON_E_CANCELLED, "cancelled"));
  const uint64_t passes = model->state().counts.window_passes;
  SchedulerState state = model->state();
  while (state.pages + state.running + state.waiting > 0) {
    std::this_thread::yield();
    state = model->state();
  }
  CHECK(state.counts.window_passes <= passes + 1);
}

TEST_CASE("carbon.h: a child of fork is told so at once") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  carbon_call* const call = model.begin("score", {});
  must(add(call, random_bases(20'000, 1)));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    carbon_call* other = nullptr;
    char* text = nullptr;
    const bool right =
        carbon_call_next(call, 60'000) == CARBON_E_FORKED && contains(carbon_error_text(), "spawn") &&
        carbon_call_add(call, "A", 1) == CARBON_E_FORKED &&
        carbon_call_new(model.model, "score", nullptr, &other) == CARBON_E_FORKED &&
        carbon_model_describe(model.model, 0, &text) == CARBON_E_FORKED &&
        carbon_call_cancel(call) == CARBON_E_FORKED && carbon_call_free(call) == CARBON_E_FORKED &&
        carbon_model_close(model.model) == CARBON_E_FORKED && seconds_since(begin) < 20;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  must(carbon_call_next(call, 60'000));
  must(carbon_call_free(call));
}

TEST_CASE("carbon.h: messages are taken one by one") {
  char* text = nullptr;
  while (carbon_log_next(&text) == CARBON_OK) carbon_free(text);
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  CHECK(model.ask("score", {}, {"ACGU"}, {"n_scored"}).at(0).at("n_scored").i64() == 4);
  std::string all;
  while (carbon_log_next(&text) == CARBON_OK) {
    const json message = json::parse(text);
    carbon_free(text);
    CHECK(message.contains("level"));
    all += message["text"].get<std::string>() + "\n";
  }
  CHECK(contains(all, "U"));
  CHECK(text == nullptr);
}
