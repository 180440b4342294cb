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

/// Whether a text is within thoughts, and how many tokens of them it has, going on from before.
void follow(const Thinking& marks, std::span<const std::int32_t> text, bool& open,
            std::int64_t& thought) {
  std::size_t from = 0;  // where a mark may begin
  for (std::size_t i = 1; i <= text.size(); ++i) {
    const auto seen = text.subspan(from, i - from);
    if (!open && ends_with(seen, marks.begins)) {
      open = true, thought = 0, from = i;
    } else if (open && ends_with(seen, marks.ends)) {
      open = false, from = i;
    } else if (open) {
      ++thought;
    }
  }
}

}  // namespace

std::optional<std::int32_t> Thinking::forced(std::span<const std::int32_t> output) const {
  bool is_open = open;
  std::int64_t count = thought;
  follow(*this, output, is_open, count);
  if (!is_open || count < most) return std::nullopt;
  // What came behind the budget is the beginning of the mark. A prompt may be beyond it already.
  const std::int64_t before = open ? std::max(most, thought) : most;
  const std::int64_t written = count - before;
  if (written < 0 || written >= static_cast<std::int64_t>(ends.size())) return ends[0];
  return ends[static_cast<std::size_t>(written)];
}

Thinking::Shape Thinking::shape(Shape inner) const {
  return [mine = *this, inner = std::move(inner), was_forced = std::make_shared<bool>(false)](
             std::span<const std::int32_t> output, std::span<float> bias) {
    if (const auto token = mine.forced(output)) {
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
  follow(out, prompt, out.open, out.thought);
  return out;
}

}  // namespace strata::serve
