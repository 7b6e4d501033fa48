#include "src/genome/sequence_inputs.hpp"

#include <utility>

#include "src/base/error.hpp"
#include "src/genome/fasta.hpp"
#include "src/genome/regions.hpp"

namespace carbon {

void read_sequences(const std::string& command, const SequenceInputs& inputs, Log& log,
                    const std::function<void(SequencePlace, const std::string&)>& take) {
  if (!inputs.has_regions()) {
    for (const std::string& path : inputs.files) {
      FastaReader reader(path);
      for (FastaRecord record; reader.next(record);) {
        const auto length = static_cast<int64_t>(record.sequence.size());
        take({record.name, 0, length}, record.sequence);
      }
    }
    return;
  }
  if (inputs.files.size() != 1 || inputs.files.front() == "-")
    throw Error(command, "regions need exactly one indexed FASTA file, not standard input or several files");
  const IndexedFasta fasta(inputs.files.front(), log);
  std::vector<Region> regions;
  for (const std::string& text : inputs.regions) regions.push_back(parse_region(text, fasta));
  for (const std::string& path : inputs.region_files)
    for (Region& region : read_regions(path, fasta)) regions.push_back(std::move(region));
  for (const Region& region : regions)
    take({region.contig, region.begin, region.end}, fasta.fetch(region.contig, region.begin, region.end));
}

}  // namespace carbon
