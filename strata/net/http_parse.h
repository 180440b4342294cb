// Reads a request's head and body from bytes, strictly, and a response as a client does; the one
// door to Boost.Beast's parser.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/net/http_message.h"

namespace strata::net {

/// What a look at bytes of a body came to: a status where it is refused.
struct BodyPiece {
  int status = 0;
  std::string message = {};
  bool done = false;
};

struct RequestHead {
  /// Where the request is refused, with why; 0 else.
  int status = 0;
  std::string message = {};
  /// Of the head, up to and with its empty line; 0: more is needed.
  std::size_t bytes = 0;
  HttpRequest request = {};
  bool keep_alive = false, http_1_1 = false, has_body = false, expects_continue = false;

  /// Takes what there is of the body out of the buffer into `request.body`.
  BodyPiece take_body(std::string& buffer, const HttpLimits& most);

  struct Body;
  std::shared_ptr<Body> body = {};
};

/// Of all bytes that have arrived.
RequestHead parse_head(const std::string& bytes, const HttpLimits& most);

/// A response, read from bytes as they arrive. Heads have at most 64 KiB; bodies any length, since
/// what came of one is handed on at once.
class ResponseReader {
 public:
  ResponseReader();
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  /// Takes what it can out of `buffer` and appends what that is of the body to `body`.
  /// Code::corrupt: the bytes are no response of HTTP/1.
  Status take(std::string& buffer, std::string& body);
  /// The server closed the connection. Code::corrupt where the response was not whole.
  Status closed();
  /// Whether the head, and whether all has arrived.
  bool head_done() const;
  bool done() const;
  /// Of the head, when it has arrived.
  int status() const;
  bool keep_alive() const;
  /// The value of a header, in any case; empty where there is none.
  std::string header(std::string_view name) const;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace strata::net
