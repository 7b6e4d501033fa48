// From a prompt to the requests of its samples.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/engine/request.hpp"
#include "src/generate/prompt.hpp"

namespace carbon {

/// One sample on its way through the run.
struct SampleItem {
  std::shared_ptr<const Prompt> prompt;
  uint32_t sample = 0;               // its number among those of the prompt, from 0
  std::vector<RequestPtr> requests;  // the last one is the sample's

  size_t bytes() const { return sizeof(*this); }
};

/// The samples of a prompt from number `begin` (from 0) up to, but not including, number `end`.
struct SampleRange {
  size_t begin = 0, end = 1;
};

/// Emits samples of a prompt in order. They are distributed over `devices` devices in turn. Those on one
/// device share the computation of the prompt.
void emit_samples(const std::shared_ptr<const Prompt>& prompt, SampleRange range,
                  const SamplerOptions& sampler, size_t devices, const std::function<void(SampleItem)>& emit);

/// Returns the new bases of a finished sample as text.
std::string new_bases(const Request& request);

/// What is wrong with a sample whose outcome is not_finite: at which of its new bases.
Error not_finite(const SampleItem& item);

}  // namespace carbon
