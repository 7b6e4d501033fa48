#include "src/scan/header.hpp"

#include "src/base/settings.hpp"
#include "src/engine/model_line.hpp"
#include "src/formats/provenance.hpp"
#include "src/model/digest.hpp"
#include "src/scan/output.hpp"

namespace carbon {
namespace {

// Settings name variables, and these only read them.
Settings settings_of(ScanOptions options) {
  return setting_values(scan_settings(options));
}

// The bases of a run in few words, which are equal for equal pieces.
std::string pieces_text(const std::vector<ScanPiece>& pieces) {
  std::string all;
  for (const ScanPiece& piece : pieces)
    all += piece.contig + "\t" + std::to_string(piece.number) + "\t" + std::to_string(piece.length) + "\t" +
           std::to_string(piece.begin) + "\t" + std::to_string(piece.end) + "\n";
  return std::to_string(total_bases(pieces)) + " (SHA-256 " + sha256_hex(all).substr(0, 16) + ")";
}

}  // namespace

std::vector<std::string> scan_header_lines(const LoadedModel& model, const ScanOptions& options) {
  return provenance_lines("scan", {options.command_line, !options.version_lines},
                          {model_line("scan", "CARBON_SCAN", model, header_text(settings_of(options)))});
}

RunIdentity scan_identity(const LoadedModel& model, const ScanOptions& options,
                          const std::vector<ScanPiece>& pieces) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.merge(RunIdentity{{"bases", pieces_text(pieces)},
                        {"output-type", scan_output_text(options)},
                        {"histogram", options.histogram.empty() ? "none" : "yes"}});
  return run;
}

}  // namespace carbon
