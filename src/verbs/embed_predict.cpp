// embed: hidden states of sequences, as `carbon embed` writes them; predict: values of the labels of a
// classification head, as `carbon predict` writes them. Both read a sequence as a whole.
#include <utility>

#include "src/embed/predict.hpp"
#include "src/embed/run.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {
namespace {

class EmbedVerb final : public Verb {
 public:
  EmbedVerb(const VerbContext& context, const EmbedOptions& options)
      : context_(context),
        hidden_(context.served.config().hidden),
        planner_(context.served.config(), options) {}

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    const auto item =
        std::make_shared<EmbedItem>(planner_.plan(name, checked_bases(name, text, context_.note)));
    emit({item->requests, [this, item](Findings& findings) {
            std::vector<float> rows = take_rows(*item, DType::f32);
            const size_t n = rows.size() / hidden_;
            Result& result = findings.results.emplace_back();
            result.emplace_back("embedding", std::move(rows), std::initializer_list<size_t>{n, hidden_});
          }});
  }

 private:
  const VerbContext context_;
  const size_t hidden_;
  EmbedPlanner planner_;
};

class PredictVerb final : public Verb {
 public:
  PredictVerb(const VerbContext& context, const PredictOptions& options)
      : context_(context),
        labels_(context.served.model().checkpoint(), options.labels, context.log),
        predictor_(context.served.config(), labels_, options.pooling, options.strand) {}

  std::vector<std::string> labels() const override { return labels_.names(); }

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    const auto item =
        std::make_shared<PredictItem>(predictor_.plan(name, checked_bases(name, text, context_.note)));
    emit({item->requests, [this, item](Findings& findings) {
            std::vector<double> values = predictor_.values(*item);
            const size_t n = values.size();
            Result& result = findings.results.emplace_back();
            result.emplace_back("values", std::move(values), std::initializer_list<size_t>{n});
          }});
  }

 private:
  const VerbContext context_;
  LabelValues labels_;
  Predictor predictor_;
};

}  // namespace

void describe_embed(const std::function<void(const SettingList&)>& see) {
  EmbedOptions options;
  see(embed_settings(options));
}

std::unique_ptr<Verb> make_embed_verb(const VerbContext& context, const ReadSettings& read) {
  EmbedOptions options;
  read(embed_settings(options));
  check_embed_options(options);
  return std::make_unique<EmbedVerb>(context, options);
}

void describe_predict(const std::function<void(const SettingList&)>& see) {
  PredictOptions options;
  see(predict_settings(options));
}

std::unique_ptr<Verb> make_predict_verb(const VerbContext& context, const ReadSettings& read) {
  PredictOptions options;
  read(predict_settings(options));
  return std::make_unique<PredictVerb>(context, options);
}

}  // namespace carbon
