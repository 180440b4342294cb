#include "strata/data/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/data/documents.h"
#include "strata/data/format/elements.h"
#include "strata/data/tokens/text_tokens.h"
#include "strata/data/tokens/tokens_writer.h"

namespace strata::data {
namespace {

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

/// Takes documents that others made tokens of, without their separators.
using AddTokens = std::function<Status(std::span<const std::int32_t>)>;

/// Gives a document of tokens that others made; their own separator at its end is the run's.
Status give_tokens(const Literal& tokens, const std::string& where,
                   const tokenizer::Tokenizer& tokenizer, const AddTokens& add) {
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
  return add(out);
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

/// Gives the documents of a file of records in their order: of texts, or of tokens.
Status read_records(const std::string& path, const tokenizer::Tokenizer& tokenizer,
                    const RowOptions& o, TextSink& texts, const AddTokens& add_tokens) {
  auto scanner = open_elements(path);
  if (!scanner) return scanner.status();
  bool has_tokens = false, has_texts = false;
  Element record;
  for (std::int64_t n = 0;; ++n) {
    const auto more = (*scanner)->next(record);
    if (!more) return more.status();
    if (!*more) return {};
    const std::string where = fmt::format("{}: record {}", path, n);
    const auto content = content_of(record, o.column, where);
    if (!content) return content.status();
    if (content->kind() == Element::Kind::array) {
      has_tokens = true;
      if (Status s = give_tokens(content->array(), where, tokenizer, add_tokens); !s.ok()) return s;
    } else if (content->kind() == Element::Kind::text || content->kind() == Element::Kind::bytes) {
      auto documents = documents_of(std::string(content->view()), where);
      if (!documents) return documents.status();
      for (const std::string& document : *documents) {
        has_texts = true;
        if (Status s = texts.add(document); !s.ok()) return s;
        if (Status s = texts.end_document(); !s.ok()) return s;
      }
    } else {
      return Status(Code::invalid, "{}: {} is no text and no row of tokens", where,
                    name(content->kind()));
    }
    if (has_tokens && has_texts)
      return Status(Code::invalid, "{}: some records are texts, others tokens", where);
    if (n % 1000 == 0) o.progress(fmt::format("reading {}: {} records", path, n));
  }
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

/// Tokens that a file of records holds as such: in memory while they are few.
class RecordTokens {
 public:
  RecordTokens(const tokenizer::Tokenizer& tokenizer, std::int64_t most)
      : most_(most / Tokens::width_of(tokenizer.vocab_size())),
        builder_(std::in_place, tokenizer) {}
  void add(std::span<const std::int32_t> document) {
    ++documents_;
    size_ += std::ssize(document) + 1;
    if (size_ > most_) builder_.reset();
    if (builder_) builder_->add(document);
  }
  std::int64_t documents() const { return documents_; }
  /// All of them where they were few.
  std::optional<Tokens> kept() {
    return builder_ ? std::optional(std::move(*builder_).finish()) : std::nullopt;
  }

 private:
  std::int64_t most_, documents_ = 0, size_ = 0;
  std::optional<TokensBuilder> builder_;
};

/// Refuses texts: of files that held tokens when they were read before.
class NoTexts : public TextSink {
 public:
  explicit NoTexts(std::string path) : path_(std::move(path)) {}
  Status add(std::string_view) override {
    return Status(Code::invalid, "{}: it changed while it was read", path_);
  }
  Status end_document() override { return add({}); }

 private:
  std::string path_;
};

Result<Tokens> stream_tokens(const std::string& path, std::int64_t documents,
                             const tokenizer::Tokenizer& tokenizer, const RowOptions& o) {
  auto writer = TokensWriter::create("", tokenizer, documents);
  if (!writer) return writer.status();
  NoTexts none(path);
  const Status status =
      read_records(path, tokenizer, o, none, [&](std::span<const std::int32_t> document) {
        Status s = writer->add_part(document);
        return s.ok() ? writer->end_document() : s;
      });
  if (!status.ok()) return status;
  return std::move(*writer).finish();
}

}  // namespace

/// Reads a source's files one after the other. Texts of neighbouring files are tokenised together.
class Row::Reader {
 public:
  Reader(const Source& source, const tokenizer::Tokenizer& tokenizer, const RowOptions& o)
      : source_(source), tokenizer_(tokenizer), options_(o) {
    begin_texts();
  }
  Result<Row> read() {
    for (const std::string& pattern : source_.patterns) {
      auto files = expand_pattern(pattern);
      if (!files) return files.status();
      out_.files_.insert(out_.files_.end(), files->begin(), files->end());
    }
    for (std::size_t i = 0; i < out_.files_.size(); ++i) {
      out_.starts_.push_back({out_.documents_ + texts_->documents(), i});
      if (Status s = add(out_.files_[i]); !s.ok()) {
        // A file that may not be read is the user's choice of files, not the world's failure.
        return s.code() == Code::denied ? Status(Code::invalid, s.message()) : s;
      }
    }
    if (Status s = end_texts(); !s.ok()) return s;
    return std::move(out_);
  }

 private:
  Status add(const std::string& path) {
    if (Tokens::is_token_file(path)) {
      if (Status s = end_texts(); !s.ok()) return s;
      auto tokens = Tokens::open(path);
      if (!tokens) return tokens.status();
      if (Status s = check_tokenizer(*tokens, tokenizer_, path); !s.ok()) return s;
      out_.add(std::move(*tokens));
      return {};
    }
    if (!is_of_records(path)) {
      text_files_.push_back(path);
      return stream_documents(path, {.column = options_.column}, *texts_);
    }
    RecordTokens tokens(tokenizer_, options_.memory_bytes);
    const Status read =
        read_records(path, tokenizer_, options_, *texts_, [&](std::span<const std::int32_t> d) {
          tokens.add(d);
          return Status();
        });
    if (!read.ok()) return read;
    if (tokens.documents() == 0) {
      text_files_.push_back(path);
      return {};
    }
    if (Status s = end_texts(); !s.ok()) return s;
    auto kept = tokens.kept();
    if (!kept) {
      auto streamed = stream_tokens(path, tokens.documents(), tokenizer_, options_);
      if (!streamed) return streamed.status();
      kept = std::move(*streamed);
    }
    out_.add(std::move(*kept));
    return {};
  }
  void begin_texts() {
    texts_.emplace(tokenizer_, options_.memory_bytes);
    text_files_.clear();
  }
  /// Adds the tokens of the texts so far.
  Status end_texts() {
    if (texts_->documents() > 0) {
      const auto again = [&](TextSink& sink) { return read_again(sink); };
      auto tokens = tokens_of(*texts_, again, source_.name, tokenizer_, options_);
      if (!tokens) return tokens.status();
      out_.add(std::move(*tokens));
    }
    begin_texts();
    return {};
  }
  Status read_again(TextSink& sink) const {
    for (const std::string& path : text_files_) {
      const auto changed = [&](std::span<const std::int32_t>) {
        return Status(Code::invalid, "{}: it changed while it was read", path);
      };
      Status s = is_of_records(path) ? read_records(path, tokenizer_, options_, sink, changed)
                                     : stream_documents(path, {.column = options_.column}, sink);
      if (!s.ok()) return s;
    }
    return {};
  }

  const Source& source_;
  const tokenizer::Tokenizer& tokenizer_;
  const RowOptions& options_;
  Row out_;
  std::optional<TextsSeen> texts_;       // since the last tokens that others made
  std::vector<std::string> text_files_;  // which hold them
};

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
  auto read = Reader(source, tokenizer, o).read();
  if (!read) return read;
  Row& out = *read;
  if (out.size_ == 0 && out.files_.size() == 1)
    return Status(Code::invalid, "{}: the file is empty; training needs text", out.files_.front());
  if (out.size_ == 0)
    return Status(Code::invalid, "the {} files of {} are all empty; training needs text",
                  out.files_.size(), source.name);
  return read;
}

Row Row::of(const std::vector<std::string>& documents, const tokenizer::Tokenizer& tokenizer) {
  Row out;
  out.files_ = {"memory"};
  out.starts_ = {{0, 0}};
  out.add(encode_texts(documents, "text", tokenizer, {}));
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
