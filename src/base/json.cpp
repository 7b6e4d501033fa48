// JSON files read as hostile input. See json.hpp.
#include "src/base/json.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {
namespace {

constexpr size_t kMaxDepth = 32;

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

namespace {

// Receives the values of a text one after the other and puts them together. (The library's own ways either
// keep the last of two equal keys, which makes a file ambiguous, or take quadratic time.)
template <class Json>
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& path, Json& root) : path_(path), root_(root) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool start_array(size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [at, added] =
        open_.back()->template get_ref<typename Json::object_t&>().emplace(name, nullptr);
    if (!added)
      throw Error("read_json", path_ + ": key '" + printable(name) + "' appears twice in one object");
    member_ = &at->second;
    return true;
  }
  bool parse_error(size_t byte, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const nlohmann::detail::parse_error*>(&error) == nullptr)
      throw Error("read_json", path_ + ": holds a number outside the range of a double");
    throw Error("read_json", path_ + ": not valid JSON at byte " + std::to_string(byte));
  }

 private:
  // Puts a value where the last key, the open array or the root wants it.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array())
      return parent.template get_ref<typename Json::array_t&>().emplace_back(std::move(value));
    return *member_ = std::move(value);
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= kMaxDepth) throw Error("read_json", path_ + ": nested too deeply");
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& path_;
  Json& root_;
  std::vector<Json*> open_;  // a parent does not grow while one of its values is open
  Json* member_ = nullptr;   // the value of the last key
};

template <class Json>
Json parsed(std::string_view text, const std::string& path) {
  Json root;
  Builder<Json> builder(path, root);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& path) {
  return parsed<nlohmann::json>(text, path);
}

namespace {

std::string read_text(const std::string& path, size_t max_bytes) {
  struct stat status {};
  // To open a FIFO would wait for somebody who writes into it.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error("read_json", path + ": is not a regular file");
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
  return text;
}

}  // namespace

nlohmann::json read_json_file(const std::string& path, size_t max_bytes) {
  return parse_json(read_text(path, max_bytes), path);
}

nlohmann::ordered_json read_ordered_json_file(const std::string& path, size_t max_bytes) {
  return parsed<nlohmann::ordered_json>(read_text(path, max_bytes), path);
}

}  // namespace carbon
