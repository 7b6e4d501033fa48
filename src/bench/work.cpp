#include "src/bench/work.hpp"

#include <vector>

namespace carbon {

Work requests_work(const ModelConfig& config, const WorkUnits& units, std::span<const RequestPtr> requests) {
  std::vector<WorkChunk> chunks, suffixes;
  for (const RequestPtr& request : requests)
    (request->parent ? suffixes : chunks)
        .push_back({request->parent ? request->shared : 0, request->tokens.size(),
                    request->tokens.size() - request->want_begin});
  Work work = forward_work(config, units, chunks);
  if (!suffixes.empty()) work += forward_work(config, units, suffixes);
  return work;
}

}  // namespace carbon
