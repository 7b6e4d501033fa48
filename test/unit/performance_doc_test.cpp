// The tables of docs/performance.md, and the one of the README that repeats a part of them, are what the
// program's own counting gives for the published shapes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cuda/mma_plan.hpp"
#include "src/bench/tests.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/model/synthetic.hpp"
#include "src/scan/planner.hpp"
#include "src/score/planner.hpp"
#include "src/vep/recipes/recipes.hpp"
#include "src/vep/variant_scores.hpp"
#include "test/unit/alleles.hpp"

using namespace carbon;

namespace {

constexpr double kGiga = 1e9;
constexpr double kTypeBytes = 2;  // bf16

// Three digits that count.
std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3, value);
  return text;
}

std::string row(const std::string& shape, const std::vector<std::string>& cells) {
  std::string line = "| " + shape + " |";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line;
}

double cached_bytes(const ModelConfig& c) {
  return kTypeBytes * 2 * static_cast<double>(c.layers * c.kv_heads * c.head_dim);
}

/// One sequence, every row through the head, by base.
double operations_a_base(const ModelConfig& config, size_t bp) {
  const WorkChunk chunk{0, bp / kKmerLength, bp / kKmerLength};
  return forward_work(config, {}, std::span(&chunk, 1)).flops / static_cast<double>(bp);
}

/// The requests of variants A>C (and >G, >T) on a contig of A's.
std::vector<RequestPtr> requests_of(const ModelConfig& config, const RecipeSettings& settings,
                                    const std::vector<int64_t>& positions, size_t alts, int64_t length) {
  const SitePlanner planner(make_recipes(settings, config), config.layout, nullptr);
  std::vector<std::string> letters = {"C", "G", "T"};
  letters.resize(alts);
  std::vector<PlacedVariant> variants;
  for (const int64_t pos : positions) variants.push_back({"c", {pos, "A", letters}});
  ReferenceReader reader("c", std::string(static_cast<size_t>(length), 'A'));
  std::vector<RequestPtr> requests;
  plan_variants(planner, variants, reader, [&](const VariantItem& item) {
    requests.insert(requests.end(), item.requests.begin(), item.requests.end());
  });
  return requests;
}

double site_operations(const ModelConfig& config, const std::string& recipe, size_t alts) {
  RecipeSettings settings;
  settings.recipes = {recipe};
  if (recipe == "next-token") settings.context = 24000;
  return requests_work(config, {}, requests_of(config, settings, {30000}, alts, 60000)).flops;
}

double centered_operations(const ModelConfig& config, size_t alts) {
  return site_operations(config, "centered", alts);
}

/// Tokens and operations of an SNV of recipe anchored on both strands with the default context: one of many
/// that are `distance` bp apart, or alone in the middle of its window (distance 0).
std::pair<double, double> anchored_cost(const ModelConfig& config, int64_t distance, int64_t horizon) {
  RecipeSettings settings;
  settings.recipes = {"anchored"};
  settings.horizons = {horizon};
  constexpr int64_t context = kDefaultAnchoredContext;
  std::vector<int64_t> positions;
  const int64_t step = distance > 0 ? distance : context;
  for (int64_t pos = 2 * context + step / 2; pos < 3 * context; pos += step) positions.push_back(pos);
  const std::vector<RequestPtr> requests = requests_of(config, settings, positions, 1, 5 * context);
  double tokens = 0;
  for (const RequestPtr& request : requests) tokens += static_cast<double>(request->tokens.size());
  const auto count = static_cast<double>(positions.size());
  return {tokens / count, requests_work(config, {}, requests).flops / count};
}

/// Of a scan with the default context, per base, both strands and one frame.
double scan_operations_a_base(const ModelConfig& config) {
  const ScanGrid grid = make_scan_grid(default_scan_context(config.max_positions, kKmerLength),
                                       config.max_positions, kKmerLength);
  const auto window = static_cast<size_t>(grid.window), stride = static_cast<size_t>(grid.stride);
  const WorkChunk chunk{0, window, stride};
  return 2 * forward_work(config, {}, {&chunk, 1}).flops / static_cast<double>(kKmerLength * stride);
}

double next_token_operations(const ModelConfig& config) {
  return site_operations(config, "next-token", 3);
}

/// For a new 6-mer behind 1,080 bp, one sequence at a time.
double bytes_a_kmer(const ModelConfig& config) {
  const WorkChunk chunk{180, 1, 1};
  return forward_work(config, {}, std::span(&chunk, 1)).bytes;
}

/// Of matrices, and of the embeddings of the 6-mers.
double weight_bytes(const ModelConfig& c) {
  return kTypeBytes * (read_parameters(c) + static_cast<double>(ops::kKmers * c.hidden));
}

/// Of the rows of one pass, as src/transformer/decoder.cpp keeps them: f32 but for the operands of
/// products. A GPU keeps gate and up, too, in bf16.
double pass_bytes(const ModelConfig& c, size_t rows = 2048, bool gate_up = false) {
  const size_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  const size_t floats = 3 * c.hidden + q + 2 * kv + (gate_up ? c.intermediate : 0);
  return static_cast<double>(rows) *
         (4 * static_cast<double>(floats) +
          kTypeBytes * static_cast<double>(std::max(c.hidden, q) + c.intermediate));
}

