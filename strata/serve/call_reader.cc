#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "strata/serve/call_syntax.h"
#include "strata/serve/tools.h"

namespace strata::serve {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

std::optional<std::size_t> behind_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return i;
    }
    if (depth == 0 && !in_string && c == '"') return i + 1;
  }
  return std::nullopt;
}

std::size_t ObjectEnd::add(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (whole_) return i;
    const char c = text[i];
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      whole_ = --depth_ == 0;
    }
  }
  return text.size();
}

bool MarkFinder::add(std::string_view text, bool is_end, std::string& before, std::string& rest) {
  held_ += text;
  const std::size_t at = held_.find(mark_);
  const bool found = at != held_.npos;
  // The end of what is held may be the beginning of a mark, or spaces before one.
  std::size_t keep = 0;
  if (!found && !is_end)
    for (std::size_t n = std::min(mark_.size() - 1, held_.size()); n > 0 && keep == 0; --n)
      if (std::string_view(held_).ends_with(std::string_view(mark_).substr(0, n))) keep = n;
  const std::string_view told = std::string_view(held_).substr(0, found ? at : held_.size() - keep);
  std::size_t last = told.size();
  while (last > 0 && is_space(told[last - 1])) --last;
  if (last > 0) {
    before += spaces_;
    before += told.substr(0, last);
    spaces_.clear();
  }
  spaces_ += told.substr(last);
  if (found) {
    rest = held_.substr(at + mark_.size());
    held_.clear(), spaces_.clear();
    return true;
  }
  held_.erase(0, held_.size() - keep);
  if (is_end) before += std::exchange(spaces_, {});
  return false;
}

CallSyntax::CallSyntax(CallFormat format, ToolChoice choice, std::string id)
    : format_(std::move(format)), choice_(std::move(choice)), id_(std::move(id)) {}

bool CallSyntax::knows(std::string_view name) const {
  const auto& tools = choice_.tools;
  return std::find(tools.begin(), tools.end(), name) != tools.end();
}

std::string CallSyntax::id() const { return fmt::format("{}{}", id_, count_); }

void CallSyntax::tell(std::string name, std::string arguments, Part& out) {
  out.pieces.push_back({count_, id(), name, arguments});
  out.calls.push_back({id(), std::move(name), std::move(arguments)});
  ++count_;
}

CallReader::CallReader(CallFormat format, ToolChoice choice, std::string id) {
  using Kind = CallFormat::Kind;
  const Kind kind = format.kind;
  const auto make = kind == Kind::tagged     ? tagged_syntax
                    : kind == Kind::pythonic ? pythonic_syntax
                                             : json_syntax;
  syntax_ = make(std::move(format), std::move(choice), std::move(id));
}
CallReader::CallReader(CallReader&&) noexcept = default;
CallReader& CallReader::operator=(CallReader&&) noexcept = default;
CallReader::~CallReader() = default;

CallReader::Part CallReader::add(std::string_view text, bool is_end) {
  Part out;
  syntax_->add(text, is_end, out);
  return out;
}
std::size_t CallReader::calls() const { return syntax_->calls(); }

namespace {

/// The characters of a member's value in an object that is valid JSON.
std::string raw_member(std::string_view object, const std::string& key) {
  std::size_t at = 1;
  const auto skip = [&] {
    while (at < object.size() && (is_space(object[at]) || object[at] == ',' || object[at] == ':'))
      ++at;
  };
  for (skip(); at < object.size() && object[at] == '"'; skip()) {
    const std::size_t key_end = behind_value(object, at).value_or(object.size());
    const Json name = Json::parse(object.substr(at, key_end - at), nullptr, false);
    at = key_end;
    skip();
    const std::size_t end = behind_value(object, at).value_or(object.size());
    if (name == key) return std::string(trimmed(object.substr(at, end - at)));
    at = end;
  }
  return {};
}

/// Objects with a name and arguments, behind a mark or as the whole answer.
class JsonSyntax final : public CallSyntax {
 public:
  JsonSyntax(CallFormat format, ToolChoice choice, std::string id)
      : CallSyntax(std::move(format), std::move(choice), std::move(id)),
        begin_(trimmed(format_.begin)),
        finder_(begin_) {}

  void add(std::string_view text, bool is_end, Part& out) override {
    if (gave_up_) {
      out.content += text;
      return;
    }
    if (!in_calls_ && !begin_.empty()) {
      std::string rest;
      if (!finder_.add(text, is_end, out.content, rest)) return;
      mark_ = begin_;
      in_calls_ = true;
      held_ = std::move(rest);
    } else {
      held_ += text;
    }
    if (!in_calls_ && !begins_bare(is_end)) return give_up_if_asked(out);
    while (read_call(is_end, out)) {
    }
    give_up_if_asked(out);
  }

 private:
  void give_up_if_asked(Part& out) {
    if (!gave_up_) return;
    // What looked like a call is content, with its mark.
    out.content += mark_ + held_;
    mark_.clear(), held_.clear();
  }

  /// Where there are no marks the whole answer is calls, or none of it.
  bool begins_bare(bool is_end) {
    constexpr std::string_view kPython = "<|python_tag|>";
    const std::size_t from = first_word();
    if (from == held_.size()) {
      gave_up_ = is_end;
      return false;
    }
    const std::string_view seen = std::string_view(held_).substr(from);
    if (!is_end && kPython.starts_with(seen)) return false;
    if (seen.starts_with(kPython)) {
      mark_ = kPython;
      held_.erase(0, from + kPython.size());
      spaces_ = 0;
    }
    return in_calls_ = true;
  }

