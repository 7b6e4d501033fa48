// embed: hidden states of sequences, as `carbon embed` writes them.
#include <utility>

#include "src/embed/planner.hpp"
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

}  // namespace carbon
