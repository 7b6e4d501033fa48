// Embeddings in a report: files read as hostile input, principal components against their definition, groups.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <set>

#include "src/base/random.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/embedding_points.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/embeddings.hpp"
#include "src/report/sources/input.hpp"
#include "test/unit/model_fixture.hpp"

using namespace carbon;
using model_test::contains;
using model_test::message_of;
using model_test::TempDir;

namespace {

using Matrix = std::vector<std::vector<float>>;

Pca pca_of(const Matrix& rows, size_t most) {
  return principal_components(
      [&](const std::function<void(std::span<const float>)>& use) {
        for (const auto& row : rows) use(row);
      },
      rows.empty() ? 1 : rows[0].size(), most);
}

// Number k of an orthonormal set of vectors of length n, whose sum is 0 for k > 0.
double cosine(size_t k, size_t i, size_t n) {
  const double value = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) * static_cast<double>(k) /
                                static_cast<double>(n));
  return value * std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(n));
}

// A matrix with these singular values, around a mean that is not zero.
Matrix matrix_of(const std::vector<double>& singular, size_t rows, size_t columns) {
  Matrix out(rows, std::vector<float>(columns));
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      double value = 3 + 0.1 * static_cast<double>(j % 7);
      for (size_t k = 0; k < singular.size(); ++k)
        value += singular[k] * cosine(k + 1, i, rows) * cosine(k + 1, j, columns);
      out[i][j] = static_cast<float>(value);
    }
  return out;
}

Matrix noise(size_t rows, size_t columns) {
  Matrix out(rows, std::vector<float>(columns));
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      out[i][j] = static_cast<float>(
          uniform32(philox({static_cast<uint32_t>(i), static_cast<uint32_t>(j), 0, 0}, {1, 2})[0]));
  return out;
}

std::string npy_of(const std::string& dictionary, int version = 1, const std::string& data = "") {
  std::string out("\x93NUMPY", 6);
  out += static_cast<char>(version);
  out += '\0';
  const size_t length = dictionary.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(length >> (8 * i) & 255);
  return out + dictionary + "\n" + data;
}

std::string refusal_of(const std::string& bytes) {
  return message_of([&] { parse_npy_header(bytes, "a.npy"); });
}

struct ReadRow {
  std::string name;
  uint64_t sequence;
  std::vector<float> values;
  bool operator==(const ReadRow&) const = default;
};

std::vector<ReadRow> rows_of(const std::string& path) {
  std::vector<ReadRow> out;
  open_embeddings(path).read([&](const EmbeddingRow& row) {
    out.push_back({std::string(row.name), row.sequence, {row.values.begin(), row.values.end()}});
  });
  return out;
}

class Files {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = dir_.path() / name;
    model_test::write_text(path, text);
    return path.string();
  }
  std::string table_refusal(const std::string& text) const {
    const std::string path = write("t.tsv", text);
    return message_of([&] { rows_of(path); });
  }
  std::string group_refusal(const std::string& text, const std::string& column) const {
    const std::string path = write("g.tsv", text);
    return message_of([&] { GroupTable(path, column); });
  }

 private:
  TempDir dir_;
};

