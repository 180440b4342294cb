// A connected socket, plain or TLS, with times after which waiting ends. Not blocking.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace strata::net {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  /// What a read or write came to.
  enum class Did { some, ended, late, woken };

  /// A client names the server, whose certificate must be of that name.
  Socket(int fd, ssl_ctx_st* context, bool server, const std::string& name = "");
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// TLS's greeting; a plain socket has none.
  bool greet(Clock::time_point until);
  /// Appends what is there. `woken` where `wake`, a file descriptor, becomes readable first.
  Did read(std::string& into, Clock::time_point until, int wake = -1);
  /// Writes all.
  Did write(std::string_view bytes, Clock::time_point until);
  /// Waits until `wake` is readable (`woken`), or the other side leaves (`ended`).
  Did wait(int wake, Clock::time_point until);
  /// Says that nothing more is written.
  void shut();

 private:
  Did poll(short events, Clock::time_point until, int wake);
  int fd_;
  ssl_st* ssl_ = nullptr;
};

/// Contexts for servers (TLS 1.2 at least) and clients.
Result<std::shared_ptr<ssl_ctx_st>> server_context(const std::string& key,
                                                   const std::string& certificate);
Result<std::shared_ptr<ssl_ctx_st>> client_context();

}  // namespace strata::net
