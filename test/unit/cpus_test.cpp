// The memory domains of this process, in made-up folders of /sys.
#include "src/base/system.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/unit/genome_files.hpp"

using namespace carbon;

namespace {

int domains_of(const std::vector<std::string>& lists) {
  const carbon_test::TemporaryDirectory directory;
  directory.put("has_cpu", "0\n");  // what else lies there
  for (size_t i = 0; i < lists.size(); ++i) {
    const std::string node = "node" + std::to_string(i);
    std::filesystem::create_directory(directory.file(node));
    directory.put(node + "/cpulist", lists[i] + "\n");
  }
  return memory_domains(directory.path());
}

int first_cpu() {
  cpu_set_t mask;
  REQUIRE(sched_getaffinity(0, sizeof mask, &mask) == 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<size_t>(cpu), &mask)) ++cpu;
  return cpu;
}

}  // namespace

TEST_CASE("memory domains are those with a CPU that this process may use") {
  const std::string mine = std::to_string(first_cpu()), others = "5000-6000,7000";
  CHECK(domains_of({mine}) == 1);
  CHECK(domains_of({mine, others}) == 1);
  CHECK(domains_of({mine, ""}) == 1);  // a domain of memory alone
  CHECK(domains_of({mine, others + "," + mine, "0-100000", others}) == 3);
  CHECK(domains_of({others, "all of them", "-3", "9-"}) == 1);
  CHECK(domains_of({}) == 1);
  CHECK(memory_domains("/nowhere") == 1);
  CHECK(memory_domains() >= 1);
}
