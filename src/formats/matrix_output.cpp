#include "src/formats/matrix_output.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {
namespace {

constexpr const char kNpy[] = ".npy", kSafetensors[] = ".safetensors", kRecord[] = ".json";

const char* suffix_of(ArrayFormat format) {
  return format == ArrayFormat::npy ? kNpy : kSafetensors;
}

ArrayLayout with_provenance(ArrayLayout layout, const std::vector<std::string>& provenance) {
  if (layout.format == ArrayFormat::safetensors) layout.metadata = provenance_strings(provenance);
  return layout;
}

/// Throws Error if another file than such a table has the name of the table, which the user has not given.
void check_table(const std::string& command, const MatrixPlace& place) {
  const std::string path = place.stem() + place.table;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  std::ifstream in(path);
  std::string first;
  if (std::getline(in, first) && first == place.heading) return;
  throw Error(command,
              path + " exists, and carbon " + command +
                  " has not written it; the run would replace it by the table of the rows of the matrix",
              {"or name another output with {-o}"});
}

}  // namespace

std::optional<ArrayFormat> array_format_of(const std::string& path) {
  if (is_compressed_name(path)) return std::nullopt;
  for (const ArrayFormat format : {ArrayFormat::npy, ArrayFormat::safetensors})
    if (format_of_name(path) == suffix_of(format) + 1) return format;
  return std::nullopt;
}

std::string MatrixPlace::stem() const {
  return array_format_of(path) == format ? stem_of_name(path) : path;
}

std::string MatrixPlace::matrix() const {
  return array_format_of(path) == format ? path : path + suffix_of(format);
}

void check_matrix_output(const std::string& command, const MatrixPlace& place, const Advice& advice) {
  const std::string stem = place.stem();
  const auto refuse = [&](const std::string& path) {
    throw Error(command,
                std::string(suffix_of(place.format) + 1) +
                    " output needs a regular file, because its beginning is written last" +
                    (path.empty() ? "" : ", and " + path + " is not one"),
                advice);
  };
  if (place.path == "-" || stem.empty() || stem.ends_with('/')) refuse("");
  for (const std::string& path : {place.path, place.matrix()})
    if (is_stream(path)) refuse(path);
  if (place.format == ArrayFormat::npy) check_provenance_file(command, stem + kRecord);
  check_table(command, place);
}

MatrixOutput::MatrixOutput(const MatrixPlace& place, ArrayLayout layout,
                           const std::vector<std::string>& provenance)
    : matrix_(place.matrix(), with_provenance(std::move(layout), provenance)),
      table_(place.stem() + place.table) {
  describe(place.heading);
  if (place.format == ArrayFormat::safetensors) return;
  record_.emplace(place.stem() + kRecord);
  record_->write(provenance_json(provenance));
}

void MatrixOutput::finish() {
  table_.finish();
  if (record_) record_->finish();
  matrix_.finish();
}

void MatrixOutput::commit() {
  table_.commit();
  if (record_) record_->commit();
  matrix_.commit();
}

}  // namespace carbon
