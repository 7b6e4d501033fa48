// The bits of a few scores, embeddings and samples for every kind of device that a CPU can be. They may
// change only together with the numerics version in the kind's name (kNumerics), because saved scores are
// compared by it: a cache or an interrupted run must never mix two arithmetics.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::tiny;

namespace {

struct Bits {
  uint64_t marginals = 0, token_logprobs = 0, hidden = 0, samples = 0;
  bool operator==(const Bits&) const = default;
};

// By Backend::device_kind() and LoadedModel::dtype(). To renew them after a change of kNumerics, copy what
// the test prints.
const std::map<std::string, Bits> kRecorded = {
    {"cpu:generic:2 f32",
     {0x1dd63c9a75671e51u, 0xfcea33c7c0b49db0u, 0x7f2055ec8d27c1e9u, 0x10e5ae3dd052cf2cu}},
    {"cpu:generic:2 bf16",
     {0x857431473d9e542bu, 0xb62ce0648c43d283u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:avx2:2 f32", {0xc90b53cab3aa2c7au, 0xbe726e220f5f4cf9u, 0x3ed84b85668ec2a3u, 0xafb469fc86d4e82cu}},
    {"cpu:avx2:2 bf16", {0x90825e7ffebde1b1u, 0x4385ec9b2ce60cd7u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:avx512:2 f32",
     {0x409ccce15b4c65e4u, 0x7bd1884ea60c3bd2u, 0xf93bb0e778d08138u, 0x63561336ffcd88ebu}},
    {"cpu:avx512:2 bf16",
     {0x90825e7ffebde1b1u, 0x4385ec9b2ce60cd7u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:avx512_bf16:2 f32",
     {0x409ccce15b4c65e4u, 0x7bd1884ea60c3bd2u, 0xf93bb0e778d08138u, 0x63561336ffcd88ebu}},
    {"cpu:avx512_bf16:2 bf16",
     {0x434944589d8e4652u, 0xe1367b9ccf9b6436u, 0x3ffe3c18f8c4fb7fu, 0x51e2acc791c94c02u}},
    {"cpu:avx512_amx:2 f32",
     {0x409ccce15b4c65e4u, 0x7bd1884ea60c3bd2u, 0xf93bb0e778d08138u, 0x63561336ffcd88ebu}},
    {"cpu:avx512_amx:2 bf16",
     {0x623cdf196ac8ed77u, 0x25a410d58d770177u, 0xfe8bd91eccdac66cu, 0x4deeac04f29148dfu}},
    {"cpu:neon:2 f32", {0xbb07da62af853285u, 0xa7fad0b7e846bf63u, 0xb97f14d32d43c757u, 0xd5c9ae5a6c5c7ad0u}},
    {"cpu:neon:2 bf16", {0x90825e7ffebde1b1u, 0x4385ec9b2ce60cd7u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:neon_dotprod:2 f32",
     {0xbb07da62af853285u, 0xa7fad0b7e846bf63u, 0xb97f14d32d43c757u, 0xd5c9ae5a6c5c7ad0u}},
    {"cpu:neon_dotprod:2 bf16",
     {0x90825e7ffebde1b1u, 0x4385ec9b2ce60cd7u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:neon_bf16:2 f32",
     {0xbb07da62af853285u, 0xa7fad0b7e846bf63u, 0xb97f14d32d43c757u, 0xd5c9ae5a6c5c7ad0u}},
    {"cpu:neon_bf16:2 bf16",
     {0xa19a7ef00f1c6a26u, 0x19e734c7b99e02c0u, 0x4fb6c7cd450509f6u, 0xbf699eaa611b323au}},
    {"cpu:avx512_vnni:2 f32",
     {0x409ccce15b4c65e4u, 0x7bd1884ea60c3bd2u, 0xf93bb0e778d08138u, 0x63561336ffcd88ebu}},
    {"cpu:avx512_vnni:2 bf16",
     {0x90825e7ffebde1b1u, 0x4385ec9b2ce60cd7u, 0x69605efe08388edeu, 0xed353486075a5f2du}},
    {"cpu:generic+int8.1:2 int8",
     {0xdc3f226d2459269cu, 0xe750af9d94e9c08bu, 0x76e54f42435c867cu, 0x4af5848d3ad9c0dcu}},
    {"cpu:avx2+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x71f154cb8a72123du}},
    {"cpu:avx512+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x71f154cb8a72123du}},
    {"cpu:avx512_vnni+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x71f154cb8a72123du}},
    {"cpu:avx512_bf16+int8.1:2 int8",
     {0xfea1a2560a542b7cu, 0x83b330c4e9b7ae25u, 0x46a864ce30cbe906u, 0x71f154cb8a72123du}},
    {"cpu:avx512_amx+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0xc951f514af6baa61u}},
    {"cpu:neon+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x71f154cb8a72123du}},
    {"cpu:neon_dotprod+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x71f154cb8a72123du}},
    {"cpu:neon_bf16+int8.1:2 int8",
     {0x0d27727656bf3860u, 0xde2ed019191ee49fu, 0xb42a3016a75e08aau, 0x44ffd91bbc87fe69u}},
};

// FNV-1a over the bytes.
template <class T>
uint64_t hash_of(std::span<const T> values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const T& value : values) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  return hash;
}

Bits bits_of(Engine& engine) {
  const TokenLayout& layout = engine.config().layout;
  const auto window = [&](HeadKind head) {
    const auto request = std::make_shared<Request>();
    request->tokens = random_tokens(layout, 150, 1);
    request->head = head;
    request->want_begin = 100;
    return request;
  };
  const RequestPtr marginals = window(HeadKind::marginals), tokens = window(HeadKind::token_logprobs),
                   hidden = window(HeadKind::hidden);
  for (uint32_t i = 0; i < 50; ++i) tokens->targets.push_back(layout.kmer0() + 80 * i);
  std::vector<RequestPtr> all{marginals, tokens, hidden};
  for (const SamplerKind kind : {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain}) {
    const auto request = std::make_shared<Request>();
    request->tokens = random_tokens(layout, 80, 2);
    const auto bases = std::make_shared<NewBases>();
    bases->length = 60;
    request->generation = {bases, {kind, false, 0.9, 0, 1, 7}, 0, 0, nullptr};
    all.push_back(request);
  }
  run_requests(engine, all);
  std::vector<double> samples;
  for (size_t i = 3; i < all.size(); ++i) {
    samples.push_back(all[i]->logp);
    for (const uint16_t kmer : all[i]->kmers) samples.push_back(kmer);
  }
  return {hash_of(marginals->values()), hash_of(tokens->values()), hash_of<float>(hidden->states),
          hash_of<double>(samples)};
}

}  // namespace

TEST_CASE("scores, embeddings and samples have the recorded bits on every kind of CPU") {
  const GeneratedCheckpoint files(tiny());
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  for (const std::string& isa : cpu::known_isas()) {
    try {
      ops::cpu_isa(isa);
    } catch (const Error&) {
      MESSAGE("SKIPPED ", isa, ": this CPU lacks it");
      continue;
    }
    for (const std::string dtype : {"f32", "bf16", "int8"}) {
      const DType activations = dtype == "f32" ? DType::f32 : DType::bf16;
      LoadedModel model(checkpoint, ops::make_cpu_backend({activations, 2, isa, dtype == "int8"}), 0, 2);
      Engine engine({&model});
      CHECK(model.dtype() == dtype);
      const std::string kind = model.device_kind() + " " + dtype;
      const Bits bits = bits_of(engine);
      char text[200];
      std::snprintf(
          text, sizeof text, "    {\"%s\",\n     {0x%016llxu, 0x%016llxu, 0x%016llxu, 0x%016llxu}},",
          kind.c_str(), static_cast<unsigned long long>(bits.marginals),
          static_cast<unsigned long long>(bits.token_logprobs), static_cast<unsigned long long>(bits.hidden),
          static_cast<unsigned long long>(bits.samples));
      const auto recorded = kRecorded.find(kind);
      CAPTURE(kind);
      CHECK_MESSAGE((recorded != kRecorded.end() && recorded->second == bits), "the bits are now\n", text);
    }
  }
}
