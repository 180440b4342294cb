// Calls whose name, and arguments or each of them, stand in tags.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "strata/serve/call_syntax.h"

namespace strata::serve {
namespace {

constexpr std::size_t kLongestName = 256, kMostArguments = 1024;

/// The characters of a mark up to its first space, and those behind it.
std::pair<std::string, std::string> parts(std::string_view mark) {
  mark = trimmed(mark);
  std::size_t at = 0;
  while (at < mark.size() && !is_space(mark[at])) ++at;
  return {std::string(mark.substr(0, at)), std::string(trimmed(mark.substr(at)))};
}

std::string json_text(std::string_view text) { return dump(Json(std::string(text))); }

class TaggedSyntax final : public CallSyntax {
 public:
  TaggedSyntax(CallFormat format, ToolChoice choice, std::string id)
      : CallSyntax(std::move(format), std::move(choice), std::move(id)) {
    const CallFormat::Tags& t = format_.tags;
    std::tie(trigger_, rest_of_before_) = parts(t.before_name);
    after_name_ = trimmed(t.after_name);
    before_key_ = trimmed(t.before_key);
    after_key_ = trimmed(t.after_key);
    after_value_ = trimmed(t.after_value);
    std::tie(end_, rest_of_end_) = parts(t.end);
    finder_ = MarkFinder(trigger_);
  }

  void add(std::string_view text, bool is_end, Part& out) override {
    text_ += text;
    while (step(is_end, out)) {
    }
    if (at_ > 4096 && at_ > text_.size() / 2) compact();
  }

 private:
  enum class Stage { text, begun, name, next, key, value, object, tail };
  enum class Match { yes, no, more };

  std::string_view left() const { return std::string_view(text_).substr(at_); }

  /// Forgets what has been read; what belongs to a call that is not told yet stays.
  void compact() {
    const std::size_t gone = stage_ == Stage::begun || stage_ == Stage::name ? from_ : at_;
    text_.erase(0, gone);
    at_ -= gone, from_ -= std::min(from_, gone);
    searched_ -= std::min(searched_, gone);
  }

  /// Matches a mark whose spaces stand for any, and for none; moves behind it where it is there.
  Match match(std::string_view mark) {
    std::size_t at = at_, read = 0;
    while (read < mark.size()) {
      while (at < text_.size() && is_space(text_[at])) ++at;
      // Spaces before a mark belong to nothing.
      if (read == 0) at_ = at;
      while (read < mark.size() && is_space(mark[read])) ++read;
      if (read == mark.size()) break;
      if (at - at_ > mark.size() + kLongestName) return Match::no;
      if (at == text_.size()) return Match::more;
      while (read < mark.size() && !is_space(mark[read])) {
        if (at == text_.size()) return Match::more;
        if (text_[at] != mark[read]) return Match::no;
        ++at, ++read;
      }
    }
    at_ = at;
    return Match::yes;
  }

  /// Where a mark stands behind what was searched already.
  std::size_t find(std::string_view mark) {
    const std::size_t from = std::max(at_, searched_);
    const std::size_t found = text_.find(mark, from);
    if (found == text_.npos)
      searched_ = std::max(from, text_.size() - std::min(text_.size(), mark.size() - 1));
    return found;
  }

  bool go(Stage stage) {
    stage_ = stage;
    searched_ = 0;
    return true;
  }

  /// What looked like a call is content, with its mark.
  bool give_back(Part& out) {
    out.content += prefix_;
    out.content += std::string_view(text_).substr(from_);
    text_.clear();
    at_ = from_ = 0;
    finder_ = MarkFinder(trigger_);
    gave_up_ = true;
    return go(Stage::text);
  }

  void begin_argument(const std::string& key) {
    piece_ = (first_ ? "" : ", ") + json_text(key) + ": ";
    first_ = false;
  }
  void tell_piece(std::string piece, Part& out) {
    arguments_ += piece;
    out.pieces.push_back({count_, "", "", std::move(piece)});
  }
  bool finish(Part& out, bool is_whole = true) {
    if (!format_.tags.json_arguments)
      tell_piece(first_ ? "{}" : "}", out);
    else if (arguments_.empty())
      tell_piece("{}", out);
    out.calls.push_back({id(), std::exchange(name_, {}), std::exchange(arguments_, {})});
    ++count_;
    keys_.clear();
    return go(is_whole ? Stage::tail : Stage::text);
  }

