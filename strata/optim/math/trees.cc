#include "strata/optim/math/trees.h"

#include <limits>

#include "strata/api/trace/trace.h"

namespace strata::optim {

Array safe_increment(const Array& count) {
  const Array one = Array::scalar(std::int64_t{1}, count.dtype(), false);
  const Array greatest = is_integer(count.dtype())
                             ? Array::scalar(numpy::iinfo(count.dtype()).max, count.dtype(), false)
                             : Array::scalar(static_cast<double>(numpy::finfo(count.dtype()).max),
                                             count.dtype(), false);
  return numpy::where(count < greatest, count + one, greatest);
}
Array abs_sq(const Array& x) {
  return is_complex(x.dtype()) ? numpy::real(numpy::conj(x) * x) : x * x;
}
Array global_norm(const Tree& updates) { return trees::norm(updates); }

namespace trees {

namespace {
/// x^order as upstream writes it: products for small whole powers.
Array to_order(const Array& x, int order) {
  if (order == 1) return x;
  if (order == 2) return x * x;
  return numpy::power(x, order);
}
template <class F>
Array fold(const Tree& x, const Array& initial, const F& f) {
  Array total = initial;
  for (const Array& leaf : x.values()) total = f(total, leaf);
  return total;
}
bool ends_in(const tree::KeyPath& path, std::size_t last, const std::string& name) {
  return tree::key_text(path[last]) == name;
}
}  // namespace

void detail::check_same(const Tree& a, const Tree& b) {
  if (&a == &b) return;
  if (a.size() == b.size()) {
    bool same = true;
    for (std::size_t i = 0; i < a.size() && same; ++i) same = a.entry(i).name == b.entry(i).name;
    if (same) return;
  }
  throw Error("optim", "two trees have other leaves: {}", differences(a, b));
}

Tree add(const Tree& x, const Tree& y) {
  return trees::map([](const Array& a, const Array& b) { return a + b; }, x, y);
}
Tree sub(const Tree& x, const Tree& y) {
  return trees::map([](const Array& a, const Array& b) { return a - b; }, x, y);
}
Tree mul(const Tree& x, const Tree& y) {
  return trees::map([](const Array& a, const Array& b) { return a * b; }, x, y);
}
Tree div(const Tree& x, const Tree& y) {
  return trees::map([](const Array& a, const Array& b) { return a / b; }, x, y);
}
Tree scale(const Rate& factor, const Tree& x) {
  const Array f = factor.array();
  return trees::map([&](const Array& a) { return f * a; }, x);
}
Tree add_scale(const Tree& x, const Rate& factor, const Tree& y) {
  const Array f = factor.array();
  return trees::map([&](const Array& a, const Array& b) { return a + f * b; }, x, y);
}
Array vdot(const Tree& x, const Tree& y) {
  detail::check_same(x, y);
  Array total(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Array a = is_complex(x.value(i).dtype()) ? numpy::conj(x.value(i)) : x.value(i);
    total = total + numpy::sum(numpy::ravel(a) * numpy::ravel(y.value(i)));
  }
  return total;
}
Array sum(const Tree& x) {
  return fold(x, Array(0), [](const Array& a, const Array& b) { return a + numpy::sum(b); });
}
Array max(const Tree& x) {
  return fold(x, Array(-std::numeric_limits<double>::infinity()),
              [](const Array& a, const Array& b) {
                return b.size() == 0 ? a : numpy::maximum(a, numpy::max(b));
              });
}
Array min(const Tree& x) {
  return fold(x, Array(std::numeric_limits<double>::infinity()),
              [](const Array& a, const Array& b) {
                return b.size() == 0 ? a : numpy::minimum(a, numpy::min(b));
              });
}
std::int64_t size(const Tree& x) {
  std::int64_t total = 0;
  for (const Array& leaf : x.values()) total += leaf.size();
  return total;
}
Tree conj(const Tree& x) {
  return trees::map([](const Array& a) { return numpy::conj(a); }, x);
}
Tree real(const Tree& x) {
  return trees::map([](const Array& a) { return numpy::real(a); }, x);
}
Array norm(const Tree& x, bool squared, Order order) {
  if (order == Order::two) {
    const Array total = sum(trees::map(
        [](const Array& a) {
          return is_complex(a.dtype())
                     ? numpy::square(numpy::real(a)) + numpy::square(numpy::imag(a))
                     : numpy::square(a);
        },
        x));
    return squared ? total : numpy::sqrt(total);
  }
  const Tree sizes = trees::map([](const Array& a) { return numpy::abs(a); }, x);
  const Array total = order == Order::one ? sum(sizes) : max(sizes);
  return squared ? numpy::square(total) : total;
}
Tree batch_shape(const Tree& x, const Sizes& shape) {
  return trees::map(
      [&](const Array& a) {
        std::vector<std::int64_t> all(shape.begin(), shape.end());
        for (std::int64_t n : a.shape().sizes()) all.push_back(n);
        return numpy::broadcast_to(a, all);
      },
      x);
}
Tree zeros_like(const Tree& x, std::optional<DType> dtype) {
  return trees::map([&](const Array& a) { return numpy::zeros_like(a, dtype); }, x);
}
Tree ones_like(const Tree& x, std::optional<DType> dtype) {
  return trees::map([&](const Array& a) { return numpy::ones_like(a, dtype); }, x);
}
Tree full_like(const Tree& x, const Rate& value, std::optional<DType> dtype) {
  return trees::map([&](const Array& a) { return numpy::full_like(a, value.array(), dtype); }, x);
}
Tree clip(const Tree& x, const Rate& low, const Rate& high) {
  std::optional<Operand> least, greatest;
  if (low.has_value()) least = low.array();
  if (high.has_value()) greatest = high.array();
  return trees::map([&](const Array& a) { return numpy::clip(a, least, greatest); }, x);
}
Tree cast(const Tree& x, std::optional<DType> dtype) {
  if (!dtype) return x;
  return trees::map([&](const Array& a) { return numpy::astype(a, *dtype); }, x);
}
Tree cast_like(const Tree& x, const Tree& like) {
  return trees::map([](const Array& a, const Array& b) { return numpy::astype(a, b.dtype()); }, x,
                    like);
}
Tree where(const Array& condition, const Tree& x, const Tree& y) {
  return trees::map([&](const Array& a, const Array& b) { return numpy::where(condition, a, b); },
                    x, y);
}
Array allclose(const Tree& a, const Tree& b, double rtol, double atol, bool equal_nan) {
  detail::check_same(a, b);
  Array all(true);
  for (std::size_t i = 0; i < a.size(); ++i)
    all = all & numpy::allclose(a.value(i), b.value(i),
                                {.rtol = rtol, .atol = atol, .equal_nan = equal_nan});
  return all;
}
DType dtype(const Tree& x) {
  if (x.empty()) throw Error("trees::dtype", "the tree has no leaves");
  for (const Array& leaf : x.values())
    if (leaf.dtype() != x.value(0).dtype())
      throw Error("trees::dtype", "leaves have several dtypes, {} and {}", name(x.value(0).dtype()),
                  name(leaf.dtype()));
  return x.value(0).dtype();
}
DType dtype(const Tree& x, Common common) {
  if (x.empty()) throw Error("trees::dtype", "the tree has no leaves");
  DType out = x.value(0).dtype();
  for (const Array& leaf : x.values()) {
    const DType other = leaf.dtype(), both = numpy::promote_types(out, other);
    if (common == Common::lowest)
      out = both == out ? other : out;
    else if (common == Common::highest)
      out = both == other ? other : out;
    else
      out = both;
  }
  return out;
}

std::vector<random::Key> split_key_like(const random::Key& key, const Tree& like) {
  const random::Key all = random::split(key, Sizes{static_cast<std::int64_t>(like.size())});
  std::vector<random::Key> out;
  for (std::size_t i = 0; i < like.size(); ++i)
    out.push_back(random::detail::element(all, static_cast<std::int64_t>(i)));
  return out;
}
Tree random_like(const random::Key& key, const Tree& like,
                 const std::function<Array(const random::Key&, const Sizes&, DType)>& sampler,
                 std::optional<DType> dtype) {
  const std::vector<random::Key> keys = split_key_like(key, like);
  std::size_t i = 0;
  return trees::map(
      [&](const Array& a) {
        return sampler(keys[i++], a.shape().sizes(), dtype.value_or(a.dtype()));
      },
      like);
}

Tree update_moment(const Tree& updates, const Tree& moments, const Rate& decay, int order) {
  const Rate rest = 1.0 - decay;
  return trees::map(
      [&](const Array& g, const Array& t) { return rest * to_order(g, order) + decay * t; },
      updates, moments);
}
Tree update_moment_per_elem_norm(const Tree& updates, const Tree& moments, const Rate& decay,
                                 int order) {
  const Rate rest = 1.0 - decay;
  return trees::map(
      [&](const Array& g, const Array& t) {
        if (!is_complex(g.dtype())) return rest * to_order(g, order) + decay * t;
        const Array size =
            order % 2 == 0 ? to_order(abs_sq(g), order / 2) : numpy::power(abs_sq(g), 0.5 * order);
        return rest * size + decay * t;
      },
      updates, moments);
}
Tree update_infinity_moment(const Tree& updates, const Tree& moments, const Rate& decay,
                            const Rate& eps) {
  return trees::map([&](const Array& g,
                        const Array& t) { return numpy::maximum(numpy::abs(g) + eps, decay * t); },
                    updates, moments);
}
Tree bias_correction(const Tree& moments, const Rate& decay, const Array& count) {
  // One accurate power in f32 (0.999^3 gives 0.0029969811 here, as upstream).
  const Array base = numpy::astype(decay.array(), DType::f32);
  const Array rest = 1.0 - numpy::power(base, numpy::astype(count, DType::f32));
  return trees::map([&](const Array& t) { return t / numpy::astype(rest, t.dtype()); }, moments);
}

std::vector<std::pair<std::string, Tree>> get_all_with_path(const Tree& state,
                                                            const std::string& name) {
  std::vector<std::pair<std::string, Tree>> out;
  for (const tree::Entry& e : state.entries())
    for (std::size_t last = 0; last < e.path.size(); ++last) {
      if (!ends_in(e.path, last, name)) continue;
      const tree::KeyPath front(e.path.begin(),
                                e.path.begin() + static_cast<std::ptrdiff_t>(last + 1));
      const std::string path = tree::keystr(front, {.simple = true, .separator = "/"});
      bool seen = false;
      for (const auto& [known, values] : out) seen |= known == path;
      if (!seen) out.emplace_back(path, state.subtree(path));
    }
  return out;
}
std::optional<Tree> get(const Tree& state, const std::string& name) {
  const auto all = get_all_with_path(state, name);
  if (all.size() > 1)
    throw Error("trees::get", "the state has {} fields {}: {}, {}", all.size(), name, all[0].first,
                all[1].first);
  if (all.empty()) return std::nullopt;
  return all[0].second;
}
Tree set(const Tree& state, const std::string& name, const Array& value) {
  bool found = false;
  const Tree out = state.map([&](const tree::Entry& e, const Array& old) {
    if (e.path.empty() || !ends_in(e.path, e.path.size() - 1, name)) return old;
    found = true;
    return value;
  });
  if (!found) throw Error("trees::set", "the state has no field {}", name);
  return out;
}
Tree map_params(const Tree& params, const Tree& state, const std::function<Array(const Array&)>& f,
                const std::function<Array(const Array&)>& rest) {
  return state.map([&](const tree::Entry& e, const Array& value) {
    for (std::size_t from = 1; from <= e.path.size(); ++from) {
      const tree::KeyPath tail(e.path.begin() + static_cast<std::ptrdiff_t>(from), e.path.end());
      if (params.contains(tree::keystr(tail, {.simple = true, .separator = "/"}))) return f(value);
    }
    return rest ? rest(value) : value;
  });
}

}  // namespace trees
}  // namespace strata::optim
