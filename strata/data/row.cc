#include "strata/data/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/progress.h"
#include "strata/base/text.h"
#include "strata/base/thread_pool.h"
#include "strata/data/documents.h"
#include "strata/data/format/elements.h"

namespace strata::data {
namespace {

/// Bytes that are encoded between two reports.
constexpr std::size_t kRound = std::size_t{8} << 20;

struct Part {
  std::string_view text;
  bool ends_document;
};

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

Tokens encode(const std::vector<std::string>& documents, const std::string& name,
              const tokenizer::Tokenizer& tokenizer, const RowOptions& o) {
  struct Work {
    std::span<const Part> parts;
    std::vector<std::vector<std::int32_t>> tokens;
    const tokenizer::Tokenizer& tokenizer;
  };
  const std::vector<Part> parts = parts_of(documents, tokenizer);
  double total = 0, done = 0;
  for (const Part& p : parts) total += static_cast<double>(p.text.size());
  const double start = seconds_now();
  TokensBuilder builder(tokenizer);
  for (std::size_t from = 0, to = 0; from < parts.size(); from = to) {
    double bytes = 0;
    while (to < parts.size() && bytes < static_cast<double>(kRound))
      bytes += static_cast<double>(parts[to++].text.size());
    Work work{std::span(parts).subspan(from, to - from),
              std::vector<std::vector<std::int32_t>>(to - from), tokenizer};
    auto run = [](void* ctx, std::int64_t begin, std::int64_t end) {
      auto& w = *static_cast<Work*>(ctx);
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        w.tokens[i] = w.tokenizer.encode(w.parts[i].text);
    };
    parallel_for(static_cast<std::int64_t>(to - from), 1, run, &work);
    for (std::size_t i = 0; i < work.parts.size(); ++i) {
      builder.add_part(work.tokens[i]);
      if (work.parts[i].ends_document) builder.end_document();
    }
    done += bytes;
    o.progress(fmt::format("tokenising {}: {:.0f} % of {}B", name, 100 * done / total,
                           human_count(total)));
  }
  Tokens out = std::move(builder).finish();
  if (const double seconds = seconds_now() - start; seconds >= 1) {
    o.note(fmt::format("tokenised {}: {}B are {} tokens, in {:.1f} s", name, human_count(total),
                       human_count(static_cast<double>(out.size())), seconds));
  }
  return out;
}

/// Names the tokens of these documents: 32 bits of CRC-32C and 64 of FNV-1a over words. Not proof
/// against those who look for two texts of one name, only against chance.
std::string cache_name(const std::vector<std::string>& documents,
                       const tokenizer::Tokenizer& tokenizer) {
  std::uint64_t fnv = 0xcbf29ce484222325u;
  auto mix = [&](std::uint64_t word) {
    fnv = (fnv ^ word) * 0x100000001b3u;
    fnv ^= fnv >> 32;
  };
  std::uint32_t crc = crc32c(tokenizer.fingerprint());
  for (const std::string& d : documents) {
    crc = crc32c(d, crc);
    mix(d.size());
    for (std::size_t i = 0; i < d.size(); i += 8) {
      std::uint64_t word = 0;
      std::copy_n(d.data() + i, std::min<std::size_t>(8, d.size() - i),
                  reinterpret_cast<char*>(&word));
      mix(word);
    }
  }
  return fmt::format("{}{:016x}.tokens", hex32(crc), fnv);
}

/// Removes the files that were written or used first, until those left are `most` bytes at most.
void shrink(const std::string& folder, std::int64_t most) {
  struct File {
    std::filesystem::file_time_type used;
    std::int64_t bytes;
    std::filesystem::path path;
    auto operator<=>(const File&) const = default;
  };
  std::vector<File> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto bytes = static_cast<std::int64_t>(entry.file_size(error));
    if (!error && entry.path().extension() == ".tokens")
      files.push_back({entry.last_write_time(error), bytes, entry.path()});
  }
  std::sort(files.begin(), files.end());
  std::int64_t total = 0;
  for (const File& f : files) total += f.bytes;
  for (std::size_t i = 0; i + 1 < files.size() && total > most; ++i) {  // the newest stays
    std::filesystem::remove(files[i].path, error);
    total -= files[i].bytes;
  }
}

/// Tokens of texts, from the cache where they are there.
Tokens tokens_of(const std::vector<std::string>& documents, const std::string& name,
                 const tokenizer::Tokenizer& tokenizer, const RowOptions& o) {
  if (o.cache_folder.empty() || tokenizer.type() == "byte")
    return encode(documents, name, tokenizer, o);
  const std::string path = o.cache_folder + "/" + cache_name(documents, tokenizer);
  auto found = Tokens::open(path);
  if (found && found->fingerprint() == tokenizer.fingerprint() &&
      found->documents() == static_cast<std::int64_t>(documents.size())) {
    std::error_code error;  // used now: `shrink` goes by age
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), error);
    return *found;
  }
  Tokens made = encode(documents, name, tokenizer, o);
  // A cache that cannot be written costs the next run its time, and nothing else.
  Status written = make_folders(o.cache_folder);
  if (written.ok()) written = made.write(path);
  if (written.ok())
    shrink(o.cache_folder, o.cache_bytes);
  else
    o.note(fmt::format("tokens of {} are not kept: {}", name, written.message()));
  return made;
}

