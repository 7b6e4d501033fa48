// A FASTA file with its index: an index that is accepted gives the bases that the file has. The third file of
// an input, if there is one, are changes: then the FASTA is compressed in small blocks, its .gzi is right at
// first, and each three bytes are the file to change (.gzi or FASTA), the place and what to add to the byte
// there.
#include <htslib/bgzf.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "src/formats/fasta.hpp"
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

std::string compress(const Folder& folder, std::string_view text) {
  constexpr size_t kBlock = 12;
  std::string path = folder.file("in.fa.gz");
  BGZF* const out = bgzf_open(path.c_str(), "w0");
  bool written = out != nullptr && bgzf_index_build_init(out) == 0;
  for (; written && !text.empty(); text.remove_prefix(std::min(kBlock, text.size())))
    written = bgzf_write(out, text.data(), std::min(kBlock, text.size())) >= 0 && bgzf_flush(out) == 0;
  written = written && bgzf_index_dump(out, path.c_str(), ".gzi") == 0;
  require(out != nullptr && bgzf_close(out) == 0 && written, "cannot write a file of the target");
  return path;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void change(const Folder& folder, std::string_view changes) {
  const char* const names[] = {"in.fa.gz.gzi", "in.fa.gz"};
  std::string contents[] = {content_of(folder.file(names[0])), content_of(folder.file(names[1]))};
  for (; changes.size() >= 3; changes.remove_prefix(3)) {
    std::string& content = contents[changes[0] & 1];
    char& byte = content[static_cast<unsigned char>(changes[1]) % content.size()];
    byte = static_cast<char>(byte + changes[2]);
  }
  if (changes.size() == 1) contents[0].resize(contents[0].size() / 2);
  if (changes.size() == 2) contents[1].resize(contents[1].size() / 2);
  for (const int i : {0, 1}) folder.put(names[i], contents[i]);
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 3);
  const std::string plain = folder.put("in.fa", files[0]);
  const std::string path = files[2].empty() ? plain : compress(folder, files[0]);
  if (!files[1].empty()) folder.put(path.substr(path.rfind('/') + 1) + ".fai", files[1]);
  if (!files[2].empty()) change(folder, files[2]);
  const IndexedFasta fasta(path);
  const std::multimap<std::string, std::string> sequences = read_sequences(plain);
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
