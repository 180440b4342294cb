#include "strata/net/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "strata/net/http_parse.h"
#include "strata/net/socket.h"

namespace strata::net {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

// ---- a reply ------------------------------------------------------------------------------------

struct HttpReply::State {
  explicit State(std::size_t most) : most_(most), wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~State() { ::close(wake); }

  const std::size_t most_;
  const int wake;
  std::mutex mutex;
  HttpResponse head;
  std::vector<std::pair<std::string, std::string>> headers;  // of any answer
  bool begun = false, streams = false, ended = false, gone = false;
  bool dropped = false;  // a streamed answer that has lost a part
  std::string unsent;
  std::function<void()> on_gone;

  void notify() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(wake, &one, sizeof one);
  }
  void leave() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex);
      if (gone) return;
      gone = true;
      call = std::move(on_gone);
    }
    if (call) call();
  }
};

void HttpReply::add_header(std::string name, std::string value) {
  const std::lock_guard lock(state_->mutex);
  state_->headers.emplace_back(std::move(name), std::move(value));
}

bool HttpReply::send(HttpResponse response) {
  const std::lock_guard lock(state_->mutex);
  if (state_->begun) return false;
  state_->head = std::move(response);
  state_->head.headers.insert(state_->head.headers.end(), state_->headers.begin(),
                              state_->headers.end());
  state_->begun = state_->ended = true;
  state_->notify();
  return true;
}

void HttpReply::begin(HttpResponse head) {
  const std::lock_guard lock(state_->mutex);
  if (state_->begun) return;
  state_->head = std::move(head);
  state_->head.headers.insert(state_->head.headers.end(), state_->headers.begin(),
                              state_->headers.end());
  state_->begun = state_->streams = true;
  state_->notify();
}

bool HttpReply::write(std::string bytes) {
  const std::lock_guard lock(state_->mutex);
  if (state_->gone || state_->unsent.size() + bytes.size() > state_->most_) {
    state_->unsent.clear();
    state_->dropped = true;
    state_->notify();
    return false;
  }
  state_->unsent += bytes;
  state_->notify();
  return true;
}

void HttpReply::end() {
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->notify();
}

void HttpReply::abandon() {
  const std::lock_guard lock(state_->mutex);
  state_->unsent.clear();
  state_->dropped = state_->ended = true;
  state_->notify();
}

bool HttpReply::gone() const {
  const std::lock_guard lock(state_->mutex);
  return state_->gone;
}

void HttpReply::on_gone(std::function<void()> call) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->gone) {
      state_->on_gone = std::move(call);
      return;
    }
  }
  call();
}

// ---- connections --------------------------------------------------------------------------------

namespace {

Clock::time_point in(std::chrono::milliseconds time) { return Clock::now() + time; }

std::string head_of(const HttpResponse& r, bool streams, bool chunked, bool keeps) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", r.status, reason_of(r.status));
  if (!r.type.empty()) out += "Content-Type: " + r.type + "\r\n";
  if (!streams && r.status != 204)
    out += fmt::format("Content-Length: {}\r\n", r.body.size());
  else if (streams && chunked)
    out += "Transfer-Encoding: chunked\r\n";
  for (const auto& [name, value] : r.headers) out += name + ": " + value + "\r\n";
  return out + (keeps ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

HttpResponse plain_refusal(int status, const std::string& message) {
  return {.status = status, .type = "text/plain", .body = message + "\n"};
}

}  // namespace

struct HttpServer::Inner {
  HttpServerOptions options;
  HttpHandler handler;
  HttpRefusal refusal;
  std::shared_ptr<ssl_ctx_st> context;
  int fd = -1, port = 0, stop = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::atomic<bool> draining = false, closing = false;
  std::mutex mutex;
  std::condition_variable fewer;
  std::map<std::string, std::int64_t> by_address;
  std::int64_t open = 0;
  std::string owned;  // a path that goes when this does
  std::thread acceptor;

  ~Inner() {
    if (!owned.empty()) ::unlink(owned.c_str());
    ::close(stop);
  }

  /// A socket that a server left behind when it was killed is replaced; one that answers is not.
  Status listen_on_path() {
    const std::string& path = options.uds;
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    if (path.size() >= sizeof at.sun_path)
      return {Code::invalid, "--uds {}: longer than {} bytes", path, sizeof at.sun_path - 1};
    path.copy(at.sun_path, path.size());
    const auto* address = reinterpret_cast<const sockaddr*>(&at);
    struct stat there{};
    if (::lstat(path.c_str(), &there) == 0) {
      const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const bool alive = ::connect(probe, address, sizeof at) == 0;
      ::close(probe);
      if (!S_ISSOCK(there.st_mode) || alive)
        return {Code::exists, "--uds {}: {}", path,
                alive ? "another server listens there" : "is there, and no socket"};
      ::unlink(path.c_str());
    }
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t before = ::umask(0177);
    const bool bound = fd >= 0 && ::bind(fd, address, sizeof at) == 0;
    const int why = errno;
    ::umask(before);
    if (bound) owned = path;
    if (bound && ::listen(fd, 1024) == 0) return {};
    ::close(fd);
    return {Code::io, "cannot listen on {}: {}", path, std::strerror(bound ? errno : why)};
  }

