// The HTTP server, asked over sockets: requests of every form, streams, refusals, and the end.

#include "src/serve/http.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "src/base/error.hpp"
#include "test/unit/http_client.hpp"
#include "test/unit/http_running.hpp"

using namespace carbon;

namespace {

std::string get(const std::string& path, const std::string& fields = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: here\r\n" + fields + "\r\n";
}

std::string post(const std::string& path, const std::string& body, const std::string& fields = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + fields + "\r\n" + body;
}

std::string chunked(const std::string& path, const std::string& chunks) {
  return "POST " + path + " HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks;
}

}  // namespace

TEST_CASE("requests follow each other on one connection") {
  RunningServer running;
  HttpClient client(running.port());
  const WireAnswer first = client.ask(get("/echo?a=b&c", "X-Request-Id: mine-1\r\n"));
  CHECK(first.status == 200);
  CHECK(first.body == "GET /echo?a=b&c ");
  CHECK(first.head ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\nContent-Length: "
        "16\r\n"
        "X-Request-Id: mine-1\r\n\r\n");
  CHECK(client.ask(post("/echo", "ACGT")).body == "POST /echo? ACGT");
  CHECK(client.ask("\r\n\n\r\n" + get("http://here:80/echo")).body == "GET /echo? ");
  client.send_byte_by_byte(post("/echo", "slowly"));
  CHECK(client.read_answer().body == "POST /echo? slowly");
  // Ids that could do harm elsewhere are replaced.
  for (const std::string& id : {std::string("a b"), std::string(129, 'a'), std::string("\xc3\xa4")}) {
    const WireAnswer answer = client.ask(get("/echo", "X-Request-Id: " + id + "\r\n"));
    const size_t at = answer.head.find("X-Request-Id: ");
    REQUIRE(at != std::string::npos);
    CHECK(answer.head.find("\r\n", at) == at + 14 + 16);
  }
  CHECK(running.server().connections() == 1);
  const WireAnswer last = client.ask(get("/echo", "Connection: close\r\n"));
  CHECK(last.has("Connection: close"));
  CHECK(client.read_all().empty());
  running.wait_for_connections(0);

  const std::vector<HttpAccess> log = running.log(8);
  CHECK(log.size() == 8);
  CHECK(log[0].client == "127.0.0.1");
  CHECK(log[0].id == "mine-1");
  CHECK(log[1].method + log[1].path == "POST/echo");
  CHECK(log[1].received == 4);
  CHECK(log[1].sent == 16);
  for (const HttpAccess& access : log) {
    CHECK(access.complete);
    CHECK(access.status == 200);
    CHECK(access.seconds < 5);
  }
}

TEST_CASE("a path is known with and without its percent-encoded bytes") {
  RunningServer running;
  HttpClient client(running.port());
  CHECK(client.ask(get("/%65cho?c=%41")).body == "GET /%65cho?c=%41 ");
  client.ask(get("/a%2fb%"));
  const std::vector<HttpAccess> log = running.log(2);
  CHECK(log[0].path == "/%65cho");
  CHECK(log[0].decoded_path == "/echo");
  CHECK(log[1].path == "/a%2fb%");
  CHECK(log[1].decoded_path == "/a/b%");
}

TEST_CASE("requests that come together are answered in order") {
  RunningServer running;
  HttpClient client(running.port());
  std::string all, expected;
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(i);
    all += i % 3 == 0   ? get("/echo?" + text)
           : i % 3 == 1 ? post("/echo", text)
                        : chunked("/echo", "2;a=b\r\n" + text.substr(0, 1) + ".\r\n1\r\n.\r\n0\r\n\r\n");
    expected += i % 3 == 0 ? "GET /echo?" + text + " "
                           : "POST /echo? " + (i % 3 == 1 ? text : text.substr(0, 1) + "..");
  }
  client.send(all);
  std::string found;
  for (int i = 0; i < 200; ++i) found += client.read_answer().body;
  CHECK(found == expected);

  // The second waits for the first, which is answered from elsewhere.
  client.send(get("/hold") + get("/echo"));
  const HttpExchangePtr held = running.hold();
  held->answer({200, "text/plain", "held", {}});
  CHECK(client.read_answer().body == "held");
  CHECK(client.read_answer().body == "GET /echo? ");
}

