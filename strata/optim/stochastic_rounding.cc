#include "strata/optim/stochastic_rounding.h"

#include "strata/api/lax.h"
#include "strata/api/trace.h"

namespace strata::optim {

namespace {
/// FNV-1a, by which a leaf's noise does not depend on which other leaves there are.
std::uint32_t hash_of(const std::string& path) {
  std::uint32_t hash = 2166136261u;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}
Array word(std::uint32_t value) { return Array::scalar(std::uint64_t{value}, DType::ui32, false); }
}  // namespace

Array round_stochastically(const random::Key& key, const Array& x) {
  if (x.dtype() != DType::f32)
    throw Error("round_stochastically", "rounds f32 to bf16, got {}",
                strata::internal::describe(x.type()));
  const Array bits = lax::bitcast_convert_type(x, DType::ui32);
  const Array low = bits & word(0xffffu), high = bits & word(0xffff0000u);
  const Array noise = random::bits(key, x.shape().sizes(), DType::ui32) & word(0xffffu);
  const Array moved = numpy::where(noise < low, high + word(0x10000u), high);
  const Array settled = lax::bitcast_convert_type(moved, DType::f32);
  return numpy::astype(numpy::where(numpy::isfinite(x), settled, x), DType::bf16);
}

Tree apply_updates(const Tree& params, const Tree& updates, const StochasticRounding& rounding) {
  const random::Key key = random::fold_in(rounding.key, rounding.step);
  return params.map([&](const tree::Entry& e, const Array& p) {
    const std::optional<std::size_t> at = updates.find(e.name);
    if (!at) return p;
    if (p.dtype() != DType::bf16) return numpy::astype(p + updates.value(*at), p.dtype());
    const Array sum = numpy::astype(p, DType::f32) + numpy::astype(updates.value(*at), DType::f32);
    return round_stochastically(random::fold_in(key, word(hash_of(e.name))), sum);
  });
}

}  // namespace strata::optim
