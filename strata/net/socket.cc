#include "strata/net/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace strata::net {
namespace {

/// OpenSSL writes by write(2): to who has left it raises SIGPIPE, which ends a process. While this
/// lives the thread takes none.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    if (::sigismember(&before_, SIGPIPE) == 1) return;
    const timespec none{};
    while (::sigtimedwait(&pipe_, nullptr, &none) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

int ssl_write(SSL* ssl, const void* bytes, int size) {
  const NoPipeSignal guard;
  return SSL_write(ssl, bytes, size);
}

int ssl_read(SSL* ssl, void* into, int size) {  // which may answer what it reads
  const NoPipeSignal guard;
  return SSL_read(ssl, into, size);
}

}  // namespace

Socket::Socket(int fd, ssl_ctx_st* context, bool server, const std::string& name) : fd_(fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (context == nullptr) return;
  ssl_ = SSL_new(context);
  SSL_set_fd(ssl_, fd);
  server ? SSL_set_accept_state(ssl_) : SSL_set_connect_state(ssl_);
  if (server || name.empty()) return;
  in6_addr address;
  const bool numeric = ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
                       ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
  if (numeric) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl_, name.c_str());
    SSL_set1_host(ssl_, name.c_str());
  }
}

Socket::~Socket() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  ::close(fd_);
}

Socket::Did Socket::poll(short events, Clock::time_point until, int wake) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd all[2] = {{fd_, events, 0}, {wake, POLLIN, 0}};
    const int ready =
        ::poll(all, wake < 0 ? 1 : 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Did::ended;
    if (ready == 0) return Did::late;
    if ((all[0].revents & events) != 0) return Did::some;
    if (all[0].revents != 0) return Did::ended;
    return Did::woken;
  }
}

bool Socket::greet(Clock::time_point until) {
  const NoPipeSignal guard;
  while (ssl_ != nullptr) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_);
    if (done == 1) break;
    const int why = SSL_get_error(ssl_, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return false;
    if (poll(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until, -1) != Did::some) return false;
  }
  return true;
}

Socket::Did Socket::read(std::string& into, Clock::time_point until, int wake) {
  char some[16 << 10];
  for (;;) {
    ERR_clear_error();
    const auto got = ssl_ != nullptr ? static_cast<ssize_t>(ssl_read(ssl_, some, sizeof some))
                                     : ::recv(fd_, some, sizeof some, 0);
    if (got > 0) {
      into.append(some, static_cast<std::size_t>(got));
      return Did::some;
    }
    short wants = POLLIN;
    if (ssl_ != nullptr) {
      const int why = SSL_get_error(ssl_, static_cast<int>(got));
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return Did::ended;
      if (why == SSL_ERROR_WANT_WRITE) wants = POLLOUT;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Did::ended;
    }
    if (const Did did = poll(wants, until, wake); did != Did::some) return did;
  }
}

Socket::Did Socket::write(std::string_view bytes, Clock::time_point until) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const std::size_t most = std::min<std::size_t>(bytes.size(), 1 << 20);
    const auto put =
        ssl_ != nullptr
            ? static_cast<ssize_t>(ssl_write(ssl_, bytes.data(), static_cast<int>(most)))
            : ::send(fd_, bytes.data(), most, MSG_NOSIGNAL);
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    short wants = POLLOUT;
    if (ssl_ != nullptr) {
      const int why = SSL_get_error(ssl_, static_cast<int>(put));
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return Did::ended;
      if (why == SSL_ERROR_WANT_READ) wants = POLLIN;
    } else if (errno != EAGAIN && errno != EINTR) {
      return Did::ended;
    }
    if (const Did did = poll(wants, until, -1); did != Did::some) return did;
  }
  return Did::some;
}

Socket::Did Socket::wait(int wake, Clock::time_point until) {
  const Did did = poll(POLLRDHUP, until, wake);
  return did == Did::some ? Did::ended : did;
}

void Socket::shut() {
  const NoPipeSignal guard;
  if (ssl_ != nullptr) SSL_shutdown(ssl_);
  ::shutdown(fd_, SHUT_WR);
}

namespace {

std::shared_ptr<ssl_ctx_st> held(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return {context, SSL_CTX_free};
}

}  // namespace

Result<std::shared_ptr<ssl_ctx_st>> server_context(const std::string& key,
                                                   const std::string& certificate) {
  auto context = held(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    return Status(Code::invalid, "{}: no certificate in PEM", certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return Status(Code::invalid, "{}: no private key in PEM that fits {}", key, certificate);
  return context;
}

Result<std::shared_ptr<ssl_ctx_st>> client_context() {
  auto context = held(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_default_verify_paths(context.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

}  // namespace strata::net