  /// Where the first character stands that is no space.
  std::size_t first_word() {
    while (spaces_ < held_.size() && is_space(held_[spaces_])) ++spaces_;
    return spaces_;
  }

  /// Reads a call at the beginning of what is held; false where more is needed, or none is there.
  bool read_call(bool is_end, Part& out) {
    std::size_t from = first_word();
    if (any_ && from > 0) {
      held_.erase(0, from);
      spaces_ = from = 0;
    }
    if (from == held_.size()) {
      if (is_end && any_) held_.clear(), spaces_ = 0;
      gave_up_ = is_end && !any_;
      return false;
    }
    if (held_[from] != '{') {
      gave_up_ = !any_;
      if (gave_up_) return false;
      // Between calls stand marks and spaces; the next call begins with a brace.
      held_.erase(0, std::min(held_.find('{', from), held_.size()));
      spaces_ = 0;
      return !held_.empty();
    }
    read_ = std::max(read_, from);
    read_ += end_.add(std::string_view(held_).substr(read_));
    if (format_.sure) tell_begun(from, out);
    if (!end_.whole()) {
      if (is_end && !begun_.empty()) {
        // What was told is no content any more.
        out.calls.push_back({id(), begun_, arguments_});
        held_.clear(), mark_.clear();
        any_ = true;
      } else {
        gave_up_ = is_end;
      }
      return false;
    }
    return take_call(std::string_view(held_).substr(from, read_ - from), out);
  }

  bool take_call(std::string_view object, Part& out) {
    const Json call = Json::parse(object, nullptr, false);
    const Json name = call.is_object() ? call.value("name", Json()) : Json();
    std::string key;
    if (call.is_object())
      for (const char* known : {"arguments", "parameters"})
        if (key.empty() && call.contains(known)) key = known;
    if (!name.is_string() || !knows(name.get_ref<const std::string&>()) ||
        (!key.empty() && !call[key].is_object() && !call[key].is_string())) {
      gave_up_ = true;
      return false;
    }
    // Some models write the arguments as text.
    std::string arguments = key.empty()             ? "{}"
                            : call[key].is_string() ? call[key].get<std::string>()
                                                    : raw_member(object, key);
    if (begun_.empty()) out.pieces.push_back({count_, id(), name.get<std::string>(), arguments});
    out.calls.push_back({id(), name.get<std::string>(), std::move(arguments)});
    ++count_;
    begun_.clear(), arguments_.clear(), mark_.clear();
    inner_ = {}, end_ = {};
    held_.erase(0, read_);
    spaces_ = read_ = inner_read_ = 0;
    any_ = true;
    return true;
  }

  /// Tells what is there of a call that begins at `from`, once its name is.
  void tell_begun(std::size_t from, Part& out) {
    if (begun_.empty()) {
      constexpr std::size_t kLongestHead = 4096;
      if (read_ - from > kLongestHead) return;
      const std::size_t arguments = read_head(from);
      if (begun_.empty()) return;
      inner_read_ = arguments;
      out.pieces.push_back({count_, id(), begun_, ""});
    }
    const std::string_view text = std::string_view(held_).substr(0, read_);
    if (inner_.whole() || inner_read_ >= text.size()) return;
    const std::size_t more = inner_.add(text.substr(inner_read_));
    if (more == 0) return;
    const std::string piece(text.substr(inner_read_, more));
    inner_read_ += more;
    arguments_ += piece;
    out.pieces.push_back({count_, "", "", piece});
  }

  /// Reads the name of a call and what stands up to its arguments; where those begin.
  std::size_t read_head(std::size_t from) {
    const std::string_view text = held_;
    std::size_t at = from + 1;
    const auto skip = [&] {
      while (at < text.size() && is_space(text[at])) ++at;
    };
    const auto take = [&](char c) {
      skip();
      if (at >= text.size() || text[at] != c) return false;
      ++at;
      skip();
      return true;
    };
    const auto string = [&]() -> std::string {
      skip();
      if (at >= text.size() || text[at] != '"') return {};
      const auto end = behind_value(text, at);
      if (!end) return {};
      const Json value = Json::parse(text.substr(at, *end - at), nullptr, false);
      at = *end;
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    if (string() != "name" || !take(':')) return 0;
    const std::string name = string();
    if (!knows(name) || !take(',')) return 0;
    if (string() != format_.arguments || !take(':') || at >= text.size() || text[at] != '{')
      return 0;
    begun_ = name;
    return at;
  }

  std::string begin_;
  MarkFinder finder_;
  std::string held_, mark_;
  bool in_calls_ = false, gave_up_ = false, any_ = false;
  std::size_t spaces_ = 0;  // at the beginning of what is held
  ObjectEnd end_;           // of the call,
  std::size_t read_ = 0;    // and how much of what is held it has seen
  std::string begun_;       // the name of a call of which pieces were told
  ObjectEnd inner_;         // of its arguments
  std::size_t inner_read_ = 0;
  std::string arguments_;
};

}  // namespace

std::unique_ptr<CallSyntax> json_syntax(CallFormat format, ToolChoice choice, std::string id) {
  return std::make_unique<JsonSyntax>(std::move(format), std::move(choice), std::move(id));
}

}  // namespace strata::serve
