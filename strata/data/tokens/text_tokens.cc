#include "strata/data/tokens/text_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/progress.h"
#include "strata/base/text.h"
#include "strata/base/thread_pool.h"
#include "strata/data/tokens/tokens_writer.h"

namespace strata::data {
namespace {

/// Bytes that are encoded between two reports.
constexpr std::size_t kRound = std::size_t{8} << 20;
/// No tokenizer's `part` looks at bytes behind these, nor gives more.
constexpr std::size_t kMostPart = std::size_t{4} << 20;

struct Part {
  std::string_view text;
  bool ends_document;
};

/// Cuts documents where a tokenizer lets them be encoded apart.
std::vector<Part> parts_of(const std::vector<std::string>& documents,
                           const tokenizer::Tokenizer& tokenizer) {
  std::vector<Part> out;
  for (std::string_view rest : documents) {
    while (!rest.empty()) {
      const std::size_t n = tokenizer.part(rest);
      out.push_back({rest.substr(0, n), n == rest.size()});
      rest.remove_prefix(n);
    }
  }
  return out;
}

/// Tokens of parts, by all threads.
std::vector<std::vector<std::int32_t>> encode_parts(std::span<const Part> parts,
                                                    const tokenizer::Tokenizer& tokenizer) {
  struct Work {
    std::span<const Part> parts;
    std::vector<std::vector<std::int32_t>> tokens;
    const tokenizer::Tokenizer& tokenizer;
  };
  Work work{parts, std::vector<std::vector<std::int32_t>>(parts.size()), tokenizer};
  auto run = [](void* ctx, std::int64_t begin, std::int64_t end) {
    auto& w = *static_cast<Work*>(ctx);
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      w.tokens[i] = w.tokenizer.encode(w.parts[i].text);
  };
  parallel_for(static_cast<std::int64_t>(parts.size()), 1, run, &work);
  return std::move(work.tokens);
}

/// Says how far the encoding of texts is.
class Report {
 public:
  Report(std::string name, double total, const RowOptions& o)
      : name_(std::move(name)), total_(total), options_(o), start_(seconds_now()) {}
  void add(double bytes) {
    done_ += bytes;
    options_.progress(fmt::format("tokenising {}: {:.0f} % of {}B", name_, 100 * done_ / total_,
                                  human_count(total_)));
  }
  void end(std::int64_t tokens) const {
    const double seconds = seconds_now() - start_;
    if (seconds < 1) return;
    options_.note(fmt::format("tokenised {}: {}B are {} tokens, in {:.1f} s", name_,
                              human_count(total_), human_count(static_cast<double>(tokens)),
                              seconds));
  }

 private:
  std::string name_;
  double total_, done_ = 0;
  const RowOptions& options_;
  double start_;
};

/// Encodes texts as they come, `kRound` bytes at a time, and writes their tokens.
class StreamEncoder : public TextSink {
 public:
  StreamEncoder(TokensWriter& out, const tokenizer::Tokenizer& tokenizer, Report& report)
      : out_(out), tokenizer_(tokenizer), report_(report) {}
  Status add(std::string_view piece) override {
    for (; !piece.empty(); piece.remove_prefix(std::min(piece.size(), kMostPart))) {
      text_ += piece.substr(0, kMostPart);
      while (text_.size() - cut_ > kMostPart) cut();
      if (cut_ < kRound) continue;
      if (Status s = encode(); !s.ok()) return s;
    }
    return {};
  }
  Status end_document() override {
    while (cut_ < text_.size()) cut();
    parts_.back().ends_document = true;
    return cut_ < kRound ? Status() : encode();
  }
  /// Encodes what is left.
  Status finish() { return encode(); }

 private:
  struct Piece {
    std::size_t begin, size;
    bool ends_document;
  };
  void cut() {
    const std::size_t n = tokenizer_.part(std::string_view(text_).substr(cut_));
    STRATA_CHECK(n > 0 && n <= kMostPart, "a part of {} bytes", n);
    parts_.push_back({cut_, n, false});
    cut_ += n;
  }
  Status encode() {
    std::vector<Part> parts;
    for (const Piece& p : parts_)
      parts.push_back({std::string_view(text_).substr(p.begin, p.size), p.ends_document});
    const auto tokens = encode_parts(parts, tokenizer_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (Status s = out_.add_part(tokens[i]); !s.ok()) return s;
      if (!parts[i].ends_document) continue;
      if (Status s = out_.end_document(); !s.ok()) return s;
    }
    report_.add(static_cast<double>(cut_));
    text_.erase(0, cut_);
    cut_ = 0;
    parts_.clear();
    return {};
  }
  TokensWriter& out_;
  const tokenizer::Tokenizer& tokenizer_;
  Report& report_;
  std::string text_;     // what is not encoded yet
  std::size_t cut_ = 0;  // bytes of it that are in parts
  std::vector<Piece> parts_;
};

Result<Tokens> stream(const TextsSeen& seen, const ReadAgain& again, const std::string& path,
                      const std::string& name, const tokenizer::Tokenizer& tokenizer,
                      const RowOptions& o) {
  auto writer = TokensWriter::create(path, tokenizer, seen.documents());
  if (!writer) return writer.status();
  Report report(name, static_cast<double>(seen.bytes()), o);
  StreamEncoder encoder(*writer, tokenizer, report);
  if (Status s = again(encoder); !s.ok()) return s;
  if (Status s = encoder.finish(); !s.ok()) return s;
  auto out = std::move(*writer).finish();
  if (out) report.end(out->size());
  return out;
}

/// Removes what killed runs left, and the files that were written or used first, until those left
/// are `most` bytes at most.
void shrink(const std::string& folder, std::int64_t most) {
  struct File {
    std::filesystem::file_time_type used;
    std::int64_t bytes;
    std::filesystem::path path;
    auto operator<=>(const File&) const = default;
  };
  std::vector<File> files;
  std::error_code error;
  const auto yesterday = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto bytes = static_cast<std::int64_t>(entry.file_size(error));
    if (error) continue;
    if (entry.path().extension() == ".tokens")
      files.push_back({entry.last_write_time(error), bytes, entry.path()});
    else if (entry.path().stem().extension() == ".tokens" &&
             entry.last_write_time(error) < yesterday)
      std::filesystem::remove(entry.path(), error);
  }
  std::sort(files.begin(), files.end());
  std::int64_t total = 0;
  for (const File& f : files) total += f.bytes;
  for (std::size_t i = 0; i + 1 < files.size() && total > most; ++i) {  // the newest stays
    std::filesystem::remove(files[i].path, error);
    total -= files[i].bytes;
  }
}

/// The tokens of that name in the cache; nothing where there are none, or others.
std::optional<Tokens> cached(const std::string& path, const TextsSeen& seen,
                             const tokenizer::Tokenizer& tokenizer) {
  auto found = Tokens::open(path);
  if (!found || found->fingerprint() != tokenizer.fingerprint() ||
      found->documents() != seen.documents())
    return {};
  std::error_code error;  // used now: `shrink` removes the oldest
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), error);
  return std::move(*found);
}

}  // namespace

