// predict: values of the labels of a classification head, as `carbon predict` writes them.
#include <utility>

#include "src/api/verb.hpp"
#include "src/predict/predictor.hpp"
#include "src/serve/dna_request.hpp"

namespace carbon::api {
namespace {

class PredictVerb final : public Verb {
 public:
  PredictVerb(const ServedModel& served, Pooling pooling, const LabelSettings& labels, StrandChoice strand,
              Log& log)
      : log_(log),
        labels_(served.model().checkpoint(), labels, log),
        predictor_(served.config(), labels_, pooling, strand) {}

  void add(size_t index, std::string_view text, const Emit& emit) override {
    const std::string name = input_name("sequences", index);
    const auto item = std::make_shared<PredictItem>(predictor_.plan(name, input_bases(name, text, log_)));
    emit({item->requests, [this, item](Findings& findings) {
            std::vector<double> values = predictor_.values(*item);
            const size_t n = values.size();
            Result& result = findings.results.emplace_back();
            result.emplace_back("values", std::move(values), std::initializer_list<size_t>{n});
          }});
  }

 private:
  Log& log_;
  LabelValues labels_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<Verb> make_predict_verb(const ServedModel& served, const Fields& fields, Log& log) {
  const StrandChoice strand = read_strand(fields, StrandChoice::forward);
  const Pooling pooling = read_pooling(fields);
  const LabelSettings labels = read_label_settings(fields);
  return std::make_unique<PredictVerb>(served, pooling, labels, strand, log);
}

}  // namespace carbon::api