  void accept_all() {
    for (;;) {
      pollfd all[2] = {{fd, POLLIN, 0}, {stop, POLLIN, 0}};
      if (::poll(all, 2, -1) < 0 && errno != EINTR) return;
      if (draining) return;
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      const int client =
          ::accept4(fd, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) {
        if (errno == EMFILE || errno == ENFILE)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      char host[NI_MAXHOST] = "unix";
      if (from.ss_family != AF_UNIX)
        ::getnameinfo(reinterpret_cast<sockaddr*>(&from), size, host, sizeof host, nullptr, 0,
                      NI_NUMERICHOST);
      admit(client, host);
    }
  }

  void admit(int client, const std::string& peer) {
    const bool local = peer.starts_with("127.") || peer == "::1" || peer == "unix";
    bool full = false;
    {
      const std::lock_guard lock(mutex);
      full = open >= options.limits.connections ||
             (!local && by_address[peer] >= options.limits.connections_per_address);
      if (!full) ++open, ++by_address[peer];
    }
    if (full) {
      Socket socket(client, nullptr, true);
      if (context == nullptr) {
        HttpResponse r = refusal(503, "too many connections");
        socket.write(head_of(r, false, false, false) + r.body, in(std::chrono::milliseconds(100)));
      }
      return;
    }
    try {
      std::thread([this, client, peer] {
        {
          Socket socket(client, context.get(), true);
          if (socket.greet(in(options.limits.header_time))) serve(socket, peer);
          socket.shut();
        }
        leave(peer);
      }).detach();
    } catch (const std::system_error&) {
      ::close(client);
      leave(peer);
    }
  }

  void leave(const std::string& peer) {
    const std::lock_guard lock(mutex);
    --open;
    if (--by_address[peer] == 0) by_address.erase(peer);
    fewer.notify_all();
  }

  void serve(Socket& socket, const std::string& peer) {
    std::string buffer;
    while (!draining) {
      if (!one(socket, buffer, peer)) return;
    }
  }

  bool refuse(Socket& socket, int status, const std::string& message) {
    const HttpResponse r = refusal(status, message);
    socket.write(head_of(r, false, false, false) + r.body, in(options.limits.send_time));
    socket.shut();
    // What is still under way is read, so that the answer is not lost by a reset.
    std::string rest;
    const auto until = in(std::chrono::milliseconds(500));
    for (std::size_t read = 0; read < (4u << 20); read += rest.size()) {
      rest.clear();
      if (socket.read(rest, until, stop) != Socket::Did::some) break;
    }
    return false;
  }

  /// One request and its answer; whether another may follow.
  bool one(Socket& socket, std::string& buffer, const std::string& peer) {
    const HttpLimits& most = options.limits;
    // Of a connection that is idle, and then of a head that is being sent.
    if (buffer.empty()) {
      if (socket.read(buffer, in(most.idle_time), stop) != Socket::Did::some) return false;
    }
    const auto until = in(most.header_time);
    RequestHead head;
    for (;;) {
      head = parse_head(buffer, most);
      if (head.status != 0) return refuse(socket, head.status, head.message);
      if (head.bytes > 0) break;
      const auto did = socket.read(buffer, until, -1);
      if (did == Socket::Did::late)
        return refuse(socket, 408, "the request's head took too long to arrive");
      if (did != Socket::Did::some) return false;
    }
    buffer.erase(0, head.bytes);
    HttpRequest& request = head.request;
    request.peer = peer;
    if (head.expects_continue && head.has_body && buffer.empty() &&
        socket.write("HTTP/1.1 100 Continue\r\n\r\n", in(most.send_time)) != Socket::Did::some)
      return false;
    const auto body_until = in(most.body_time);
    while (head.has_body) {
      const BodyPiece piece = head.take_body(buffer, most);
      if (piece.status != 0) return refuse(socket, piece.status, piece.message);
      if (piece.done) break;
      const auto did = socket.read(buffer, body_until, -1);
      if (did == Socket::Did::late)
        return refuse(socket, 408, "the request's body took too long to arrive");
      if (did != Socket::Did::some) return false;
    }
    const auto state = std::make_shared<HttpReply::State>(most.unsent_bytes);
    HttpReply reply(state);
    try {
      handler(request, reply);
    } catch (const std::exception&) {
      reply.send(refusal(500, "internal error"));
    }
    const bool keeps = answer(socket, *state, request.method == "HEAD", head);
    state->leave();
    return keeps;
  }

  bool answer(Socket& socket, HttpReply::State& state, bool bare, const RequestHead& head) {
    bool told = false;
    for (;;) {
      std::string bytes;
      bool ended = false, keeps = head.keep_alive && !draining;
      {
        const std::lock_guard lock(state.mutex);
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(state.wake, &count, sizeof count);
        const bool chunked = state.streams && head.http_1_1;
        if (state.streams && !chunked) keeps = false;
        if (state.begun && !told) {
          bytes = head_of(state.head, state.streams, chunked, keeps);
          if (!bare && !state.streams) bytes += state.head.body;
          told = true;
        }
        if (state.dropped) return false;  // without the end that a whole answer has
        ended = state.ended && told;
        if (told && state.streams && !bare) {
          if (!state.unsent.empty())
            bytes += chunked ? fmt::format("{:x}\r\n{}\r\n", state.unsent.size(), state.unsent)
                             : state.unsent;
          state.unsent.clear();
          if (ended && chunked) bytes += "0\r\n\r\n";
        }
      }
      if (!bytes.empty() && socket.write(bytes, in(options.limits.send_time)) != Socket::Did::some)
        return false;
      if (ended) return keeps && !overflowed(state);
      if (closing) return false;
      const auto did = socket.wait(state.wake, in(std::chrono::milliseconds(500)));
      if (did == Socket::Did::ended) return false;
    }
  }
  static bool overflowed(HttpReply::State& state) {
    const std::lock_guard lock(state.mutex);
    return state.gone;
  }
};

HttpServer::HttpServer(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpServerOptions& options,
                                                       HttpHandler handler, HttpRefusal refusal) {
  auto inner = std::make_unique<Inner>();
  inner->options = options;
  inner->handler = std::move(handler);
  inner->refusal = refusal ? std::move(refusal) : plain_refusal;
  if (options.ssl_keyfile.empty() != options.ssl_certfile.empty())
    return Status(Code::invalid, "TLS needs both: --ssl-keyfile and --ssl-certfile");
  if (!options.ssl_keyfile.empty()) {
    auto context = server_context(options.ssl_keyfile, options.ssl_certfile);
    if (!context) return context.status();
    inner->context = *context;
  }
  if (!options.uds.empty()) {
    if (Status s = inner->listen_on_path(); !s) return s;
    Inner* const raw = inner.get();
    raw->acceptor = std::thread([raw] { raw->accept_all(); });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(inner)));
  }
  addrinfo wants{}, *found = nullptr;
  wants.ai_socktype = SOCK_STREAM;
  wants.ai_flags = AI_PASSIVE;
  const std::string service = std::to_string(options.port);
  if (::getaddrinfo(options.host.c_str(), service.c_str(), &wants, &found) != 0)
    return Status(Code::invalid, "--host {}: no such address", options.host);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  inner->fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(inner->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (inner->fd < 0 || ::bind(inner->fd, found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(inner->fd, 1024) != 0) {
    const std::string why = std::strerror(errno);
    ::close(inner->fd);
    return Status(Code::io, "cannot listen on {} port {}: {}", options.host, options.port, why);
  }
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  ::getsockname(inner->fd, reinterpret_cast<sockaddr*>(&at), &size);
  inner->port = ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&at)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&at)->sin_port);
  Inner* const raw = inner.get();
  raw->acceptor = std::thread([raw] { raw->accept_all(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(inner)));
}

bool HttpServer::drain(std::chrono::milliseconds most) {
  inner_->draining = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(inner_->stop, &one, sizeof one);
  if (inner_->acceptor.joinable()) {
    inner_->acceptor.join();
    ::close(inner_->fd);
    inner_->fd = -1;
  }
  std::unique_lock lock(inner_->mutex);
  return inner_->fewer.wait_for(lock, most, [&] { return inner_->open == 0; });
}

HttpServer::~HttpServer() {
  drain(std::chrono::milliseconds(0));
  inner_->closing = true;
  std::unique_lock lock(inner_->mutex);
  inner_->fewer.wait(lock, [&] { return inner_->open == 0; });
}

int HttpServer::port() const { return inner_->port; }

std::string HttpServer::url() const {
  const std::string& host = inner_->options.host;
  if (!inner_->options.uds.empty()) return "unix:" + inner_->options.uds;
  return fmt::format("{}://{}:{}", inner_->context ? "https" : "http",
                     host.find(':') == host.npos ? host : "[" + host + "]", inner_->port);
}

std::int64_t HttpServer::connections() const {
  const std::lock_guard lock(inner_->mutex);
  return inner_->open;
}

}  // namespace strata::net
