#include "src/serve/http_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace carbon {
namespace {

// The longest method that anyone has registered has 17 characters.
constexpr size_t kLongestMethod = 32;

bool is_token_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kMarks.find(c) != std::string_view::npos;
}

bool is_visible(char c) {
  return c > ' ' && c <= '~';
}

bool is_field_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

bool is_field_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token_character);
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // allowed: clients read the number
  }
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  if (!is_field_name(name) || !is_field_value(value)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

bool may_become_request(std::string_view start) {
  const size_t line_end = start.find('\n');
  if (line_end != std::string_view::npos && (line_end == 0 || start[line_end - 1] != '\r')) return false;
  const size_t method_end = std::min(start.find(' '), start.size());
  return method_end <= kLongestMethod &&
         std::all_of(start.begin(), start.begin() + method_end, is_token_character);
}

bool split_target(std::string_view target, std::string& path, std::string& query) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_visible)) return false;
  // The absolute form, as a proxy is asked: the host in it names this server.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(std::min(target.find_first_of("/?", scheme.size()), target.size()));
  }
  const size_t mark = std::min(target.find('?'), target.size());
  path = target.substr(0, mark);
  query = mark < target.size() ? target.substr(mark + 1) : "";
  if (path.empty()) path = "/";
  return path.front() == '/' || path == "*";
}

std::string decoded_path(std::string_view path) {
  std::string decoded;
  decoded.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    unsigned char byte = 0;
    const char* const code = path.data() + i + 1;
    const bool encoded =
        path[i] == '%' && path.size() - i > 2 && std::from_chars(code, code + 2, byte, 16).ptr == code + 2;
    decoded += encoded ? static_cast<char>(byte) : path[i];
    if (encoded) i += 2;
  }
  return decoded;
}

std::string bare_host(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

std::string host_and_port(const std::string& host, uint16_t port) {
  const std::string bare = bare_host(host);
  const bool is_v6 = bare.find(':') != std::string::npos;
  return (is_v6 ? "[" + bare + "]" : bare) + ":" + std::to_string(port);
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), is_visible);
}

std::string visible_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c != ' ' && !is_visible(c)) c = '?';
  return result;
}

bool has_body(int status) {
  return status != 204 && status != 304;
}

std::string answer_head(const HttpAnswer& answer, std::string_view request_id, const HttpFraming& framing) {
  std::string head = framing.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  head.append(std::to_string(answer.status)).append(" ").append(reason(answer.status)).append("\r\n");
  if (has_body(answer.status)) {
    append_field(head, "Content-Type", answer.content_type);
    append_field(head, "X-Content-Type-Options", "nosniff");
    if (framing.length) append_field(head, "Content-Length", std::to_string(*framing.length));
    if (framing.chunked()) append_field(head, "Transfer-Encoding", "chunked");
  }
  if (framing.streamed) append_field(head, "Cache-Control", "no-cache");
  append_field(head, "X-Request-Id", request_id);
  for (const auto& [name, value] : answer.headers) append_field(head, name, value);
  if (!framing.keep)
    append_field(head, "Connection", "close");
  else if (framing.http10)
    append_field(head, "Connection", "keep-alive");
  return head.append("\r\n");
}

void append_chunk(std::string& out, std::string_view piece) {
  if (piece.empty()) return;
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  out.append(size).append(piece).append("\r\n");
}

}  // namespace carbon
