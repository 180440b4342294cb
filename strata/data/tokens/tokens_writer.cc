#include "strata/data/tokens/tokens_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/io_status.h"
#include "strata/base/keep_owner.h"
#include "strata/data/tokens/token_file_layout.h"

namespace strata::data {
namespace {

constexpr std::size_t kHeld = std::size_t{1} << 20;

Status failed(const std::string& path, const char* what) { return io_status(errno, path, what); }

/// Opens a new file beside `path`; of an empty path one that has no name once it is open.
Result<int> open_aside(const std::string& path, std::string& aside) {
  std::error_code error;
  const bool nameless = path.empty();
  aside = nameless ? std::filesystem::temp_directory_path(error).string() + "/strata.tokens.XXXXXX"
                   : path + ".XXXXXX";
  const int fd = ::mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0) return failed(aside, "create");
  if (nameless) {
    ::unlink(aside.c_str());
    aside.clear();
  }
  return fd;
}

Status write_at(int fd, std::string_view bytes, std::uint64_t at, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  return {};
}

/// CRC-32C of a file's bytes from `at` on.
Result<std::uint32_t> checksum_from(int fd, std::uint64_t at, const std::string& path) {
  std::string piece(kHeld, '\0');
  std::uint32_t crc = 0;
  for (;;) {
    const ssize_t n = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "read");
    if (n == 0) return crc;
    crc = crc32c(std::string_view(piece).substr(0, static_cast<std::size_t>(n)), crc);
    at += static_cast<std::uint64_t>(n);
  }
}

}  // namespace

Result<TokensWriter> TokensWriter::create(const std::string& path, const tokenizer::Tokenizer& t,
                                          std::int64_t documents) {
  std::string aside;
  auto fd = open_aside(path, aside);
  if (!fd) return fd.status();
  TokensWriter out(*fd, path, std::move(aside));
  out.fingerprint_ = t.fingerprint();
  out.vocab_size_ = t.vocab_size();
  out.separator_ = t.separator();
  out.width_ = static_cast<std::size_t>(Tokens::width_of(t.vocab_size()));
  out.documents_ = documents;
  std::string fingerprint = out.fingerprint_;
  fingerprint.resize(padded_fingerprint(fingerprint.size()));
  out.offsets_.at = TokenFileHeader::kBytes + fingerprint.size();
  out.tokens_.at = out.offsets_.at + 8 * (static_cast<std::uint64_t>(documents) + 1);
  if (Status s = write_at(*fd, fingerprint, TokenFileHeader::kBytes, out.shown()); !s.ok())
    return s;
  const std::uint64_t first = 0;
  if (Status s = out.put(out.offsets_, {reinterpret_cast<const char*>(&first), 8}); !s.ok())
    return s;
  return out;
}

TokensWriter::TokensWriter(TokensWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      aside_(std::exchange(other.aside_, {})),
      fingerprint_(std::move(other.fingerprint_)),
      vocab_size_(other.vocab_size_),
      separator_(other.separator_),
      width_(other.width_),
      documents_(other.documents_),
      ended_(other.ended_),
      size_(other.size_),
      offsets_(std::move(other.offsets_)),
      tokens_(std::move(other.tokens_)) {}

TokensWriter::~TokensWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

Status TokensWriter::flush(Cursor& cursor) {
  Status s = write_at(fd_, cursor.held, cursor.at, shown());
  cursor.at += cursor.held.size();
  cursor.held.clear();
  return s;
}

Status TokensWriter::put(Cursor& cursor, std::string_view bytes) {
  cursor.held += bytes;
  return cursor.held.size() < kHeld ? Status() : flush(cursor);
}

Status TokensWriter::add_part(std::span<const std::int32_t> tokens) {
  for (std::int32_t token : tokens) {
    STRATA_CHECK(token >= 0 && token < vocab_size_, "token {} of a vocabulary of {}", token,
                 vocab_size_);
    tokens_.held.append(reinterpret_cast<const char*>(&token), width_);  // low bytes first
    if (tokens_.held.size() < kHeld) continue;
    if (Status s = flush(tokens_); !s.ok()) return s;
  }
  size_ += tokens.size();
  return {};
}

Status TokensWriter::end_document() {
  if (ended_ == documents_) return check_documents();
  ++ended_;
  if (Status s = add_part(std::span(&separator_, 1)); !s.ok()) return s;
  return put(offsets_, {reinterpret_cast<const char*>(&size_), 8});
}

Status TokensWriter::check_documents() const {
  return Status(Code::invalid,
                "{}: there were {} documents when they were counted, and now others: the texts "
                "changed while they were read",
                shown(), documents_);
}

Status TokensWriter::write_header() {
  auto body = checksum_from(fd_, TokenFileHeader::kBytes, shown());
  if (!body) return body.status();
  TokenFileHeader h{};
  std::memcpy(h.magic, TokenFileHeader::kMagic.data(), 8);
  h.width = static_cast<std::uint32_t>(width_);
  h.vocab_size = static_cast<std::uint32_t>(vocab_size_);
  h.tokens = size_;
  h.documents = static_cast<std::uint64_t>(documents_);
  h.separator = static_cast<std::uint32_t>(separator_);
  h.fingerprint = static_cast<std::uint32_t>(fingerprint_.size());
  h.body_crc = *body;
  h.crc = crc32c(h.bytes(TokenFileHeader::kBytes - 4));
  return write_at(fd_, h.bytes(), 0, shown());
}

Result<Tokens> TokensWriter::finish() && {
  if (ended_ != documents_) return check_documents();
  for (Cursor* cursor : {&offsets_, &tokens_})
    if (Status s = flush(*cursor); !s.ok()) return s;
  if (Status s = write_header(); !s.ok()) return s;
  auto out = Tokens::map(fd_, shown());
  if (!out || path_.empty()) return out;
  if (::fchmod(fd_, 0644) != 0 || ::fsync(fd_) != 0) return failed(path_, "sync");
  keep_owner(path_, aside_);
  if (Status s = rename_synced(std::exchange(aside_, {}), path_); !s.ok()) return s;
  return out;
}

}  // namespace strata::data
