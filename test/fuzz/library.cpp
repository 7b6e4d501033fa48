// The C interface (carbon.h): calls in any order on a small model, with options and inputs that are not to be
// trusted. The bytes up to the first line that is empty are operations, and the lines after it what they take
// in turn.
#include <algorithm>
#include <string>
#include <vector>

#include "include/carbon/carbon.h"
#include "test/fuzz/harness.hpp"
#include "test/unit/model_fixture.hpp"

namespace carbon::fuzz {
namespace {

struct Opened {
  Folder folder;
  carbon_model* model = nullptr;

  Opened() {
    model_test::TestModel().write(folder.path());
    const std::string settings = R"({"model":")" + folder.path() + R"(","threads":1})";
    require(carbon_model_open(settings.c_str(), &model) == CARBON_OK, carbon_error_text());
  }
};

// A code of carbon.h, with a sentence in one line if it is one of an error.
int checked(int code) {
  require(code >= CARBON_OK && code <= CARBON_E_FAILED, "not a code of carbon.h");
  const std::string text = carbon_error_text();
  require(text.empty() == (code <= CARBON_E_END), "an error without a sentence, or a sentence without one");
  require(text.find('\n') == std::string::npos, "a sentence of several lines");
  return code;
}

// Reads every byte that an array is said to have.
void read_array(carbon_call* call, const char* name) {
  const void* data = nullptr;
  int type = 0, dimensions = 0;
  const int64_t *shape = nullptr, *strides = nullptr;
  if (checked(carbon_call_array(call, name, &data, &type, &dimensions, &shape, &strides)) != CARBON_OK)
    return;
  int64_t bytes = type == CARBON_U8 ? 1 : type == CARBON_F32 ? 4 : 8;
  for (int i = 0; i < dimensions; ++i) bytes *= shape[i];
  const volatile char* const all = static_cast<const char*>(data);
  for (int64_t i = 0; i < bytes; ++i) (void)all[i];
}

}  // namespace

void run(std::string_view input, const Folder& /*folder*/) {
  static Opened opened;
  constexpr const char* kVerbs[] = {"score", "variants", "scan", "embed", "predict", "generate"};
  constexpr const char* kArrays[] = {"logp",     "values",        "flag",    "embedding", "sequence",
                                     "n_scored", "probabilities", "entropy", "bases"};
  const size_t end = std::min(input.find("\n\n"), std::min<size_t>(input.size(), 64));
  const std::string operations(input.substr(0, end));
  std::vector<std::string> texts;
  for (const std::string_view line : split_lines(input.substr(std::min(end + 2, input.size()))))
    texts.emplace_back(line);
  size_t next_text = 0;
  const auto text = [&]() -> std::string { return next_text < texts.size() ? texts[next_text++] : ""; };
  carbon_call* call = nullptr;
  for (const char letter : operations) {
    const auto operation = static_cast<unsigned char>(letter);
    const std::string taken = operation % 8 < 2 ? text() : "";
    if (taken.find("fasta_ref") != std::string::npos) continue;  // any file of this machine
    switch (operation % 8) {
      case 0:
        if (call) checked(carbon_call_free(call));
        checked(
            carbon_call_new(opened.model, kVerbs[operation / 8 % std::size(kVerbs)], taken.c_str(), &call));
        break;
      case 1:
      case 2:
        checked(carbon_call_add(call, taken.data(), static_cast<int64_t>(taken.size())));
        break;
      case 3:
        checked(carbon_call_end(call));
        break;
      case 4:
      case 5:
        if (checked(carbon_call_next(call, operation % 8 == 4 ? 0 : 50)) == CARBON_OK)
          for (const char* name : kArrays) read_array(call, name);
        break;
      case 6:
        read_array(call, kArrays[operation / 8 % std::size(kArrays)]);
        break;
      case 7:
        if (operation >= 0xf0) checked(carbon_call_cancel(call));
        if (operation >= 0xf8) checked(carbon_call_free(call));
        break;
    }
    char* message = nullptr;
    while (checked(carbon_log_next(&message)) == CARBON_OK) carbon_free(message);
  }
  if (call) checked(carbon_call_free(call));
}

}  // namespace carbon::fuzz
