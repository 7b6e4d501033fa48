#include "src/formats/table_output.hpp"

#include <optional>

#include "src/base/error.hpp"
#include "src/files/output.hpp"
#include "src/formats/vcf_index.hpp"

namespace carbon {

struct TableOutput::Impl {
  explicit Impl(const VcfWriterOptions& options)
      : output(options.path, options.temporary, {options.level, options.compression_threads}) {
    if (options.index == VcfIndexKind::none) return;
    if (is_stream(options.path))
      throw Error("write_table", options.path + " is not a regular file, so it cannot be indexed");
    index.emplace(options, IndexedFormat::table);
  }

  TextOutput output;
  std::optional<VcfIndexOutput> index;
};

TableOutput::TableOutput(const VcfWriterOptions& options) : impl_(std::make_unique<Impl>(options)) {}
TableOutput::~TableOutput() = default;

void TableOutput::write(std::string_view text) {
  impl_->output.write(text);
}
void TableOutput::end_block() {
  impl_->output.end_block();
}
void TableOutput::flush() {
  impl_->output.flush();
}
void TableOutput::flush_for_reader() {
  impl_->output.flush_for_reader();
}
void TableOutput::close() {
  impl_->output.close();
  if (impl_->index) impl_->index->build();
}

}  // namespace carbon
