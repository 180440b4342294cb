// An HTTP client: connections that are kept, times after which waiting ends; the door to libcurl.
//
//   net::CurlClient client({});
//   auto answer = client.request({.method = "GET", .url = "https://storage.googleapis.com/..."});
//   if (answer && answer->status == 200) use(answer->body);
//
// A request is sent once. Statuses of failure are answers; a Status says that no whole answer came.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.h"

namespace strata::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct CurlCall {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers = {};
  /// Sent as it is; must live until the call returns.
  std::string_view body = {};
};

struct CurlAnswer {
  int status = 0;
  /// Names in lower case, in their order.
  HttpHeaders headers = {};
  std::string body = {};

  /// The value of a header, named in lower case; empty where there is none.
  std::string_view header(std::string_view name) const;
};

struct CurlOptions {
  std::chrono::milliseconds connect_time{10000};
  /// A transfer that moves nothing for so long is given up.
  std::chrono::seconds stall_time{60};
  /// Of a whole call; 0: none.
  std::chrono::milliseconds total_time{0};
  /// Requests under way at once; more wait.
  int most_at_once = 32;
  /// Longer bodies are refused.
  std::uint64_t body_bytes = std::uint64_t{1} << 32;
};

/// May be used by any number of threads. Redirections are answers. Proxies are those of the
/// environment (https_proxy, no_proxy), certificates the system's.
class CurlClient {
 public:
  explicit CurlClient(const CurlOptions& options);
  ~CurlClient();
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  /// Sends one request and waits for the whole answer. Code::io where none came.
  Result<CurlAnswer> request(const CurlCall& call);

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

/// Every byte but letters, digits and "-._~" as %XX; `keep` are further ones that stay.
std::string percent_encode(std::string_view text, std::string_view keep = "");

}  // namespace strata::net
