// A FASTA file with its index: an index that is accepted gives the bases that the file has.
#include <map>

#include "src/genome/fasta.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

// The sequences by their names. A name that comes twice may mean either.
std::multimap<std::string, std::string> read_sequences(const std::string& path) {
  std::multimap<std::string, std::string> sequences;
  FastaReader reader(path);
  for (FastaRecord record; reader.next(record);) sequences.emplace(record.name, record.sequence);
  return sequences;
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 2);
  const std::string path = folder.put("in.fa", files[0]);
  if (!files[1].empty()) folder.put("in.fa.fai", files[1]);
  const IndexedFasta fasta(path);
  const std::multimap<std::string, std::string> sequences = read_sequences(path);
  for (const std::string& name : fasta.names()) {
    const int64_t length = fasta.length(name);
    attempt([&] {
      const std::string bases = fasta.fetch(name, 0, length);
      require(static_cast<int64_t>(bases.size()) == length, "other than the bases that were asked for");
      if (sequences.count(name) == 1)
        require(bases == sequences.find(name)->second, "bases that are not those of the file");
    });
    if (length > 2) attempt([&] { fasta.fetch(name, length / 2, length - 1); });
  }
}

}  // namespace carbon::fuzz
