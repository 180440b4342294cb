#include "strata/tokenizer/pipeline/decoder.h"

#include <functional>
#include <map>

#include "strata/tokenizer/pattern.h"
#include "strata/tokenizer/pipeline/byte_map.h"
#include "strata/tokenizer/unicode.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

using Made = std::shared_ptr<const Decoder>;
using Tokens = std::vector<std::string>;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (what.empty()) return;
  std::string out;
  std::size_t at = 0;
  for (std::size_t found = text.find(what); found != text.npos; found = text.find(what, at)) {
    out.append(text, at, found - at).append(with);
    at = found + what.size();
  }
  text = out.append(text, at, text.npos);
}

/// Bytes as text, with U+FFFD for the longest beginnings of characters, as Rust reads them.
std::string lossy(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t bad = first_invalid(bytes);
    if (bad == bytes.npos) return out.append(bytes);
    out.append(bytes.substr(0, bad)).append("\xef\xbf\xbd");
    std::size_t n = 1;
    while (n < 3 && bad + n < bytes.size() && may_become_character(bytes.substr(bad, n + 1))) ++n;
    bytes.remove_prefix(bad + n);
  }
  return out;
}

class ByteLevel : public Decoder {
 public:
  Tokens apply(Tokens tokens) const override {
    std::string all;
    for (const std::string& token : tokens) append_unmapped(all, token);
    return {lossy(all)};
  }
  std::string bytes(std::string token) const override {
    std::string out;
    append_unmapped(out, token);
    return out;
  }
};

class Metaspace : public Decoder {
 public:
  explicit Metaspace(const Fields& f)
      : mark_(f.character("replacement", "\xe2\x96\x81")),
        prefixed_(f.text("prepend_scheme", "always") != "never" &&
                  f.flag("add_prefix_space", true)) {}
  Tokens apply(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], mark_, i == 0 && prefixed_ ? "" : " ");
    return tokens;
  }
  std::string bytes(std::string token) const override {
    replace_all(token, mark_, " ");
    return token;
  }

 private:
  std::string mark_;
  bool prefixed_;
};

int byte_of(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  int out = 0;
  for (char c : token[3] == '+' ? token.substr(4, 1) : token.substr(3, 2)) {  // as Rust reads it
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    out = out * 16 + digit;
  }
  return out;
}

class ByteFallback : public Decoder {
 public:
  Tokens apply(Tokens tokens) const override {
    Tokens out;
    std::string held;
    const auto flush = [&] {
      if (first_invalid(held) == held.npos) {
        if (!held.empty()) out.push_back(held);
      } else {
        for (std::size_t i = 0; i < held.size(); ++i) out.emplace_back("\xef\xbf\xbd");
      }
      held.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = byte_of(token); byte >= 0) {
        held += static_cast<char>(byte);
        continue;
      }
      flush();
      out.push_back(std::move(token));
    }
    flush();
    return out;
  }
  std::string bytes(std::string token) const override {
    const int byte = byte_of(token);
    return byte < 0 ? token : std::string(1, static_cast<char>(byte));
  }
};

class Fuse : public Decoder {
 public:
  Tokens apply(Tokens tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    return {all};
  }
  std::string bytes(std::string token) const override { return token; }
};

class Strip : public Decoder {
 public:
  explicit Strip(const Fields& f)
      : content_(f.character("content", "")),
        start_(f.number("start", 0, 1 << 20, 0)),
        stop_(f.number("stop", 0, 1 << 20, 0)) {}
  Tokens apply(Tokens tokens) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (auto n = start_; n > 0 && rest.starts_with(content_); --n)
        rest.remove_prefix(content_.size());
      for (auto n = stop_; n > 0 && rest.ends_with(content_); --n)
        rest.remove_suffix(content_.size());
      token = std::string(rest);
    }
    return tokens;
  }
  std::string bytes(std::string token) const override { return token; }

 private:
  std::string content_;
  std::int64_t start_, stop_;
};

