// Every VCF of the shared collection must come through VcfReader and VcfWriter as through `bcftools view`.

#include <doctest/doctest.h>

#include <algorithm>

#include "src/formats/vcf.hpp"
#include "test/unit/genome_records.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

std::string shared_vcf_folder() {
  const char* shared = std::getenv("CARBON_SHARED");
  return std::string(shared && *shared ? shared : "../shared") + "/data/vcf";
}

bool is_variant_file(const std::string& name) {
  for (const char* suffix : {".vcf", ".vcf.gz", ".bcf"}) {
    if (name.ends_with(suffix)) return true;
  }
  return false;
}

std::string copy(const std::string& in, const std::string& out, char type) {
  VcfWriterOptions options;
  options.path = out;
  options.type = type;
  return copy_records(in, options);
}

/// Errors for input that bcftools 1.16 accepts: cut lines, and a POS that it would read as 0.
bool is_stricter_on_purpose(const std::string& error) {
  return contains(error, "fewer than 8 columns") || contains(error, "POS is not a number") ||
         contains(error, "an invalid tag name");  // of which bcftools 1.21 drops a part of the line
}

}  // namespace

TEST_CASE("records and headers come out as bcftools view writes them") {
  const std::string folder = shared_vcf_folder();
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("SKIPPED: no folder " << folder);
    return;
  }
  if (!have_command("bcftools")) {
    MESSAGE("SKIPPED: bcftools is not installed");
    return;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_variant_file(entry.path().string()))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  CHECK(files.size() > 0);
  const TemporaryDirectory dir;
  int compared = 0, refused = 0, stricter = 0;
  for (const std::string& file : files) {
    CAPTURE(file);
    const CommandResult view = run_command("bcftools view --no-version '" + file + "' 2>/dev/null");
    std::string ours;
    const std::string error = error_of([&] { ours = copy(file, dir.file("out.vcf"), 'v'); });
    if (view.status != 0) {
      CHECK(error != "");  // never success with fewer records than bcftools
      ++refused;
      continue;
    }
    if (is_stricter_on_purpose(error)) {
      ++stricter;
      continue;
    }
    CHECK(error == "");
    CHECK((ours == view.output));
    ++compared;
    // The same through BCF, if the header defines all names that the records use.
    if (error_of([&] { copy(file, dir.file("out.bcf"), 'b'); }) == "") {
      CHECK((copy(dir.file("out.bcf"), dir.file("back.vcf"), 'v') == view.output));
    }
  }
  MESSAGE(compared << " files equal, " << refused << " refused by bcftools too, " << stricter
                   << " refused by carbon alone");
  CHECK(compared > static_cast<int>(files.size()) / 4);
}
