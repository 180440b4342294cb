#include "strata/data/documents.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "strata/base/file.h"
#include "strata/base/file_kind.h"
#include "strata/data/compression/stream.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

/// A compressed text that unpacks to more is refused.
constexpr std::size_t kMostUnpacked = std::size_t{64} << 30;

std::size_t line_of(std::string_view bytes, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

Status has_nul(const std::string& path, std::uint64_t at, std::uint64_t size) {
  return Status(Code::invalid, "{}: not a text file: byte {} of {} is NUL", path, at, size);
}

Status not_utf8(const std::string& path, std::uint64_t at, std::uint64_t size, std::size_t line,
                unsigned byte) {
  return Status(Code::invalid,
                "{}: not UTF-8: byte {} of {}, in line {}, is 0x{:02x}; `iconv -f latin1 -t "
                "utf-8` converts old texts",
                path, at, size, line, byte);
}

Status check_text(const std::string& path, std::string_view bytes) {
  if (const std::string_view command = unpacks(bytes); !command.empty())
    return Status(Code::invalid, "{}: not a text file but {}: unpack it first, as `{} {}` does",
                  path, known_kind(bytes, path), command, path);
  if (std::size_t at = bytes.find('\0'); at != std::string::npos)
    return has_nul(path, at, bytes.size());
  if (std::size_t at = tokenizer::first_invalid(bytes); at != std::string::npos)
    return not_utf8(path, at, bytes.size(), line_of(bytes, at),
                    static_cast<unsigned char>(bytes[at]));
  return {};
}

/// The number that four hexadecimal digits after `\u` stand for, at the start of `text`.
std::optional<unsigned> escaped_unit(std::string_view text) {
  unsigned unit = 0;
  if (!text.starts_with("\\u") || text.size() < 6) return std::nullopt;
  const char *begin = text.data() + 2, *end = text.data() + 6;
  const auto [stop, error] = std::from_chars(begin, end, unit, 16);
  return error == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

/// The first escape that is half of a surrogate pair without its other half; empty where there is
/// none.
std::string_view lone_surrogate(std::string_view json) {
  auto in = [](std::optional<unsigned> unit, unsigned first) {
    return unit && *unit >= first && *unit < first + 0x400;
  };
  for (std::size_t at = json.find('\\'); at != std::string::npos; at = json.find('\\', at)) {
    const auto unit = escaped_unit(json.substr(at));
    const bool high = in(unit, 0xd800);
    if (in(unit, 0xdc00)) return json.substr(at, 6);
    if (high && !in(escaped_unit(json.substr(at + 6)), 0xdc00)) return json.substr(at, 6);
    at += high ? 12 : unit ? 6 : 2;
  }
  return {};
}

Result<std::string> text_of(std::string_view line, const std::string& where,
                            const std::string& column) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (object.is_discarded())
    if (const std::string_view half = lone_surrogate(line); !half.empty())
      return Status(Code::invalid,
                    "{}: the escape {} is a lone surrogate, half of a pair that would be a "
                    "character: no text can hold it",
                    where, half);
  if (!object.is_object()) return Status(Code::invalid, "{}: no JSON object", where);
  const auto text = object.find(column);
  if (text == object.end() || !text->is_string())
    return Status(Code::invalid,
                  "{}: no text under \"{}\" (train_data_columns names the member that holds it)",
                  where, column);
  auto out = text->get<std::string>();
  if (std::size_t at = out.find('\0'); at != std::string::npos)
    return Status(Code::invalid, "{}: not a text: byte {} of {} is NUL", where, at, out.size());
  return out;
}

Result<std::vector<std::string>> lines_of(std::string_view bytes, const std::string& path,
                                          const std::string& column) {
  std::vector<std::string> out;
  std::size_t number = 0;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto text = text_of(line, fmt::format("{}:{}", path, number), column);
    if (!text) return text.status();
    if (!text->empty()) out.push_back(std::move(*text));
  }
  return out;
}

constexpr std::string_view kMark = "\xef\xbb\xbf";  // a byte order mark is no text

bool is_jsonl(const std::string& path, bool compressed) {
  std::string name = path;
  if (compressed && compression_of_path(path)) name.resize(path.rfind('.'));
  return name.ends_with(".jsonl");
}

/// Reads a text and looks for what is none, piece by piece; says of a fault what `check_text` says
/// of the whole file.
class TextReader {
 public:
  explicit TextReader(Input input) : input_(std::move(input)) {}

  /// Passes a byte order mark. Code::invalid for a file that something unknown compressed.
  Status begin() {
    auto first = input_.peek(kPiece);
    if (!first) return first.status();
    if (const std::string_view command = unpacks(*first); !command.empty())
      return check_text(input_.name(), *first);
    mark_ = first->starts_with(kMark) ? kMark.size() : 0;
    begin_ = mark_;
    return input_.skip(mark_);
  }
  /// The next whole characters; empty at the end.
  Result<std::string_view> piece() {
    auto seen = input_.peek(kPiece);
    if (!seen) return seen;
    std::size_t size = seen->size();
    if (size == kPiece)  // the last character may go on behind the piece
      for (std::size_t tail = 1; tail <= 3; ++tail)
        if (tokenizer::may_become_character(seen->substr(size - tail))) {
          size -= tail;
          break;
        }
    return check(input_.take(size));
  }
  /// The next line without its end; null data at the end.
  Result<std::string_view> line() {
    auto out = check(input_.line());
    ++lines_;
    return out;
  }
  std::size_t lines() const { return lines_; }

