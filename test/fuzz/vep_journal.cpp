// OUTPUT.partial of carbon vep, from which a run is resumed. Whatever the file holds, what is left of it
// after it was opened consists of whole entries.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "src/vep/resume.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

void check_entries(const std::string& path, uint64_t begin, uint64_t saved) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  require(fd >= 0, "the journal is gone");
  const uint64_t size = std::filesystem::file_size(path);
  JournalReader reader(fd, begin, size);
  uint64_t entries = 0;
  for (JournalReader::Entry entry; reader.next(entry);) ++entries;
  ::close(fd);
  require(entries == saved && reader.offset() == size, "the journal has bytes beside its entries");
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  const RunIdentity identity = {{"model", "m"}, {"window", "24"}};
  const std::string path = folder.put("out.vcf.partial", input);
  Journal journal(path, identity, EarlierRun::resume);
  if (journal.saved() == 0) return;
  check_entries(path, input.find('\n') + 1, journal.saved());
  JournalReader::Entry first;
  {
    const int fd = ::open(path.c_str(), O_RDONLY);
    JournalReader(fd, input.find('\n') + 1, input.size()).next(first);
    ::close(fd);
  }
  const auto values = journal.replay(first.site, first.values.size(), "c1:1");
  require(values && values->size() == first.values.size(), "the first entry is not replayed");
}

}  // namespace carbon::fuzz
