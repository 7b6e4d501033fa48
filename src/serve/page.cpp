// The files of the web page.
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "src/serve/endpoints.hpp"

namespace carbon {
namespace {

using namespace std::string_view_literals;

struct Source {
  std::string_view name, text;
};
constexpr Source kSources[] = {
#include "serve_page.h"
};

constexpr std::string_view content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml; charset=utf-8";
  return "text/plain; charset=utf-8";
}

constexpr auto kFiles = [] {
  std::array<PageFile, std::size(kSources)> files;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto [name, text] = kSources[i];
    files[i] = {name == "/index.html" ? "/" : name, content_type(name), text};
  }
  return files;
}();

}  // namespace

std::span<const PageFile> page_files() {
  return kFiles;
}

}  // namespace carbon
