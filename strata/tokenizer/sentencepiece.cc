#include "strata/tokenizer/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581, the library's space
constexpr std::int64_t kLeastVocabulary = 512, kMostVocabulary = 1000000;
// Encoding a text takes more than its share of time when it is long, so parts are short where
// cutting changes nothing.
constexpr std::size_t kShortPart = std::size_t{1} << 14, kPart = std::size_t{1} << 20;
constexpr std::size_t kLongestSentence = 4096;

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(std::string model) : model_(std::move(model)) {}
  Status load(const std::string& name);

  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::size_t part(std::string_view text) const override;
  std::string bytes(std::int32_t token) const override;
  std::string decode(std::span<const std::int32_t> tokens) const override;
  std::int64_t vocab_size() const override { return static_cast<std::int64_t>(pieces_.size()); }
  std::int32_t separator() const override { return separator_; }
  std::string type() const override { return "sentencepiece"; }
  std::string fingerprint() const override {
    return fmt::format("sentencepiece:{}:{}", hex32(crc32c(model_)), model_.size());
  }
  const std::string& model() const override { return model_; }

 private:
  void encode_part(std::string_view text, std::vector<std::int32_t>& out) const;
  void encode_run(std::string_view text, std::vector<std::int32_t>& out) const;

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  std::vector<std::string> pieces_;  // the bytes of each token
  std::array<std::int32_t, 256> byte_tokens_{};
  bool has_bytes_ = true;
  bool adds_space_ = false;         // in front of a text
  bool keeps_lines_apart_ = false;  // no token spans a line end, and spaces are left as they are
  std::int32_t separator_ = -1;
};

std::string with_spaces(std::string_view piece) {
  std::string out;
  for (std::size_t at = 0; at < piece.size();) {
    const bool space = piece.substr(at, kSpace.size()) == kSpace;
    out += space ? ' ' : piece[at];
    at += space ? kSpace.size() : 1;
  }
  return out;
}

Status SentencePieceTokenizer::load(const std::string& name) {
  if (auto s = processor_.LoadFromSerializedProto(model_); !s.ok())
    return Status(Code::corrupt, "{}: no SentencePiece model: {}", name, s.ToString());
  separator_ = processor_.eos_id() >= 0 ? processor_.eos_id() : processor_.bos_id();
  const int count = processor_.GetPieceSize();
  if (count < 1 || separator_ < 0 || separator_ >= count)
    return Status(Code::invalid, "{}: the model has {} tokens and none that ends or begins a text",
                  name, count);
  byte_tokens_.fill(-1);
  for (int i = 0; i < count; ++i) {
    const std::string& piece = processor_.IdToPiece(i);
    if (i == separator_) {
      pieces_.emplace_back("\n");
    } else if (processor_.IsControl(i)) {
      pieces_.emplace_back();
    } else if (processor_.IsUnknown(i)) {
      pieces_.emplace_back("\xef\xbf\xbd");
    } else if (processor_.IsByte(i)) {
      const int value = piece.size() == 6
                            ? static_cast<int>(std::strtol(piece.c_str() + 3, nullptr, 16))
                            : -1;  // <0x0A>
      if (value < 0 || value > 255)
        return Status(Code::corrupt, "{}: token {} is '{}', no byte", name, i, piece);
      byte_tokens_[static_cast<std::size_t>(value)] = i;
      pieces_.emplace_back(1, static_cast<char>(value));
    } else {
      pieces_.push_back(with_spaces(piece));
    }
  }
  has_bytes_ = std::find(byte_tokens_.begin(), byte_tokens_.end(), -1) == byte_tokens_.end();
  std::vector<std::string> probe;
  if (auto s = processor_.Encode("a", &probe); !s.ok())
    return Status(Code::corrupt, "{}: cannot encode: {}", name, s.ToString());
  adds_space_ = !probe.empty() && probe.front().starts_with(kSpace);
  const bool spans = std::any_of(pieces_.begin(), pieces_.end(), [](const std::string& p) {
    return p.size() > 1 && p.find('\n') != p.npos;
  });
  const std::string spaces = " \n  a \n";
  keeps_lines_apart_ = !spans && !adds_space_ && decode(encode(spaces)) == spaces;
  return {};
}

/// All of a short text; of a longer one up to a line end, or where lines do not end, to a
/// character's.
std::size_t SentencePieceTokenizer::part(std::string_view text) const {
  const std::size_t least = keeps_lines_apart_ ? kShortPart : kPart;
  if (text.size() <= least) return text.size();
  if (const std::size_t line = text.substr(0, 2 * kPart).find('\n', least);
      line != std::string_view::npos)
    return line + 1;
  std::size_t end = std::min(text.size(), 2 * kPart);
  while (end < text.size() && end > kPart && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return end;
}

std::size_t next_invalid(std::string_view text, std::size_t from) {
  const std::size_t at = first_invalid(text.substr(from));
  return at == text.npos ? at : from + at;
}

std::vector<std::int32_t> SentencePieceTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> out;
  while (!text.empty()) {
    const std::size_t n = part(text);
    encode_part(text.substr(0, n), out);
    text.remove_prefix(n);
  }
  return out;
}

void SentencePieceTokenizer::encode_part(std::string_view text,
                                         std::vector<std::int32_t>& out) const {
  if (!has_bytes_) return encode_run(text, out);
  std::size_t at = 0, invalid = 0, space = 0;  // each strange place is looked for once
  while (at < text.size()) {
    if (invalid != text.npos && invalid <= at) invalid = next_invalid(text, at);
    if (space != text.npos && space <= at) space = text.find(kSpace, at);
    const std::size_t run = std::min({text.size(), invalid, space});
    encode_run(text.substr(at, run - at), out);
    at = run;
    for (std::size_t end = at + (run == space ? kSpace.size() : 1); at < std::min(end, text.size());
         ++at)
      out.push_back(byte_tokens_[static_cast<unsigned char>(text[at])]);
  }
}

