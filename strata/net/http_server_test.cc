#include "strata/net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "strata/net/http_client.h"
#include "strata/net/socket.h"

namespace strata::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

/// Bytes that a client sends as they are, and what comes back.
class Raw {
 public:
  explicit Raw(int port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  ~Raw() { leave(); }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  /// All that comes until it holds `until`, or the server closes, or ten seconds are over.
  std::string read(std::string_view until = "") {
    std::string out;
    for (char some[4096];;) {
      pollfd wait{fd_, POLLIN, 0};
      if (::poll(&wait, 1, 10000) <= 0) return out + " (nothing more in ten seconds)";
      const auto got = ::recv(fd_, some, sizeof some, 0);
      if (got <= 0) return out;
      out.append(some, static_cast<std::size_t>(got));
      if (!until.empty() && out.find(until) != out.npos) return out;
    }
  }
  void leave() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// Says what it was asked; /wait answers when `go` is set, /pieces streams until nobody reads.
class Server {
 public:
  explicit Server(const HttpLimits& limits = {}, const std::string& folder = "") {
    HttpServerOptions options{.port = 0, .limits = limits};
    if (!folder.empty())
      options.ssl_keyfile = folder + "/key.pem", options.ssl_certfile = folder + "/cert.pem";
    auto listening = HttpServer::listen(
        options, [this](const HttpRequest& r, HttpReply& reply) { answer(r, reply); });
    EXPECT_TRUE(listening.ok()) << listening.status().message();
    http = std::move(*listening);
  }
  ~Server() {
    stop = true;
    go.notify_all();
    http.reset();
    for (std::thread& t : threads) t.join();
  }

  void answer(const HttpRequest& r, HttpReply& reply) {
    if (r.path == "/throws") throw std::runtime_error("a secret");
    if (r.path == "/wait") {
      std::unique_lock lock(mutex);
      ++waiting;
      go.notify_all();
      go.wait(lock, [&] { return released || stop.load(); });
    }
    if (r.path == "/gone") {
      reply.on_gone([this] {
        const std::lock_guard lock(mutex);
        ++left;
        go.notify_all();
      });
      const std::lock_guard lock(mutex);
      kept.push_back(reply);
      ++waiting;
      go.notify_all();
      return;
    }
    if (r.path == "/pieces") {
      reply.begin({.type = "text/event-stream"});
      reply.on_gone([this] {
        const std::lock_guard lock(mutex);
        ++left;
        go.notify_all();
      });
      const std::lock_guard lock(mutex);
      threads.emplace_back([this, reply]() mutable {
        const std::string piece(4096, 'x');
        while (!stop && !overflowed) overflowed = !reply.write(piece);
      });
      return;
    }
    reply.send(
        {.type = "text/plain", .body = r.method + " " + r.path + "?" + r.query + " " + r.body});
  }
  /// Whether something becomes so within ten seconds.
  template <class F>
  bool soon(F holds) {
    std::unique_lock lock(mutex);
    return go.wait_for(lock, std::chrono::seconds(10), holds);
  }

  std::mutex mutex;
  std::condition_variable go;
  std::atomic<bool> stop = false, overflowed = false;
  bool released = false;
  int waiting = 0, left = 0;
  std::vector<HttpReply> kept;
  std::vector<std::thread> threads;
  std::unique_ptr<HttpServer> http;
};

constexpr const char* kGet = "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(HttpServer, RequestsFollowOneAnotherOnAConnection) {
  Server server;
  Raw raw(server.http->port());
  raw.send(kGet);
  EXPECT_THAT(raw.read("GET /a?b "), StartsWith("HTTP/1.1 200 OK\r\n"));
  raw.send(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_THAT(raw.read("POST /c? abc"), HasSubstr("Content-Length: 12\r\n"));
  raw.send("HEAD /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string head = raw.read();
  EXPECT_THAT(head, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST(HttpServer, WhatAHandlerThrowsIsNotTold) {
  Server server;
  Raw raw(server.http->port());
  raw.send("GET /throws HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string got = raw.read();
  EXPECT_THAT(got, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(got, Not(HasSubstr("secret")));
}

TEST(HttpServer, SlowSendersAreRefused) {
  Server server({.header_time = milliseconds(200), .body_time = milliseconds(200)});
  const auto start = Clock::now();
  Raw head(server.http->port()), body(server.http->port());
  head.send("GET /a HTTP/1.1\r\nHos");
  body.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_THAT(head.read(), HasSubstr("HTTP/1.1 408 "));
  EXPECT_THAT(body.read(), HasSubstr("HTTP/1.1 408 "));
  EXPECT_GE(Clock::now() - start, milliseconds(200));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(8));
  // A byte now and then does not make the time longer.
  Raw drip(server.http->port());
  for (int i = 0; i < 8; ++i) {
    drip.send("A");
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_THAT(drip.read(), HasSubstr("HTTP/1.1 408 "));
}

TEST(HttpServer, IdleConnectionsAreClosed) {
  Server server({.idle_time = milliseconds(200)});
  Raw raw(server.http->port());
  EXPECT_EQ(raw.read(), "");
}

TEST(HttpServer, WhoReadsTooSlowlyIsLeft) {
  Server server({.unsent_bytes = 64 << 10, .send_time = milliseconds(300)});
  Raw raw(server.http->port(), 4096);
  raw.send("GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n");
  // Nothing is read here: the socket fills, then what may wait, and then the stream is given up.
  EXPECT_TRUE(server.soon([&] { return server.left == 1; }));
  EXPECT_TRUE(server.overflowed);
  const std::string got = raw.read();
  if (!got.empty())
    EXPECT_THAT(got, StartsWith("HTTP/1.1 200 "));  // it may be left before its head
  EXPECT_FALSE(got.ends_with("0\r\n\r\n")) << "a stream that lost a part looks whole";
}

TEST(HttpServer, WhoLeavesIsNoticed) {
  Server server;
  Raw raw(server.http->port());
  raw.send("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(server.soon([&] { return server.waiting == 1; }));
  const auto start = Clock::now();
  raw.leave();
  EXPECT_TRUE(server.soon([&] { return server.left == 1; }));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  const std::lock_guard lock(server.mutex);
  EXPECT_TRUE(server.kept[0].gone());
  EXPECT_FALSE(server.kept[0].write("x"));
}

TEST(HttpServer, BodiesOverTheLimitAreRefused) {
  Server server({.body_bytes = 1000});
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\n";
  Raw said(server.http->port()), sent(server.http->port()), fits(server.http->port());
  said.send(head + "Content-Length: 1001\r\n\r\n");
  EXPECT_THAT(said.read(), HasSubstr("HTTP/1.1 413 "));
  sent.send(head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'a') + "\r\n");
  EXPECT_THAT(sent.read(), HasSubstr("HTTP/1.1 413 "));
  fits.send(head + "Connection: close\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'a'));
  EXPECT_THAT(fits.read(), HasSubstr("HTTP/1.1 200 "));
}

TEST(HttpServer, BrokenChunksAreRefused) {
  Server server;
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& chunks :
       {std::string("zz\r\nabc\r\n"), std::string("3\r\nabcd\r\n0\r\n\r\n"),
        std::string("ffffffffffffffffff\r\n"), std::string("-3\r\nabc\r\n"),
        "3;" + std::string(100 << 10, 'e')}) {
    Raw raw(server.http->port());
    raw.send(head + chunks);
    EXPECT_THAT(raw.read(), HasSubstr("HTTP/1.1 4")) << chunks.substr(0, 20);
  }
  Raw leaves(server.http->port());
  leaves.send(head + "9\r\nabc");
  leaves.leave();
  Raw raw(server.http->port());
  raw.send(kGet);
  EXPECT_THAT(raw.read("GET /a?b "), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, ConnectionsOverTheLimitAreTold) {
  Server server({.connections = 2});
  Raw one(server.http->port());
  auto two = std::make_unique<Raw>(server.http->port());
  for (Raw* raw : {&one, two.get()}) {
    raw->send(kGet);
    EXPECT_THAT(raw->read("GET /a?b "), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(server.http->connections(), 2);
  Raw three(server.http->port());
  EXPECT_THAT(three.read(), StartsWith("HTTP/1.1 503 "));
  two.reset();
  for (int i = 0; i < 200 && server.http->connections() > 1; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  Raw four(server.http->port());
  four.send(kGet);
  EXPECT_THAT(four.read("GET /a?b "), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, DrainingAnswersWhatIsThere) {
  Server server;
  Raw raw(server.http->port()), idle(server.http->port());
  raw.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(server.soon([&] { return server.waiting == 1; }));
  auto drained = std::async([&] { return server.http->drain(std::chrono::seconds(20)); });
  EXPECT_EQ(idle.read(), "");
  {
    const std::lock_guard lock(server.mutex);
    server.released = true;
    server.go.notify_all();
  }
  EXPECT_THAT(raw.read(), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(drained.get());
  EXPECT_EQ(server.http->connections(), 0);
}

TEST(HttpServer, DrainingEndsInTime) {
  Server server;
  Raw raw(server.http->port());
  raw.send("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(server.soon([&] { return server.waiting == 1; }));
  EXPECT_FALSE(server.http->drain(milliseconds(50)));
}

TEST(HttpServer, AnAddressThatIsTakenIsTold) {
  Server server;
  const auto second =
      HttpServer::listen({.port = server.http->port()}, [](const HttpRequest&, HttpReply&) {});
  EXPECT_THAT(second.status().message(), HasSubstr("cannot listen on 127.0.0.1 port"));
  const auto nowhere = HttpServer::listen({.host = "no such host"}, [](auto&, auto&) {});
  EXPECT_THAT(nowhere.status().message(), HasSubstr("no such address"));
}

TEST(HttpServer, HeadersOfAnyAnswer) {
  auto server = HttpServer::listen({.port = 0}, [](const HttpRequest& r, HttpReply& reply) {
    reply.add_header("X-Common", "c");
    if (r.path == "/throws") throw std::runtime_error("a secret");
    if (r.path == "/whole") {
      reply.send({.headers = {{"X-Own", "o"}}});
      EXPECT_FALSE(reply.send({}));
      return;
    }
    reply.begin({});
    EXPECT_FALSE(reply.send({}));
    r.path == "/cut" ? reply.abandon() : reply.end();
  });
  for (const char* path : {"/throws", "/whole", "/stream"}) {
    Raw raw((*server)->port());
    raw.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(raw.read(), HasSubstr("X-Common: c\r\n")) << path;
  }
  Raw cut((*server)->port());
  cut.send("GET /cut HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_FALSE(cut.read().ends_with("0\r\n\r\n"));
}

TEST(HttpServer, ListensOnAPath) {
  const std::string path = "/tmp/strata_http_test_" + std::to_string(::getpid()) + ".sock";
  const auto hello = [](const HttpRequest& r, HttpReply& reply) { reply.send({.body = r.peer}); };
  const auto ask = [&] {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, path.size());
    std::string out;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) {
      const std::string_view bytes = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      char some[4096];
      for (ssize_t got; (got = ::recv(fd, some, sizeof some, 0)) > 0;)
        out.append(some, static_cast<std::size_t>(got));
    }
    ::close(fd);
    return out;
  };
  auto server = HttpServer::listen({.uds = path}, hello);
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_EQ((*server)->url(), "unix:" + path);
  EXPECT_TRUE(ask().ends_with("\r\n\r\nunix"));
  struct stat is{};
  ASSERT_EQ(::stat(path.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0600u);
  EXPECT_THAT(HttpServer::listen({.uds = path}, hello).status().message(),
              HasSubstr("another server listens there"));
  EXPECT_TRUE(ask().ends_with("unix")) << "the first lives on";
  server->reset();
  EXPECT_FALSE(std::filesystem::exists(path)) << "it goes with its server";
  // What a server that was killed left behind is replaced; a file is not.
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, path.size());
  ASSERT_EQ(::bind(left, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ::close(left);
  server = HttpServer::listen({.uds = path}, hello);
  ASSERT_TRUE(server.ok()) << server.status().message();
  server->reset();
  std::ofstream(path) << "a file";
  EXPECT_THAT(HttpServer::listen({.uds = path}, hello).status().message(), HasSubstr("no socket"));
  std::filesystem::remove(path);
  EXPECT_FALSE(HttpServer::listen({.uds = std::string(200, 'a')}, hello).ok());
}

// ---- TLS ----------------------------------------------------------------------------------------

/// A folder with a key and a certificate of its own for 127.0.0.1.
class Certificate {
 public:
  Certificate() {
    char name[] = "/tmp/strata_http_test_XXXXXX";
    folder = ::mkdtemp(name);
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_set_version(cert, 2);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME* who = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(who, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("strata"), -1, -1, 0);
    X509_set_issuer_name(cert, who);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(cert, names, -1);
    X509_sign(cert, key, EVP_sha256());
    std::FILE* file = std::fopen((folder + "/key.pem").c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    file = std::fopen((folder + "/cert.pem").c_str(), "w");
    PEM_write_X509(file, cert);
    std::fclose(file);
    X509_EXTENSION_free(names);
    X509_free(cert);
    EVP_PKEY_free(key);
  }
  ~Certificate() { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST(HttpServer, TlsAnswersThoseWhoTrustIt) {
  const Certificate certificate;
  Server server({}, certificate.folder);
  EXPECT_THAT(server.http->url(), StartsWith("https://127.0.0.1:"));
  auto strangers = HttpClient::of(server.http->url());
  EXPECT_THAT(strangers->ask({.path = "/a"}).status().message(), HasSubstr("not trusted"));
  ::setenv("SSL_CERT_FILE", (certificate.folder + "/cert.pem").c_str(), 1);
  auto client = HttpClient::of(server.http->url());
  for (int i = 0; i < 3; ++i) {
    const auto answer =
        client->ask({.path = "/a", .method = "POST", .body = std::string(100000, 'b')});
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(answer->body, "POST /a? " + std::string(100000, 'b'));
  }
  // The certificate is of an address, not of this name.
  auto other = HttpClient::of("https://localhost:" + std::to_string(server.http->port()));
  EXPECT_FALSE(other->ask({.path = "/a"}).ok());
  ::unsetenv("SSL_CERT_FILE");
  // Bytes that are no TLS get no answer, and the server lives on.
  Raw raw(server.http->port());
  raw.send(kGet);
  raw.read();
  EXPECT_GE(server.http->connections(), 0);
}

TEST(HttpServer, WhoLeavesDuringTlsDoesNotEndTheProcess) {
  const Certificate certificate;
  Server server({}, certificate.folder);
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  const std::string address = "127.0.0.1:" + std::to_string(server.http->port());
  for (const bool whole : {false, true, false, true}) {
    const std::unique_ptr<BIO, void (*)(BIO*)> bio(BIO_new_ssl_connect(context.get()),
                                                   BIO_free_all);
    BIO_set_conn_hostname(bio.get(), address.c_str());
    ASSERT_EQ(BIO_do_connect(bio.get()), 1);
    BIO_puts(bio.get(), "GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n");
    char some[64];
    if (whole) BIO_read(bio.get(), some, sizeof some);
    int fd = -1;
    BIO_get_fd(bio.get(), &fd);
    const linger reset{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    ::close(fd);  // without a word
    BIO_set_close(BIO_next(bio.get()), BIO_NOCLOSE);
  }
  for (int i = 0; i < 500 && server.http->connections() > 0; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(server.http->connections(), 0);
}

TEST(HttpServer, TlsIsOfVersion12AtLeast) {
  // What this test itself writes to a server that refused it.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  const Certificate certificate;
  Server server({}, certificate.folder);
  for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                               SSL_CTX_free);
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), version);
    const std::unique_ptr<BIO, void (*)(BIO*)> bio(BIO_new_ssl_connect(context.get()),
                                                   BIO_free_all);
    BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(server.http->port())).c_str());
    EXPECT_EQ(BIO_do_connect(bio.get()) == 1, version >= TLS1_2_VERSION) << version;
  }
}

TEST(HttpServer, KeysThatAreNoneAreTold) {
  const Certificate certificate;
  std::ofstream(certificate.folder + "/key.pem") << "no key";
  const auto refused = HttpServer::listen({.port = 0,
                                           .ssl_keyfile = certificate.folder + "/key.pem",
                                           .ssl_certfile = certificate.folder + "/cert.pem"},
                                          [](auto&, auto&) {});
  EXPECT_THAT(refused.status().message(), HasSubstr("no private key in PEM"));
  EXPECT_FALSE(HttpServer::listen({.port = 0, .ssl_keyfile = "key.pem"}, [](auto&, auto&) {}).ok());
}

}  // namespace
}  // namespace strata::net
