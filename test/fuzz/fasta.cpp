// A FASTA file, plain or compressed, read from its beginning to its end.
#include "src/formats/fasta.hpp"

#include <algorithm>
#include <cctype>

#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  FastaReader reader(folder.put("in.fa", input));
  for (FastaRecord record; reader.next(record);) {
    require(!record.name.empty(), "a record without a name");
    require(std::none_of(record.sequence.begin(), record.sequence.end(),
                         [](unsigned char c) { return std::isspace(c) != 0; }),
            "white space in a sequence");
  }
}

}  // namespace carbon::fuzz