TEST_CASE("bodies in chunks") {
  RunningServer running;
  HttpClient client(running.port());
  client.send_byte_by_byte(
      chunked("/echo", "3\r\nACG\r\n0a ; name=\"value\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"));
  CHECK(client.read_answer().body == "POST /echo? ACG0123456789");
  client.send_byte_by_byte(chunked("/echo", "0\r\n\r\n"));
  CHECK(client.read_answer().body == "POST /echo? ");
  for (const std::string chunks : {"x\r\n", "\r\n", "-1\r\n", "1\nA\r\n0\r\n\r\n", "1\r\nAA\r\n0\r\n",
                                   "1 x\r\n", "ffffffffffffffffff\r\n"}) {
    CAPTURE(chunks);
    HttpClient other(running.port());
    CHECK(other.ask(chunked("/echo", chunks)).status == 400);
    other.end_sending();
    CHECK(other.read_all().empty());
  }
  HttpClient endless(running.port());
  CHECK(endless.ask(chunked("/echo", "1;" + std::string(40000, 'a'))).status == 400);
}

TEST_CASE("streams") {
  RunningServer running;
  HttpClient client(running.port());
  client.send(get("/hold"));
  HttpExchangePtr held = running.hold();
  held->start({200, "text/event-stream", "begin ", {}});
  std::string expected = "begin ";
  client.read_some();  // the head does not wait for more
  for (int i = 0; i < 10000; ++i) {
    held->send("piece");
    expected += "piece";
  }
  held->finish();
  held->send("too late");
  held->answer({});
  held.reset();
  const WireAnswer answer = client.read_answer();
  CHECK(answer.has("Content-Type: text/event-stream"));
  CHECK(answer.has("Cache-Control: no-cache"));
  CHECK(answer.has("Transfer-Encoding: chunked"));
  CHECK(answer.head.find("Content-Length") == std::string::npos);
  CHECK(answer.body == expected);
  CHECK(client.ask(get("/echo")).status == 200);
  CHECK(running.log(1)[0].sent == expected.size());

  // HTTP/1.0 has no chunks.
  HttpClient old(running.port());
  old.send("GET /hold HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  held = running.hold();
  held->start({200, "text/event-stream", "", {}});
  held->send("one ");
  held->send("two");
  held->finish();
  const std::string all = old.read_all();
  CHECK(all.find("chunked") == std::string::npos);
  CHECK(all.find("Connection: close\r\n") != std::string::npos);
  CHECK(all.ends_with("\r\n\r\none two"));

  // A stream that is not finished does not look as if it were.
  client.send(get("/hold"));
  held = running.hold();
  held->start({200, "text/event-stream", "half", {}});
  client.read_some();
  held.reset();
  const std::string half = client.read_all();
  CHECK(half.find("half\r\n") != std::string::npos);
  CHECK(half.find("\r\n0\r\n") == std::string::npos);
  CHECK_FALSE(running.log(4).back().complete);
}

TEST_CASE("HEAD, HTTP/1.0, and answers without a body") {
  RunningServer running;
  HttpClient client(running.port());
  WireAnswer answer = client.ask("HEAD /echo HTTP/1.1\r\nHost: here\r\n\r\n");
  CHECK(answer.has("Content-Length: 11"));
  CHECK(client.ask(get("/echo")).body == "GET /echo? ");
  client.send("HEAD /hold HTTP/1.1\r\nHost: here\r\n\r\n");
  const HttpExchangePtr held = running.hold();
  held->start({200, "text/plain", "a", {}});
  held->send("b");
  held->finish();
  CHECK(client.read_answer(true).status == 200);
  answer = client.ask(get("/nothing"));
  CHECK(answer.status == 204);
  CHECK(answer.head.find("Content-") == std::string::npos);
  CHECK(client.ask(get("/echo")).body == "GET /echo? ");
  CHECK(running.log(3)[0].method == "HEAD");
  CHECK(running.log(3)[2].sent == 0);

  HttpClient old(running.port());
  CHECK(old.ask("GET /echo HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").has("Connection: keep-alive"));
  CHECK(old.ask("GET /echo HTTP/1.0\r\n\r\n").body == "GET /echo? ");
  CHECK(old.read_all().empty());
}

TEST_CASE("what is not a request that can be answered") {
  HttpOptions options;
  options.max_body = 1000;
  options.max_header = 2000;
  RunningServer running(options);
  const std::string much = "Content-Length: 1001\r\n";
  const std::vector<std::pair<int, std::string>> cases = {
      {400, "hello\r\n\r\n"},
      {400, "GET / HTTP/1.1\n\n"},
      {400, "\x16\x03\x01\x02"},  // of https
      {400, "GET / HTTP/1.1\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
      {400, "GET echo HTTP/1.1\r\nHost: a\r\n\r\n"},
      {400, "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\n"},
      {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
      {505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
      {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {431, get("/echo", "A: " + std::string(2000, 'a') + "\r\n")},
      {431, "GET /" + std::string(3000, 'a')},
      {413, post("/echo", std::string(1001, 'a'))},
      {413, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999\r\n\r\n"},
      {413, chunked("/echo", "3e8\r\n" + std::string(1000, 'a') + "\r\n1\r\n")},
      {413, chunked("/echo", "ffffffffffffffff\r\n")},
  };
  for (const auto& [status, bytes] : cases) {
    const std::string& request = bytes;  // clang 14 cannot capture a structured binding
    CAPTURE(request);
    HttpClient client(running.port());
    const WireAnswer answer = client.ask(request);
    CHECK(answer.status == status);
    CHECK_FALSE(answer.body.empty());
    CHECK(answer.has("Connection: close"));
    client.end_sending();
    CHECK(client.read_all().empty());
  }
  CHECK(running.log(cases.size()).size() == cases.size());
  // The limits themselves are allowed, and an answer is not lost to a client that goes on sending.
  HttpClient client(running.port());
  CHECK(client.ask(post("/echo", std::string(1000, 'a'))).status == 200);
  CHECK(client.ask(chunked("/echo", "3e8\r\n" + std::string(1000, 'a') + "\r\n0\r\n\r\n")).status == 200);
  CHECK(
      client.ask(post("/echo", std::string(5000000, 'a'), "X-Request-Id: big\r\n")).has("X-Request-Id: big"));
  HttpClient split(running.port());
  const WireAnswer answer = split.ask(get("/split"));
  CHECK(answer.has("X-Good: a b"));
  CHECK(answer.head.find("X-New") == std::string::npos);
  CHECK(answer.head.find("X-B\r") == std::string::npos);
}

TEST_CASE("a body is asked for when its header is welcome") {
  RunningServer running;
  HttpClient client(running.port());
  const std::string fields = " HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  CHECK(client.ask("POST /echo" + fields).status == 100);
  CHECK(client.ask("ACGT").body == "POST /echo? ACGT");
  // The body comes without waiting.
  CHECK(client.ask("POST /echo" + fields + "ACGT").body == "POST /echo? ACGT");
  CHECK(client.ask(get("/refused")).status == 403);
  const WireAnswer answer = client.ask("POST /refused" + fields);
  CHECK(answer.status == 403);
  CHECK(answer.has("Connection: close"));
}

TEST_CASE("a client that goes away is noticed") {
  RunningServer running;
  for (const bool streams : {false, true})
    for (const bool half : {false, true}) {
      HttpClient client(running.port());
      client.send(get("/hold"));
      const HttpExchangePtr held = running.hold();
      if (streams) {
        held->start({200, "text/plain", "a", {}});
        client.read_some();
      }
      const size_t before = running.log(0).size();
      if (half)
        client.end_sending();
      else
        client.close();
      CHECK(running.gone(before + 1) == before + 1);
      const HttpAccess access = running.log(before + 1).back();
      CHECK(access.status == (streams ? 200 : 499));
      CHECK_FALSE(access.complete);
      CHECK(access.sent == (streams ? 1 : 0));
      // Nobody minds what is still said, and who asks late is told at once.
      held->send("b");
      held->finish();
      held->answer({});
      int told = 0;
      held->when_gone([&] { ++told; });
      CHECK(told == 1);
    }
  CHECK(running.gone(4) == 4);
  running.wait_for_connections(0);

  // Also behind bytes that it has sent since, of which none are read yet.
  for (const std::string& late : {std::string("\r\n"), get("/echo"), std::string(100000, 'x')}) {
    const size_t before = running.gone(0);
    HttpClient client(running.port());
    client.send(get("/hold"));
    const HttpExchangePtr held = running.hold();
    client.send(late);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.close();
    CHECK(running.gone(before + 1) == before + 1);
  }
  running.wait_for_connections(0);

  // It is not gone after a complete answer, nor if it has sent its next request.
  HttpClient client(running.port());
  client.send(get("/hold") + get("/echo"));
  running.hold()->answer({200, "text/plain", "a", {}});
  CHECK(client.read_answer().status == 200);
  CHECK(client.read_answer().status == 200);
  client.close();
  running.wait_for_connections(0);
  CHECK(running.gone(7) == 7);
}

TEST_CASE("no answer is an answer") {
  RunningServer running;
  HttpClient client(running.port());
  CHECK(client.ask(get("/drop")).status == 500);
  const WireAnswer answer = client.ask(post("/throw", "body"));
  CHECK(answer.status == 500);
  CHECK(answer.body == "a fault of the service");
  client.send(get("/hold"));
  running.hold().reset();
  CHECK(client.read_answer().status == 500);
  CHECK(running.log(3).size() == 3);
}

TEST_CASE("a port that is taken, and hosts") {
  RunningServer running;
  HttpOptions options;
  options.port = running.port();
  CHECK_THROWS_WITH_AS(HttpServer(options, {}),
                       ("cannot listen on 127.0.0.1:" + std::to_string(running.port()) +
                        ": Address already in use; port 0 takes one that is free")
                           .c_str(),
                       Error);
  options.host = "localhost";
  CHECK_THROWS_AS(HttpServer(options, {}), Error);
  options.host = "no.such.host.invalid";
  CHECK_THROWS_AS(HttpServer(options, {}), Error);
  for (const char* host : {"::1", "[::1]"}) {
    options.host = host;
    options.port = 1;  // not for everybody, or not there: the message names it once in brackets
    try {
      const HttpServer server(options, {});
    } catch (const Error& error) {
      CHECK(std::string(error.what()).starts_with("cannot listen on [::1]:1: "));
    }
  }
  options.host = "0.0.0.0";
  options.port = 0;
  CHECK(HttpServer(options, {}).port() != 0);
}

TEST_CASE("it stops when open answers are complete, or at once") {
  auto running = std::make_unique<RunningServer>();
  HttpClient idle(running->port()), busy(running->port());
  idle.ask(get("/echo"));
  busy.send(get("/hold"));
  const HttpExchangePtr held = running->hold();
  held->start({200, "text/plain", "a", {}});
  running->server().stop_accepting();
  CHECK(idle.read_all().empty());
  running->wait_for_connections(1);
  CHECK_THROWS(HttpClient(running->port()));
  held->finish();
  CHECK(busy.read_answer().body == "a");
  CHECK(busy.read_all().empty());
  running->wait_for_connections(0);

  running = std::make_unique<RunningServer>();
  std::vector<std::unique_ptr<HttpClient>> clients;
  std::vector<HttpExchangePtr> exchanges;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running->port()));
    clients.back()->send(i % 3 == 0 ? get("/hold") : i % 3 == 1 ? "GET /" : get(i == 2 ? "/large" : "/echo"));
    if (i % 3 != 0) continue;
    exchanges.push_back(running->hold());
    if (i % 2 == 0) exchanges.back()->start({200, "text/plain", "a", {}});
  }
  running->wait_for_connections(60);
  running->server().close();
  CHECK(running->gone(20) == 20);
  running->end();
  // They may outlive the server.
  for (const HttpExchangePtr& exchange : exchanges) {
    exchange->send("b");
    exchange->finish();
    exchange->answer({});
  }
}

TEST_CASE("many threads answer at once") {
  RunningServer running;
  constexpr int kStreams = 40, kPieces = 300;
  std::vector<std::unique_ptr<HttpClient>> clients;
  std::vector<std::thread> threads;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running.port()));
    clients.back()->send(get("/hold"));
    threads.emplace_back([exchange = running.hold(), i] {
      exchange->when_gone([] {});
      exchange->start({200, "text/plain", "", {}});
      for (int k = 0; k < kPieces; ++k) exchange->send(std::to_string(i) + " ");
      exchange->finish();
    });
    if (i % 4 == 0) clients.back()->close();
  }
  for (int i = 0; i < kStreams; ++i) {
    if (i % 4 == 0) continue;
    std::string expected;
    for (int k = 0; k < kPieces; ++k) expected += std::to_string(i) + " ";
    CHECK(clients[static_cast<size_t>(i)]->read_answer().body == expected);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(running.log(kStreams).size() == kStreams);
}

TEST_CASE("random changes of requests never harm the server") {
  HttpOptions options;
  options.max_body = 5000;
  options.max_header = 3000;
  RunningServer running(options);
  const std::vector<std::string> seeds = {
      get("/echo?q=1", "X-Request-Id: a\r\nConnection: keep-alive\r\nOrigin: http://a\r\n") + get("/echo"),
      post("/echo", "{\"prompt\": \"ACGT\"}", "Content-Type: application/json\r\nExpect: 100-continue\r\n"),
      chunked("/echo", "4\r\nACGT\r\n1;a=b\r\nA\r\n0\r\nA: b\r\n\r\n") + "HEAD /drop HTTP/1.0\r\n\r\n"};
  const std::string pieces = "\r\n\r\n  :;,0aG\t\x01\xff%/?HTTP/1.1";
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = seeds[below(seeds.size())];
    for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
      const size_t at = below(bytes.size()), length = 1 + below(below(8) == 0 ? bytes.size() : 4);
      switch (below(4)) {
        case 0:
          bytes.erase(at, length);
          break;
        case 1:
          bytes.insert(at, pieces.substr(below(pieces.size()), length));
          break;
        case 2:
          bytes[at] = static_cast<char>(random());
          break;
        default:
          bytes.insert(at, bytes.substr(below(bytes.size()), length));
      }
    }
    HttpClient client(running.port());
    client.send(bytes);
    client.end_sending();
    client.read_all();
  }
  CHECK(HttpClient(running.port()).ask(get("/echo")).status == 200);
  running.wait_for_connections(0);
}
