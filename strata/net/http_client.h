// An HTTP/1.1 client: one server, a connection that is kept, bodies whole or as they arrive, TLS.
//
//   auto client = net::HttpClient::of("http://127.0.0.1:8000");
//   auto answer = client->ask({.path = "/v1/models"});
//   if (answer && answer->status == 200) std::cout << answer->body;
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.h"

namespace strata::net {

/// What a client asks for. A body is sent as JSON.
struct HttpAsk {
  std::string path = "/", method = "GET", body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// From the first byte that is sent to the last that arrives.
  std::chrono::milliseconds most = std::chrono::minutes(10);
  /// Hears the body of an answer with status 200 piece by piece instead of `HttpAnswer::body`;
  /// false: nothing more of it is wanted, and the connection is closed.
  std::function<bool(std::string_view piece)> on_piece = {};
};

struct HttpAnswer {
  int status = 0;
  std::string type, body;
};

/// For one thread at a time. Certificates are checked against the system's, or those of
/// SSL_CERT_FILE.
class HttpClient {
 public:
  /// "http://host:port/base" or "https://..."; paths are put behind its own. Code::invalid for
  /// what is no such address.
  static Result<HttpClient> of(const std::string& url);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// Sends a request and reads its answer, whatever its status. Code::io: the server cannot be
  /// reached, takes too long, or answers with other than HTTP.
  Result<HttpAnswer> ask(const HttpAsk& what);

 private:
  struct Inner;
  explicit HttpClient(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace strata::net
