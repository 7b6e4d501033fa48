#include "src/serve/dna_predict.hpp"

#include <optional>
#include <utility>

#include "src/predict/predictor.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/item_batches.hpp"
#include "src/serve/model_work.hpp"

namespace carbon {
namespace {

class DnaPredict final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void begin(const Fields& fields) override {
    const std::vector<std::string> sequences = sent_sequences(fields, service().limits());
    const StrandChoice strand = read_strand(fields, StrandChoice::forward);
    const Pooling pooling = read_pooling(fields);
    const LabelSettings settings = read_label_settings(fields);
    fields.refuse_others();
    tell(fields);
    labels_.emplace(served().model().checkpoint(), settings, silent_log());
    predictor_.emplace(served().config(), *labels_, pooling, strand);
    for (size_t i = 0; i < sequences.size(); ++i)
      items_.add(predictor_->plan("sequences[" + std::to_string(i) + "]", sequences[i]));
    answer_ = "{\"labels\":" + nlohmann::json(labels_->names()).dump() + ",\"results\":[";
    run(items_.begin(result_sizes(served().config())));
  }

  void finished() override {
    for (const PredictItem& item : items_.end()) {
      answer_ += answer_.back() == '[' ? "{\"values\":[" : ",{\"values\":[";
      for (const double value : predictor_->values(item)) {
        if (answer_.back() != '[') answer_ += ',';
        append_json(value, answer_);
      }
      answer_ += "]}";
    }
    if (!items_.done()) return run(items_.begin(result_sizes(served().config())));
    answer_read(items_.tokens(), std::move(answer_) + "]}");
  }

  std::optional<LabelValues> labels_;
  std::optional<Predictor> predictor_;
  ItemBatches<PredictItem> items_;
  std::string answer_;  // as far as it is known
};

}  // namespace

WorkPtr make_dna_predict(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaPredict>(served, std::move(exchange));
}

}  // namespace carbon
