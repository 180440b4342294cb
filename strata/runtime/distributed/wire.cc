#include "strata/runtime/distributed/wire.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace strata::runtime::distributed {
namespace {

constexpr std::size_t kLargestHead = std::size_t{1} << 26;
constexpr std::size_t kLargestBody = std::size_t{1} << 40;

struct Prefix {
  std::uint32_t kind, head;
  std::uint64_t body;
};

std::string reason(int error) { return std::strerror(error); }

/// "" when all are there.
std::string read_all(int fd, void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const ssize_t n = ::recv(fd, at, bytes, 0);
    if (n == 0) return "its connection closed";
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return "its connection failed (" + reason(errno) + ")";
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return "";
}

int milliseconds_to(Clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 1 << 30));
}

/// Whether there is something to read, or the other side has gone, by then.
bool readable(int fd, Clock::time_point until) {
  while (true) {
    pollfd p{fd, POLLIN, 0};
    const int n = ::poll(&p, 1, milliseconds_to(until));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

struct Addresses {
  Addresses(const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    const std::string service = std::to_string(port);
    error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &first);
  }
  ~Addresses() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
  addrinfo* first = nullptr;
  int error = 0;
};

void at_once(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Wire::Wire(int fd) : fd_(fd) { at_once(fd_); }

Wire::~Wire() {
  close();
  if (reader_.joinable()) reader_.join();
  ::close(fd_);
}

void Wire::close() { ::shutdown(fd_, SHUT_RDWR); }

Result<Wire::Frame> Wire::read_frame() {
  Prefix prefix{};
  if (std::string why = read_all(fd_, &prefix, sizeof prefix); !why.empty())
    return Status(Code::io, std::move(why));
  if (prefix.head > kLargestHead || prefix.body > kLargestBody)
    return Status(Code::io, "it sent what is no message");
  Frame out{.kind = prefix.kind,
            .head = std::string(prefix.head, '\0'),
            .body = nullptr,
            .bytes = static_cast<std::size_t>(prefix.body)};
  std::string why = read_all(fd_, out.head.data(), out.head.size());
  if (why.empty() && out.bytes > 0) {
    out.body.reset(new std::byte[out.bytes]);
    why = read_all(fd_, out.body.get(), out.bytes);
  }
  if (!why.empty()) return Status(Code::io, std::move(why));
  return out;
}

void Wire::start(std::function<void(Frame)> got, std::function<void(const std::string&)> ended) {
  reader_ = std::thread([this, got = std::move(got), ended = std::move(ended)] {
    while (true) {
      Result<Frame> frame = read_frame();
      if (!frame) return ended(frame.status().message());
      got(std::move(*frame));
    }
  });
}

Result<Wire::Frame> Wire::receive(Clock::time_point until) {
  if (!readable(fd_, until)) return Status(Code::cancelled, "nothing came");
  return read_frame();
}

bool Wire::send(std::uint32_t kind, std::string_view head, const std::byte* body,
                std::size_t bytes) {
  Prefix prefix{kind, static_cast<std::uint32_t>(head.size()), bytes};
  iovec parts[3] = {{&prefix, sizeof prefix},
                    {const_cast<char*>(head.data()), head.size()},
                    {const_cast<std::byte*>(body), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  std::lock_guard lock(writing_);
  while (message.msg_iovlen > 0) {
    if (message.msg_iov->iov_len == 0) {
      ++message.msg_iov;
      --message.msg_iovlen;
      continue;
    }
    const ssize_t sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    for (auto left = static_cast<std::size_t>(sent); left > 0;) {
      const std::size_t n = std::min(left, message.msg_iov->iov_len);
      message.msg_iov->iov_base = static_cast<std::byte*>(message.msg_iov->iov_base) + n;
      message.msg_iov->iov_len -= n;
      left -= n;
      if (message.msg_iov->iov_len == 0 && left > 0) {
        ++message.msg_iov;
        --message.msg_iovlen;
      }
    }
  }
  return true;
}

// ---- sockets -----------------------------------------------------------------------------------

Result<int> listen_at(const std::string& host, int port) {
  const Addresses found(host, port, AI_PASSIVE);
  if (found.error != 0) return Status(Code::invalid, "{}: {}", host, ::gai_strerror(found.error));
  std::string why = "no address";
  for (const addrinfo* a = found.first; a != nullptr; a = a->ai_next) {
    const int fd = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) continue;
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(fd, a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd, 1024) == 0) return fd;
    why = reason(errno);
    ::close(fd);
  }
  return Status(Code::io, "cannot listen at {}:{}: {}", host, port, why);
}

Result<int> connect_to(const std::string& host, int port, Clock::time_point until) {
  std::string why = "too late";
  while (Clock::now() < until) {
    const Addresses found(host, port, 0);
    if (found.error != 0) why = ::gai_strerror(found.error);
    for (const addrinfo* a = found.first; a != nullptr; a = a->ai_next) {
      const int fd =
          ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
      if (fd < 0) continue;
      int error = ::connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
      if (error == EINPROGRESS) {
        pollfd p{fd, POLLOUT, 0};
        error = ETIMEDOUT;
        if (::poll(&p, 1, milliseconds_to(until)) > 0) {
          socklen_t size = sizeof error;
          ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        }
      }
      if (error == 0) {
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        return fd;
      }
      why = reason(error);
      ::close(fd);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return Status(Code::cancelled, "cannot connect to {}:{}: {}", host, port, why);
}

Result<int> accept_at(int fd, Clock::time_point until) {
  while (true) {
    if (!readable(fd, until)) return Status(Code::cancelled, "nobody came");
    const int out = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (out >= 0) return out;
    if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
      return Status(Code::io, reason(errno));
  }
}

int port_of(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size);
  return ntohs(a.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&a)->sin6_port
                                       : reinterpret_cast<sockaddr_in*>(&a)->sin_port);
}

std::string own_address(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  char host[NI_MAXHOST] = {};
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size);
  ::getnameinfo(reinterpret_cast<sockaddr*>(&a), size, host, sizeof host, nullptr, 0,
                NI_NUMERICHOST);
  return host;
}

Result<std::pair<std::string, int>> host_and_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  int port = 0;
  const char* end = address.data() + address.size();
  if (colon == std::string::npos || colon == 0 ||
      std::from_chars(address.data() + colon + 1, end, port).ptr != end || port < 1 || port > 65535)
    return Status(Code::invalid, "\"{}\" is no address: host:port is wanted", address);
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return std::pair(host, port);
}

// ---- heads -------------------------------------------------------------------------------------

std::uint64_t WordReader::number() {
  ok_ &= text_.size() >= 8;
  if (!ok_) return 0;
  std::uint64_t n = 0;
  for (int i = 0; i < 8; ++i)
    n |= static_cast<std::uint64_t>(static_cast<unsigned char>(text_[static_cast<std::size_t>(i)]))
         << (8 * i);
  text_.remove_prefix(8);
  return n;
}
std::string WordReader::text() {
  const std::uint64_t n = number();
  ok_ &= n <= text_.size();
  if (!ok_) return "";
  std::string out(text_.substr(0, n));
  text_.remove_prefix(n);
  return out;
}

}  // namespace strata::runtime::distributed
