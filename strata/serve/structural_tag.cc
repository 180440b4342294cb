#include "strata/serve/structural_tag.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/free_text.h"
#include "strata/engine/grammar/guide.h"
#include "strata/engine/grammar/json_schema.h"
#include "strata/engine/grammar/lark.h"
#include "strata/engine/grammar/regex.h"

namespace strata::serve {
namespace {

using engine::grammar::FreeEnd;
using engine::grammar::Grammar;
using Node = Grammar::Node;
using Ends = std::vector<std::string>;

constexpr int kDeepest = 32;
constexpr std::size_t kMostTags = 256;

[[noreturn]] void wrong(const std::string& what) { throw Error("structural_tag", "{}", what); }

constexpr char kMark = '\xff';  // no text has such a byte

bool is_token(const Json& f) { return f.is_object() && f.value("type", Json()) == "token"; }

/// Calls `see` with each token that a tag names.
void each_token(const Json& tag, const std::function<void(const Json&)>& see) {
  if (!tag.is_structured()) return;
  for (const auto& [key, value] : tag.items()) {
    if (key == "json_schema" || key == "schema") continue;  // names there are of others
    if (key == "token" && is_token(tag)) see(value);
    if (key == "trigger_tokens" || key == "exclude_tokens")
      for (const Json& one : value.is_array() ? value : Json::array({value}))
        if (!one.is_object()) see(one);
    if (key == "rules" && tag.is_object() && tag.value("type", Json()) == "token_dispatch" &&
        value.is_array())
      for (const Json& rule : value)
        if (rule.is_array() && !rule.empty() && !rule[0].is_object()) see(rule[0]);
    each_token(value, see);
  }
}

class Reader {
 public:
  Reader(Grammar& g, const TokenText& text_of, const Json& tag)
      : g_(g), text_(g, {}), text_of_(text_of) {
    if (text_of_) each_token(tag, [&](const Json& token) { named_.insert(mark_of(token)); });
  }

  /// The format, and behind it one of `ends`; none: the whole text ends there.
  Node format(const Json& f, const Ends& ends, int depth = 0) {
    if (depth > kDeepest) wrong("formats are nested too deep");
    if (!f.is_object()) wrong("a format must be an object with a type");
    const std::string type = string_at(f, "type");
    if (type == "any_text") return any_text(f, ends);
    if (type == "triggered_tags") return triggered(f, ends, depth);
    if (type == "sequence") return sequence(list_at(f, "elements"), ends, depth);
    if (type == "or") {
      std::vector<Node> ways;
      for (const Json& one : list_at(f, "elements")) ways.push_back(format(one, ends, depth + 1));
      return g_.choice(std::move(ways));
    }
    if (type == "tag") return then(tag(f, {}, depth), ends);
    if (type == "tags_with_separator") return then(separated(f, depth), ends);
    if (type == "const_string") return then(g_.text(string_at(f, "value")), ends);
    if (type == "regex") return then(engine::grammar::regex(g_, string_at(f, "pattern")), ends);
    if (type == "json_schema") return then(schema(f), ends);
    if (type == "grammar") return then(grammar(string_at(f, "grammar")), ends);
    if (type == "dispatch" || type == "token_dispatch") return dispatch(f, type, ends, depth);
    if (text_of_) {
      if (type == "token") return then(g_.text(mark_at(f, "token")), ends);
      if (type == "any_tokens") return any_tokens(f, ends);
      if (type == "token_triggered_tags") return token_triggered(f, ends, depth);
    }
    if (type == "optional" || type == "plus" || type == "star" || type == "repeat")
      return then(repeat(f, type, depth), ends);
    wrong("a format of type " + type + " is not supported");
  }

  Node tags_behind_triggers(const std::vector<Json>& tags, const Ends& triggers, bool at_least_one,
                            bool first_only, const Ends& ends, int depth,
                            const Ends& passing = {}) {
    if (tags.empty() || tags.size() > kMostTags) wrong("there must be 1 to 256 tags");
    if (triggers.empty() || triggers.size() > kMostTags) wrong("there must be 1 to 256 triggers");
    const Grammar::Rule again = g_.add_rule("text with tags");
    const Grammar::Rule over = g_.add_rule("end");
    // Behind a tag.
    const auto behind = [&] {
      if (!first_only) return g_.rule(again);
      return ends.empty() ? g_.text("") : one_of(ends);
    };
    std::vector<FreeEnd> marks;
    for (const std::string& trigger : triggers) {
      std::vector<Node> ways;
      for (const Json& t : tags)
        if (begin_of(t).starts_with(trigger)) {
          const Node one = tag(t, trigger, depth), rest = behind();
          ways.push_back(g_.sequence({one, rest}));
        }
      if (ways.empty()) wrong("no tag begins with the trigger " + trigger);
      marks.push_back({trigger, g_.add_rule("tags")});
      g_.define(marks.back().next, g_.choice(std::move(ways)));
    }
    for (const Json& t : tags)
      if (std::none_of(triggers.begin(), triggers.end(), [&](const std::string& trigger) {
            return begin_of(t).starts_with(trigger);
          }))
        wrong("the tag " + begin_of(t) + " begins with no trigger");
    g_.define(over, g_.text(""));
    for (const std::string& end : ends) marks.push_back({end, over});
    for (const std::string& token : passing)
      if (std::find(triggers.begin(), triggers.end(), token) == triggers.end())
        marks.push_back({token, again});
    g_.define(again, free(marks, ends.empty()));
    if (!at_least_one) return g_.rule(again);
    std::vector<Node> ways;
    for (const Json& t : tags) {
      const Node one = tag(t, {}, depth), rest = behind();
      ways.push_back(g_.sequence({one, rest}));
    }
    return g_.choice(std::move(ways));
  }

