// POST /v1/dna/variants: results name their variants, which come as objects.
#include <utility>

#include "src/serve/endpoints.hpp"
#include "src/serve/verb_work.hpp"
#include "src/verbs/variants.hpp"

namespace carbon {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class DnaVariants final : public VerbWork {
 public:
  DnaVariants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange)
      : VerbWork("variants", served, reference, std::move(exchange)) {}

 private:
  void read_inputs(const Fields& fields) override {
    const RequestLimits& limits = service().limits();
    placed_ = fields.has("sequence");
    if (placed_) {
      check_bases(sent_bases("sequence", fields.required_text("sequence")).size(), "sequence", limits);
    } else if (!reference()) {
      fields.fail("sequence",
                  "is missing, and the server has no reference: send the bases around the variants, or start "
                  "the server with a FASTA (-f)");
    }
    const nlohmann::json& list = fields.required("variants");
    if (!list.is_array())
      fields.fail("variants", "must be a list of objects, or of texts such as chr1:2 A>G");
    check_items(list.size(), fields, "variants", limits);
    size_t letters = 0;
    for (const nlohmann::json& one : list) {
      const std::string name = "variants[" + std::to_string(variants_.size()) + "]";
      const auto noting = [this](const std::string& what) { note(what); };
      variants_.push_back(one.is_string()
                              ? read_variant(name, one.get_ref<const std::string&>(), placed_, noting)
                              : read_variant(Fields(one, name), placed_, noting));
      letters += variants_.back().variant.ref.size() + variants_.back().variant.alts[0].size();
    }
    if (letters > limits.bases)
      fields.fail("variants", "have alleles of " + std::to_string(letters) +
                                  " letters in all; the server's limit for one request is " +
                                  std::to_string(limits.bases));
  }

  size_t inputs() const override { return variants_.size(); }

  void add_input(size_t index, const Emit& emit) override {
    static_cast<VariantsVerb&>(verb()).add(variants_[index], emit);
  }

  void add_result(size_t index, const Result& result) override {
    const auto& [contig, variant] = variants_[index];
    begin_object();
    if (!placed_) answer_ += "\"chrom\":" + json_text(contig) + ",";
    answer_ += "\"pos\":" + std::to_string(variant.pos + 1) + ",\"ref\":" + json_text(variant.ref) +
               ",\"alt\":" + json_text(variant.alts[0]);
    const Array& values = result[0];
    if (verb().labels().empty()) {
      answer_ += ",\"score\":";
      append_json(std::get<std::vector<double>>(values.data()).front(), answer_);
    } else {
      answer_ += ",\"values\":";
      append_json(values, answer_);
    }
    const auto& flag = std::get<std::string>(result[1].data());
    answer_ += ",\"flag\":" + (flag.empty() ? "null" : json_text(flag)) + "}";
  }

  bool placed_ = false;  // on the sequence that is sent with them
  std::vector<PlacedVariant> variants_;
};

}  // namespace

WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange) {
  return std::make_shared<DnaVariants>(served, reference, std::move(exchange));
}

}  // namespace carbon
