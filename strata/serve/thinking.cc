#include "strata/serve/thinking.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace strata::serve {
namespace {

using Tokens = std::vector<std::int32_t>;

bool ends_with(std::span<const std::int32_t> text, const Tokens& mark) {
  return text.size() >= mark.size() &&
         std::equal(mark.begin(), mark.end(), text.end() - mark.size());
}

using State = Thinking::Path::State;

/// Goes on from a state over the last token of a text.
State behind_last(const Thinking& marks, std::span<const std::int32_t> text, State s) {
  const auto seen = text.subspan(s.from);
  if (!s.open && ends_with(seen, marks.begins)) return {true, 0, text.size()};
  if (s.open && ends_with(seen, marks.ends)) return {false, s.thought, text.size()};
  if (s.open) ++s.thought;
  return s;
}

State behind_all(const Thinking& marks, std::span<const std::int32_t> text, State s) {
  for (std::size_t i = 1; i <= text.size(); ++i) s = behind_last(marks, text.first(i), s);
  return s;
}

std::optional<std::int32_t> forced_at(const Thinking& t, const State& s) {
  if (!s.open || s.thought < t.most) return std::nullopt;
  // What came behind the budget is the beginning of the mark. A prompt may be beyond it already.
  const std::int64_t before = t.open ? std::max(t.most, t.thought) : t.most;
  const std::int64_t written = s.thought - before;
  if (written < 0 || written >= static_cast<std::int64_t>(t.ends.size())) return t.ends[0];
  return t.ends[static_cast<std::size_t>(written)];
}

}  // namespace

State Thinking::Path::at(const Thinking& marks, std::span<const std::int32_t> output) {
  // What differs from before was a guess.
  const auto same = std::mismatch(tokens_.begin(), tokens_.end(), output.begin(), output.end());
  const auto known = static_cast<std::size_t>(same.first - tokens_.begin());
  tokens_.resize(known), behind_.resize(known);
  while (tokens_.size() < output.size()) {
    tokens_.push_back(output[tokens_.size()]);
    const State before = behind_.empty() ? State{marks.open, marks.thought, 0} : behind_.back();
    behind_.push_back(behind_last(marks, tokens_, before));
  }
  return behind_.empty() ? State{marks.open, marks.thought, 0} : behind_.back();
}

std::optional<std::int32_t> Thinking::forced(std::span<const std::int32_t> output) const {
  return forced_at(*this, behind_all(*this, output, {open, thought, 0}));
}

std::optional<std::int32_t> Thinking::forced(std::span<const std::int32_t> output,
                                             Path& path) const {
  return forced_at(*this, path.at(*this, output));
}

Thinking::Shape Thinking::shape(Shape inner) const {
  return [mine = *this, inner = std::move(inner), path = std::make_shared<Path>(),
          was_forced = std::make_shared<bool>(false)](std::span<const std::int32_t> output,
                                                      std::span<float> bias) {
    if (const auto token = mine.forced(output, *path)) {
      std::fill(bias.begin(), bias.end(), -std::numeric_limits<float>::infinity());
      if (static_cast<std::size_t>(*token) < bias.size())
        bias[static_cast<std::size_t>(*token)] = 0;
      *was_forced = true;
      return true;
    }
    const bool changed = std::exchange(*was_forced, false);
    if (inner) return inner(output, bias);
    if (changed) std::fill(bias.begin(), bias.end(), 0.0f);
    return changed;
  };
}

Marks::Marks(const tokenizer::Tokenizer& tokenizer, const std::string& begins,
             const std::string& ends) {
  const auto tokens = [&](const std::string& mark) {
    Tokens out = tokenizer.encode_with(mark, {.add_special = false});
    // What is not written as it was is another text.
    if (tokenizer.decode_with(out, false).find(mark) == std::string::npos) out.clear();
    return out;
  };
  begins_ = tokens(begins), ends_ = tokens(ends);
}

Thinking Marks::begin(std::span<const std::int32_t> prompt, std::int64_t most) const {
  Thinking out{.begins = begins_, .ends = ends_, .most = most};
  const State behind = behind_all(out, prompt, {});
  out.open = behind.open, out.thought = behind.thought;
  return out;
}

}  // namespace strata::serve
