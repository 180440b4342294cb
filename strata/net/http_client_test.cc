#include "strata/net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "strata/net/http_parse.h"
#include "strata/net/http_server.h"

namespace strata::net {
namespace {

using testing::HasSubstr;

/// Answers each connection with bytes as they are, and closes it.
class Says {
 public:
  explicit Says(std::string bytes) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    url = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this, bytes = std::move(bytes)] {
      for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(client)) {
        ++connections;
        char some[4096];
        if (::recv(client, some, sizeof some, 0) > 0)
          ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ::shutdown(client, SHUT_WR);
        while (::recv(client, some, sizeof some, 0) > 0) {
        }
      }
    });
  }
  ~Says() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  std::string url;
  std::atomic<int> connections = 0;

 private:
  int fd_;
  std::thread thread_;
};

TEST(HttpClient, AddressesAreReadStrictly) {
  for (const char* url :
       {"http://a", "http://a:80/", "https://[::1]:8443/base", "http://1.2.3.4:5"})
    EXPECT_TRUE(HttpClient::of(url).ok()) << url;
  for (const char* url : {"", "a:80", "ftp://a", "http://", "http://a:", "http://a:x", "http://:80",
                          "http://a:123456", "http://a b", "http://me@a", "http://a\r\nB: c"})
    EXPECT_THAT(HttpClient::of(url).status().message(), HasSubstr("http://host:port")) << url;
}

TEST(HttpClient, ReadsWholeAndStreamedAnswers) {
  std::thread writer;
  auto server = HttpServer::listen({.port = 0}, [&](const HttpRequest& r, HttpReply& reply) {
    if (r.path != "/base/stream") {
      reply.send({.status = 201, .body = r.method + r.path + r.body});
      return;
    }
    reply.begin({});
    if (writer.joinable()) writer.join();
    writer = std::thread([reply]() mutable {
      for (const char* piece : {"a", "bc", "def"}) {
        reply.write(piece);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      reply.end();
    });
  });
  auto client = HttpClient::of((*server)->url() + "/base/");
  const auto whole = client->ask({.path = "/a", .method = "POST", .body = "{}"});
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_EQ(whole->status, 201);
  EXPECT_EQ(whole->body, "POST/base/a{}");
  EXPECT_EQ(whole->type, "application/json");
  std::string all;
  int pieces = 0;
  const auto add = [&](std::string_view piece) {
    all += piece;
    return ++pieces < 100;
  };
  EXPECT_EQ(client->ask({.path = "/stream", .on_piece = add})->status, 200);
  EXPECT_EQ(all, "abcdef");
  EXPECT_GE(pieces, 2);
  EXPECT_EQ((*server)->connections(), 1);
  // Who has enough leaves, and may ask again.
  EXPECT_TRUE(client->ask({.path = "/stream", .on_piece = [](auto) { return false; }}).ok());
  EXPECT_EQ(client->ask({.path = "/b"})->body, "GET/base/b");
  writer.join();
}

TEST(HttpClient, AnotherConnectionReplacesOneThatWasClosed) {
  auto server =
      HttpServer::listen({.port = 0, .limits = {.idle_time = std::chrono::milliseconds(50)}},
                         [&](const HttpRequest&, HttpReply& reply) { reply.send({}); });
  auto client = HttpClient::of((*server)->url());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(client->ask({}).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
  }
}

TEST(HttpClient, BrokenAnswersAreTold) {
  for (const char* bytes :
       {"", "HTTP/1.1 200", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const Says server(bytes);
    const auto answer = HttpClient::of(server.url)->ask({});
    EXPECT_FALSE(answer.ok()) << bytes;
    EXPECT_EQ(server.connections, 1) << "a request that was sent is not sent again";
  }
  const Says closes("HTTP/1.0 200 OK\r\n\r\nall until the end");
  EXPECT_EQ(HttpClient::of(closes.url)->ask({})->body, "all until the end");
  const Says early(
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(HttpClient::of(early.url)->ask({})->status, 404);
}

TEST(HttpClient, WaitsNoLongerThanAsked) {
  std::vector<HttpReply> all;
  auto server = HttpServer::listen(
      {.port = 0}, [&](const HttpRequest&, HttpReply& reply) { all.push_back(reply); });
  auto client = HttpClient::of((*server)->url());
  const auto answer = client->ask({.most = std::chrono::milliseconds(100)});
  EXPECT_THAT(answer.status().message(), HasSubstr("too long"));
  const auto none = HttpClient::of("http://127.0.0.1:1")->ask({});
  EXPECT_THAT(none.status().message(), HasSubstr("cannot reach 127.0.0.1 port 1"));
}

TEST(ResponseReader, AnEmptyChunkedBodyMayArriveInAnyPieces) {
  for (std::size_t step = 1; step < 6; ++step) {
    ResponseReader reader;
    std::string buffer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body;
    ASSERT_TRUE(reader.take(buffer, body).ok());
    const std::string last = "0\r\n\r\n";
    for (std::size_t at = 0; at < last.size(); at += step) {
      buffer += last.substr(at, step);
      ASSERT_TRUE(reader.take(buffer, body).ok());
    }
    EXPECT_TRUE(reader.done()) << step;
  }
}

TEST(ResponseReader, TakesBytesInAnyPieces) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\nTrailer: t\r\n\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    ResponseReader reader;
    std::string buffer, body;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      EXPECT_FALSE(reader.done());
      buffer += bytes.substr(i, step);
      ASSERT_TRUE(reader.take(buffer, body).ok()) << step;
    }
    EXPECT_TRUE(reader.done()) << step;
    EXPECT_EQ(body, "abcdefgh");
    EXPECT_EQ(reader.header("CONTENT-type"), "a/b");
    EXPECT_EQ(reader.header("none"), "");
  }
}

}  // namespace
}  // namespace strata::net