Status check_tokenizer(const Tokens& tokens, const tokenizer::Tokenizer& tokenizer,
                       const std::string& path) {
  if (tokens.fingerprint() == tokenizer.fingerprint() &&
      tokens.vocab_size() == tokenizer.vocab_size())
    return {};
  return Status(Code::invalid,
                "{}: its tokens are of the tokenizer {}, the run's is {}: set tokenizer_type and "
                "tokenizer_path",
                path, tokens.fingerprint(), tokenizer.fingerprint());
}

}  // namespace

namespace {

/// Adds a document of tokens that others made; their own separator at its end is the run's.
Status add_tokens(const Literal& tokens, const std::string& where,
                  const tokenizer::Tokenizer& tokenizer, TokensBuilder& builder) {
  if (!is_integer(tokens.dtype()) || tokens.shape().rank() != 1)
    return Status(Code::invalid, "{}: {} are no tokens; those are a row of integers", where,
                  tokens.type().to_string());
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < tokens.count(); ++i) {
    const double token = tokens.number(i);
    if (token < 0 || token >= static_cast<double>(tokenizer.vocab_size()))
      return Status(Code::invalid, "{}: token {} is {}; the tokenizer ({}) has {}", where, i, token,
                    tokenizer.type(), tokenizer.vocab_size());
    out.push_back(static_cast<std::int32_t>(token));
  }
  if (!out.empty() && out.back() == tokenizer.separator()) out.pop_back();
  builder.add(out);
  return {};
}

/// What of a record is trained on: the record itself, or its member `column`.
Result<Element> content_of(const Element& record, const std::string& column,
                           const std::string& where) {
  if (record.kind() != Element::Kind::dict) return record;
  if (record.contains(column)) return record.at(column);
  // Indexed token files have no text.
  if (record.contains("tokens")) return record.at("tokens");
  std::vector<std::string> names;
  for (const auto& [name, value] : record.fields()) names.push_back(name);
  return Status(Code::invalid, "{}: there is no member {}; there are {}: set train_data_columns",
                where, column, fmt::join(names, ", "));
}

/// The documents of a file of records, in their order: of texts, or of tokens.
struct Records {
  std::vector<std::string> texts;
  std::optional<Tokens> tokens;
};
Result<Records> read_records(const std::string& path, const tokenizer::Tokenizer& tokenizer,
                             const RowOptions& o) {
  auto scanner = open_elements(path);
  if (!scanner) return scanner.status();
  Records out;
  TokensBuilder builder(tokenizer);
  bool has_tokens = false;
  Element record;
  for (std::int64_t n = 0;; ++n) {
    const auto more = (*scanner)->next(record);
    if (!more) return more.status();
    if (!*more) break;
    const std::string where = fmt::format("{}: record {}", path, n);
    const auto content = content_of(record, o.column, where);
    if (!content) return content.status();
    if (content->kind() == Element::Kind::array) {
      if (Status s = add_tokens(content->array(), where, tokenizer, builder); !s.ok()) return s;
      has_tokens = true;
    } else if (content->kind() == Element::Kind::text || content->kind() == Element::Kind::bytes) {
      auto documents = documents_of(std::string(content->view()), where);
      if (!documents) return documents.status();
      std::move(documents->begin(), documents->end(), std::back_inserter(out.texts));
    } else {
      return Status(Code::invalid, "{}: {} is no text and no row of tokens", where,
                    name(content->kind()));
    }
    if (has_tokens && !out.texts.empty())
      return Status(Code::invalid, "{}: some records are texts, others tokens", where);
    if (n % 1000 == 0) o.progress(fmt::format("reading {}: {} records", path, n));
  }
  if (has_tokens) out.tokens = std::move(builder).finish();
  return out;
}

/// Whether `train_files` reads a file by the table of formats, and not as text or JSONL.
bool is_of_records(const std::string& path) {
  const ElementFormat* format = element_format_of(path);
  if (!format || format->name == "text" || format->name == "jsonl" || format->name == "tokens")
    return false;
  if (format->name != "megatron") return true;
  const std::string prefix = path.substr(0, path.size() - 4);  // ".bin" says little by itself
  return file_exists(prefix + ".bin") && file_exists(prefix + ".idx");
}

}  // namespace

