#include "strata/net/http_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "strata/net/http_parse.h"
#include "strata/net/socket.h"

namespace strata::net {
namespace {

/// A connected socket that does not block; or why there is none.
Result<int> connected(const std::string& host, const std::string& port, Clock::time_point until) {
  addrinfo wants{}, *found = nullptr;
  wants.ai_socktype = SOCK_STREAM;
  if (const int why = ::getaddrinfo(host.c_str(), port.c_str(), &wants, &found); why != 0)
    return Status(Code::io, "{}: {}", host, ::gai_strerror(why));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  int why = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      why = errno;
      continue;
    }
    why = ::connect(fd, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (why == EINPROGRESS) {
      pollfd wait{fd, POLLOUT, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      const auto most = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
      socklen_t size = sizeof why;
      if (::poll(&wait, 1, most) <= 0)
        why = ETIMEDOUT;
      else
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
    }
    if (why == 0) return fd;
    ::close(fd);
  }
  return Status(Code::io, "cannot reach {} port {}: {}", host, port, std::strerror(why));
}

}  // namespace

struct HttpClient::Inner {
  std::string host, port, base, name;  // name: of the Host header
  std::shared_ptr<ssl_ctx_st> context;
  std::unique_ptr<Socket> socket;

  Result<HttpAnswer> once(const HttpAsk& what, Clock::time_point until, bool& untouched) {
    untouched = false;
    const bool kept = socket != nullptr;
    if (!kept) {
      auto fd = connected(host, port, until);
      if (!fd) return fd.status();
      socket = std::make_unique<Socket>(*fd, context.get(), false, host);
      if (!socket->greet(until)) {
        socket.reset();
        return Status(Code::io, "{} port {}: no TLS, or a certificate that is not trusted", host,
                      port);
      }
    }
    std::string request =
        fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", what.method, base, what.path, name);
    for (const auto& [key, value] : what.headers) request += key + ": " + value + "\r\n";
    if (!what.body.empty() || what.method == "POST")
      request +=
          fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", what.body.size());
    request += "\r\n" + what.body;
    HttpAnswer answer;
    ResponseReader reader;
    std::string buffer, piece;
    // A server may close a connection that was idle as a request is on its way.
    const auto broken = [&](Status status) -> Result<HttpAnswer> {
      socket.reset();
      untouched = kept && !reader.head_done() && buffer.empty();
      return status;
    };
    if (socket->write(request, until) == Socket::Did::late)
      return broken({Code::io, "the server took too long to read the request"});
    while (!reader.done()) {
      const auto did = socket->read(buffer, until);
      if (did == Socket::Did::late) return broken({Code::io, "the server took too long to answer"});
      const Status good = did == Socket::Did::some ? reader.take(buffer, piece) : reader.closed();
      if (!good) return broken(good);
      if (did != Socket::Did::some) socket.reset();
      if (reader.head_done() && reader.status() == 200 && what.on_piece) {
        const bool enough = !piece.empty() && !what.on_piece(piece);
        piece.clear();
        if (!enough) continue;
        socket.reset();
        break;
      }
    }
    if (!reader.keep_alive()) socket.reset();
    answer.status = reader.status();
    answer.type = reader.header("content-type");
    answer.body = std::move(piece);
    return answer;
  }
};

HttpClient::HttpClient(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::of(const std::string& url) {
  const Status wrong(Code::invalid, "{}: an address is http://host:port or https://host:port", url);
  auto inner = std::make_unique<Inner>();
  std::string rest;
  if (url.starts_with("http://")) rest = url.substr(7), inner->port = "80";
  if (url.starts_with("https://")) rest = url.substr(8), inner->port = "443";
  if (inner->port == "443") {
    auto context = client_context();
    if (!context) return context.status();
    inner->context = *context;
  }
  const std::size_t path = std::min(rest.find('/'), rest.size());
  inner->name = rest.substr(0, path);
  inner->base = rest.substr(path);
  while (inner->base.ends_with('/')) inner->base.pop_back();
  inner->host = inner->name;
  const std::size_t bracket = inner->name.find(']');
  const std::size_t colon = inner->name.rfind(':');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    inner->port = inner->name.substr(colon + 1);
    inner->host = inner->name.substr(0, colon);
  }
  if (inner->host.starts_with('[') && inner->host.ends_with(']'))
    inner->host = inner->host.substr(1, inner->host.size() - 2);
  const auto unfit = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '@'; };
  if (inner->host.empty() || inner->port.empty() || inner->port.size() > 5 ||
      !std::all_of(inner->port.begin(), inner->port.end(),
                   [](char c) { return c >= '0' && c <= '9'; }) ||
      std::any_of(url.begin(), url.end(), unfit))
    return wrong;
  return HttpClient(std::move(inner));
}

Result<HttpAnswer> HttpClient::ask(const HttpAsk& what) {
  const auto until = Clock::now() + what.most;
  bool untouched = false;
  auto answer = inner_->once(what, until, untouched);
  if (!answer && untouched) answer = inner_->once(what, until, untouched);
  return answer;
}

}  // namespace strata::net
