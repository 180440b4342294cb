#include "strata/data/batches.h"

#include "strata/data/shuffle.h"

namespace strata::data {

Result<Batches> Batches::make(std::string_view text, const BatchOptions& o) {
  STRATA_CHECK(o.batch > 0 && o.length > 0, "batch {}, length {}", o.batch, o.length);
  const auto size = static_cast<std::int64_t>(text.size());
  const std::int64_t windows = (size - 1) / o.length;
  const std::int64_t needed = o.in_order ? o.batch : 1;
  if (size == 0 || windows < needed) {
    return Status(Code::invalid, "the text is too short: {} tokens hold {} windows of {} + 1, at least {} are needed", size,
                  size == 0 ? 0 : windows, o.length, needed);
  }
  return Batches(text, o, windows);
}

std::int64_t Batches::window(std::int64_t k) const {
  const std::int64_t epoch = k / windows_, i = k % windows_;
  if (options_.in_order) return i;
  const auto seed = static_cast<std::uint32_t>(options_.seed + static_cast<std::uint64_t>(epoch));
  return static_cast<std::int64_t>(index_shuffle(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(windows_ - 1), seed));
}

Batch Batches::at(std::int64_t step) const {
  const Type type(DType::i32, Shape{options_.batch, options_.length});
  Batch out{Literal(type), Literal(type)};
  auto tokens = out.tokens.mutable_span<std::int32_t>(), targets = out.targets.mutable_span<std::int32_t>();
  std::size_t to = 0;
  for (std::int64_t b = 0; b < options_.batch; ++b) {
    const auto from = static_cast<std::size_t>(window(step * options_.batch + b) * options_.length);
    for (std::size_t s = 0; s < static_cast<std::size_t>(options_.length); ++s, ++to) {
      tokens[to] = static_cast<unsigned char>(text_[from + s]);
      targets[to] = static_cast<unsigned char>(text_[from + s + 1]);
    }
  }
  return out;
}

}  // namespace strata::data