TextsSeen::TextsSeen(const tokenizer::Tokenizer& tokenizer, std::int64_t most)
    : most_(most), crc_(crc32c(tokenizer.fingerprint())) {}

void TextsSeen::mix(std::uint64_t word) {
  fnv_ = (fnv_ ^ word) * 0x100000001b3u;
  fnv_ ^= fnv_ >> 32;
}

Status TextsSeen::add(std::string_view piece) {
  crc_ = crc32c(piece, crc_);
  bytes_ += std::ssize(piece);
  document_bytes_ += std::ssize(piece);
  if (kept()) {
    if (!open_) texts_.emplace_back();
    texts_.back() += piece;
    open_ = true;
  } else {
    std::vector<std::string>().swap(texts_);
  }
  for (std::string_view rest = piece; !rest.empty();) {
    std::uint64_t word = 0;
    const std::size_t more = std::min(8 - word_.size(), rest.size());
    if (word_.empty() && more == 8) {
      std::memcpy(&word, rest.data(), 8);
      mix(word);
    } else {
      word_ += rest.substr(0, more);
      if (word_.size() == 8) {
        std::memcpy(&word, word_.data(), 8);
        mix(word);
        word_.clear();
      }
    }
    rest.remove_prefix(more);
  }
  return {};
}

Status TextsSeen::end_document() {
  std::uint64_t word = 0;
  std::memcpy(&word, word_.data(), word_.size());
  word_.clear();
  mix(word);
  mix(static_cast<std::uint64_t>(document_bytes_));
  document_bytes_ = 0;
  ++documents_;
  open_ = false;
  return {};
}

std::string TextsSeen::cache_name() const {
  return fmt::format("{}{:016x}.tokens", hex32(crc_), fnv_);
}

Tokens encode_texts(const std::vector<std::string>& documents, const std::string& name,
                    const tokenizer::Tokenizer& tokenizer, const RowOptions& o) {
  const std::vector<Part> parts = parts_of(documents, tokenizer);
  double total = 0;
  for (const Part& p : parts) total += static_cast<double>(p.text.size());
  Report report(name, total, o);
  TokensBuilder builder(tokenizer);
  for (std::size_t from = 0, to = 0; from < parts.size(); from = to) {
    double bytes = 0;
    while (to < parts.size() && bytes < static_cast<double>(kRound))
      bytes += static_cast<double>(parts[to++].text.size());
    const auto tokens = encode_parts(std::span(parts).subspan(from, to - from), tokenizer);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      builder.add_part(tokens[i]);
      if (parts[from + i].ends_document) builder.end_document();
    }
    report.add(bytes);
  }
  Tokens out = std::move(builder).finish();
  report.end(out.size());
  return out;
}

Result<Tokens> tokens_of(const TextsSeen& seen, const ReadAgain& again, const std::string& name,
                         const tokenizer::Tokenizer& tokenizer, const RowOptions& o) {
  const bool has_cache = !o.cache_folder.empty() && tokenizer.type() != "byte";
  const std::string path = has_cache ? o.cache_folder + "/" + seen.cache_name() : "";
  if (has_cache)
    if (auto found = cached(path, seen, tokenizer)) return std::move(*found);
  // A cache that cannot be written costs the next run its time, and nothing else.
  Status written = has_cache ? make_folders(o.cache_folder) : Status();
  std::optional<Tokens> made;
  if (seen.kept()) {
    made = encode_texts(seen.texts(), name, tokenizer, o);
    if (has_cache && written.ok()) written = made->write(path);
  } else {
    if (has_cache && written.ok()) {
      auto streamed = stream(seen, again, path, name, tokenizer, o);
      if (streamed)
        made = std::move(*streamed);
      else
        written = streamed.status();
    }
    if (!made) {
      auto streamed = stream(seen, again, "", name, tokenizer, o);
      if (!streamed) return streamed.status();
      made = std::move(*streamed);
    }
  }
  if (has_cache && written.ok())
    shrink(o.cache_folder, o.cache_bytes);
  else if (has_cache)
    o.note(fmt::format("tokens of {} are not kept: {}", name, written.message()));
  return std::move(*made);
}

}  // namespace strata::data
