// Matrices as npy and safetensors files, and rounding to half precision.
#include "src/formats/matrix_output.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/files/output.hpp"
#include "test/unit/model_fixture.hpp"

using namespace carbon;
using model_test::message_of;
using model_test::TempDir;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

float half_value(uint32_t bits) {
  return half_to_float(static_cast<uint16_t>(bits));
}

}  // namespace

TEST_CASE("half precision: every value is kept, and what lies between goes to the nearer, ties to even") {
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    const float value = half_value(half), next = half == 0x7bff ? 65536.0f : half_value(half + 1);
    const float middle = (value + next) / 2;  // exact in binary32
    const uint32_t even = half % 2 == 0 ? half : half + 1;
    const bool good = float_to_half(value) == half && float_to_half(-value) == (half | 0x8000) &&
                      float_to_half(middle) == even && float_to_half(std::nextafter(middle, 0.0f)) == half &&
                      float_to_half(std::nextafter(middle, 1e9f)) == half + 1;
    if (!good) FAIL("half precision bits " << half);
  }
  CHECK(float_to_half(std::numeric_limits<float>::infinity()) == 0x7c00);
  CHECK(float_to_half(-1e30f) == 0xfc00);
  CHECK(float_to_half(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(std::isnan(half_value(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("array headers have one length for any number of rows") {
  const uint64_t huge = uint64_t{1} << 40;
  for (const ArrayFormat format : {ArrayFormat::npy, ArrayFormat::safetensors})
    for (const DType type : {DType::f32, DType::f16}) {
      const std::string header = array_header({format, type, 4096, {"embeddings"}}, huge);
      CHECK(header.size() % 64 == 0);
      CHECK(header.size() == array_header({format, type, 1, {"embeddings"}}, 0).size());
      CHECK(header.find("1099511627776, 4096") != std::string::npos);
    }
  CHECK(array_header({ArrayFormat::safetensors, DType::f32, 4096, {"embeddings"}}, huge)
            .find("[0,18014398509481984]}}") != std::string::npos);
  const std::string begin("\x93NUMPY\x01\x00\x76\x00", 10);
  CHECK(array_header({ArrayFormat::npy, DType::f16, 2, {"embeddings"}}, 3)
            .starts_with(begin + "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), } "));
}

TEST_CASE("metadata stands before the tensor, and the numbers stay aligned") {
  const std::string plain = array_header({ArrayFormat::safetensors, DType::f32, 3, {"embeddings"}}, 2);
  for (const size_t length : {0, 1, 38, 39, 40, 41, 102, 103, 104, 5000}) {
    const std::string metadata = R"({"key":")" + std::string(length, 'x') + R"("})";
    const std::string header =
        array_header({ArrayFormat::safetensors, DType::f32, 3, {"embeddings"}, metadata}, 2);
    CHECK(header.size() % 64 == 0);
    CHECK(header.size() ==
          array_header({ArrayFormat::safetensors, DType::f16, 3, {"embeddings"}, metadata}, 1u << 30).size());
    uint64_t text = 0;
    std::memcpy(&text, header.data(), sizeof text);
    CHECK(text == header.size() - 8);
    const std::string tensor = plain.substr(9, plain.find_last_of('}') - 8);
    CHECK(header.substr(8).starts_with(R"({"__metadata__":)" + metadata + "," + tensor));
    CHECK(header.find_first_not_of(' ', header.rfind('}') + 1) == std::string::npos);
  }
}

TEST_CASE("an array file appears when it is complete") {
  const TempDir dir;
  const std::string path = (dir.path() / "a.npy").string();
  const auto write = [&](bool complete) {
    ArrayFile file(path, {ArrayFormat::npy, DType::f32, 3});
    const float rows[] = {1, 2, 3, -0.5f, 1e-3f, 65536};
    file.append(std::span(rows).first(3));
    file.append(std::span(rows).last(3));
    CHECK(file.rows() == 2);
    file.finish();
    CHECK_FALSE(std::filesystem::exists(path));
    if (complete) file.commit();
  };
  write(false);
  CHECK(std::filesystem::is_empty(dir.path()));
  write(true);
  const std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() == 128 + 6 * sizeof(float));
  CHECK(bytes.substr(0, 128) == array_header({ArrayFormat::npy, DType::f32, 3, {"embeddings"}}, 2));
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
  CHECK(last == 65536);
}

TEST_CASE("tensors of one file grow side by side and stand one after the other") {
  const TempDir dir;
  const std::string path = (dir.path() / "a.safetensors").string();
  const ArrayLayout layout{ArrayFormat::safetensors, DType::f32, 2, {"ref", "alt"}, R"({"k":"v"})"};
  constexpr size_t rows = 200'000;  // more than the buffers hold
  ArrayFile file(path, layout);
  for (size_t i = 0; i < rows; ++i) {
    const auto at = static_cast<float>(i);
    const float ref[] = {at, 0.5f}, alt[] = {-at, 0.25f};
    file.append(ref, 0);
    file.append(alt, 1);
  }
  file.finish();
  file.commit();
  const std::string bytes = bytes_of(path), header = array_header(layout, rows);
  CHECK(header.size() == array_header(layout, 0).size());
  CHECK(header.find(R"("ref":{"dtype":"F32","shape":[200000, 2],"data_offsets":[0,1600000]},"alt")") !=
        std::string::npos);
  CHECK(header.find(R"("data_offsets":[1600000,3200000]}})") != std::string::npos);
  REQUIRE(bytes.size() == header.size() + 2 * rows * 2 * sizeof(float));
  CHECK(bytes.starts_with(header));
  for (const size_t i : {size_t{0}, size_t{1}, rows - 1})
    for (const size_t tensor : {0u, 1u}) {
      float values[2];
      std::memcpy(values, bytes.data() + header.size() + ((tensor * rows + i) * 2) * sizeof(float),
                  sizeof values);
      CHECK(values[0] == (tensor == 0 ? 1.0f : -1.0f) * static_cast<float>(i));
      CHECK(values[1] == (tensor == 0 ? 0.5f : 0.25f));
    }
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}

TEST_CASE("a path is a stream or has a beginning to go back to") {
  const TempDir dir;
  CHECK(is_stream("-"));
  CHECK(is_stream("/dev/null"));
  CHECK(is_stream("/dev/stdout"));
  CHECK(is_stream("/dev/fd/7"));
  CHECK_FALSE(is_stream(dir.str()));
  CHECK_FALSE(is_stream(dir.str() + "/absent"));
  model_test::write_text(dir.path() / "file", "x");
  CHECK_FALSE(is_stream(dir.str() + "/file"));
}