  bool step(bool is_end, Part& out) {
    switch (stage_) {
      case Stage::text: return read_text(is_end, out);
      case Stage::begun: return read_begun(is_end, out);
      case Stage::name: return read_name(is_end, out);
      case Stage::next: return read_next(is_end, out);
      case Stage::key: return read_key(is_end, out);
      case Stage::value: return read_value(is_end, out);
      case Stage::object: return read_object(is_end, out);
      case Stage::tail: return read_tail(is_end);
    }
    return false;
  }

  bool read_text(bool is_end, Part& out) {
    if (gave_up_) {
      out.content += left();
      text_.clear();
      at_ = from_ = 0;
      return false;
    }
    std::string before, rest;
    const bool found = finder_.add(left(), is_end, before, rest);
    // Spaces behind a call are none of the text.
    std::string_view shown = before;
    if (count_ > 0 && !told_text_)
      while (!shown.empty() && is_space(shown.front())) shown.remove_prefix(1);
    told_text_ = told_text_ || !shown.empty();
    out.content += shown;
    text_ = std::move(rest);
    at_ = from_ = 0;
    prefix_ = trigger_;
    return found && go(Stage::begun);
  }

  bool read_begun(bool is_end, Part& out) {
    switch (match(rest_of_before_)) {
      case Match::yes: return go(Stage::name);
      case Match::no: return give_back(out);
      case Match::more: return is_end && give_back(out);
    }
    return false;
  }

  bool read_name(bool is_end, Part& out) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    std::size_t end;
    if (!after_name_.empty()) {
      end = find(after_name_);
    } else {
      end = at_;
      while (end < text_.size() && !is_space(text_[end]) && text_[end] != '<') ++end;
      if (end == text_.size()) end = text_.npos;
    }
    if (end == text_.npos) {
      if (is_end || text_.size() - at_ > kLongestName) return give_back(out);
      return false;
    }
    const std::string_view name = trimmed(left().substr(0, end - at_));
    if (name.size() > kLongestName || !knows(name)) return give_back(out);
    name_ = name;
    at_ = end + after_name_.size();
    out.pieces.push_back({count_, id(), name_, ""});
    first_ = true;
    object_ = {};
    told_text_ = false;
    return go(format_.tags.json_arguments ? Stage::object : Stage::next);
  }

  /// An argument, the end of the call, or neither: then the call ends here.
  bool read_next(bool is_end, Part& out) {
    const Match end = match(end_);
    if (end == Match::yes) return finish(out);
    const Match key = before_key_.empty() ? Match::no : match(before_key_);
    if (key == Match::yes) return go(Stage::key);
    if (!is_end && (end == Match::more || key == Match::more)) return false;
    return finish(out, false);
  }

  bool read_key(bool is_end, Part& out) {
    const auto [first, rest] = parts(after_key_);
    const std::size_t end = find(first);
    if (end == text_.npos || end - at_ > kLongestName) {
      if (!is_end && text_.size() - at_ <= kLongestName) return false;
      return finish(out, false);
    }
    std::string key(trimmed(left().substr(0, end - at_)));
    const std::size_t was = std::exchange(at_, end);
    switch (match(after_key_)) {
      case Match::yes: break;
      case Match::no: return finish(out, false);
      case Match::more: at_ = was; return is_end && finish(out, false);
    }
    if (keys_.size() == kMostArguments) return finish(out, false);
    is_new_ = keys_.insert(key).second;
    key_ = std::move(key);
    return go(Stage::value);
  }