std::string floats(const std::vector<float>& values) {
  std::string out(values.size() * 4, '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace

TEST_CASE("report embeddings: components of a matrix with known singular values") {
  for (const size_t columns : {12, 300}) {
    const std::vector<double> singular = {40, 25, 25, 11, 3, 2, 1, 0.5, 0.25, 0.125, 0.1};
    const Matrix rows = matrix_of(singular, 60, columns);
    const Pca pca = pca_of(rows, 10);
    REQUIRE(pca.components.size() == 10);
    CHECK(pca.residual < 1e-10);
    double total = 0;
    for (const double s : singular) total += s * s / 59;
    CHECK(pca.total == doctest::Approx(total).epsilon(1e-6));
    for (size_t k = 0; k < 10; ++k) {
      CHECK(pca.variances[k] == doctest::Approx(singular[k] * singular[k] / 59).epsilon(1e-5));
      if (k == 1 || k == 2) continue;  // two equal values have no directions of their own
      const double sign = pca.components[k][0] * cosine(k + 1, 0, columns) < 0 ? -1 : 1;
      for (size_t j = 0; j < columns; ++j)
        CHECK(std::abs(pca.components[k][j] - sign * cosine(k + 1, j, columns)) < 1e-4);
      for (const size_t i : {0, 17, 59})
        CHECK(std::abs(pca.score(rows[i], k) - sign * singular[k] * cosine(k + 1, i, 60)) < 1e-4);
    }
  }
}

TEST_CASE("report embeddings: components are eigenvectors of the covariance, and the largest ones") {
  const size_t n = 400, columns = 190;  // more columns than one basis of vectors
  const Matrix rows = noise(n, columns);
  const Pca pca = pca_of(rows, 10);
  REQUIRE(pca.components.size() == 10);
  std::vector<double> covariance(columns * columns);
  double trace = 0;
  for (size_t a = 0; a < columns; ++a)
    for (size_t b = 0; b < columns; ++b) {
      double sum = 0;
      for (size_t i = 0; i < n; ++i) sum += (rows[i][a] - pca.means[a]) * (rows[i][b] - pca.means[b]);
      covariance[a * columns + b] = sum / (n - 1);
      if (a == b) trace += sum / (n - 1);
    }
  CHECK(pca.total == doctest::Approx(trace).epsilon(1e-12));
  const auto image = [&](const std::vector<double>& v) {
    std::vector<double> out(columns);
    for (size_t a = 0; a < columns; ++a)
      for (size_t b = 0; b < columns; ++b) out[a] += covariance[a * columns + b] * v[b];
    return out;
  };
  for (size_t k = 0; k < 10; ++k) {
    const auto moved = image(pca.components[k]);
    for (size_t j = 0; j < columns; ++j)
      CHECK(std::abs(moved[j] - pca.variances[k] * pca.components[k][j]) < 1e-11);
    if (k > 0) CHECK(pca.variances[k] <= pca.variances[k - 1]);
    CHECK(*std::max_element(pca.components[k].begin(), pca.components[k].end()) >=
          -*std::min_element(pca.components[k].begin(), pca.components[k].end()));
  }
  // What is left without them has no larger value: power iteration on it.
  std::vector<double> v(columns);
  for (size_t j = 0; j < columns; ++j)
    v[j] = uniform32(philox({static_cast<uint32_t>(j), 9, 9, 9}, {3, 4})[0]) - 0.5;
  double length = 0;
  for (int step = 0; step < 3000; ++step) {
    for (size_t k = 0; k < 10; ++k) {
      double along = 0;
      for (size_t j = 0; j < columns; ++j) along += v[j] * pca.components[k][j];
      for (size_t j = 0; j < columns; ++j) v[j] -= along * pca.components[k][j];
    }
    v = image(v);
    length = 0;
    for (const double x : v) length += x * x;
    length = std::sqrt(length);
    for (double& x : v) x /= length;
  }
  CHECK(length <= pca.variances[9] * (1 + 1e-9));
  CHECK(length > 0.8 * pca.variances[9]);
}

TEST_CASE("report embeddings: few rows, equal rows, huge and tiny values") {
  CHECK(pca_of({}, 10).components.empty());
  CHECK(pca_of({{1, 2, 3}}, 10).components.empty());
  CHECK(pca_of(Matrix(50, {0.1f, 1e30f, -3}), 10).components.empty());
  CHECK(pca_of({{1, 2, 3}, {4, 5, 7}}, 10).components.size() == 1);
  CHECK(pca_of({{1}, {4}, {5}}, 10).components.size() == 1);
  for (const float scale : {1e-30f, 1e30f}) {
    const Pca pca = pca_of({{scale, 0}, {-scale, 0}, {0, scale / 2}, {0, -scale / 2}}, 10);
    REQUIRE(pca.components.size() == 2);
    CHECK(pca.variances[1] / pca.variances[0] == doctest::Approx(0.25));
    CHECK(pca.components[0][0] == doctest::Approx(1));
  }
  const Pca equal = pca_of({{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}, 10);
  REQUIRE(equal.components.size() == 3);
  for (const double variance : equal.variances) CHECK(variance == doctest::Approx(0.4));
}

TEST_CASE("report embeddings: headers of npy files") {
  const std::string good = "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }";
  for (const int version : {1, 2, 3}) {
    const NpyHeader header = parse_npy_header(npy_of(good, version), "a.npy");
    CHECK(header.half);
    CHECK(header.rows == 3);
    CHECK(header.columns == 2);
    CHECK(header.begin == npy_of(good, version).size());
  }
  CHECK_FALSE(
      parse_npy_header(npy_of("{\"shape\":(1,2),\"descr\":\"<f4\",\"fortran_order\":False}"), "a").half);
  CHECK(contains(refusal_of("\x93NUMPY"), "a.npy: the file is too short"));
  CHECK(contains(refusal_of(npy_of(good, 4)), "version 4.0"));
  CHECK(contains(refusal_of(npy_of(good).substr(0, 40)), "claims"));
  CHECK(contains(refusal_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "claims 4294967295"));
  CHECK(contains(refusal_of(npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}")),
                 "type '<f8'"));
  CHECK(contains(refusal_of(npy_of("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2)}")),
                 "type '>f4'"));
  CHECK(contains(refusal_of(npy_of("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}")), "C order"));
  CHECK(contains(refusal_of(npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}")),
                 "1 dimensions"));
  CHECK(
      contains(refusal_of(npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': ()}")), "0 dimensions"));
  for (const std::string bad :
       {"{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 99999999999999999999)}", "{'descr: <f4}",
        "{'descr': '<f4', 'evil': 1, 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': [('a', '<f4')], 'shape': (3, 2)}"})
    CHECK(contains(refusal_of(npy_of(bad)), "damaged"));
}

TEST_CASE("report embeddings: arrays with their names") {
  const Files files;
  const std::string names = "#name\tfirst_row\trows\na\t0\t1\nempty\t1\t0\nb\t1\t2\n";
  const std::string header = npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }");
  const std::string path = files.write("x.npy", header + floats({1, 2, 3, 4, 5, 6}));
  CHECK(contains(message_of([&] { rows_of(path); }), "x.names.tsv: cannot be opened"));
  files.write("x.names.tsv", names);
  const std::vector<ReadRow> wanted = {{"a", 0, {1, 2}}, {"b", 2, {3, 4}}, {"b", 2, {5, 6}}};
  CHECK(rows_of(path) == wanted);
  const std::string tensors = R"({"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}})";
  const auto safetensors = [&](const std::string& text, const std::string& body,
                               const std::string& name = "x.safetensors") {
    std::string out(8, '\0');
    out[0] = static_cast<char>(text.size());
    return files.write(name, out + text + body);
  };
  CHECK(rows_of(safetensors(tensors, floats({1, 2, 3, 4, 5, 6}))) == wanted);
  // The first bytes tell, whatever the name.
  const std::string other = safetensors(tensors, floats({1, 2, 3, 4, 5, 6}), "y.txt");
  files.write("y.txt.names.tsv", names);
  CHECK(input_kind(other) == InputKind::embedding_array);
  CHECK(rows_of(other) == wanted);
  CHECK(contains(message_of([&] { rows_of(safetensors(tensors, floats({1, 2}))); }), "past the end"));
  CHECK(contains(message_of([&] { rows_of(safetensors("{}", "")); }), "no tensor 'embeddings'"));
  CHECK(contains(message_of([&] {
                   rows_of(
                       safetensors(R"({"embeddings":{"dtype":"I32","shape":[3,2],"data_offsets":[0,24]}})",
                                   floats({1, 2, 3, 4, 5, 6})));
                 }),
                 "not a matrix of F32 or F16"));

  for (const std::string columns : {"0", "99999"}) {
    files.write("x.npy", npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, " + columns + ")}"));
    CHECK(contains(message_of([&] { rows_of(path); }), columns + " columns"));
  }
  files.write("x.npy", header + floats({1, 2, 3, 4, 5}));
  CHECK(contains(message_of([&] { rows_of(path); }), "cut or damaged"));
  files.write("x.npy", header + floats({1, 2, 3, 4, 5, 6, 7}));
  CHECK(contains(message_of([&] { rows_of(path); }), "cut or damaged"));
  files.write("x.npy", header + floats({1, 2, 3, NAN, 5, 6}));
  CHECK(contains(message_of([&] { rows_of(path); }), "row 1, column 1 is not a finite number"));
  files.write("x.npy", npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2)}"));
  CHECK(contains(message_of([&] { rows_of(path); }), "more than 2^64"));

  files.write("x.npy", header + floats({1, 2, 3, 4, 5, 6}));
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "first line"},
           {"#name\tfirst_row\trows\na\t0\t1\n", "more rows than the 1"},
           {names + "c\t3\t1\n", "the table has 4 rows, and the matrix has 3"},
           {"#name\tfirst_row\trows\na\t1\t1\n", ":2: first_row is 1, expected 0"},
           {"#name\tfirst_row\trows\na\t0\n", "two numbers"},
           {"#name\tfirst_row\trows\n\t0\t3\n", "expected a name"},
           {"#name\tfirst_row\trows\na\t0\t-3\n", "two numbers"},
           {"#name\tfirst_row\trows\na\t0\t3\nb\t3\t18446744073709551615\n", "too large"}}) {
    files.write("x.names.tsv", text);
    CHECK(contains(message_of([&] { rows_of(path); }), words));
  }
}

