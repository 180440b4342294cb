#include "strata/optim/transform/stochastic_rounding.h"

#include "strata/api/lax.h"
#include "strata/api/trace/trace.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

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

namespace {
/// A bf16 parameter after its update, rounded with the noise of its path.
Array moved(const random::Key& step, const tree::Entry& e, const Array& p, const Array& update) {
  const Array sum = numpy::astype(p, DType::f32) + numpy::astype(update, DType::f32);
  return round_stochastically(random::fold_in(step, word(hash_of(e.name))), sum);
}
}  // namespace

Tree apply_updates(const Tree& params, const Tree& updates, const StochasticRounding& rounding) {
  const random::Key key = random::fold_in(rounding.key, rounding.step);
  return params.map([&](const tree::Entry& e, const Array& p) {
    const std::optional<std::size_t> at = updates.find(e.name);
    if (!at) return p;
    if (p.dtype() != DType::bf16) return numpy::astype(p + updates.value(*at), p.dtype());
    return moved(key, e, p, updates.value(*at));
  });
}

GradientTransformation stochastic_rounding(random::Key key) {
  return detail::rule(
      "stochastic_rounding()", {.params = true},
      [](const Tree&) { return detail::field("count", detail::no_count()); },
      [key](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const random::Key now = random::fold_in(key, s["count"]);
        const Tree out = u.map([&](const tree::Entry& e, const Array& x) {
          const Array& p = (*params)[e.name];
          if (p.dtype() != DType::bf16) return x;
          return numpy::astype(moved(now, e, p, x), DType::f32) - numpy::astype(p, DType::f32);
        });
        return std::pair(out, detail::field("count", safe_increment(s["count"])));
      });
}

namespace detail {
void add_stochastic_rounding(Rules& r) {
  r.add("stochastic_rounding", {"key=0"}, &stochastic_rounding, "Gupta et al. (2015)",
        "Updates that lead to bf16 parameters rounded at random.");
}
}  // namespace detail

}  // namespace strata::optim