  /// What is wrong with the rest of the text, if anything is, else `status`: a line that is no JSON
  /// says less than that the file is no text.
  Status rather(Status status) {
    for (;;) {
      auto next = piece();
      if (!next) return next.status();
      if (next->empty()) return status;
    }
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  Result<std::string_view> check(Result<std::string_view> taken) {
    if (!taken) return taken;
    if (input_.compressed() && input_.position() > kMostUnpacked)
      return Status(Code::corrupt, "{}: unpacks to more than {} bytes", input_.name(),
                    kMostUnpacked);
    const std::size_t zero = taken->find('\0'), invalid = tokenizer::first_invalid(*taken);
    if (zero == taken->npos && invalid == taken->npos) {
      newlines_ += static_cast<std::size_t>(std::count(taken->begin(), taken->end(), '\n'));
      begin_ = input_.position();
      return taken;
    }
    return fault(*taken, zero, invalid);
  }
  /// The fault of a piece, which has a byte NUL or one that is not UTF-8. A NUL anywhere is named
  /// first, so the rest is looked through; its size is told, too.
  Status fault(std::string_view piece, std::size_t zero, std::size_t invalid) {
    const std::uint64_t begin = begin_ - mark_;
    const auto line =
        invalid == piece.npos ? 0 : newlines_ + lines_before(piece.substr(0, invalid)) + 1;
    const unsigned byte = invalid == piece.npos ? 0 : static_cast<unsigned char>(piece[invalid]);
    std::uint64_t nul = zero == piece.npos ? kNone : begin + zero;
    for (;;) {
      const std::uint64_t at = input_.position() - mark_;
      auto more = input_.take(kPiece);
      if (!more) return more.status();
      if (more->empty()) break;
      const std::size_t found = nul == kNone ? more->find('\0') : more->npos;
      if (found != more->npos) nul = at + found;
    }
    const std::uint64_t all = input_.position() - mark_;
    if (nul != kNone) return has_nul(input_.name(), nul, all);
    return not_utf8(input_.name(), begin + invalid, all, line, byte);
  }
  std::size_t lines_before(std::string_view text) const {
    return lines_ + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Input input_;
  std::size_t mark_ = 0;
  std::uint64_t begin_ = 0;  // of what is not checked yet, in the unpacked file
  // Line ends passed: those inside of pieces, and those that `line` took away.
  std::size_t newlines_ = 0, lines_ = 0;
};

Status stream_lines(TextReader& reader, const std::string& path, const std::string& column,
                    TextSink& out) {
  for (;;) {
    auto line = reader.line();
    if (!line) return line.status();
    if (!line->data()) return {};
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto text = text_of(*line, fmt::format("{}:{}", path, reader.lines()), column);
    if (!text) return reader.rather(text.status());
    if (text->empty()) continue;
    if (Status s = out.add(*text); !s.ok()) return s;
    if (Status s = out.end_document(); !s.ok()) return s;
  }
}

}  // namespace

Result<std::vector<std::string>> documents_of(std::string bytes, const std::string& path,
                                              const DocumentOptions& o) {
  if (bytes.starts_with(kMark)) bytes.erase(0, kMark.size());
  if (Status s = check_text(path, bytes); !s.ok()) return s;
  if (path.ends_with(".jsonl")) return lines_of(bytes, path, o.column);
  std::vector<std::string> out;
  if (!bytes.empty()) out.push_back(std::move(bytes));
  return out;
}

Result<std::vector<std::string>> read_documents(const std::string& path,
                                                const DocumentOptions& options) {
  auto bytes = read_file(path);
  if (!bytes) return bytes.status();
  const Compression* compression = compression_of(*bytes);
  if (!compression) return documents_of(std::move(*bytes), path, options);
  auto text = unpack(*bytes, *compression, path, kMostUnpacked);
  if (!text) return text.status();
  std::string name = path;
  if (compression_of_path(path)) name.resize(path.rfind('.'));  // notes.jsonl.gz is JSONL
  return documents_of(std::move(*text), name, options);
}

Status stream_documents(const std::string& path, const DocumentOptions& o, TextSink& out) {
  auto input = Input::open(path);
  if (!input) return input.status();
  const bool jsonl = is_jsonl(path, input->compressed());
  TextReader reader(std::move(*input));
  if (Status s = reader.begin(); !s.ok()) return s;
  if (jsonl) return stream_lines(reader, path, o.column, out);
  for (bool any = false;; any = true) {
    auto piece = reader.piece();
    if (!piece) return piece.status();
    if (piece->empty()) return any ? out.end_document() : Status();
    if (Status s = out.add(*piece); !s.ok()) return s;
  }
}

}  // namespace strata::data
