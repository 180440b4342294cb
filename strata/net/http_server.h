// An HTTP/1.1 server: keep-alive, bodies whole or streamed, TLS, limits, graceful ends.
//
//   auto server = net::HttpServer::listen({.port = 0}, [](const net::HttpRequest& request,
//                                                         net::HttpReply& reply) {
//     reply.send({.body = "hello " + request.path});
//   });
//   std::cerr << (*server)->url();
//
// Each connection has a thread of its own, which waits for the client and for the reply at once: a
// client that leaves is noticed at once. Requests that are not to the letter (bare line feeds,
// folded headers, Content-Length with Transfer-Encoding) are refused, so that no proxy in front
// sees another request than we do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "strata/base/result.h"
#include "strata/net/http_message.h"

namespace strata::net {

/// Where a handler answers; exactly one of `send` and `begin` is called. `write`, `end` and `gone`
/// may be called by any thread, and after the handler has returned as long as a copy is held.
class HttpReply {
 public:
  struct State;
  explicit HttpReply(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// A header of the answer, whichever it becomes; before `send` or `begin`.
  void add_header(std::string name, std::string value);
  /// False where a streamed answer has begun already, which goes on.
  bool send(HttpResponse response);
  /// Begins a streamed answer; its body is nothing yet.
  void begin(HttpResponse head);
  /// Adds to a streamed answer. False: the client is gone, or reads so slowly that what waits for
  /// it is over the limit; nothing reaches it any more.
  bool write(std::string bytes);
  void end();
  /// Closes the connection where the answer is, so that a client sees that it is not whole.
  void abandon();
  /// Whether nobody waits for the answer any more.
  bool gone() const;
  /// Called once where that becomes so, by the connection's thread, or now where it is so already.
  void on_gone(std::function<void()> call);

 private:
  std::shared_ptr<State> state_;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  /// 0: one that is free.
  int port = 8000;
  /// A path: listens on a socket of the file system instead, which its owner alone may use.
  std::string uds = {};
  /// PEM files; TLS (1.2 at least) where both are given.
  std::string ssl_keyfile = {}, ssl_certfile = {};
  HttpLimits limits = {};
};

/// Called by a connection's thread; what it throws becomes status 500 without details.
using HttpHandler = std::function<void(const HttpRequest&, HttpReply&)>;
/// The answer to a request that is refused before a handler sees it.
using HttpRefusal = std::function<HttpResponse(int status, const std::string& message)>;

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options,
                                                    HttpHandler handler, HttpRefusal refusal = {});
  /// Ends all connections where they are.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// "http://127.0.0.1:8000"; "unix:/path" of a socket of the file system.
  std::string url() const;
  /// Takes no further request, and waits until those that are there are answered, no longer than
  /// this. Whether all were.
  bool drain(std::chrono::milliseconds most);
  /// Connections that are open.
  std::int64_t connections() const;

 private:
  struct Inner;
  explicit HttpServer(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

/// "Not Found" of 404.
std::string_view reason_of(int status);

}  // namespace strata::net
