// The addresses of a host, as carbon serve listens on them.
#include "src/serve/http_message.hpp"

#include <doctest/doctest.h>

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;

namespace {

struct Answer {
  boost::system::error_code error;
  std::vector<tcp::endpoint> addresses;
  explicit Answer(const std::string& host) {
    boost::asio::io_context context;
    addresses = carbon::addresses_of(context, host, 8000, error);
  }
};

}  // namespace

TEST_CASE("addresses: localhost is this machine, whatever a file says") {
  const Answer answer("localhost");
  CHECK(!answer.error);
  CHECK(answer.addresses ==
        std::vector<tcp::endpoint>{{make_address("127.0.0.1"), 8000}, {make_address("::1"), 8000}});
}

TEST_CASE("addresses: numbers stand for themselves") {
  for (const std::string host : {"127.0.0.2", "0.0.0.0", "::1", "[::1]"}) {
    CAPTURE(host);
    const Answer answer(host);
    CHECK(!answer.error);
    REQUIRE(answer.addresses.size() == 1);
    CHECK(answer.addresses[0] == tcp::endpoint(make_address(host == "[::1]" ? "::1" : host), 8000));
  }
}

TEST_CASE("addresses: what is no host is an error") {
  for (const std::string host : {"no host", "256.0.0.1.2"}) {
    CAPTURE(host);
    const Answer answer(host);
    CHECK(answer.error);
    CHECK(answer.addresses.empty());
  }
}
