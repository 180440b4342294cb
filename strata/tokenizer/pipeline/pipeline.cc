#include "strata/tokenizer/pipeline/pipeline.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/tokenizer/unicode.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;

class Pipeline : public Tokenizer {
 public:
  explicit Pipeline(Parts parts);
  std::vector<std::int32_t> encode(std::string_view text) const override {
    return encode_with(text, {});
  }
  std::vector<std::int32_t> encode_with(std::string_view text,
                                        const EncodeOptions& options) const override;
  std::size_t part(std::string_view text) const override;
  std::string bytes(std::int32_t token) const override;
  std::string decode(std::span<const std::int32_t> tokens) const override {
    return decode_with(tokens, false);
  }
  std::string decode_with(std::span<const std::int32_t> tokens, bool skip_special) const override;
  std::optional<std::int32_t> id_of(std::string_view token) const override;
  std::string token_of(std::int32_t token) const override;
  bool is_special(std::int32_t token) const override {
    const auto found = added_.find(token);
    return found != added_.end() && found->second.special;
  }
  const std::map<std::string, std::string>& special_tokens() const override {
    return parts_.special_tokens;
  }
  std::int64_t vocab_size() const override { return vocab_size_; }
  std::int32_t separator() const override { return separator_; }
  std::string type() const override { return parts_.type; }
  std::string fingerprint() const override {
    return fmt::format("{}:{}", parts_.fingerprint, separator_);
  }
  const std::string& model() const override { return parts_.file; }

 private:
  std::string normal(std::string_view text) const {
    return parts_.normalizer ? parts_.normalizer->apply(std::string(text)) : std::string(text);
  }
  void encode_part(std::string_view text, std::size_t offset, const EncodeOptions& options,
                   std::vector<std::int32_t>& out) const;
  void encode_normal(std::string text, bool first, std::vector<std::int32_t>& out) const;
  void check(std::int32_t token) const;
  std::int32_t find_separator() const;

  Parts parts_;
  std::unordered_map<std::int32_t, AddedToken> added_;
  std::unordered_map<std::int32_t, std::string> shown_;  // added tokens' texts when decoded
  std::unordered_map<std::string, std::int32_t> ids_;    // of added tokens
  AddedTokens raw_, normalized_;
  std::int64_t vocab_size_ = 0;
  std::int32_t separator_ = 0;
};

Pipeline::Pipeline(Parts parts) : parts_(std::move(parts)) {
  std::vector<AddedToken> raw, normalized;
  std::vector<std::string> raw_texts, normalized_texts;
  vocab_size_ = parts_.model->vocabulary().end();
  for (const AddedToken& token : parts_.added) {
    if (token.content.empty()) continue;
    const auto [place, fresh] = added_.emplace(token.id, token);
    if (!fresh && place->second.content != token.content)
      throw BadPart{fmt::format("added tokens '{}' and '{}' have the same number {}",
                                place->second.content, token.content, token.id)};
    if (!fresh) continue;
    const std::string* in_vocabulary = parts_.model->vocabulary().token_of(token.id);
    if (in_vocabulary != nullptr && *in_vocabulary != token.content)
      throw BadPart{fmt::format("added token '{}' and token '{}' have the same number {}",
                                token.content, *in_vocabulary, token.id)};
    ids_[token.content] = token.id;
    vocab_size_ = std::max<std::int64_t>(vocab_size_, std::int64_t{token.id} + 1);
    const std::string text = token.normalized ? normal(token.content) : token.content;
    shown_[token.id] = text;
    (token.normalized ? normalized : raw).push_back(token);
    (token.normalized ? normalized_texts : raw_texts).push_back(text);
  }
  std::vector<std::int32_t> special;
  for (const AddedToken& token : parts_.added) {
    if (token.special) special.push_back(token.id);
  }
  parts_.model->forbid(special);
  raw_ = AddedTokens(raw, raw_texts);
  normalized_ = AddedTokens(normalized, normalized_texts);
  separator_ = find_separator();
}

/// The end-of-text token; else the last that is put behind a text; else any special one.
std::int32_t Pipeline::find_separator() const {
  for (const char* name : {"eos_token", "sep_token", "bos_token"}) {
    if (const auto id = special_id(name)) return *id;
  }
  const auto& pieces = parts_.post_processor.single;
  if (!pieces.empty() && pieces.back().token >= 0 && pieces.back().token < vocab_size_)
    return pieces.back().token;
  for (const AddedToken& token : parts_.added) {
    if (token.special) return token.id;
  }
  return 0;
}

