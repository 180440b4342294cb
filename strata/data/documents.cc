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

Status check_text(const std::string& path, std::string_view bytes) {
  if (const std::string_view command = unpacks(bytes); !command.empty())
    return Status(Code::invalid, "{}: not a text file but {}: unpack it first, as `{} {}` does",
                  path, known_kind(bytes, path), command, path);
  if (std::size_t at = bytes.find('\0'); at != std::string::npos)
    return Status(Code::invalid, "{}: not a text file: byte {} of {} is NUL", path, at,
                  bytes.size());
  if (std::size_t at = tokenizer::first_invalid(bytes); at != std::string::npos) {
    return Status(Code::invalid,
                  "{}: not UTF-8: byte {} of {}, in line {}, is 0x{:02x}; `iconv -f latin1 -t "
                  "utf-8` converts old texts",
                  path, at, bytes.size(), line_of(bytes, at),
                  static_cast<unsigned char>(bytes[at]));
  }
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

}  // namespace

Result<std::vector<std::string>> documents_of(std::string bytes, const std::string& path,
                                              const DocumentOptions& o) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);  // a byte order mark is no text
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

}  // namespace strata::data