void SentencePieceTokenizer::encode_run(std::string_view text,
                                        std::vector<std::int32_t>& out) const {
  if (text.empty()) return;
  std::vector<int> ids;
  const auto s = processor_.Encode(text, &ids);
  STRATA_CHECK(s.ok(), "SentencePiece cannot encode {} bytes: {}", text.size(), s.ToString());
  out.insert(out.end(), ids.begin(), ids.end());
}

std::string SentencePieceTokenizer::bytes(std::int32_t token) const {
  if (token < 0 || token >= vocab_size())
    throw Error("SentencePieceTokenizer", "token {} is none of the {} tokens", token, vocab_size());
  return pieces_[static_cast<std::size_t>(token)];
}

std::string SentencePieceTokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string out = Tokenizer::decode(tokens);
  if (adds_space_ && out.starts_with(' ')) out.erase(0, 1);
  return out;
}

/// The texts in lines of at most kLongestSentence bytes, without line ends.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string_view>& texts) : texts_(texts) { Next(); }
  bool done() const override { return done_; }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }
  void Next() override {
    do done_ = !next();
    while (!done_ && value_.empty());
  }

 private:
  bool next() {
    while (at_ < texts_.size() && texts_[at_].size() == from_) ++at_, from_ = 0;
    if (at_ == texts_.size()) return false;
    std::string_view rest = texts_[at_].substr(from_);
    const std::size_t line = std::min(rest.find('\n'), rest.size());
    std::size_t n = std::min(line, kLongestSentence);
    while (n < line && n > 1 && (static_cast<unsigned char>(rest[n]) & 0xc0) == 0x80) --n;
    value_ = rest.substr(0, n);
    from_ += n + (n == line && line < rest.size());
    return true;
  }
  const std::vector<std::string_view>& texts_;
  std::size_t at_ = 0, from_ = 0;
  std::string value_;
  bool done_ = false;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_sentencepiece(std::string model,
                                                            const std::string& name) {
  auto out = std::make_shared<SentencePieceTokenizer>(std::move(model));
  if (Status s = out->load(name); !s.ok()) return s;
  return std::shared_ptr<const Tokenizer>(std::move(out));
}

namespace {

/// The number behind the first `mark`.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* begin = text.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error == std::errc() && end != begin ? std::optional(number) : std::nullopt;
}

/// Why the library refuses ("Internal: file(line) [condition] reason"), and what can be done within
/// our own options: its words name others, and numbers that ours do not allow.
std::string advice(const std::string& why) {
  if (const auto most = number_behind(why, "set it to a value <= ")) {
    if (*most >= kLeastVocabulary)
      return fmt::format("it has enough for {}: set vocab_size to at most that, or give more text",
                         *most);
    return fmt::format(
        "it has enough for {}, and vocab_size is {} at least: give more text, or "
        "take tokenizer_type=byte",
        *most, kLeastVocabulary);
  }
  if (const auto least = number_behind(why, " vs ");
      least && why.find("smaller than required_chars") != std::string::npos)
    return *least <= kMostVocabulary
               ? fmt::format("its characters alone take {}: set vocab_size to at least that",
                             *least)
               : fmt::format("its characters alone take {}", *least);
  const std::size_t reason = why.find("] ");
  return why.substr(reason == std::string::npos ? 0 : reason + 2);
}

}  // namespace

Result<std::string> train_tokenizer(const std::vector<std::string_view>& texts,
                                    const TokenizerTraining& o) {
  if (o.algorithm != "bpe" && o.algorithm != "unigram")
    return Status(Code::invalid, "tokenizer algorithm {}: allowed is bpe or unigram", o.algorithm);
  if (o.vocab_size < kLeastVocabulary || o.vocab_size > kMostVocabulary)
    return Status(Code::invalid, "vocab_size={}: allowed is {} to {} for a tokenizer", o.vocab_size,
                  kLeastVocabulary, kMostVocabulary);
  Sentences sentences(texts);
  if (sentences.done()) return Status(Code::invalid, "there is no text to train a tokenizer on");
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", o.algorithm},
       {"vocab_size", std::to_string(o.vocab_size)},
       {"byte_fallback", "true"},
       {"character_coverage", "0.9995"},
       {"normalization_rule_name", "identity"},
       {"add_dummy_prefix", "false"},
       {"remove_extra_whitespaces", "false"},
       {"allow_whitespace_only_pieces", "true"},
       {"split_digits", "true"},
       {"user_defined_symbols", "\n"},
       {"max_sentence_length", "8192"},
       {"bos_id", "-1"},
       {"pad_id", "-1"},
       {"unk_id", "0"},
       {"eos_id", "1"},
       {"shuffle_input_sentence", "false"},
       {"num_threads", "4"},  // not those there are: sums depend on it
       {"minloglevel", "2"}},
      &sentences, &model);
  if (!status.ok()) {
    std::size_t bytes = 0;
    for (std::string_view t : texts) bytes += t.size();
    return Status(Code::invalid, "no tokenizer of {} tokens can be trained on {} bytes of text: {}",
                  o.vocab_size, bytes, advice(status.ToString()));
  }
  return model;
}

}  // namespace strata::tokenizer