 private:
  static std::string string_at(const Json& f, const char* field) {
    const auto found = f.find(field);
    if (found == f.end() || !found->is_string()) wrong(std::string(field) + " must be a string");
    return found->get<std::string>();
  }
  std::string mark_of(const Json& token) const {
    return engine::grammar::Vocabulary::mark_of(text_of_(token));
  }
  std::string mark_at(const Json& f, const char* field) const {
    if (!f.contains(field)) wrong(std::string(field) + " must be a token");
    return mark_of(f[field]);
  }
  /// Where a tag begins: a string, or a token.
  std::string begin_of(const Json& f) const {
    const auto found = f.find("begin");
    if (text_of_ && found != f.end() && is_token(*found)) return mark_at(*found, "token");
    return string_at(f, "begin");
  }
  /// Marks of the tokens that a field lists.
  Ends marks_at(const Json& f, const char* field) const {
    const Json all = f.value(field, Json::array());
    if (!all.is_array() || all.size() > kMostTags)
      wrong(std::string(field) + " must be a list of at most 256 tokens");
    Ends out;
    for (const Json& one : all) out.push_back(is_token(one) ? mark_at(one, "token") : mark_of(one));
    return out;
  }
  /// Tokens that the tag names, but these.
  Ends named_but(const Ends& excluded) const {
    Ends out;
    for (const std::string& mark : named_)
      if (std::find(excluded.begin(), excluded.end(), mark) == excluded.end()) out.push_back(mark);
    return out;
  }
  static std::vector<Json> list_at(const Json& f, const char* field) {
    const auto found = f.find(field);
    if (found == f.end() || !found->is_array() || found->empty() || found->size() > kMostTags)
      wrong(std::string(field) + " must be a list of 1 to 256");
    return {found->begin(), found->end()};
  }
  static bool flag(const Json& f, const char* field) {
    const Json v = f.value(field, Json(false));
    if (!v.is_boolean()) wrong(std::string(field) + " must be true or false");
    return v.get<bool>();
  }
  /// A field that is a string or a list of strings; none.
  Ends strings_at(const Json& f, const char* field, bool may_be_empty) const {
    const auto found = f.find(field);
    if (found == f.end() || found->is_null()) return {};
    Ends out;
    for (const Json& s : found->is_array() ? *found : Json::array({*found})) {
      if (text_of_ && is_token(s)) {
        out.push_back(mark_at(s, "token"));
        continue;
      }
      if (!s.is_string() || (!may_be_empty && s.get<std::string>().empty()))
        wrong(std::string(field) + " must be strings");
      out.push_back(s.get<std::string>());
    }
    if (out.size() > kMostTags) wrong(std::string(field) + " must be at most 256 strings");
    return out;
  }

  Node one_of(const Ends& ends) {
    std::vector<Node> ways;
    for (const std::string& end : ends) ways.push_back(g_.text(end));
    return g_.choice(std::move(ways));
  }
  Node then(Node node, const Ends& ends) {
    if (ends.empty()) return node;
    const Node end = one_of(ends);
    return g_.sequence({node, end});
  }

  /// Strings that may not stand in it are ends from which nothing goes on.
  Node any_text(const Json& f, const Ends& ends) {
    std::vector<FreeEnd> marks;
    const Grammar::Rule over = g_.add_rule("end"), never = g_.add_rule("never");
    g_.define(over, g_.text(""));
    g_.define(never, g_.choice({}));
    for (const std::string& end : ends) {
      if (end.empty()) wrong("any_text needs a string behind it, or the end of the text");
      marks.push_back({end, over});
    }
    for (const std::string& bad : strings_at(f, "excludes", false)) marks.push_back({bad, never});
    return free(marks, ends.empty());
  }

