#include "strata/compile/kernel/gemm/gemm_row_staging.h"

#include "strata/compile/fuse/fusion.h"

namespace strata::compile {

loop::Ref* stage_rows(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                      const Index& place, std::int64_t count, const KSlice& part) {
  constexpr std::int64_t kFewest = 128, kMost = 2048;  // bytes of a row
  constexpr std::size_t kInCaches = kBeyondCaches / 4;
  constexpr int kLanes = 8;
  const std::int64_t row = part.kc * static_cast<std::int64_t>(byte_width(side.value->dtype()));
  if (!side.contracts_minor() || terms.kind() != TermKind::single || row < kFewest || row > kMost)
    return nullptr;
  if (static_cast<std::size_t>(side.value->type().bytes()) < kInCaches) return nullptr;
  loop::Ref* out = b.scratch(terms.dtype(), count * part.kc);
  for (std::int64_t i = 0; i < count; ++i)
    b.vector(0, part.kc, kLanes, [&](Index lane) {
      b.store(out, lane + i * part.kc, terms.at(side, place + i, part, lane));
    });
  return out;
}

}  // namespace strata::compile
