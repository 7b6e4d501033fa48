// The table of carbon vep as a stream of records.
#pragma once

#include <memory>

#include "src/report/sources/variants.hpp"

namespace carbon {

/// Reads the header. Throws Error as open_variants() does.
std::unique_ptr<VariantSource> open_variant_table(const std::string& path, const ReportOptions& options);

}  // namespace carbon
