// The web page of the server: its files, which the Makefile puts into the program from src/serve/page.
#pragma once

#include <span>
#include <string_view>

namespace carbon {

struct PageFile {
  std::string_view path;  // "/" for index.html, "/NAME" for another
  std::string_view content_type;
  std::string_view bytes;
};

std::span<const PageFile> page_files();

}  // namespace carbon
