#include "strata/data/tokens/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/data/tokens/token_file_layout.h"

namespace strata::data {
namespace {

using Header = TokenFileHeader;
constexpr std::string_view kMagic = Header::kMagic;
constexpr std::size_t kHeader = Header::kBytes;

template <class T>
T load(const char* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

Status check_header(const Header& h, std::size_t file_bytes, const std::string& name) {
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: not a whole token file: {}", name, what);
  };
  if (std::string_view(h.magic, 8) != kMagic) return corrupt("it does not begin with STRATOK1");
  if (crc32c(h.bytes(kHeader - 4)) != h.crc) return corrupt("the checksum of its header differs");
  if (h.width != 2 && h.width != 4) return corrupt(fmt::format("tokens of {} bytes", h.width));
  if (h.vocab_size == 0 || h.vocab_size > (1u << 30))
    return corrupt(fmt::format("a vocabulary of {}", h.vocab_size));
  if (h.separator >= h.vocab_size)
    return corrupt(fmt::format("separator {} of a vocabulary of {}", h.separator, h.vocab_size));
  if (std::string_view(h.zeros, 16) != std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16))
    return corrupt("unknown fields are set");
  // Each count is at most what the file could hold, so that the sum below is exact.
  if (h.tokens > file_bytes || h.documents > file_bytes || h.fingerprint > file_bytes ||
      h.documents > h.tokens)
    return corrupt(fmt::format("{} tokens in {} documents do not fit into {} bytes", h.tokens,
                               h.documents, file_bytes));
  const std::size_t expected =
      kHeader + padded_fingerprint(h.fingerprint) + 8 * (h.documents + 1) + h.width * h.tokens;
  if (expected != file_bytes)
    return corrupt(fmt::format("it has {} bytes and should have {}", file_bytes, expected));
  return {};
}

/// A file's bytes, mapped.
class Mapping {
 public:
  Mapping(void* at, std::size_t size) : at_(at), size_(size) {}
  ~Mapping() { ::munmap(at_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(at_), size_}; }

 private:
  void* at_;
  std::size_t size_;
};

Status failed(const std::string& path, const char* what) {
  return Status(errno == ENOENT   ? Code::not_found
                : errno == EACCES ? Code::denied
                                  : Code::io,
                "{}: cannot {}: {}", path, what, std::strerror(errno));
}

}  // namespace

bool Tokens::is_token_file(const std::string& path) {
  char begin[8] = {};
  std::ifstream(path, std::ios::binary).read(begin, 8);
  return std::string_view(begin, 8) == kMagic;
}

Result<Tokens> Tokens::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path, "open");
  auto out = map(fd, path);
  ::close(fd);
  return out;
}

Result<Tokens> Tokens::map(int fd, const std::string& name) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return failed(name, "read");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size < kHeader)
    return Status(Code::corrupt, "{}: not a whole token file: it has {} bytes", name, size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) return failed(name, "map");
  auto mapping = std::make_shared<const Mapping>(at, size);
  const std::string_view bytes = mapping->bytes();
  return decode(std::move(mapping), bytes, name);
}

Result<Tokens> Tokens::decode(std::shared_ptr<const std::string> bytes, const std::string& name) {
  const std::string_view view = *bytes;
  return decode(std::shared_ptr<const void>(std::move(bytes)), view, name);
}

