// JSON files read as hostile input. See json.hpp.
#include "src/base/json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {

namespace {

constexpr int kMaxDepth = 32;

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t kLongest = 120;
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    }
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

nlohmann::json parse_json(std::string_view text, const std::string& path) {
  using json = nlohmann::json;
  // nlohmann::json silently keeps the last of two equal keys. Such a file is ambiguous, so it is refused
  // here.
  std::vector<std::set<std::string>> open_objects;
  auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw Error("read_json", path + ": nested too deeply");
    if (event == json::parse_event_t::object_start) {
      open_objects.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_objects.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second) {
        throw Error("read_json", path + ": key '" + printable(key) + "' appears twice in one object");
      }
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& e) {
    throw Error("read_json", path + ": not valid JSON at byte " + std::to_string(e.byte));
  } catch (const json::exception&) {
    throw Error("read_json", path + ": holds a number outside the range of a double");
  }
}

nlohmann::json read_json_file(const std::string& path, size_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("read_json", path + ": cannot open: " + std::strerror(errno));
  std::string text;
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > max_bytes) {
      throw Error("read_json", path + ": larger than " + std::to_string(max_bytes) + " bytes");
    }
  }
  if (in.bad()) throw Error("read_json", path + ": read error");
  return parse_json(text, path);
}

}  // namespace carbon
