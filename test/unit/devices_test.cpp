// A model on two devices, here two CPU backends: the commands' files are those of one device.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "src/embed/run.hpp"
#include "src/engine/engine.hpp"
#include "src/generate/run.hpp"
#include "src/score/run.hpp"
#include "test/unit/generated_checkpoint.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;
using carbon_test::read_bytes;
using carbon_test::TemporaryDirectory;

namespace {

// Random sequences of 10 to 700 bp.
std::string fasta(int count) {
  std::mt19937 random(11);
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += ">s" + std::to_string(i) + "\n";
    for (size_t n = 10 + random() % 690; n > 0; --n) text += "ACGT"[random() % 4];
    text += "\n";
  }
  return text;
}

class Model {
 public:
  Model() : files_(tiny()), checkpoint_(std::make_shared<const Checkpoint>(files_.dir())) {}

  LoadedModels on(size_t devices) const {
    std::vector<std::unique_ptr<ops::Backend>> backends;
    for (size_t i = 0; i < devices; ++i) backends.push_back(backend(DType::bf16));
    return {options(), checkpoint_, std::move(backends)};
  }
  static std::unique_ptr<ops::Backend> backend(DType dtype) {
    ops::CpuOptions cpu;
    cpu.dtype = dtype;
    return ops::make_cpu_backend(cpu);
  }
  static ModelOptions options() {
    ModelOptions options;
    options.threads = 2;
    options.batch_tokens = 150;
    return options;
  }
  const std::shared_ptr<const Checkpoint>& checkpoint() const { return checkpoint_; }

 private:
  GeneratedCheckpoint files_;
  std::shared_ptr<const Checkpoint> checkpoint_;
};

}  // namespace

TEST_CASE("two and three devices write what one writes") {
  const Model model;
  const TemporaryDirectory folder;
  const std::string input = folder.put("in.fa", fasta(60));

  const auto score = [&](size_t devices) {
    ScoreOptions options;
    options.inputs.files = {input};
    options.type = ScoreOutput::tsv;
    options.window = 300;
    options.stride = 150;
    options.output = folder.file("score");
    options.record.no_version = true;
    LoadedModels models = model.on(devices);
    Engine engine(models.all());
    run_score(engine, options);
    return read_bytes(options.output);
  };
  const auto embed = [&](size_t devices) {
    EmbedOptions options;
    options.inputs.files = {input};
    options.pooling.pool = Pool::mean;
    options.output = folder.file("embed.npy");
    options.type = EmbedOutput::npy;
    LoadedModels models = model.on(devices);
    Engine engine(models.all());
    run_embed(engine, options);
    return read_bytes(options.output);
  };
  const auto generate = [&](size_t devices, size_t samples, bool drafted) {
    GenerateOptions options;
    options.input = input;
    options.length = 40;
    options.samples = samples;
    options.draft_tokens = 2;
    options.output = folder.file("generate");
    LoadedModels models = model.on(devices), drafts = model.on(devices);
    run_generate(models, drafted ? &drafts : nullptr, options);
    return read_bytes(options.output);
  };
  const std::string scores = score(1), states = embed(1);
  CHECK(scores.size() > 100000);
  CHECK(states.size() > 60 * 64 * 4);
  for (const size_t devices : {2, 3}) {
    CAPTURE(devices);
    CHECK(score(devices) == scores);
    CHECK(embed(devices) == states);
    for (const size_t samples : {1, 5}) {
      CAPTURE(samples);
      const std::string one = generate(1, samples, false);
      CHECK(one.size() > 60 * samples * 40);
      CHECK(generate(devices, samples, false) == one);
      CHECK(generate(devices, samples, true) == one);
    }
  }
}

TEST_CASE("an error in one of several devices leaves no output, and keeps what was computed") {
  const Model model;
  const TemporaryDirectory folder;
  GenerateOptions options;
  // The last prompt does not fit; by then both devices are at work.
  options.input = folder.put("in.fa", fasta(200) + ">long\n" + std::string(6 * 4096, 'A') + "\n");
  options.length = 40;
  options.output = folder.file("out.fa");
  LoadedModels models = model.on(2);
  CHECK_THROWS_AS(run_generate(models, nullptr, options), Error);
  CHECK_FALSE(std::filesystem::exists(options.output));
  CHECK(std::filesystem::exists(options.output + ".partial"));
}

TEST_CASE("devices of different kinds are refused") {
  const Model model;
  std::vector<std::unique_ptr<ops::Backend>> backends;
  for (const char* isa : {"", "generic"}) {
    ops::CpuOptions cpu;
    cpu.isa = isa;
    backends.push_back(ops::make_cpu_backend(cpu));
  }
  if (backends[0]->device_kind() == backends[1]->device_kind()) {
    MESSAGE("SKIPPED: this CPU has one kind of device");
    return;
  }
  CHECK_THROWS_WITH_AS(LoadedModels(Model::options(), model.checkpoint(), std::move(backends)),
                       doctest::Contains("of different kinds"), Error);
}

TEST_CASE("the numbers of --device") {
  CHECK(gpu_numbers("auto").empty());
  CHECK(gpu_numbers("cpu").empty());
  CHECK(gpu_numbers("cuda") == std::vector<int>{0});
  CHECK(gpu_numbers("cuda:3") == std::vector<int>{3});
  CHECK(gpu_numbers("cuda:2,0,11") == std::vector<int>{2, 0, 11});
  for (const char* wrong : {"", "gpu", "CUDA", "cpu:0", "cpu,cpu", "cuda:", "cuda:,", "cuda:0,", "cuda:,0",
                            "cuda:0-1", "cuda: 0", "cuda:-1", "cuda:99999999999", "cuda:0;1", "cuda,0"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(gpu_numbers(wrong), doctest::Contains("expected auto, cpu"), Error);
  }
  CHECK_THROWS_WITH_AS(gpu_numbers("cuda:1,0,1"), doctest::Contains("GPU 1 twice"), Error);
}