Result<Tokens> Tokens::decode(std::shared_ptr<const void> owner, std::string_view bytes,
                              const std::string& name) {
  if (bytes.size() < kHeader)
    return Status(Code::corrupt, "{}: not a whole token file: it has {} bytes", name, bytes.size());
  const auto h = load<Header>(bytes.data());
  if (Status s = check_header(h, bytes.size(), name); !s.ok()) return s;
  if (crc32c(bytes.substr(kHeader)) != h.body_crc)
    return Status(Code::corrupt, "{}: damaged: the checksum of its tokens differs", name);
  Tokens out;
  out.owner_ = std::move(owner);
  out.bytes_ = bytes;
  out.fingerprint_ = bytes.substr(kHeader, h.fingerprint);
  out.offsets_ = bytes.data() + kHeader + padded_fingerprint(h.fingerprint);
  out.tokens_ = out.offsets_ + 8 * (h.documents + 1);
  out.size_ = static_cast<std::int64_t>(h.tokens);
  out.documents_ = static_cast<std::int64_t>(h.documents);
  out.vocab_size_ = h.vocab_size;
  out.separator_ = static_cast<std::int32_t>(h.separator);
  out.width_ = static_cast<int>(h.width);
  out.checksum_ = crc32c(bytes.substr(static_cast<std::size_t>(out.offsets_ - bytes.data())));
  if (out.document(0) != 0 || out.document(out.documents_) != out.size_)
    return Status(Code::corrupt, "{}: documents reach from {} to {} of {} tokens", name,
                  out.document(0), out.document(out.documents_), out.size_);
  for (std::int64_t d = 0; d < out.documents_; ++d) {
    if (out.document(d) < out.document(d + 1)) continue;
    return Status(Code::corrupt, "{}: document {} begins with token {} and the next one with {}",
                  name, d, out.document(d), out.document(d + 1));
  }
  for (std::int64_t i = 0; i < out.size_; ++i) {
    const auto token = static_cast<std::uint32_t>(out.at(i));
    if (token >= h.vocab_size)
      return Status(Code::corrupt, "{}: token {} is {} in a vocabulary of {}", name, i, token,
                    h.vocab_size);
  }
  return out;
}

std::int64_t Tokens::document(std::int64_t d) const { return load<std::int64_t>(offsets_ + 8 * d); }

std::int32_t Tokens::at(std::int64_t i) const {
  return width_ == 2 ? load<std::uint16_t>(tokens_ + 2 * i) : load<std::int32_t>(tokens_ + 4 * i);
}

void Tokens::copy(std::int64_t from, std::span<std::int32_t> out) const {
  STRATA_CHECK(from >= 0 && from + static_cast<std::int64_t>(out.size()) <= size_,
               "tokens {} + {} of {}", from, out.size(), size_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(from + static_cast<std::int64_t>(i));
}

Status Tokens::write(const std::string& path) const { return write_file_atomic(path, bytes_); }

TokensBuilder::TokensBuilder(const tokenizer::Tokenizer& t)
    : fingerprint_(t.fingerprint()),
      vocab_size_(t.vocab_size()),
      separator_(t.separator()),
      width_(Tokens::width_of(t.vocab_size())) {}

void TokensBuilder::put(std::int32_t token) {
  STRATA_CHECK(token >= 0 && token < vocab_size_, "token {} of a vocabulary of {}", token,
               vocab_size_);
  tokens_.append(reinterpret_cast<const char*>(&token),
                 static_cast<std::size_t>(width_));  // low bytes first
}

void TokensBuilder::add_part(std::span<const std::int32_t> tokens) {
  for (std::int32_t t : tokens) put(t);
}

void TokensBuilder::end_document() {
  put(separator_);
  offsets_.push_back(tokens_.size() / static_cast<std::size_t>(width_));
}

Tokens TokensBuilder::finish() && {
  std::string body = fingerprint_;
  body.resize(padded_fingerprint(body.size()));
  body.append(reinterpret_cast<const char*>(offsets_.data()), 8 * offsets_.size());
  body += tokens_;
  Header h{};
  std::memcpy(h.magic, kMagic.data(), 8);
  h.width = static_cast<std::uint32_t>(width_);
  h.vocab_size = static_cast<std::uint32_t>(vocab_size_);
  h.tokens = tokens_.size() / static_cast<std::size_t>(width_);
  h.documents = offsets_.size() - 1;
  h.separator = static_cast<std::uint32_t>(separator_);
  h.fingerprint = static_cast<std::uint32_t>(fingerprint_.size());
  h.body_crc = crc32c(body);
  h.crc = crc32c(h.bytes(kHeader - 4));
  auto out =
      Tokens::decode(std::make_shared<const std::string>(std::string(h.bytes()) + body), "tokens");
  STRATA_CHECK(out.ok(), "{}", out.status().message());
  return *out;
}

}  // namespace strata::data
