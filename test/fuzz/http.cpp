// The bytes of a connection to carbon serve: the header of a request, its target and its body, which comes in
// pieces of a size that the first byte says.
#include <algorithm>

#include "src/serve/http_body.hpp"
#include "src/serve/http_header.hpp"
#include "src/serve/http_text.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

constexpr size_t kMostBody = 4096;

void check_answer(const HttpHeader& header) {
  HttpAnswer answer;
  answer.status = header.problem == 0 ? 200 : header.problem;
  answer.headers = {{"X-Origin", header.request.origin}};
  HttpFraming framing;
  framing.http10 = header.http10;
  framing.keep = header.keep;
  const std::string head = answer_head(answer, header.request.id, framing);
  require(head.find("\r\n\r\n") == head.size() - 4, "a header of an answer that ends early");
}

void read_body(const HttpHeader& header, std::string_view bytes, size_t piece) {
  HttpBodyReader body(header.length, kMostBody);
  auto status = HttpBodyReader::Status::more;
  while (status == HttpBodyReader::Status::more && !bytes.empty()) {
    std::string_view next = bytes.substr(0, piece);
    const size_t offered = next.size();
    status = body.read(next);
    require(status != HttpBodyReader::Status::more || next.empty(), "bytes of a body that are left over");
    bytes.remove_prefix(offered - next.size());
  }
  require(body.body().size() <= kMostBody, "a body that is too large");
}

}  // namespace

void run(std::string_view input, const Folder& /*folder*/) {
  if (input.empty()) return;
  const size_t piece = static_cast<unsigned char>(input[0]) % 64 + 1;
  input.remove_prefix(1);
  const size_t end = input.find("\r\n\r\n");
  may_become_request(input.substr(0, end));
  if (end == std::string_view::npos) return;
  const HttpHeader header = parse_header(input.substr(0, end + 4), kMostBody);
  check_answer(header);
  if (header.problem != 0) return;
  require(!header.request.path.empty(), "a request without a path");
  if (header.has_body()) read_body(header, input.substr(end + 4), piece);
}

}  // namespace carbon::fuzz