TEST_CASE("report embeddings: half precision") {
  const Files files;
  files.write("h.names.tsv", "#name\tfirst_row\trows\na\t0\t2\n");
  const std::string path =
      files.write("h.npy", npy_of("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1)}", 1,
                                  std::string("\x00\x3c\x00\xc0", 4)));
  CHECK(rows_of(path) == std::vector<ReadRow>{{"a", 0, {1}}, {"a", 0, {-2}}});
}

TEST_CASE("report embeddings: tables") {
  const Files files;
  CHECK(rows_of(files.write("a.tsv", "#name\te0\te1\na\t1\t-2.5e-3\na\t3\t4\r\n")) ==
        std::vector<ReadRow>{{"a", 0, {1, -2.5e-3f}}, {"a", 1, {3, 4}}});
  CHECK(rows_of(files.write("k.tsv", "#name\tkmer\te0\na\t0\t1\na\t1\t2\na\t0\t3\nb\t0\t4\n")) ==
        std::vector<ReadRow>{{"a", 0, {1}}, {"a", 0, {2}}, {"a", 1, {3}}, {"b", 2, {4}}});
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"#name\te0\te2\n", "expected column e1, not 'e2'"},
           {"#name\n", "0 columns"},
           {"#name\te0\te1\na\t1\n", "t.tsv:2: expected 2 numbers"},
           {"#name\te0\te1\na\t1\t2\t3\n", ":2: expected 2 numbers"},
           {"#name\te0\te1\na\t1\t2\nb\t1\tnan\n", ":3: expected 2 numbers"},
           {"#name\te0\te1\na\t1\tinf\n", "expected 2 numbers"},
           {"#name\te0\te1\na\t1\t1e99\n", "expected 2 numbers"},
           {"#name\te0\te1\na\t1\t\n", "expected 2 numbers"},
           {"#name\te0\te1\na\t1x\t2\n", "e0 is none"},
           {"#name\te0\te1\n\n", "no name"},
           {"#name\tkmer\te0\na\t1\t1\n", "one after the other from 0"},
           {"#name\tkmer\te0\na\t0\t1\na\t2\t1\n", "one after the other"},
           {"#name\tkmer\te0\na\t0\t1\nb\t1\t1\n", "one after the other"},
           {"#name\tkmer\te0\na\tx\t1\n", "not the number of a 6-mer"}})
    CHECK(contains(files.table_refusal(text), words));
}

