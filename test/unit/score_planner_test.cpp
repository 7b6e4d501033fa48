// Scores of sequences in memory are those of `carbon score`.
#include "src/score/planner.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "src/base/numbers.hpp"
#include "src/score/assembler.hpp"
#include "src/score/run.hpp"
#include "src/score/sequence_scores.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon_test::read_bytes;
using carbon_test::TemporaryDirectory;

namespace {

// Upper and lower case, N, lengths that 6 does not divide, shorter than a 6-mer, and none.
std::vector<std::string> some_sequences() {
  std::mt19937 random(3);
  std::vector<std::string> sequences;
  for (const size_t length : {500, 61, 300, 5, 0, 7}) {
    std::string& bases = sequences.emplace_back();
    while (bases.size() < length) bases += random() % 25 == 0 ? 'N' : "ACGTacgt"[random() % 8];
  }
  sequences.emplace_back("NNNNNNNNNN");
  return sequences;
}

ScoreOptions options_for(StrandChoice strand, ScoreLevel level, size_t max_positions) {
  ScoreOptions options;
  options.strand = strand;
  options.level = level;
  options.window = 120;
  options.stride = 60;
  complete_score_options(options, max_positions, kKmerLength);
  return options;
}

SequenceScores in_memory(Engine& engine, const ScoreOptions& options, const std::string& bases) {
  const ScorePlanner planner(engine.config().layout, options);
  std::vector<ScoredWindow> windows;
  planner.plan({"s", 0, static_cast<int64_t>(bases.size())}, bases,
               [&](ScoredWindow window) { windows.push_back(std::move(window)); });
  std::vector<RequestPtr> requests;
  for (const ScoredWindow& window : windows)
    requests.insert(requests.end(), window.requests.begin(), window.requests.end());
  run_requests(engine, requests);
  ScoreCollector collector(options.level, kKmerLength);
  ScoreAssembler assembler(options, kKmerLength, collector);
  for (const ScoredWindow& window : windows) assembler.consume(window);
  return collector.take();
}

// The lines of a file without its heading.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in(read_bytes(path));
  for (std::string line; std::getline(in, line);)
    if (line[0] != '#') lines.push_back(line);
  return lines;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("scores in memory are the numbers that carbon score writes") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300, "bf16");
  const size_t max_positions = engine.get().config().max_positions;
  const TemporaryDirectory folder;
  const std::vector<std::string> sequences = some_sequences();
  std::string fasta;
  for (size_t i = 0; i < sequences.size(); ++i)
    fasta += ">s" + std::to_string(i) + "\n" + sequences[i] + "\n";
  const std::string input = folder.put("in.fa", fasta);

  for (const ScoreLevel level : {ScoreLevel::base, ScoreLevel::token}) {
    for (const StrandChoice strand : {StrandChoice::forward, StrandChoice::reverse, StrandChoice::both}) {
      if (level == ScoreLevel::token && strand == StrandChoice::both) continue;  // the command refuses it
      CAPTURE(word_of(kStrandWords, strand));
      ScoreOptions options = options_for(strand, level, max_positions);
      options.inputs.files = {input};
      options.output = folder.file("scores");
      const auto written = [&](ScoreOutput type) {
        options.type = type;
        run_score(engine.get(), options);
        return lines_of(options.output);
      };
      std::vector<std::string> summary, values;
      for (size_t i = 0; i < sequences.size(); ++i) {
        const SequenceScores scores = in_memory(engine.get(), options, sequences[i]);
        const size_t width = level == ScoreLevel::token ? kKmerLength : 1;
        REQUIRE(scores.values.size() == sequences[i].size() / width);
        const std::string name = "s" + std::to_string(i);
        const size_t offset =
            level == ScoreLevel::token && strand == StrandChoice::reverse ? sequences[i].size() % width : 0;
        for (size_t v = 0; v < scores.values.size(); ++v) {
          const size_t begin = offset + v * width;
          CHECK(std::isnan(scores.values[v]) == !is_acgt(sequences[i].substr(begin, width)));
          if (std::isnan(scores.values[v])) continue;
          std::string line =
              name + "\t" + std::to_string(begin) + "\t" + std::to_string(begin + width) + "\t";
          append_base_value(scores.values[v], line);
          values.push_back(line);
        }
        std::string line = name + "\t0\t" + std::to_string(sequences[i].size()) + "\t" +
                           word_of(kStrandWords, strand) + "\t" + std::to_string(scores.scored) + "\t";
        append_general(scores.sum, 10, line);
        summary.push_back(line + "\t");
      }
      const std::vector<std::string> bedgraph = written(ScoreOutput::bedgraph);
      CHECK(bedgraph.size() > 100);
      CHECK(bedgraph == values);
      const std::vector<std::string> lines = written(ScoreOutput::summary);
      REQUIRE(lines.size() == summary.size());
      for (size_t i = 0; i < lines.size(); ++i) CHECK(lines[i].starts_with(summary[i]));
      if (level == ScoreLevel::token) continue;
      const std::vector<std::string> table = written(ScoreOutput::tsv);
      REQUIRE(table.size() == values.size());
      for (size_t i = 0; i < table.size(); ++i) {
        std::istringstream fields(table[i]);
        std::string name, position, base, logp;
        fields >> name >> position >> base >> logp;
        const std::string begin = std::to_string(std::stoi(position) - 1);
        CHECK(values[i] == name + "\t" + begin + "\t" + position + "\t" + logp);
      }
    }
  }
}

