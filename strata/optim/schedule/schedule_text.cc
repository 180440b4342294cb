#include "strata/optim/schedule/schedule_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "strata/base/error.h"
#include "strata/base/text.h"

namespace strata::optim {
namespace {

using Kind = SchedulePiece::Kind;

constexpr std::string_view kKinds[] = {"constant", "linear", "cosine"};
constexpr std::string_view kArrows[] = {"->", "→"};
constexpr std::int64_t kManySteps = 1'000'000'000;

struct Word {
  std::string_view text;
  std::size_t at = 0;
  bool arrow() const { return text == kArrows[0] || text == kArrows[1]; }
  bool comma() const { return text == ","; }
  bool end() const { return text.empty(); }
};

/// What the length in letters is where bytes that continue a letter of UTF-8 count nothing.
std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) { next(); }

  std::vector<SchedulePiece> schedule() {
    const bool bracket = take("[");
    do {
      if (!pieces_.empty() && !pieces_.back().steps)
        refuse(word_, "a piece without a number of steps lasts, so nothing can follow it");
      pieces_.push_back(piece());
    } while (take(","));
    if (bracket && !take("]")) refuse(word_, "expected ',' or ']'");
    if (!word_.end()) refuse(word_, "expected ',' before the next piece");
    return std::move(pieces_);
  }

 private:
  // -- words: arrows, commas, brackets, and what is between them and blanks
  static std::size_t mark(std::string_view rest) {
    for (std::string_view arrow : kArrows)
      if (rest.starts_with(arrow)) return arrow.size();
    return !rest.empty() && std::string_view(",[]").find(rest[0]) != std::string_view::npos ? 1 : 0;
  }
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void next() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
    std::size_t end = at_ + mark(text_.substr(at_));
    if (end == at_)
      while (end < text_.size() && !blank(text_[end]) && mark(text_.substr(end)) == 0) ++end;
    word_ = {text_.substr(at_, end - at_), at_};
    at_ = end;
  }
  bool take(std::string_view text) {
    if (word_.text != text) return false;
    next();
    return true;
  }

  [[noreturn]] void refuse(const Word& word, const std::string& why) const {
    throw Error(std::string(name_), "{}\n  {}\n  {:{}}{}", why, text_, "",
                letters(text_.substr(0, word.at)),
                std::string(std::max<std::size_t>(1, letters(word.text)), '^'));
  }
  std::string shown() const { return word_.end() ? "the end" : fmt::format("'{}'", word_.text); }

  // -- numbers
  static std::optional<double> number(std::string_view text) {
    double out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
    return out;
  }
  double rate() {
    const std::optional<double> value = number(word_.text);
    if (!value) refuse(word_, fmt::format("expected a rate, as in 3e-4, got {}", shown()));
    if (!(*value >= 0 && std::isfinite(*value)))
      refuse(word_, fmt::format("a rate is a number from 0 on, got {}", shown()));
    next();
    return *value + 0.0;  // -0 becomes 0
  }
  std::int64_t steps() {
    const std::optional<double> value = number(word_.text);
    if (!value) refuse(word_, fmt::format("expected a number of steps, got {}", shown()));
    if (!(*value >= 1 && *value <= static_cast<double>(kManySteps) && *value == std::floor(*value)))
      refuse(word_,
             fmt::format("steps are a whole number from 1 to {}, got {}", kManySteps, shown()));
    next();
    return static_cast<std::int64_t>(*value);
  }
  std::int64_t over_steps() {
    if (!take("over") && !take("for"))
      refuse(word_, fmt::format("expected 'over STEPS', got {}", shown()));
    return steps();
  }

  // -- pieces
  Kind kind() {
    for (std::size_t i = 0; i < std::size(kKinds); ++i)
      if (take(kKinds[i])) return static_cast<Kind>(i);
    refuse(word_, fmt::format("expected {}, got {}{}", fmt::join(kKinds, ", "), shown(),
                              did_you_mean(word_.text, kKinds)));
  }
  double rate_before(const Word& piece) const {
    if (pieces_.empty())
      refuse(piece,
             fmt::format("the first piece says where it starts, as in '{}'", example(piece)));
    return pieces_.back().to;
  }
  static std::string_view example(const Word& piece) {
    return piece.text == "constant" ? "constant 3e-4 over 100" : "linear 0 -> 3e-4 over 100";
  }
  bool at_number() const { return number(word_.text).has_value(); }

  SchedulePiece piece() {
    const Word first = word_;
    SchedulePiece out;
    out.kind = kind();
    return out.kind == Kind::constant ? constant(first) : slope(first, out.kind);
  }
  SchedulePiece slope(const Word& first, Kind kind) {
    SchedulePiece out{kind, 0, 0, {}};
    if (!word_.arrow() && !at_number())
      refuse(word_, fmt::format("expected a rate or '->', got {}", shown()));
    out.from = word_.arrow() ? rate_before(first) : rate();
    if (!word_.arrow())
      refuse(word_, fmt::format("expected '->' and the rate to go to, got {}", shown()));
    next();
    out.to = rate();
    out.steps = over_steps();
    return out;
  }
  /// One number alone means steps, two mean a rate and steps.
  SchedulePiece constant(const Word& first) {
    SchedulePiece out;
    if (word_.end() || word_.comma() || word_.text == "]") {
      out.from = out.to = rate_before(first);
      return out;
    }
    const Word number = word_;
    const std::size_t after = at_;
    const double value = rate();
    if (word_.end() || word_.comma() || word_.text == "]") {
      if (value != std::floor(value) || value < 1)
        refuse(number,
               fmt::format("'{}' is no number of steps; for a rate write 'constant {} over STEPS'",
                           number.text, number.text));
      word_ = number;
      at_ = after;
      out.from = out.to = rate_before(first);
      out.steps = steps();
      return out;
    }
    out.from = out.to = value;
    out.steps = over_steps();
    return out;
  }

  std::string_view text_, name_;
  std::size_t at_ = 0;
  Word word_;
  std::vector<SchedulePiece> pieces_;
};

}  // namespace

std::vector<SchedulePiece> parse_schedule(std::string_view text, std::string_view name) {
  return Parser(text, name).schedule();
}

std::int64_t total_steps(const std::vector<SchedulePiece>& pieces) {
  std::int64_t steps = 0;
  for (const SchedulePiece& p : pieces) steps += p.steps.value_or(0);
  return steps;
}

std::string to_string(const std::vector<SchedulePiece>& pieces) {
  std::string out;
  for (const SchedulePiece& p : pieces) {
    if (!out.empty()) out += ", ";
    out += kKinds[static_cast<std::size_t>(p.kind)];
    if (p.kind == Kind::constant && !p.steps) continue;  // goes on with the rate before it
    out += p.kind == Kind::constant ? fmt::format(" {}", p.to)
                                    : fmt::format(" {} -> {}", p.from, p.to);
    out += fmt::format(" over {}", *p.steps);
  }
  return out;
}

}  // namespace strata::optim