std::string document(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "no " << path << ": run the tests in the top folder of the sources");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("docs/performance.md has the numbers of one base a token") {
  const std::string text = document("docs/performance.md");
  const ModelConfig c = synthetic_config("marin");
  const ScanGrid grid = make_scan_grid(default_scan_context(c.max_positions, 1), c.max_positions, 1);
  const WorkChunk scanned{0, static_cast<size_t>(grid.window), static_cast<size_t>(grid.stride)};
  const WorkChunk scored{0, 255, 255};
  const double scan =
      2 * forward_work(c, {}, {&scanned, 1}).flops / static_cast<double>(scanned.wanted) / kGiga;
  const std::string line =
      row("marin", {std::to_string(c.layers), std::to_string(c.hidden), digits(parameters(c) / 1e6) + " M",
                    digits(read_parameters(c) / 1e6) + " M", digits(cached_bytes(c) / 1024) + " KiB",
                    digits(forward_work(c, {}, {&scored, 1}).flops / 255 / kGiga),
                    digits(centered_operations(c, 1) / kGiga), digits(centered_operations(c, 3) / kGiga),
                    digits(scan), digits(kTypeBytes * read_parameters(c) / kGiga)});
  CHECK_MESSAGE(text.find(line + "\n") != std::string::npos, "docs/performance.md lacks the line\n" << line);
}

TEST_CASE("docs/performance.md has the numbers that the program counts") {
  const std::string text = document("docs/performance.md"), readme = document("README.md");
  const auto check = [&](const std::string& line) {
    CHECK_MESSAGE(text.find(line + "\n") != std::string::npos, "docs/performance.md lacks the line\n"
                                                                   << line);
  };
  const std::unique_ptr<ops::Backend> cpu = ops::make_cpu_backend({});
  const size_t batch = default_batch_tokens(*cpu);
  // A window is begun when those before it leave room in the next pass.
  const double score_tokens = static_cast<double>(cpu->pass_rows() + kMaxDefaultWindow / kKmerLength - 1);
  const double generate_tokens = 8.0 * static_cast<double>(batch);
  std::vector<std::string> on_gpu, scanned;
  for (const std::string& shape : synthetic_shapes()) {
    const ModelConfig c = synthetic_config(shape);
    if (c.layout.bases() != kKmerLength || c.annotator) continue;
    const double fixed = weight_bytes(c) + pass_bytes(c), cached = cached_bytes(c);
    check(row(shape, {std::to_string(c.layers), std::to_string(c.hidden), digits(parameters(c) / 1e6) + " M",
                      digits(read_parameters(c) / 1e6) + " M", digits(cached / 1024) + " KiB"}));
    check(row(shape, {digits(operations_a_base(c, 1200) / kGiga), digits(operations_a_base(c, 8190) / kGiga),
                      digits(operations_a_base(c, 49140) / kGiga), digits(centered_operations(c, 1) / kGiga),
                      digits(centered_operations(c, 3) / kGiga), digits(next_token_operations(c) / kGiga),
                      digits(bytes_a_kmer(c) / kGiga)}));
    check(row(shape, {digits(weight_bytes(c) / kGiga), digits(pass_bytes(c) / kGiga),
                      digits(cached * score_tokens / kGiga), digits(cached * generate_tokens / kGiga),
                      digits((fixed + cached * score_tokens) / kGiga),
                      digits((fixed + cached * generate_tokens) / kGiga)}));
    std::vector<std::string> anchored;
    for (const auto& [distance, horizon] :
         {std::pair(50, 96), std::pair(50, 768), std::pair(0, 96), std::pair(0, 768)}) {
      const auto [tokens, operations] = anchored_cost(c, distance, horizon);
      anchored.push_back(digits(tokens));
      anchored.push_back(digits(operations / kGiga));
    }
    check(row(shape, anchored));
    const ScanGrid grid =
        make_scan_grid(default_scan_context(c.max_positions, kKmerLength), c.max_positions, kKmerLength);
    char tokens[16];
    std::snprintf(tokens, sizeof tokens, "%.2f",
                  2.0 * static_cast<double>(grid.window) / static_cast<double>(grid.stride) / kKmerLength);
    scanned.emplace_back(tokens);
    const double scan = scan_operations_a_base(c), genome = 3.1e9 * scan;
    check(row(shape, {digits(scan / kGiga), digits(genome / 1e18), digits(6 * genome / 1e18),
                      digits(genome / 4e14 / 3600), digits(6 * genome / 4e14 / 3600)}));
    on_gpu.push_back(digits(pass_bytes(c, cuda::pass_rows(132), true) / kGiga));
    char cells[96];
    const double tera = centered_operations(c, 1) / 1e12;
    std::snprintf(cells, sizeof cells, " | %.1f GB | %.*f × 10¹² | %.*f s |",
                  (fixed + cached * score_tokens) / kGiga, tera < 10, tera, tera < 10, tera);
    CHECK_MESSAGE(readme.find(cells) != std::string::npos, "README.md lacks" << cells);
  }
  REQUIRE(on_gpu.size() == 3);
  const std::string scan_tokens =
      " " + scanned[0] + ", " + scanned[1] + " and " + scanned[2] + " tokens per base";
  CHECK_MESSAGE(text.find(scan_tokens) != std::string::npos, "docs/performance.md lacks" << scan_tokens);
  const std::string passes = " " + on_gpu[0] + ", " + on_gpu[1] + " and " + on_gpu[2] + " GB";
  CHECK_MESSAGE(text.find(passes) != std::string::npos, "docs/performance.md lacks" << passes);
}