  bool read_value(bool is_end, Part& out) {
    const std::size_t end = find(parts(after_value_).first);
    if (end == text_.npos) {
      if (!is_end) return false;
      at_ = text_.size();  // what was cut off is no value
      return finish(out, false);
    }
    std::string_view value = left().substr(0, end - at_);
    // The line ends that the template writes around a value are not of it.
    if (format_.tags.after_key.ends_with('\n') && value.starts_with('\n')) value.remove_prefix(1);
    if (format_.tags.after_value.starts_with('\n') && value.ends_with('\n')) value.remove_suffix(1);
    if (is_new_) {
      begin_argument(key_);
      tell_piece((arguments_.empty() ? "{" : "") + piece_ + typed_argument(value, schema_of(key_)),
                 out);
    }
    at_ = end;
    switch (match(after_value_)) {
      case Match::yes: return go(Stage::next);
      case Match::no: return finish(out, false);
      case Match::more: break;
    }
    // The value is told already; what follows it has to come.
    is_new_ = false;
    if (is_end) return finish(out, false);
    return false;
  }

  bool read_object(bool is_end, Part& out) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t from = std::max(at_, searched_);
    if (from == at_ && at_ < text_.size() && text_[at_] != '{') return finish(out, false);
    searched_ = from + object_.add(std::string_view(text_).substr(from));
    if (!object_.whole()) return is_end && finish(out, false);
    std::string object(left().substr(0, searched_ - at_));
    if (!Json::accept(object)) object = "{}";
    at_ = searched_;
    tell_piece(std::move(object), out);
    return go(Stage::next);
  }

  bool read_tail(bool is_end) {
    const Match end = match(rest_of_end_);
    if (end != Match::yes && !rest_of_before_.empty()) {
      // Another call between the same marks.
      const std::size_t from = at_;
      const Match next = match(rest_of_before_);
      if (next == Match::more && !is_end) return false;
      if (next == Match::yes) {
        from_ = from;
        prefix_.clear();
        return go(Stage::name);
      }
    }
    if (end == Match::more && !is_end) return false;
    finder_ = MarkFinder(trigger_);
    return go(Stage::text);
  }

  Json schema_of(const std::string& key) const {
    const auto found = choice_.parameters.find(name_);
    if (found == choice_.parameters.end() || !found->second.is_object()) return {};
    const Json properties = found->second.value("properties", Json());
    return properties.is_object() ? properties.value(key, Json()) : Json();
  }

  std::string trigger_, rest_of_before_, after_name_, before_key_, after_key_, after_value_, end_,
      rest_of_end_;
  MarkFinder finder_{""};
  Stage stage_ = Stage::text;
  std::string text_;          // behind the trigger
  std::size_t at_ = 0;        // how much of it is read
  std::size_t from_ = 0;      // where the call begins
  std::size_t searched_ = 0;  // up to where there is no mark that is searched for
  bool gave_up_ = false, told_text_ = false, first_ = true, is_new_ = true;
  std::string prefix_;  // what stands before `text_`, and goes back with it
  std::string name_, key_, arguments_, piece_;
  std::set<std::string> keys_;
  ObjectEnd object_;
};

/// A type of JSON Schema, or the first of several that is not null.
std::string type_of(const Json& schema) {
  if (!schema.is_object()) return {};
  const Json type = schema.value("type", Json());
  if (type.is_string()) return type.get<std::string>();
  if (type.is_array())
    for (const Json& one : type)
      if (one.is_string() && one != "null") return one.get<std::string>();
  for (const char* key : {"anyOf", "oneOf"}) {
    const auto found = schema.find(key);
    if (found == schema.end() || !found->is_array()) continue;
    for (const Json& one : *found)
      if (const std::string t = type_of(one); !t.empty() && t != "null") return t;
  }
  return {};
}

}  // namespace

std::string typed_argument(std::string_view value, const Json& schema) {
  const std::string type = type_of(schema);
  if (type == "string") return json_text(value);
  const std::string_view bare = trimmed(value);
  if (Json::accept(bare)) return std::string(bare);
  if (auto json = python_as_json(bare)) return *json;
  return json_text(value);
}

std::unique_ptr<CallSyntax> tagged_syntax(CallFormat format, ToolChoice choice, std::string id) {
  return std::make_unique<TaggedSyntax>(std::move(format), std::move(choice), std::move(id));
}

}  // namespace strata::serve
