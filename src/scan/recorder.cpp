#include "src/scan/recorder.hpp"

namespace carbon {
namespace {

// Blocks of the output end where a contig ends and at multiples of this position (docs/conventions.md,
// "Output of scan"). They do not depend on where a run was interrupted.
constexpr int64_t kBlockBases = 65536;

}  // namespace

ScanRecorder::ScanRecorder(ScanOutput& output, ResumableOutput* partial,
                           const std::optional<ScanMark>& continued, ScanHistogram* histogram)
    : output_(output), partial_(partial), histogram_(histogram) {
  if (!continued) return;
  scored_ = continued->before;
  if (histogram_) histogram_->add_text(continued->histogram);
}

void ScanRecorder::write(const ScannedBase& base) {
  const Block block{base.piece->number, base.position / kBlockBases};
  if (block_ && *block_ != block) end_block(block.first, base.position);
  block_ = block;
  output_.write(base);
  if (histogram_) histogram_->add(base);
  scored_.add(*base.piece, base.position, base.digit);
  // At once and not with the next base, which an error may keep from coming.
  const int64_t next = base.position + 1;
  if (next % kBlockBases != 0 && next != base.piece->length) return;
  end_block(block.first, next);
  block_.reset();
}

void ScanRecorder::end_block(size_t contig, int64_t next) {
  if (!partial_ || !partial_->wants_mark()) {
    output_.file().end_block();
    return;
  }
  output_.file().flush();
  save_mark(*partial_, {contig, next, scored_, histogram_ ? histogram_->text() : ""});
}

}  // namespace carbon
