// Reads a request's head and body from bytes, strictly; the one door to Boost.Beast's parser.
#pragma once

#include <memory>
#include <string>

#include "strata/net/http_server.h"

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

}  // namespace strata::net
