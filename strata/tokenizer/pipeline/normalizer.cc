#include "strata/tokenizer/pipeline/normalizer.h"

#include <functional>
#include <map>
#include <vector>

#include "strata/tokenizer/pattern.h"
#include "strata/tokenizer/pipeline/base64.h"
#include "strata/tokenizer/pipeline/byte_map.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

/// A normalizer that is a function.
class Plain : public Normalizer {
 public:
  explicit Plain(std::function<std::string(std::string)> f) : f_(std::move(f)) {}
  std::string apply(std::string text) const override { return f_(std::move(text)); }

 private:
  std::function<std::string(std::string)> f_;
};

using Made = std::shared_ptr<const Normalizer>;
Made plain(std::function<std::string(std::string)> f) {
  return std::make_shared<Plain>(std::move(f));
}

/// Calls `one(out, c)` for each character.
template <class One>
std::string each(std::string_view text, const One& one) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    one(out, c.value);
    at += c.bytes;
  }
  return out;
}

std::string lower(const std::string& text) { return each(text, append_lower); }

Made form(Form f) {
  return plain([f](const std::string& text) { return normalize(text, f); });
}

Made strip(const Fields& fields) {
  const bool left = fields.flag("strip_left", true), right = fields.flag("strip_right", true);
  return plain([=](std::string text) {
    std::size_t begin = 0, end = text.size();
    while (left && begin < end && is_space(code_point_at(text, begin).value))
      begin += code_point_at(text, begin).bytes;
    while (right && end > begin && is_space(code_point_before(text, end).value))
      end -= code_point_before(text, end).bytes;
    return text.substr(begin, end - begin);
  });
}

Made strip_accents(const Fields&) {
  return plain([](const std::string& text) {
    return each(text, [](std::string& out, char32_t c) {
      if (!is_accent(c)) append(out, c);
    });
  });
}

Made replace(const Fields& fields) {
  const Fields pattern(fields.object("pattern"), "Replace's pattern");
  const std::string content = fields.text("content");
  if (!pattern.has("Regex") && pattern.text("String").size() == 1 && content.empty() == false) {
    const std::string what = pattern.text("String");  // a byte: no list of matches is needed
    return plain([=](const std::string& text) {
      std::string out;
      for (char c : text) c == what[0] ? out += content : out += c;
      return out;
    });
  }
  auto found = pattern.has("Regex") ? Pattern::regex(pattern.text("Regex"))
                                    : Result<Pattern>(Pattern::literal(pattern.text("String")));
  if (!found) fields.refuse(found.status().message());
  return plain([=, p = *found](const std::string& text) {
    std::string out;
    for (const Match& m : p.matches(text))
      m.matched ? out += content : out.append(text, m.begin, m.end - m.begin);
    return out;
  });
}

Made prepend(const Fields& fields) {
  return plain([what = fields.text("prepend")](std::string text) {
    return text.empty() ? text : what + text;
  });
}

void nmt_character(std::string& out, char32_t c) {
  if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f ||
      c == 0x9f)
    return;
  const bool space = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
                     (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xfeff || c == 0xfffd;
  append(out, space ? U' ' : c);
}

bool is_chinese(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

Made bert(const Fields& fields) {
  const bool clean = fields.flag("clean_text", true),
             chinese = fields.flag("handle_chinese_chars", true),
             small = fields.flag("lowercase", true), accents = fields.flag("strip_accents", small);
  return plain([=](std::string text) {
    if (clean) {
      text = each(text, [](std::string& out, char32_t c) {
        if (c != 0 && c != 0xfffd && !is_bert_control(c)) append(out, is_space(c) ? U' ' : c);
      });
    }
    if (chinese) {
      text = each(text, [](std::string& out, char32_t c) {
        if (is_chinese(c)) out += ' ';
        append(out, c);
        if (is_chinese(c)) out += ' ';
      });
    }
    if (accents) {
      text = each(normalize(text, Form::nfd), [](std::string& out, char32_t c) {
        if (!is_bert_accent(c)) append(out, c);
      });
    }
    return small ? lower(text) : text;
  });
}

Made sequence(const Fields& fields) {
  std::vector<Made> parts;
  for (const Json& part : fields.list("normalizers")) parts.push_back(read_normalizer(part));
  return plain([parts](std::string text) {
    for (const Made& part : parts) text = part->apply(std::move(text));
    return text;
  });
}

}  // namespace

Made read_normalizer(const Json& part) {
  static const std::map<std::string, std::function<Made(const Fields&)>> kAll = {
      {"NFC", [](const Fields&) { return form(Form::nfc); }},
      {"NFD", [](const Fields&) { return form(Form::nfd); }},
      {"NFKC", [](const Fields&) { return form(Form::nfkc); }},
      {"NFKD", [](const Fields&) { return form(Form::nfkd); }},
      {"Lowercase", [](const Fields&) { return plain(lower); }},
      {"Strip", strip},
      {"StripAccents", strip_accents},
      {"Replace", replace},
      {"Prepend", prepend},
      {"Nmt",
       [](const Fields&) {
         return plain([](const std::string& text) { return each(text, nmt_character); });
       }},
      {"ByteLevel",
       [](const Fields&) {
         return plain([](const std::string& text) {
           std::string out;
           append_mapped(out, text);
           return out;
         });
       }},
      {"BertNormalizer", bert},
      {"Precompiled",
       [](const Fields& f) {
         const std::string map = f.text("precompiled_charsmap", "");
         if (map.empty()) return plain([](std::string text) { return text; });
         const auto bytes = from_base64(map);
         if (!bytes) f.refuse("precompiled_charsmap is not base64");
         return precompiled_normalizer(*bytes);
       }},
      {"Sequence", sequence}};
  const std::string type = type_of(part, "normalizer");
  const auto found = kAll.find(type);
  if (found == kAll.end()) throw BadPart{"normalizer " + type + " is unknown"};
  return found->second(Fields(part, "normalizer " + type));
}

}  // namespace strata::tokenizer
