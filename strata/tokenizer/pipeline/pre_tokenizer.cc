#include "strata/tokenizer/pipeline/pre_tokenizer.h"

#include <algorithm>
#include <functional>
#include <map>

#include "strata/tokenizer/known_patterns.h"
#include "strata/tokenizer/pipeline/byte_map.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

using Made = std::shared_ptr<const PreTokenizer>;

/// A pre-tokenizer that is a function.
class Plain : public PreTokenizer {
 public:
  explicit Plain(std::function<void(Splits&)> f) : f_(std::move(f)) {}
  void apply(Splits& splits) const override { f_(splits); }

 private:
  std::function<void(Splits&)> f_;
};

Made plain(std::function<void(Splits&)> f) { return std::make_shared<Plain>(std::move(f)); }

/// Replaces each split by the ranges that `cut` gives of its text.
template <class Cut>
void cut_each(Splits& splits, const Cut& cut) {
  std::vector<Splits::Split> out;
  out.reserve(splits.splits.size() * 2);
  for (const Splits::Split& s : splits.splits) {
    for (const Match& m : cut(splits.of(s))) {
      if (m.begin < m.end)
        out.push_back({s.begin + m.begin, s.begin + m.end, s.first && m.begin == 0});
    }
  }
  splits.splits = std::move(out);
}

/// Replaces the text of each split by what `write(out, split's text, first)` appends.
template <class Write>
void rewrite_each(Splits& splits, const Write& write) {
  std::string text;
  text.reserve(splits.text.size() * 2);
  for (Splits::Split& s : splits.splits) {
    const std::size_t begin = text.size();
    write(text, splits.of(s), s.first);
    s.begin = begin, s.end = text.size();
  }
  splits.text = std::move(text);
}

template <class Is>
std::vector<Match> by_character(std::string_view text, const Is& is) {
  std::vector<Match> out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (is(c.value)) {
      if (from < at) out.push_back({from, at, false});
      out.push_back({at, at + c.bytes, true});
      from = at + c.bytes;
    }
    at += c.bytes;
  }
  if (from < text.size()) out.push_back({from, text.size(), false});
  return out;
}

template <class Is>
Made by_class(Is is, Behavior behavior) {
  return plain([=](Splits& splits) {
    cut_each(splits,
             [&](std::string_view text) { return behave(by_character(text, is), behavior); });
  });
}

Made byte_level(const Fields& f) {
  const bool prefix = f.flag("add_prefix_space", true);
  Pattern words = *Pattern::regex(expression::kGpt2);
  const bool cut = f.flag("use_regex", true);
  return plain([=](Splits& splits) {
    if (prefix) {
      rewrite_each(splits, [](std::string& out, std::string_view text, bool) {
        if (!text.empty() && !text.starts_with(' ')) out += ' ';
        out += text;
      });
    }
    if (cut) cut_each(splits, [&](std::string_view text) { return words.matches(text); });
    rewrite_each(splits,
                 [](std::string& out, std::string_view text, bool) { append_mapped(out, text); });
  });
}

Made split(const Fields& f) {
  const Fields pattern(f.object("pattern"), "Split's pattern");
  const Behavior behavior = read_behavior(f.text("behavior"));
  const bool invert = f.flag("invert", false);
  auto found = pattern.has("Regex") ? Pattern::regex(pattern.text("Regex"))
                                    : Result<Pattern>(Pattern::literal(pattern.text("String")));
  if (!found) f.refuse(found.status().message());
  return plain([=, p = *found](Splits& splits) {
    cut_each(splits, [&](std::string_view text) {
      std::vector<Match> matches = p.matches(text);
      if (behavior == Behavior::isolated) return matches;
      if (invert) {
        for (Match& m : matches) m.matched = !m.matched;
      }
      return behave(matches, behavior);
    });
  });
}

Made digits(const Fields& f) {
  return by_class(is_numeric,
                  f.flag("individual_digits", false) ? Behavior::isolated : Behavior::contiguous);
}

Made metaspace(const Fields& f) {
  const std::string mark = f.character("replacement", "\xe2\x96\x81");
  std::string scheme = f.text("prepend_scheme", "always");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    f.refuse("prepend_scheme is " + scheme + ": allowed is always, first or never");
  if (!f.flag("add_prefix_space", true)) {
    if (f.has("prepend_scheme") && scheme != "never")
      f.refuse("add_prefix_space is false, but prepend_scheme is " + scheme);
    scheme = "never";
  }
  const bool cut = f.flag("split", true);
  const char32_t character = code_point_at(mark, 0).value;
  return plain([=](Splits& splits) {
    rewrite_each(splits, [&](std::string& out, std::string_view text, bool first) {
      const bool marked = text.empty() || text.starts_with(mark) || text.starts_with(' ');
      if (!marked && (scheme == "always" || (scheme == "first" && first))) out += mark;
      for (char c : text) c == ' ' ? out += mark : out += c;
    });
    if (!cut) return;
    cut_each(splits, [&](std::string_view text) {
      return behave(by_character(text, [&](char32_t c) { return c == character; }),
                    Behavior::merged_with_next);
    });
  });
}