  /// Any text up to one of some marks. Of special tokens none but these stands in it.
  Node free(const std::vector<FreeEnd>& ends, bool may_end) {
    if (!text_of_) return free_until(g_, ends, may_end);
    std::vector<FreeEnd> texts;
    std::vector<Node> tokens;
    for (const FreeEnd& end : ends) {
      if (!end.text.starts_with(kMark)) {
        texts.push_back(end);
        continue;
      }
      const Node rest = g_.text(end.text.substr(1)), next = g_.rule(end.next);
      tokens.push_back(g_.sequence({rest, next}));
    }
    texts.push_back({std::string(1, kMark), g_.add_rule("token")});
    g_.define(texts.back().next, g_.choice(std::move(tokens)));
    return free_until(g_, texts, may_end);
  }

  /// Any text, and tokens that the tag names but does not exclude here.
  Node any_tokens(const Json& f, const Ends& ends) {
    const Grammar::Rule again = g_.add_rule("any tokens"), over = g_.add_rule("end");
    g_.define(over, g_.text(""));
    std::vector<FreeEnd> marks;
    for (const std::string& end : ends) {
      if (end.empty()) wrong("any_tokens needs something behind it, or the end of the text");
      marks.push_back({end, over});
    }
    for (const std::string& token : named_but(marks_at(f, "exclude_tokens")))
      if (std::find(ends.begin(), ends.end(), token) == ends.end()) marks.push_back({token, again});
    g_.define(again, free(marks, ends.empty()));
    return g_.rule(again);
  }

  Node token_triggered(const Json& f, const Ends& ends, int depth) {
    return tags_behind_triggers(list_at(f, "tags"), marks_at(f, "trigger_tokens"),
                                flag(f, "at_least_one"), flag(f, "stop_after_first"), ends,
                                depth + 1, named_but(marks_at(f, "exclude_tokens")));
  }

  /// Free text, in which each pattern is followed by its format; again, unless `loop` is false.
  Node dispatch(const Json& f, const std::string& type, const Ends& ends, int depth) {
    const bool of_tokens = type == "token_dispatch";
    if (of_tokens && !text_of_) wrong("a format of type token_dispatch is not supported");
    if (f.contains("excludes") && !f["excludes"].empty())
      wrong("excludes of " + type + " are not supported");
    const bool loops = !f.contains("loop") || flag(f, "loop");
    const Grammar::Rule again = g_.add_rule("dispatch"), over = g_.add_rule("end");
    g_.define(over, g_.text(""));
    std::vector<FreeEnd> marks;
    for (const Json& rule : list_at(f, "rules")) {
      if (!rule.is_array() || rule.size() != 2) wrong("rules must be pairs of pattern and format");
      const Json& pattern = rule[0];
      if (!of_tokens && (!pattern.is_string() || pattern == ""))
        wrong("a pattern must be a string");
      const Node inner = format(rule[1], loops ? Ends() : ends, depth + 1);
      const Node rest = loops ? g_.rule(again) : g_.text("");
      const std::string mark = !of_tokens          ? pattern.get<std::string>()
                               : is_token(pattern) ? mark_at(pattern, "token")
                                                   : mark_of(pattern);
      marks.push_back({mark, g_.add_rule("behind " + type)});
      g_.define(marks.back().next, g_.sequence({inner, rest}));
    }
    for (const std::string& end : ends) marks.push_back({end, over});
    if (of_tokens)
      for (const std::string& token : named_but(marks_at(f, "exclude_tokens")))
        if (std::none_of(marks.begin(), marks.end(),
                         [&](const FreeEnd& m) { return m.text == token; }))
          marks.push_back({token, again});
    g_.define(again, free(marks, ends.empty()));
    return g_.rule(again);
  }

  Node schema(const Json& f) {
    const std::string style = f.contains("style") ? string_at(f, "style") : "json";
    if (style != "json") wrong("a json_schema of style " + style + " is not supported");
    if (!f.contains("json_schema")) wrong("json_schema must be a schema");
    return engine::grammar::add_json_schema(g_, text_, f["json_schema"]);
  }

  /// The rules of a grammar of its own.
  Node grammar(const std::string& text) {
    return g_.include(engine::grammar::looks_like_lark(text) ? engine::grammar::read_lark(text)
                                                             : engine::grammar::read_ebnf(text));
  }

  Node sequence(const std::vector<Json>& elements, const Ends& ends, int depth) {
    std::vector<Node> parts;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const bool last = i + 1 == elements.size();
      // Free text goes on up to the string behind it.
      const Json type = elements[i].is_object() ? elements[i].value("type", Json()) : Json();
      if (!last && (type == "any_text" || type == "triggered_tags")) {
        const Json& next = elements[i + 1];
        const Json kind = next.is_object() ? next.value("type", Json()) : Json();
        if (kind != "const_string" && kind != "tag")
          wrong(type.get<std::string>() +
                " in a sequence must be the last, or stand before a "
                "const_string or a tag");
        const std::string mark = kind == "tag" ? begin_of(next) : string_at(next, "value");
        parts.push_back(format(elements[i], {mark}, depth + 1));
        parts.push_back(kind == "tag" ? tag(next, mark, depth + 1) : g_.text(""));
        ++i;
        if (i + 1 == elements.size()) parts.push_back(then(g_.text(""), ends));
        continue;
      }
      parts.push_back(format(elements[i], last ? ends : Ends(), depth + 1));
    }
    return g_.sequence(std::move(parts));
  }