TEST_CASE("report embeddings: tables of groups") {
  const Files files;
  GroupTable table(
      files.write("g.tsv",
                  "#seq\tspecies\tgc\na\tfly\t0.5\nb\tNA\t.\nc\tyeast\t0.25\r\na\tfly\t0.5\n\nd\tfly\t\n"),
      "species");
  CHECK(table.values() == std::vector<std::string>{"fly", "yeast"});
  CHECK(table.numbers().empty());
  CHECK(table.find("a") == size_t{0});
  CHECK(table.find("a") == size_t{0});
  CHECK_FALSE(table.find("b"));
  CHECK_FALSE(table.find("nobody"));
  CHECK(table.find("c") == size_t{1});
  CHECK(table.unused() == 1);
  const GroupTable numbers(files.write("g.tsv", "seq\tspecies\tgc\na\tfly\t0.5\nb\tNA\t.\nc\tyeast\t0.25\n"),
                           "gc");
  CHECK(numbers.numbers() == std::vector<double>{0.5, 0.25});
  CHECK(GroupTable(files.write("g.tsv", "s\tcluster\na\t1\nb\t2\n"), "cluster").numbers().empty());
  CHECK(GroupTable(files.write("g.tsv", "s\tlength\na\t1\nb\t2\nc\t3\nd\t4\ne\t5\nf\t6\ng\t7\nh\t8\ni\t9\n"),
                   "length")
            .numbers()
            .size() == 9);
  for (const auto& [bad, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "empty"},
           {"seq\n", "separated by tabs"},
           {"seq\tspecies\tgc\n", "no column 'x'"},
           {"seq\tspecies\tgc\n", "the columns are species, gc"},
           {"x\tspecies\n", "no column 'x'"},
           {"seq\tx\tx\n", "two columns"},
           {"seq\tx\na\t1\t2\n", ":2: the line has 3 columns"},
           {"seq\tx\na\t1\na\t2\n", ":3: 'a' has another value"},
           {"seq\tx\na\t1\na\t.\n", ":3: 'a' has another value"}})
    CHECK(contains(files.group_refusal(bad, "x"), words));
}

