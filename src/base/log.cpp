#include "src/base/log.hpp"

namespace carbon {
namespace {

class SilentLog final : public Log {
 public:
  void write(LogLevel, std::string_view, std::string_view, const Advice&) override {}
  void summary(std::string_view, std::string_view,
               std::span<const std::pair<std::string, uint64_t>>) override {}
  ProgressStyle progress_style() const override { return {}; }
  void progress(const ProgressReport&) override {}
  void clear_progress() override {}
};

}  // namespace

Log& silent_log() {
  static SilentLog log;
  return log;
}

}  // namespace carbon
