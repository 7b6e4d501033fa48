// A client of HTTP for tests of the server: a socket, what is written to it, and answers as they are on the
// wire. It waits for nothing longer than 20 seconds.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

struct WireAnswer {
  int status = 0;
  std::string head, body;  // the head with its empty line
  bool has(std::string_view field) const {
    return head.find("\r\n" + std::string(field) + "\r\n") != std::string::npos;
  }
};

class HttpClient {
 public:
  /// `receive_buffer`: of the socket in bytes, 0 for the system's own.
  explicit HttpClient(uint16_t port, int receive_buffer = 0)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (port > 0) connect(port);
  }
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void connect(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connection refused");
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void end_sending() { shutdown(fd_, SHUT_WR); }

  /// False if the server does not take it all.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  bool send_byte_by_byte(std::string_view bytes) {
    for (const char& c : bytes)
      if (!send({&c, 1})) return false;
    return true;
  }

  /// Reads once. False at the end, and after a reset.
  bool read_some(size_t limit = 65536) {
    std::string bytes(limit, '\0');
    const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("no answer");
    if (n <= 0) return false;
    rest_.append(bytes, 0, static_cast<size_t>(n));
    return true;
  }
  /// All bytes up to the end of the connection, or as many as `enough`.
  std::string read_all(size_t enough = SIZE_MAX) {
    while (rest_.size() < enough && read_some()) {
    }
    return std::exchange(rest_, {});
  }
  /// The next answer; with `head` the one to HEAD. Its body is without the marks of chunks.
  WireAnswer read_answer(bool head = false) {
    WireAnswer answer;
    answer.head = read_until("\r\n\r\n");
    answer.status = std::atoi(answer.head.c_str() + std::string_view("HTTP/1.1 ").size());
    if (head || answer.status == 100 || answer.status == 204) return answer;
    const size_t length = answer.head.find("Content-Length: ");
    if (length != std::string::npos) {
      answer.body = read_bytes(std::strtoul(answer.head.c_str() + length + 16, nullptr, 10));
    } else if (answer.has("Transfer-Encoding: chunked")) {
      for (;;) {
        const std::string piece = read_bytes(std::strtoul(read_until("\r\n").c_str(), nullptr, 16) + 2);
        if (piece.size() == 2) break;
        answer.body.append(piece, 0, piece.size() - 2);
      }
    } else {
      answer.body = read_all();
    }
    return answer;
  }
  /// Sends a request and reads its answer.
  WireAnswer ask(std::string_view request) {
    send(request);
    return read_answer(request.starts_with("HEAD"));
  }

 private:
  std::string read_until(std::string_view mark) {
    size_t end;
    while ((end = rest_.find(mark)) == std::string::npos)
      if (!read_some()) throw std::runtime_error("the connection ended in an answer: " + rest_);
    return take(end + mark.size());
  }
  std::string read_bytes(size_t n) {
    while (rest_.size() < n)
      if (!read_some()) throw std::runtime_error("the connection ended in a body");
    return take(n);
  }
  std::string take(size_t n) {
    std::string bytes = rest_.substr(0, n);
    rest_.erase(0, n);
    return bytes;
  }

  int fd_;
  std::string rest_;  // read and not yet asked for
};