TEST_CASE("report embeddings: an even sample of the rows, and groups by size") {
  const Files files;
  std::string text = "#name\te0\te1\n", groups = "name\tgroup\nabsent\tz\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "s" + std::to_string(i);
    text += name + "\t" + std::to_string(i) + "\t" + std::to_string(i * i % 17) + "\n";
    if (i % 10 != 0) groups += name + "\tg" + std::to_string(i < 900 ? i % 3 : 3 + i % 7) + "\n";
  }
  ReportOptions options;
  options.groups = files.write("groups.tsv", groups);
  options.colour = "group";
  const EmbeddingPoints data = read_points(files.write("e.tsv", text), options, 10, 250);
  CHECK(data.rows == 1000);
  REQUIRE(data.points.size() == 250);
  std::set<int> gaps;
  for (size_t i = 1; i < 250; ++i)
    gaps.insert(std::stoi(data.points[i].name.substr(1)) - std::stoi(data.points[i - 1].name.substr(1)));
  CHECK(gaps == std::set<int>{4});
  uint64_t sequences = data.without.sequences;
  for (size_t i = 0; i < data.groups.size(); ++i) {
    sequences += data.groups[i].sequences;
    if (i > 0) CHECK(data.groups[i].sequences <= data.groups[i - 1].sequences);
  }
  CHECK(data.without.sequences == 100);
  CHECK(sequences == 1000);
  CHECK(data.groups.size() == 10);
  CHECK(data.unused == 1);
  for (const EmbeddingPoint& point : data.points) {
    const int number = std::stoi(point.name.substr(1));
    const std::string group =
        number % 10 == 0 ? "" : "g" + std::to_string(number < 900 ? number % 3 : 3 + number % 7);
    CHECK((point.group == kNoGroup ? "" : data.groups[point.group].name) == group);
  }
  const Section section = embedding_section("e", files.write("e.tsv", text), options);
  const Figure& figure = std::get<Figure>(section.parts.at(0));
  CHECK(contains(figure.caption, "The smaller groups, 2, are shown as other."));
  CHECK(contains(figure.svg, ">other ("));
  CHECK(contains(figure.svg, ">no value (100)"));
}

TEST_CASE("report drawing: shapes of points differ, and begin where they end") {
  std::set<std::string> paths;
  for (const Marker marker : kMarkers) {
    const std::string path = marker_path(marker, 100, 50, 3);
    CHECK(path.starts_with("M"));
    CHECK(path.ends_with("Z"));
    paths.insert(path);
  }
  CHECK(paths.size() == kMarkers.size());
}

TEST_CASE("report drawing: texts are shortened by letters, not bytes") {
  CHECK(cut_text("abc", 3) == "abc");
  CHECK(cut_text("abcd", 3) == "abc\u2026");
  CHECK(cut_text("\u00e4\u00f6\u00fc", 3) == "\u00e4\u00f6\u00fc");
  CHECK(cut_text("\u00e4\u00f6\u00fcx", 3) == "\u00e4\u00f6\u00fc\u2026");
  CHECK(cut_text("", 3) == "");
}