TEST_CASE("two strands in memory are the exact mean of the strands, and the sum is taken in forward order") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300);
  const size_t max_positions = engine.get().config().max_positions;
  for (const std::string& bases : some_sequences()) {
    const auto scores = [&](StrandChoice strand) {
      return in_memory(engine.get(), options_for(strand, ScoreLevel::base, max_positions), bases);
    };
    const SequenceScores forward = scores(StrandChoice::forward), reverse = scores(StrandChoice::reverse),
                         both = scores(StrandChoice::both);
    double sum = 0;
    size_t scored = 0;
    REQUIRE(both.values.size() == bases.size());
    for (size_t i = 0; i < bases.size(); ++i) {
      REQUIRE(std::isnan(both.values[i]) == std::isnan(forward.values[i]));
      if (std::isnan(both.values[i])) continue;
      CHECK(both.values[i] == (forward.values[i] + reverse.values[i]) / 2);
      sum += both.values[i];
      ++scored;
    }
    CHECK(both.sum == sum);
    CHECK(both.scored == scored);
  }
}

TEST_CASE("the scores of plugins are those of the forward strand") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300);
  for (const ScoreLevel level : {ScoreLevel::base, ScoreLevel::token}) {
    ScoreOptions options;
    options.level = level;
    complete_score_options(options, engine.get().config().max_positions, kKmerLength);
    for (const std::string& bases : some_sequences()) {
      const std::string upper = to_upper(bases);
      const std::string_view view = upper;
      SequenceScores wanted;
      ScoreOptions scoring;
      scoring.level = level;
      score_sequences(engine.get(), scoring, {&view, 1},
                      [&](size_t, const SequenceScores& scores) { wanted = scores; });
      const SequenceScores got = in_memory(engine.get(), options, bases);
      CHECK(same_bits(got.values, wanted.values));
      CHECK(got.sum == wanted.sum);
      CHECK(got.scored == wanted.scored);
    }
  }
}

TEST_CASE("window and stride have defaults and limits") {
  ScoreOptions options;
  complete_score_options(options, 100, kKmerLength);
  CHECK(options.window == 588);
  CHECK(options.stride == 294);
  const auto refused = [](size_t window, size_t stride, const char* message) {
    ScoreOptions wrong;
    wrong.window = window;
    wrong.stride = stride;
    CHECK_THROWS_WITH_AS(complete_score_options(wrong, 100, kKmerLength), doctest::Contains(message), Error);
  };
  refused(600, 0, "the largest that fits is 594 bp");
  refused(100, 0, "expected a positive multiple of 6");
  refused(120, 20, "a stride of 20 bp cannot be used");
  refused(120, 126, "leaves bases without a score");
}
