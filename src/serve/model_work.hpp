// A work for the model that is served: an endpoint that reads a JSON object derives from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "src/base/json.hpp"
#include "src/serve/service.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

class ModelWork : public Work {
 public:
  ModelWork(const ServedModel& served, HttpExchangePtr exchange)
      : Work(std::move(exchange)), served_(served) {}

 protected:
  /// begin() of a request, of which the field `model` is read.
  virtual void begin(const Fields& fields) = 0;
  const ServedModel& served() const { return served_; }
  /// Ends the request of one that has read `tokens` and drawn none.
  void answer_read(size_t tokens, std::string body) {
    service().metrics().tokens(tokens, 0);
    service().metrics().ended(Metrics::End::length, seconds());
    answer_json(std::move(body));
  }

 private:
  void begin() override {
    const Fields fields = Fields::of_body(request().body);
    check_name(fields);
    begin(fields);
  }

  // Another model is not served.
  void check_name(const Fields& fields) const {
    const std::string asked = fields.text("model", served_.name());
    const std::vector<std::string>& names = served_.names();
    if (std::find(names.begin(), names.end(), asked) != names.end()) return;
    throw ApiError(404,
                   "the model '" + printable(asked) + "' is not served here; the one that is has the name '" +
                       served_.name() + "'",
                   "model", "model_not_found");
  }

  const ServedModel& served_;
};

}  // namespace carbon
