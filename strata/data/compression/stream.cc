#include "strata/data/compression/stream.h"

#include <algorithm>

namespace strata::data {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
/// Pages of a mapped file are given back when so many bytes of it were passed.
constexpr std::size_t kRelease = std::size_t{32} << 20;

}  // namespace

Result<Input> Input::open(const std::string& path,
                          const Compression* (*packing)(std::string_view)) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::string_view bytes = (*file)->bytes();
  Input out = of(bytes, path, packing(bytes));
  out.file_ = std::move(*file);
  return out;
}

Input Input::of(std::string_view bytes, std::string name, const Compression* compression) {
  Input out;
  out.name_ = std::move(name);
  out.all_ = out.rest_ = bytes;
  out.compression_ = compression;
  out.ended_ = true;
  return out;
}

std::uint64_t Input::passed() const { return all_.size() - rest_.size(); }

Status Input::fill(std::size_t size) {
  if (size > kMostAtOnce)
    return Status(Code::corrupt, "{}: a record of {} bytes at byte {}: more than one may have",
                  name_, size, position_);
  buffer_.erase(0, begin_);
  begin_ = 0;
  while (buffer_.size() < size) {
    if (ended_) {
      if (rest_.empty()) return {};
      codec_ = compression_->decoder();
      ended_ = false;
    }
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kPiece);
    auto step = codec_->step(rest_, std::span(buffer_).subspan(had), true);
    if (!step) {
      buffer_.resize(had);
      const std::uint64_t at = passed();
      rest_ = {}, ended_ = true;
      return Status(step.status().code(), "{}: {} stream, near byte {} of {}: {}", name_,
                    compression_->name, at, all_.size(), step.status().message());
    }
    buffer_.resize(had + step->out);
    rest_.remove_prefix(step->in);
    ended_ = step->ended;
    if (!ended_ && step->in == 0 && step->out == 0) {
      rest_ = {}, ended_ = true;
      return Status(Code::corrupt, "{}: its {} stream ends in the middle, at byte {}", name_,
                    compression_->name, all_.size());
    }
  }
  return {};
}

void Input::pass(std::size_t size) {
  position_ += size;
  if (compression_) {
    begin_ += size;
    return;
  }
  rest_.remove_prefix(size);
  if (file_ && passed() - released_ > 2 * kRelease) {
    file_->release(all_.substr(released_, kRelease));
    released_ += kRelease;
  }
}

Result<std::string_view> Input::peek(std::size_t size) {
  if (!compression_) return rest_.substr(0, size);
  if (buffer_.size() - begin_ < size)
    if (Status s = fill(size); !s.ok()) return s;
  return std::string_view(buffer_).substr(begin_, size);
}

Result<std::string_view> Input::take(std::size_t size) {
  auto out = peek(size);
  if (out) pass(out->size());
  return out;
}

Status Input::skip(std::uint64_t size) {
  while (size > 0) {
    auto taken = take(compression_ ? std::min<std::uint64_t>(size, kPiece) : size);
    if (!taken) return taken.status();
    if (taken->empty() || (!compression_ && taken->size() < size))
      return Status(Code::corrupt, "{}: it has no byte {}", name_, position_ + size);
    size -= taken->size();
  }
  return {};
}

Result<std::string_view> Input::line() {
  std::string_view seen;
  std::size_t end = std::string_view::npos;
  if (!compression_) {
    seen = rest_;
    end = seen.find('\n');
  } else {
    for (std::size_t want = 1, from = 0; end == std::string_view::npos;) {
      auto more = peek(want);
      if (!more) return more.status();
      seen = std::string_view(buffer_).substr(begin_);
      end = seen.find('\n', from);
      if (more->size() < want) break;
      from = seen.size();
      want = seen.size() + 1;
    }
  }
  if (seen.empty()) return std::string_view();
  const std::string_view out = seen.substr(0, end);
  pass(std::min(seen.size(), out.size() + 1));
  return out;
}

Result<Output> Output::create(const std::string& path) {
  return create(path, compression_of_path(path));
}

Result<Output> Output::create(const std::string& path, const Compression* compression) {
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  Output out(std::move(*file));
  if (compression) out.codec_ = compression->encoder();
  return out;
}

Status Output::put(std::string_view bytes, bool last) {
  std::string piece(kPiece, '\0');
  for (bool ended = false; !bytes.empty() || (last && !ended);) {
    auto step = codec_->step(bytes, piece, last);
    if (!step) return step.status();
    bytes.remove_prefix(step->in);
    ended = step->ended;
    if (Status s = file_.write(std::string_view(piece).substr(0, step->out)); !s.ok()) return s;
  }
  return {};
}

Status Output::write(std::string_view bytes) {
  written_ += bytes.size();
  if (bytes.size() < kPiece) {
    buffer_ += bytes;
    if (buffer_.size() < kPiece) return {};
    bytes = buffer_;
  } else if (!buffer_.empty()) {
    buffer_ += bytes;
    bytes = buffer_;
  }
  const Status s = codec_ ? put(bytes, false) : file_.write(bytes);
  buffer_.clear();
  return s;
}

Status Output::close() {
  Status s = codec_ ? put(buffer_, true) : file_.write(buffer_);
  buffer_.clear();
  return s.ok() ? file_.commit() : s;
}

Result<std::string> unpack(std::string_view bytes, const Compression& compression,
                           const std::string& name, std::size_t limit) {
  Input input = Input::of(bytes, name, &compression);
  std::string out;
  for (;;) {
    auto piece = input.take(kPiece);
    if (!piece) return piece.status();
    if (piece->empty()) return out;
    if (piece->size() > limit - out.size())
      return Status(Code::corrupt, "{}: unpacks to more than {} bytes", name, limit);
    out += *piece;
  }
}

Result<std::string> pack(std::string_view bytes, const Compression& compression) {
  const auto codec = compression.encoder();
  std::string out;
  for (;;) {
    const std::size_t had = out.size();
    out.resize(had + kPiece);
    auto step = codec->step(bytes, std::span(out).subspan(had), true);
    if (!step) return step.status();
    out.resize(had + step->out);
    bytes.remove_prefix(step->in);
    if (step->ended) return out;
  }
}

}  // namespace strata::data