std::size_t Pipeline::part(std::string_view text) const {
  if (text.size() <= kPart) return text.size();
  for (std::size_t line = text.find('\n', kPart); line < 2 * kPart && line + 1 < text.size();
       line = text.find('\n', line + 1)) {
    const auto behind = static_cast<unsigned char>(text[line + 1]);
    if (behind > ' ' && behind < 0x80) return line + 1;
  }
  std::size_t end = std::min(text.size(), 2 * kPart);
  while (end < text.size() && end > kPart && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return end;
}

std::vector<std::int32_t> Pipeline::encode_with(std::string_view text,
                                                const EncodeOptions& options) const {
  std::vector<std::int32_t> own;
  const bool whole = first_invalid(text) == text.npos;
  if (!whole && !options.literal.empty())
    throw Error("encode", "byte {} is not UTF-8, and spans count bytes", first_invalid(text));
  const std::string repaired = whole ? std::string() : well_formed(text);
  std::string_view rest = whole ? text : std::string_view(repaired);
  for (std::size_t offset = 0; !rest.empty();) {
    const std::size_t n = part(rest);
    encode_part(rest.substr(0, n), offset, options, own);
    rest.remove_prefix(n);
    offset += n;
  }
  const Template& around = parts_.post_processor;
  if (options.max_length) {
    const std::int64_t added = options.add_special ? around.added(false) : 0;
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(0, *options.max_length - added));
    if (own.size() > most) {
      if (parts_.truncates_left)
        own.erase(own.begin(), own.end() - static_cast<std::ptrdiff_t>(most));
      else
        own.resize(most);
    }
  }
  if (!options.add_special) return own;
  std::vector<std::int32_t> out;
  for (const Template::Piece& piece : around.single) {
    if (piece.token >= 0)
      out.push_back(piece.token);
    else if (piece.token == Template::kFirst)
      out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

void Pipeline::encode_part(std::string_view text, std::size_t offset, const EncodeOptions& options,
                           std::vector<std::int32_t>& out) const {
  const auto typed = [&](std::size_t begin, std::size_t end) {
    const auto behind = std::partition_point(options.literal.begin(), options.literal.end(),
                                             [&](const Span& s) { return s.end <= begin; });
    return behind != options.literal.end() && behind->begin < end;
  };
  const auto forbidden = [&](std::size_t begin, std::size_t end, bool special) {
    return special && (!options.match_special || typed(offset + begin, offset + end));
  };
  for (const Piece& piece : raw_.cut(text, forbidden)) {
    if (piece.id >= 0) {
      out.push_back(piece.id);
      continue;
    }
    const bool first = offset + piece.begin == 0;
    std::string normal_text = normal(text.substr(piece.begin, piece.end - piece.begin));
    if (normalized_.empty()) {
      encode_normal(std::move(normal_text), first, out);
      continue;
    }
    // Normalised text has other places, so that a typed part forbids special tokens in all of it.
    const bool plain = !options.match_special || typed(offset + piece.begin, offset + piece.end);
    for (const Piece& inner : normalized_.cut(
             normal_text,
             [&](std::size_t, std::size_t, bool special) { return special && plain; })) {
      if (inner.id >= 0)
        out.push_back(inner.id);
      else
        encode_normal(normal_text.substr(inner.begin, inner.end - inner.begin),
                      first && inner.begin == 0, out);
    }
  }
}

void Pipeline::encode_normal(std::string text, bool first, std::vector<std::int32_t>& out) const {
  if (text.empty()) return;
  Splits splits{std::move(text), {}};
  splits.splits.push_back({0, splits.text.size(), first});
  if (parts_.pre_tokenizer) parts_.pre_tokenizer->apply(splits);
  for (const Splits::Split& s : splits.splits) {
    if (s.begin < s.end) parts_.model->encode(splits.of(s), out);
  }
}

void Pipeline::check(std::int32_t token) const {
  if (token < 0 || token >= vocab_size_)
    throw Error("decode", "token {} is none of the {} tokens", token, vocab_size_);
}

std::string Pipeline::token_of(std::int32_t token) const {
  check(token);
  if (const auto found = added_.find(token); found != added_.end()) return found->second.content;
  const std::string* text = parts_.model->vocabulary().token_of(token);
  return text ? *text : "";
}

std::optional<std::int32_t> Pipeline::id_of(std::string_view token) const {
  if (const auto found = ids_.find(std::string(token)); found != ids_.end()) return found->second;
  return parts_.model->vocabulary().id_of(token);
}

std::string Pipeline::bytes(std::int32_t token) const {
  check(token);
  if (token == separator_) return "\n";
  if (is_special(token)) return "";
  const std::string text = token_of(token);
  return parts_.decoder ? parts_.decoder->bytes(text) : text + " ";
}

std::string Pipeline::decode_with(std::span<const std::int32_t> tokens, bool skip_special) const {
  std::vector<std::string> texts;
  texts.reserve(tokens.size());
  for (std::int32_t token : tokens) {
    check(token);
    if (skip_special && is_special(token)) continue;
    const auto found = shown_.find(token);
    if (found != shown_.end()) {
      texts.push_back(found->second);
    } else if (const std::string* text = parts_.model->vocabulary().token_of(token)) {
      texts.push_back(*text);
    }
  }
  std::string out;
  if (!parts_.decoder) {
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i > 0 ? " " : "") + texts[i];
    return out;
  }
  if (texts.empty()) return out;
  for (const std::string& text : parts_.decoder->apply(std::move(texts))) out += text;
  return out;
}

}  // namespace

std::shared_ptr<const Tokenizer> make_pipeline(Parts parts) {
  return std::make_shared<Pipeline>(std::move(parts));
}

}  // namespace strata::tokenizer
