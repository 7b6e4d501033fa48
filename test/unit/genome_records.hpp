// Copies VCF and BCF files for the tests of src/formats and src/files. No assertions here.
#pragma once

#include <string>

#include "src/formats/vcf.hpp"
#include "test/unit/genome_files.hpp"

namespace carbon_test {

/// Copies all records; returns the bytes of the copy.
inline std::string copy_records(const std::string& in, const carbon::VcfWriterOptions& options) {
  carbon::VcfReader reader(in);
  carbon::VcfWriter writer(reader, options);
  for (carbon::VcfRecord record; reader.next(record);) writer.write(record);
  writer.close();
  return read_bytes(options.path);
}

}  // namespace carbon_test