  /// A tag whose first characters, `written`, stand already.
  Node tag(const Json& f, const std::string& written, int depth) {
    const Node begin = g_.text(begin_of(f).substr(written.size()));
    const auto content = f.find("content");
    if (content == f.end()) wrong("a tag must have a content");
    const Ends ends = strings_at(f, "end", true);
    if (ends.empty()) wrong("a tag must have an end");
    const Node rest = format(*content, ends, depth + 1);
    return g_.sequence({begin, rest});
  }

  Node triggered(const Json& f, const Ends& ends, int depth) {
    if (f.contains("excludes") && !f["excludes"].empty())
      wrong("excludes of triggered_tags are not supported");
    return tags_behind_triggers(list_at(f, "tags"), strings_at(f, "triggers", false),
                                flag(f, "at_least_one"), flag(f, "stop_after_first"), ends,
                                depth + 1);
  }

  Node separated(const Json& f, int depth) {
    const Grammar::Rule one = g_.add_rule("tag");
    std::vector<Node> ways;
    for (const Json& t : list_at(f, "tags")) ways.push_back(tag(t, {}, depth + 1));
    g_.define(one, g_.choice(std::move(ways)));
    Node all = g_.rule(one);
    if (!flag(f, "stop_after_first")) {
      const Node between = g_.text(string_at(f, "separator")), next = g_.rule(one);
      const Node more = g_.repeat(g_.sequence({between, next}), 0, Grammar::kAny);
      all = g_.sequence({all, more});
    }
    return flag(f, "at_least_one") ? all : g_.optional(all);
  }

  Node repeat(const Json& f, const std::string& type, int depth) {
    if (!f.contains("content")) wrong(type + " must have a content");
    const Node inner = format(f["content"], {}, depth + 1);
    if (type == "optional") return g_.optional(inner);
    if (type != "repeat") return g_.repeat(inner, type == "plus" ? 1 : 0, Grammar::kAny);
    const Json least = f.value("min", Json(0)), most = f.value("max", Json(-1));
    if (!least.is_number_integer() || !most.is_number_integer())
      wrong("min and max of a repeat must be integers");
    return g_.repeat(inner, least.get<std::int64_t>(), most.get<std::int64_t>());
  }

  Grammar& g_;
  engine::grammar::JsonText text_;
  const TokenText& text_of_;
  std::set<std::string> named_;  // marks of tokens
};

}  // namespace

bool names_tokens(const Json& tag) {
  bool out = false;
  each_token(tag, [&](const Json&) { out = true; });
  if (!tag.is_structured()) return out;
  if (tag.is_object()) {
    const Json type = tag.value("type", Json());
    out = out || type == "any_tokens" || type == "token_triggered_tags" || type == "token_dispatch";
  }
  for (const auto& [key, value] : tag.items())
    out = out || (key != "json_schema" && key != "schema" && names_tokens(value));
  return out;
}

Grammar read_structural_tag(const Json& tag, const TokenText& text_of) {
  if (!tag.is_object()) wrong("it must be an object");
  Grammar g;
  Reader reader(g, text_of, tag);
  if (const auto format = tag.find("format"); format != tag.end() && !format->is_null()) {
    g.define(g.root(), reader.format(*format, {}));
    return g;
  }
  const auto structures = tag.find("structures"), triggers = tag.find("triggers");
  if (structures == tag.end() || triggers == tag.end() || !structures->is_array() ||
      !triggers->is_array())
    wrong("it must have a format, or lists of structures and triggers");
  std::vector<Json> tags;
  for (const Json& s : *structures) {
    if (!s.is_object() || !s.contains("schema")) wrong("a structure must have a schema");
    Json one = {{"begin", s.value("begin", Json())},
                {"content", {{"type", "json_schema"}, {"json_schema", s["schema"]}}},
                {"end", s.value("end", Json())}};
    tags.push_back(std::move(one));
  }
  Ends strings;
  for (const Json& t : *triggers) {
    if (!t.is_string() || t.get<std::string>().empty()) wrong("triggers must be strings");
    strings.push_back(t.get<std::string>());
  }
  g.define(g.root(), reader.tags_behind_triggers(tags, strings, false, false, {}, 0));
  return g;
}

}  // namespace strata::serve
