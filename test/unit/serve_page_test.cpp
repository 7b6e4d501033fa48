// The files of the web page that are part of the program.

#include "src/serve/endpoints.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace carbon;

TEST_CASE("the page is in the program as it is in the sources") {
  std::set<std::string_view> paths;
  for (const PageFile& file : page_files()) {
    CAPTURE(file.path);
    CHECK(paths.insert(file.path).second);
    CHECK(file.path.starts_with('/'));
    const std::string name = file.path == "/" ? "/index.html" : std::string(file.path);
    std::ifstream in("src/serve/page" + name);
    if (!in) in.open("src/report/figures" + name);  // the figures, which a report has, too
    REQUIRE(in);
    CHECK(file.bytes == std::string(std::istreambuf_iterator<char>(in), {}));
    CHECK(file.content_type.ends_with("; charset=utf-8"));
    CHECK_FALSE(file.content_type.starts_with("text/plain"));
    if (file.path == "/") CHECK(file.content_type.starts_with("text/html"));
    if (file.path.ends_with(".js")) CHECK(file.content_type.starts_with("text/javascript"));
  }
  CHECK(paths.count("/") == 1);
}