class Replace : public Decoder {
 public:
  explicit Replace(const Fields& f) : pattern_(read(f)), content_(f.text("content")) {}
  Tokens apply(Tokens tokens) const override {
    for (std::string& token : tokens) token = bytes(std::move(token));
    return tokens;
  }
  std::string bytes(std::string token) const override {
    if (first_invalid(token) != token.npos) return token;  // a byte, which no pattern means
    std::string out;
    for (const Match& m : pattern_.matches(token))
      m.matched ? out += content_ : out.append(token, m.begin, m.end - m.begin);
    return out;
  }

 private:
  static Pattern read(const Fields& f) {
    const Fields pattern(f.object("pattern"), "Replace's pattern");
    if (!pattern.has("Regex")) return Pattern::literal(pattern.text("String"));
    auto found = Pattern::regex(pattern.text("Regex"));
    if (!found) f.refuse(found.status().message());
    return *found;
  }
  Pattern pattern_;
  std::string content_;
};

void clean_up(std::string& text) {
  static constexpr std::pair<const char*, const char*> kAll[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, with] : kAll) replace_all(text, what, with);
}

class WordPiece : public Decoder {
 public:
  explicit WordPiece(const Fields& f)
      : prefix_(f.text("prefix", "##")), cleanup_(f.flag("cleanup", true)) {}
  Tokens apply(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) tokens[i] = bytes(std::move(tokens[i]));
      if (cleanup_) clean_up(tokens[i]);
    }
    return tokens;
  }
  std::string bytes(std::string token) const override {
    return token.starts_with(prefix_) ? token.substr(prefix_.size()) : " " + token;
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeSuffix : public Decoder {
 public:
  explicit BpeSuffix(const Fields& f) : suffix_(f.text("suffix", "</w>")) {}
  Tokens apply(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    return tokens;
  }
  std::string bytes(std::string token) const override {
    replace_all(token, suffix_, " ");
    return token;
  }

 private:
  std::string suffix_;
};

class Ctc : public Decoder {
 public:
  explicit Ctc(const Fields& f)
      : pad_(f.text("pad_token", "<pad>")),
        delimiter_(f.text("word_delimiter_token", "|")),
        cleanup_(f.flag("cleanup", true)) {}
  Tokens apply(Tokens tokens) const override {
    Tokens out;
    const std::string* before = nullptr;
    for (const std::string& token : tokens) {
      if (before == nullptr || *before != token) {
        if (std::string text = bytes(token); !text.empty()) out.push_back(std::move(text));
      }
      before = &token;
    }
    return out;
  }
  std::string bytes(std::string token) const override {
    replace_all(token, pad_, "");
    if (cleanup_) {
      clean_up(token);
      replace_all(token, delimiter_, " ");
    }
    return token;
  }

 private:
  std::string pad_, delimiter_;
  bool cleanup_;
};

class Sequence : public Decoder {
 public:
  explicit Sequence(const Fields& f) {
    for (const Json& part : f.list("decoders")) parts_.push_back(read_decoder(part));
  }
  Tokens apply(Tokens tokens) const override {
    for (const Made& part : parts_) tokens = part->apply(std::move(tokens));
    return tokens;
  }
  std::string bytes(std::string token) const override {
    for (const Made& part : parts_) token = part->bytes(std::move(token));
    return token;
  }

 private:
  std::vector<Made> parts_;
};

template <class T>
Made make(const Fields& f) {
  if constexpr (std::is_default_constructible_v<T>)
    return std::make_shared<T>();
  else
    return std::make_shared<T>(f);
}

}  // namespace

Made read_decoder(const Json& part) {
  static const std::map<std::string, std::function<Made(const Fields&)>> kAll = {
      {"ByteLevel", make<ByteLevel>},
      {"Metaspace", make<Metaspace>},
      {"ByteFallback", make<ByteFallback>},
      {"Fuse", make<Fuse>},
      {"Strip", make<Strip>},
      {"Replace", make<Replace>},
      {"WordPiece", make<WordPiece>},
      {"BPEDecoder", make<BpeSuffix>},
      {"CTC", make<Ctc>},
      {"Sequence", make<Sequence>}};
  const std::string type = type_of(part, "decoder");
  const auto found = kAll.find(type);
  if (found == kAll.end()) throw BadPart{"decoder " + type + " is unknown"};
  return found->second(Fields(part, "decoder " + type));
}

}  // namespace strata::tokenizer
