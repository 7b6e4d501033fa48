// Embeddings of sequences in memory are those of `carbon embed`.

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "src/embed/run.hpp"
#include "src/formats/matrix_output.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon_test::read_bytes;
using carbon_test::TemporaryDirectory;

TEST_CASE("rows in memory are the rows that carbon embed writes") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 200, "bf16");
  const TemporaryDirectory folder;
  std::mt19937 random(9);
  std::vector<std::string> sequences;
  std::string fasta;
  for (const size_t length : {301, 6, 90, 44}) {
    std::string& bases = sequences.emplace_back();
    while (bases.size() < length) bases += "ACGTacgtN"[random() % 9];
    fasta += ">s" + std::to_string(sequences.size()) + "\n" + bases + "\n";
  }
  EmbedOptions options;
  options.inputs.files = {folder.put("in.fa", fasta)};
  options.output = folder.file("rows.npy");
  options.layer = 2;
  for (const Pool pool : {Pool::separator, Pool::last, Pool::mean, Pool::none}) {
    for (const StrandChoice strand : {StrandChoice::forward, StrandChoice::reverse, StrandChoice::both}) {
      if (pool == Pool::none && strand == StrandChoice::both) continue;  // the command refuses it
      CAPTURE(static_cast<int>(pool));
      CAPTURE(word_of(kStrandWords, strand));
      options.pooling.pool = pool;
      options.strand = strand;
      options.pooling.pad_tail = strand == StrandChoice::reverse;
      run_embed(engine.get(), options);

      EmbedOptions alone;  // without files
      alone.layer = options.layer;
      alone.pooling.pool = pool;
      alone.strand = strand;
      alone.pooling.pad_tail = options.pooling.pad_tail;
      const EmbedPlanner planner(engine.get().config(), alone);
      std::vector<EmbedItem> items;
      std::vector<RequestPtr> requests;
      for (const std::string& bases : sequences) {
        items.push_back(planner.plan("s", bases));
        requests.insert(requests.end(), items.back().requests.begin(), items.back().requests.end());
      }
      run_requests(engine.get(), requests);
      std::vector<float> rows;
      for (EmbedItem& item : items) {
        const std::vector<float> more = take_rows(item, DType::f32);
        rows.insert(rows.end(), more.begin(), more.end());
      }
      const size_t hidden = engine.get().config().hidden;
      const std::string header = array_header({ArrayFormat::npy, DType::f32, hidden}, rows.size() / hidden);
      const std::string written = read_bytes(options.output);
      REQUIRE(written.size() == header.size() + rows.size() * sizeof(float));
      CHECK(written.starts_with(header));
      CHECK(std::memcmp(written.data() + header.size(), rows.data(), rows.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("the planner refuses what the model cannot embed") {
  ModelConfig config;
  config.layers = 3;
  config.max_positions = 12;
  EmbedOptions options;
  options.layer = 4;
  CHECK_THROWS_WITH_AS(EmbedPlanner(config, options), doctest::Contains("there is no layer 4"), Error);
  options.layer = 3;
  options.pooling.pool = Pool::mean;
  const EmbedPlanner planner(config, options);
  CHECK(planner.plan("s", std::string(60, 'A')).requests.size() == 1);
  CHECK_THROWS_WITH_AS(planner.plan("long", std::string(66, 'A')),
                       doctest::Contains("sequence long of 66 bp takes 13 tokens"), Error);
  CHECK_THROWS_WITH_AS(planner.plan("short", "ACGTA"), doctest::Contains("short of 5 bp has no 6-mer"),
                       Error);
}
