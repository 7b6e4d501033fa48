// A work for the model that is served: an endpoint that reads a JSON object derives from it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "src/serve/fields.hpp"
#include "src/serve/served_model.hpp"
#include "src/serve/service.hpp"

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
    served_.check_name(fields);
    begin(fields);
  }

  const ServedModel& served_;
};

}  // namespace carbon