void Row::add(Tokens tokens) {
  if (tokens.size() == 0) return;
  const std::uint32_t checksum = tokens.checksum();
  checksum_ = crc32c({reinterpret_cast<const char*>(&checksum), sizeof checksum}, checksum_);
  size_ += tokens.size();
  documents_ += tokens.documents();
  segments_.push_back({size_ - tokens.size(), documents_ - tokens.documents(), std::move(tokens)});
}

Result<Row> Row::read(const Source& source, const tokenizer::Tokenizer& tokenizer,
                      const RowOptions& o) {
  Row out;
  for (const std::string& pattern : source.patterns) {
    auto files = expand_pattern(pattern);
    if (!files) return files.status();
    out.files_.insert(out.files_.end(), files->begin(), files->end());
  }
  std::vector<std::string> texts;
  auto flush = [&] {
    if (!texts.empty()) out.add(tokens_of(texts, source.name, tokenizer, o));
    texts.clear();
  };
  for (std::size_t i = 0; i < out.files_.size(); ++i) {
    const std::string& path = out.files_[i];
    out.starts_.push_back({out.documents_ + static_cast<std::int64_t>(texts.size()), i});
    if (Tokens::is_token_file(path)) {
      flush();
      auto tokens = Tokens::open(path);
      if (!tokens) return tokens.status();
      if (Status s = check_tokenizer(*tokens, tokenizer, path); !s.ok()) return s;
      out.add(std::move(*tokens));
      continue;
    }
    if (is_of_records(path)) {
      auto records = read_records(path, tokenizer, o);
      if (!records && records.status().code() == Code::denied)
        return Status(Code::invalid, records.status().message());
      if (!records) return records.status();
      std::move(records->texts.begin(), records->texts.end(), std::back_inserter(texts));
      if (records->tokens) flush(), out.add(std::move(*records->tokens));
      continue;
    }
    auto documents = read_documents(path, {.column = o.column});
    // A file that may not be read is the user's choice of files, not the world's failure.
    if (!documents && documents.status().code() == Code::denied)
      return Status(Code::invalid, documents.status().message());
    if (!documents) return documents.status();
    std::move(documents->begin(), documents->end(), std::back_inserter(texts));
  }
  flush();
  if (out.size_ == 0 && out.files_.size() == 1)
    return Status(Code::invalid, "{}: the file is empty; training needs text", out.files_.front());
  if (out.size_ == 0)
    return Status(Code::invalid, "the {} files of {} are all empty; training needs text",
                  out.files_.size(), source.name);
  return out;
}

Row Row::of(const std::vector<std::string>& documents, const tokenizer::Tokenizer& tokenizer) {
  Row out;
  out.files_ = {"memory"};
  out.starts_ = {{0, 0}};
  out.add(encode(documents, "text", tokenizer, {}));
  return out;
}

void Row::copy(std::int64_t from, std::span<std::int32_t> out) const {
  STRATA_CHECK(from >= 0 && from + static_cast<std::int64_t>(out.size()) <= size_,
               "tokens {} + {} of {}", from, out.size(), size_);
  auto s =
      std::prev(std::upper_bound(segments_.begin(), segments_.end(), from,
                                 [](std::int64_t t, const Segment& x) { return t < x.token; }));
  while (!out.empty()) {
    const std::int64_t at = from - s->token,
                       n = std::min(s->tokens.size() - at, static_cast<std::int64_t>(out.size()));
    s->tokens.copy(at, out.first(static_cast<std::size_t>(n)));
    out = out.subspan(static_cast<std::size_t>(n));
    from += n;
    ++s;
  }
}

std::int64_t Row::document(std::int64_t d) const {
  STRATA_CHECK(d >= 0 && d <= documents_, "document {} of {}", d, documents_);
  if (d == documents_) return size_;
  auto s =
      std::prev(std::upper_bound(segments_.begin(), segments_.end(), d,
                                 [](std::int64_t v, const Segment& x) { return v < x.document; }));
  return s->token + s->tokens.document(d - s->document);
}

std::int64_t Row::document_of(std::int64_t token) const {
  STRATA_CHECK(token >= 0 && token < size_, "token {} of {}", token, size_);
  std::int64_t first = 0, last = documents_;  // first begins at or before the token, last behind it
  while (last - first > 1) {
    const std::int64_t middle = first + (last - first) / 2;
    (document(middle) <= token ? first : last) = middle;
  }
  return first;
}

std::int64_t Row::record_of(std::int64_t document) const {
  auto s = std::upper_bound(starts_.begin(), starts_.end(), document,
                            [](std::int64_t d, const FileStart& x) { return d < x.document; });
  return document - std::prev(s)->document;
}

const std::string& Row::file_of(std::int64_t document) const {
  auto s = std::upper_bound(starts_.begin(), starts_.end(), document,
                            [](std::int64_t d, const FileStart& x) { return d < x.document; });
  return files_[std::prev(s)->file];
}

}  // namespace strata::data
