// Messages over a connected socket: a kind, a head of a few words, and bytes behind it.
//
//   Wire wire(fd);
//   wire.start([](Wire::Frame f) { ... }, [](const std::string& why) { ... });
//   wire.send(kGreeting, words("hello", 3));
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "strata/base/result.h"

namespace strata::runtime::distributed {

using Clock = std::chrono::steady_clock;

/// A connection. `send` may be called from any thread.
class Wire {
 public:
  struct Frame {
    std::uint32_t kind = 0;
    std::string head;
    std::unique_ptr<std::byte[]> body;
    std::size_t bytes = 0;
  };
  /// Takes the socket.
  explicit Wire(int fd);
  /// Closes it. Not to be called by what `start` was given.
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// From now on a thread reads: `got` is called for each message, `ended` once, with the reason,
  /// when there will be none any more.
  void start(std::function<void(Frame)> got, std::function<void(const std::string&)> ended);
  /// Reads one message, before `start`. Codes: io with the reason, cancelled when it is too late.
  Result<Frame> receive(Clock::time_point until);
  /// Writes all of it. Whether the connection took it: if not, `ended` says why.
  bool send(std::uint32_t kind, std::string_view head, const std::byte* body = nullptr,
            std::size_t bytes = 0);
  /// Ends it: `ended` is called if it was not yet.
  void close();

 private:
  Result<Frame> read_frame();
  const int fd_;
  std::mutex writing_;
  std::thread reader_;
};

/// A socket that listens at "host:port", for port 0 at any; at every address of the machine where
/// `host` is empty. Codes: io with the reason.
Result<int> listen_at(const std::string& host, int port);
/// Connects, and tries again until then while nobody listens. Codes: cancelled when it is too late,
/// with the last reason; invalid for an address that is none.
Result<int> connect_to(const std::string& host, int port, Clock::time_point until);
/// Accepts a connection. Codes: cancelled when it is too late; io once `fd` is shut down.
Result<int> accept_at(int fd, Clock::time_point until);
/// The port at which a socket listens.
int port_of(int fd);
/// This machine's address as the other side of a connection sees it.
std::string own_address(int fd);
/// "host:port" or "[host]:port" in two. Codes: invalid.
Result<std::pair<std::string, int>> host_and_port(const std::string& address);

// ---- heads -------------------------------------------------------------------------------------

/// Appends numbers and texts to a head.
class Words {
 public:
  Words& operator<<(std::uint64_t n) {
    for (int i = 0; i < 8; ++i) text_ += static_cast<char>(n >> (8 * i));
    return *this;
  }
  Words& operator<<(std::string_view s) {
    *this << static_cast<std::uint64_t>(s.size());
    text_ += s;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Reads them again. What is not there is 0 or empty, and `ok` says so.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}
  std::uint64_t number();
  int integer() { return static_cast<int>(number()); }
  std::string text();
  bool ok() const { return ok_; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

}  // namespace strata::runtime::distributed
