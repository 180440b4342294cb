// What an HTTP server and its parser speak of: requests, responses, and what is refused of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::net {

struct HttpRequest {
  std::string method, path, query;
  /// Names in lower case, in their order.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /// The client's address.
  std::string peer;

  /// The value of a header, named in lower case; empty where there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpLimits {
  std::size_t headers = 64, header_bytes = 32 << 10, url_bytes = 8 << 10, body_bytes = 16 << 20;
  /// Of all clients, and of one address; loopback has the first limit alone.
  std::int64_t connections = 1024, connections_per_address = 64;
  /// What may wait for a client that reads slowly.
  std::size_t unsent_bytes = 1 << 20;
  std::chrono::milliseconds header_time{10000}, body_time{60000}, idle_time{75000},
      send_time{30000};
};

}  // namespace strata::net