std::vector<Match> words_and_signs(std::string_view text) {
  std::vector<Match> out;
  const auto kind = [](char32_t c) { return is_word(c) ? 1 : is_space(c) ? 0 : 2; };
  for (std::size_t at = 0; at < text.size();) {
    const int first = kind(code_point_at(text, at).value);
    std::size_t end = at;
    while (end < text.size() && kind(code_point_at(text, end).value) == first)
      end += code_point_at(text, end).bytes;
    if (first != 0) out.push_back({at, end, true});
    at = end;
  }
  return out;
}

Made whitespace(const Fields&) {
  return plain([](Splits& splits) { cut_each(splits, words_and_signs); });
}

Made bert(const Fields&) {
  return plain([](Splits& splits) {
    cut_each(splits, [](std::string_view text) {
      return behave(by_character(text, is_space), Behavior::removed);
    });
    cut_each(splits, [](std::string_view text) { return by_character(text, is_punctuation); });
  });
}

Made delimiter(const Fields& f) {
  const char32_t character = code_point_at(f.character("delimiter", ""), 0).value;
  return by_class([=](char32_t c) { return c == character; }, Behavior::removed);
}

std::vector<Match> by_scripts(std::string_view text) {
  std::vector<Match> out;
  int last = -1;
  std::size_t begin = 0;
  bool started = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    const int now = script(c.value);
    if (now != 0 && last != 0 && last != now) {
      if (started) out.push_back({begin, at, true});
      begin = at, started = true;
    }
    at += c.bytes;
    if (now != 0) last = now;
  }
  if (started) out.push_back({begin, text.size(), true});
  return out;
}

Made unicode_scripts(const Fields&) {
  return plain([](Splits& splits) { cut_each(splits, by_scripts); });
}

Made fixed_length(const Fields& f) {
  const std::int64_t length = f.number("length", 1, 1 << 20, 5);
  return plain([=](Splits& splits) {
    cut_each(splits, [&](std::string_view text) {
      std::vector<Match> out;
      std::int64_t count = 0;
      for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes) {
        if (count++ % length == 0) out.push_back({at, text.size(), true});
      }
      for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i].end = out[i + 1].begin;
      return out;
    });
  });
}

Made sequence(const Fields& f) {
  std::vector<Made> parts;
  for (const Json& part : f.list("pretokenizers")) parts.push_back(read_pre_tokenizer(part));
  return plain([parts](Splits& splits) {
    for (const Made& part : parts) part->apply(splits);
  });
}

}  // namespace

Behavior read_behavior(const std::string& name) {
  static const std::map<std::string, Behavior> kAll = {
      {"Removed", Behavior::removed},
      {"Isolated", Behavior::isolated},
      {"MergedWithPrevious", Behavior::merged_with_previous},
      {"MergedWithNext", Behavior::merged_with_next},
      {"Contiguous", Behavior::contiguous}};
  const auto found = kAll.find(name);
  if (found == kAll.end())
    throw BadPart{"behavior " + name +
                  ": allowed is Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous"};
  return found->second;
}

std::vector<Match> behave(const std::vector<Match>& matches, Behavior behavior) {
  std::vector<Match> out;
  const auto join = [&](const Match& m, bool joins) {
    if (joins && !out.empty())
      out.back().begin = std::min(out.back().begin, m.begin),
      out.back().end = std::max(out.back().end, m.end);
    else
      out.push_back(m);
  };
  bool before = false;
  switch (behavior) {
    case Behavior::isolated: return matches;
    case Behavior::removed:
      std::copy_if(matches.begin(), matches.end(), std::back_inserter(out),
                   [](const Match& m) { return !m.matched; });
      return out;
    case Behavior::contiguous:
      for (const Match& m : matches) join(m, m.matched == before), before = m.matched;
      return out;
    case Behavior::merged_with_previous:
      for (const Match& m : matches) join(m, m.matched && !before), before = m.matched;
      return out;
    case Behavior::merged_with_next:
      for (auto m = matches.rbegin(); m != matches.rend(); ++m)
        join(*m, m->matched && !before), before = m->matched;
      std::reverse(out.begin(), out.end());
      return out;
  }
  return out;
}

Made read_pre_tokenizer(const Json& part) {
  static const std::map<std::string, std::function<Made(const Fields&)>> kAll = {
      {"ByteLevel", byte_level},
      {"Split", split},
      {"Digits", digits},
      {"Metaspace", metaspace},
      {"Whitespace", whitespace},
      {"WhitespaceSplit", [](const Fields&) { return by_class(is_space, Behavior::removed); }},
      {"Punctuation",
       [](const Fields& f) {
         return by_class(is_punctuation, read_behavior(f.text("behavior", "Isolated")));
       }},
      {"BertPreTokenizer", bert},
      {"CharDelimiterSplit", delimiter},
      {"UnicodeScripts", unicode_scripts},
      {"FixedLength", fixed_length},
      {"Sequence", sequence}};
  const std::string type = type_of(part, "pre_tokenizer");
  const auto found = kAll.find(type);
  if (found == kAll.end()) throw BadPart{"pre_tokenizer " + type + " is unknown"};
  return found->second(Fields(part, "pre_tokenizer " + type));
}

}  // namespace strata::tokenizer
