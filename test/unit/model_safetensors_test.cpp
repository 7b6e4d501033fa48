// Safetensors files with valid and with wrong headers.
#include "src/model/safetensors.hpp"

#include <doctest/doctest.h>

#include "test/unit/model_fixture.hpp"

using namespace model_test;

namespace {

std::string refusal(const std::string& header, const std::string& body = std::string(16, 'x')) {
  const TempDir dir;
  const fs::path file = dir.path() / "m.safetensors";
  write_raw_safetensors(file, header, body);
  const std::string message = message_of([&] { carbon::SafetensorsFile opened(file.string()); });
  if (message != "no error") CHECK(contains(message, file.string()));
  return message;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

std::string one(const std::string& value) {
  return "{\"t\":" + value + "}";
}

}  // namespace

TEST_CASE("safetensors: a file without metadata is read") {
  const TempDir dir;
  const fs::path file = dir.path() / "m.safetensors";
  write_safetensors(file, {{"a", {"F32", {2, 2}}}, {"b", {"BF16", {3}}}});
  const carbon::SafetensorsFile opened(file.string());
  REQUIRE(opened.tensors().size() == 2);
  const carbon::TensorInfo& b = opened.tensors().at("b");
  CHECK(b.dtype == "BF16");
  CHECK(b.shape == std::vector<uint64_t>{3});
  CHECK(b.end == opened.size());
  CHECK(std::string(reinterpret_cast<const char*>(opened.data() + b.begin), 6) == pattern("b", 6));
}

TEST_CASE("safetensors: metadata, scalars and empty tensors are accepted") {
  CHECK(refusal("{\"__metadata__\":{\"format\":\"pt\"},\"t\":" + entry("F32", "[]", "[0,4]") + "}") ==
        "no error");
  CHECK(refusal("{\"e\":" + entry("F32", "[0,3]", "[4,4]") + ",\"t\":" + entry("F32", "[2]", "[0,8]") +
                "}") == "no error");
}

TEST_CASE("safetensors: short files and impossible header lengths") {
  const TempDir dir;
  const fs::path file = dir.path() / "m.safetensors";
  const auto message = [&](const std::string& bytes) {
    write_text(file, bytes);
    return message_of([&] { carbon::SafetensorsFile opened(file.string()); });
  };
  CHECK(contains(message(""), "too short"));
  CHECK(contains(message("1234567"), "too short"));
  CHECK(contains(message(std::string(8, '\xff')), "header claims 18446744073709551615"));
  CHECK(contains(message(std::string("\x03\0\0\0\0\0\0\0{}", 10)), "header claims 3 bytes"));
  CHECK(contains(message(std::string(8, '\0')), "not valid JSON"));
  CHECK(contains(message_of([&] { carbon::SafetensorsFile opened(dir.str()); }), "regular file"));
  CHECK(contains(message_of([&] { carbon::SafetensorsFile opened(dir.str() + "/none"); }), "cannot open"));
}

TEST_CASE("safetensors: headers that are not the format") {
  CHECK(contains(refusal("not json"), "not valid JSON"));
  CHECK(contains(refusal("[]"), "not a JSON object"));
  CHECK(contains(refusal("{\"t\":1}"), "not an object"));
  CHECK(contains(refusal(one("{}")), "no dtype"));
  CHECK(contains(refusal(one("{\"dtype\":\"F32\"}")), "no shape"));
  CHECK(contains(refusal(one("{\"dtype\":\"F32\",\"shape\":[1]}")), "data_offsets"));
  CHECK(contains(refusal(one(entry("Q4", "[4]", "[0,4]"))), "unknown dtype 'Q4'"));
  CHECK(contains(refusal(one(entry("F32", "[-1]", "[0,4]"))), "shape"));
  CHECK(contains(refusal(one(entry("F32", "[1.5]", "[0,4]"))), "shape"));
  CHECK(contains(refusal(one(entry("F32", "[1]", "[0,4,8]"))), "data_offsets"));
  CHECK(contains(refusal(one(entry("F32", "[1]", "[-4,0]"))), "data_offsets"));
  const std::string twice = "\"t\":" + entry("F32", "[1]", "[0,4]");
  CHECK(contains(refusal("{" + twice + "," + twice + "}"), "'t' appears twice"));
}

TEST_CASE("safetensors: ranges that do not match the file or the shape") {
  CHECK(contains(refusal(one(entry("F32", "[1]", "[8,4]"))), "end before they begin"));
  CHECK(contains(refusal(one(entry("F32", "[5]", "[0,20]"))), "past the end"));
  CHECK(contains(refusal(one(entry("U8", "[1]", "[18446744073709551614,18446744073709551615]"))),
                 "past the end"));
  CHECK(contains(refusal(one(entry("F32", "[2]", "[0,4]"))), "need 8"));
  CHECK(contains(refusal(one(entry("BF16", "[2]", "[0,8]"))), "need 4"));
  CHECK(contains(refusal(one(entry("F32", "[4294967296,4294967296]", "[0,16]"))), "overflows"));
  CHECK(contains(refusal(one(entry("F32", "[4611686018427387904]", "[0,0]"))), "overflows"));
  CHECK(contains(
      refusal("{\"a\":" + entry("F32", "[2]", "[0,8]") + ",\"b\":" + entry("F32", "[2]", "[4,12]") + "}"),
      "'a' and 'b' overlap"));
}
