#include "src/base/error.hpp"

namespace carbon {

std::string Advice::words(const std::function<std::string(const std::string&)>& write) const {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      out += text[at];
      continue;
    }
    const size_t end = text.find('}', at);
    const std::string name = text.substr(at + 1, end - at - 1);
    const std::string written = name.front() == '-' ? write(name) : values.at(std::stoul(name));
    if (name.front() == '-' && written.empty()) return "";
    out += written;
    at = end;
  }
  return out;
}

std::string Advice::for_commands() const {
  return words([](const std::string& option) { return option; });
}

}  // namespace carbon
