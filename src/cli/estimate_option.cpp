#include "src/cli/estimate_option.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"

namespace carbon {
namespace {

constexpr const char* kNoTime = "none";

// out.$I.vcf.gz for out.vcf.gz.
std::string share_path(const std::string& path) {
  if (is_stream(path)) return shell_word(path);
  const size_t stem = stem_of_name(path).size();
  return shell_word(path.substr(0, stem)) + ".$I" + (stem < path.size() ? shell_word(path.substr(stem)) : "");
}

// The words of a command line, each of which is an option, its value, both, or an argument.
class ShareWords {
 public:
  ShareWords(const CommandLine& line, uint64_t shares) : line_(line) {
    text_ = "carbon " + line.command() + " --shard $I/" + std::to_string(shares);
    const std::vector<std::string>& words = line.words();
    for (size_t i = 1; i < words.size(); ++i) add(words, i);
    if (!line.given("output")) text_ += " > share.$I";
  }

  const std::string& text() const { return text_; }

 private:
  // The option that a word ends with, and where in the word its value begins.
  struct Found {
    const Option* option = nullptr;
    size_t value = std::string::npos;  // none: the value is the next word
  };

  Found find(const std::string& word) const {
    if (word.starts_with("--")) {
      const size_t equals = word.find('=');
      return {line_.find(word.substr(0, equals)), equals == std::string::npos ? equals : equals + 1};
    }
    for (size_t at = 1; word.starts_with('-') && at < word.size(); ++at) {
      const Option* const option = line_.find(std::string("-") + word[at]);
      if (option && !option->is_flag()) return {option, at + 1 < word.size() ? at + 1 : std::string::npos};
    }
    return {};
  }

  void add(const std::vector<std::string>& words, size_t& i) {
    const std::string& word = words[i];
    const auto [option, value] = find(word);
    if (option && (option->name == "estimate" || option->name == "dry-run")) return;
    if (!option || option->is_flag() || option->attached) {
      text_ += " " + shell_word(word);
      return;
    }
    const bool is_output = option->value.names == Names::output;
    const auto shown = [&](const std::string& text) {
      return is_output ? share_path(text) : shell_word(text);
    };
    if (value != std::string::npos)
      text_ += " " + word.substr(0, value) + shown(word.substr(value));
    else
      text_ += " " + word + " " + shown(words[++i]);
  }

  const CommandLine& line_;
  std::string text_;
};

}  // namespace

double parse_duration(const std::string& text) {
  constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  double seconds = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find_first_not_of("0123456789.", begin);
    const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](const auto& one) {
      return end != std::string::npos && one.first == text[end];
    });
    double count = 0;
    if (unit == std::end(units) || !parse_number(std::string_view(text).substr(begin, end - begin), count)) {
      seconds = 0;
      break;
    }
    seconds += count * unit->second;
    begin = end + 1;
  }
  if (!(seconds > 0))
    throw Error("estimate", "--estimate=" + text +
                                ": expected a time with its unit, s, m, h or d, such as 8h, 90m or 1h30m");
  return seconds;
}

void add_estimate_option(CommandLine& line, EstimateOptions& estimate) {
  line.options()
      .option({"estimate", "TIME",
               "print the expected work and run time, then exit; with TIME, such as 8h, also how many "
               "shares take that long each"},
              [&](const std::string& text) {
                estimate.wanted = true;
                if (text == kNoTime) return;
                estimate.limit = parse_duration(text);
                estimate.share_command = [&line](uint64_t shares) { return share_command(line, shares); };
              })
      .only_attached(kNoTime);
  line.after_parsing([&] {
    if (estimate.limit > 0 && line.given("shard"))
      throw Error("main_" + line.command(),
                  "--estimate with a time proposes shares of the whole run; leave out --shard");
  });
}

std::string share_command(const CommandLine& line, uint64_t shares) {
  return ShareWords(line, shares).text();
}

}  // namespace carbon
