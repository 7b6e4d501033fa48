// The files of a byte-level BPE tokenizer, and a text that it encodes. If tokenizer.json is empty, vocab.json
// and merges.txt are read.
#include "tokenizer/bpe.hpp"

#include "test/fuzz/harness.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 4);
  if (!files[0].empty()) {
    folder.put("tokenizer.json", files[0]);
  } else {
    folder.put("vocab.json", files[1]);
    folder.put("merges.txt", files[2]);
  }
  const Bpe bpe = Bpe::load(folder.path());
  const std::vector<uint32_t> ids = bpe.encode(files[3]);
  for (const bool skip_special : {false, true}) check_utf8(bpe.decode(ids, skip_special), "fuzz");
}

}  // namespace carbon::fuzz
