// The C interface as a C++ test calls it: a model, and calls whose results are arrays by name.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "include/carbon/carbon.h"

namespace carbon::test {

/// The bytes and the shape of an array.
struct TakenArray {
  int type = 0;
  std::vector<int64_t> shape;
  std::string bytes;

  bool operator==(const TakenArray&) const = default;
  size_t size() const {
    size_t product = 1;
    for (const int64_t n : shape) product *= static_cast<size_t>(n);
    return product;
  }
  double f64(size_t i = 0) const {
    double value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
  float f32(size_t i = 0) const {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
  int64_t i64() const {
    int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};
using TakenResult = std::map<std::string, TakenArray>;

/// Throws what a function says if it does not return `wanted`.
inline void must(int code, int wanted = CARBON_OK) {
  if (code != wanted)
    throw std::runtime_error("code " + std::to_string(code) + ", not " + std::to_string(wanted) + ": " +
                             carbon_error_text());
}

inline TakenArray take_array(carbon_call* call, const std::string& name) {
  const void* data = nullptr;
  int type = 0, dimensions = 0;
  const int64_t *shape = nullptr, *strides = nullptr;
  must(carbon_call_array(call, name.c_str(), &data, &type, &dimensions, &shape, &strides));
  TakenArray array{type, {shape, shape + dimensions}, {}};
  const size_t bytes = type == CARBON_U8 ? 1 : type == CARBON_F32 ? 4 : 8;
  if (dimensions > 0) REQUIRE(strides[dimensions - 1] == static_cast<int64_t>(bytes));
  if (dimensions > 1) REQUIRE(strides[0] == static_cast<int64_t>(bytes) * shape[1]);
  array.bytes.assign(static_cast<const char*>(data), array.size() * bytes);
  return array;
}

class ApiModel {
 public:
  explicit ApiModel(const nlohmann::json& settings) {
    must(carbon_model_open(settings.dump().c_str(), &model));
  }
  explicit ApiModel(const std::string& dir, int threads = 2)
      : ApiModel(nlohmann::json{{"model", dir}, {"threads", threads}}) {}
  ~ApiModel() { carbon_model_close(model); }
  ApiModel(const ApiModel&) = delete;
  ApiModel& operator=(const ApiModel&) = delete;

  carbon_call* begin(const char* verb, const nlohmann::json& options) const {
    carbon_call* call = nullptr;
    must(carbon_call_new(model, verb, options.is_null() ? nullptr : options.dump().c_str(), &call));
    return call;
  }

  /// The arrays `names` of all results.
  std::vector<TakenResult> ask(const char* verb, const nlohmann::json& options,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& names) const {
    carbon_call* const call = begin(verb, options);
    std::vector<TakenResult> results;
    const auto take = [&](int timeout) {
      const int code = carbon_call_next(call, timeout);
      if (code != CARBON_OK) return code;
      TakenResult& result = results.emplace_back();
      for (const std::string& name : names) result[name] = take_array(call, name);
      return code;
    };
    for (const std::string& input : inputs) {
      for (;;) {
        const int code = carbon_call_add(call, input.data(), static_cast<int64_t>(input.size()));
        if (code == CARBON_OK) break;
        must(code, CARBON_E_AGAIN);
        must(take(60'000));
      }
    }
    must(carbon_call_end(call));
    int code = CARBON_OK;
    while (code == CARBON_OK) code = take(60'000);
    must(code, CARBON_E_END);
    must(carbon_call_free(call));
    return results;
  }

  carbon_model* model = nullptr;
};

}  // namespace carbon::test
