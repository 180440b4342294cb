#include "strata/op/samples.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "strata/base/error.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

std::map<std::string, std::vector<MakeSamples>>& registered() {
  static std::map<std::string, std::vector<MakeSamples>> makers;
  return makers;
}

/// SplitMix64.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Literal list_of(DType dtype, const std::vector<double>& values) {
  Literal out(Type(dtype, {static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i)
    out.set_number(static_cast<std::int64_t>(i), values[i]);
  return out;
}

std::vector<double> float_edges(DType dtype) {
  double inf = std::numeric_limits<double>::infinity();
  double big = dtype == DType::f64 ? 1e300 : dtype == DType::f16 ? 6e4 : 3e38;
  double tiny = dtype == DType::f64    ? 5e-324
                : dtype == DType::f16  ? 6e-8
                : dtype == DType::bf16 ? 1e-40
                                       : 2e-45;
  return {0.0, -0.0, 1,     -1,      0.5, -0.5, 1.5,  2.5,   -2.5, 0.75, 3,
          -3,  7.25, 100.5, -1234.5, big, -big, tiny, -tiny, inf,  -inf, std::nan("")};
}

std::vector<std::int64_t> integer_edges(DType dtype) {
  int width = bit_width(dtype);
  std::int64_t top =
      width == 64 ? INT64_MAX : (std::int64_t{1} << (is_signed(dtype) ? width - 1 : width)) - 1;
  if (is_signed(dtype)) return {0, 1, -1, 2, -2, 3, 7, 8, -8, 31, 32, 63, top, -top, -top - 1};
  return {
      0, 1, 2, 3, 7, 8, 31, 32, 63, top / 2, top / 2 + 1, top - 1, dtype == DType::ui64 ? -1 : top};
}

}  // namespace

bool add_samples(const std::string& name, MakeSamples make) {
  registered()[name].push_back(std::move(make));
  return true;
}

namespace {

/// The same numbers in another dtype; the imaginary parts are the real ones in reverse.
Literal as(const Literal& x, DType dtype) {
  Literal out(x.type().with(dtype)), view = real_view(out);
  std::int64_t n = x.count(), parts = is_complex(dtype) ? 2 : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    view.set_number(parts * i, x.number(i));
    if (parts == 2) view.set_number(2 * i + 1, x.number(n - 1 - i));
  }
  return out;
}

/// The sample with `to` wherever it has `from`; nothing when it has none, or the operation does not
/// admit that.
std::optional<Sample> said_in(const OpDef& def, const Sample& sample, DType from, DType to) {
  Sample out = sample;
  bool found = false;
  auto change = [&](auto& has_type, auto&& changed) {
    if (has_type.dtype() != from) return;
    has_type = changed();
    found = true;
  };
  for (Literal& x : out.operands)
    if (x.type().is_tensor()) change(x, [&] { return as(x, to); });
  for (Type& t : out.results)
    if (t.is_tensor()) change(t, [&] { return t.with(to); });
  if (!found) return std::nullopt;
  out.what = fmt::format("{}, as {}", sample.what, name(to));
  Block block;
  Values arguments;
  for (const Literal& x : out.operands) arguments.push_back(block.add_argument(x.type()));
  Builder b(block);
  try {
    const Op& op = build_sample(b, def, out, arguments);
    if (def.info.verify) def.info.verify(op);
    if (def.decompose) decomposition(op);
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

/// Samples with regions stay as they are: their regions are written for their types.
void add_other_types(const OpDef& def, std::vector<Sample>& samples) {
  constexpr DType kFloats[] = {
      DType::c64,    DType::c128,       DType::f4E2M1FN,      DType::f6E2M3FN, DType::f6E3M2FN,
      DType::f8E3M4, DType::f8E4M3,     DType::f8E4M3B11FNUZ, DType::f8E4M3FN, DType::f8E4M3FNUZ,
      DType::f8E5M2, DType::f8E5M2FNUZ, DType::f8E8M0FNU};
  constexpr DType kSigned[] = {DType::i4, DType::i2}, kUnsigned[] = {DType::ui4, DType::ui2};
  constexpr std::size_t kEach = 4;  // samples of one source type
  std::vector<Sample> given = samples;
  auto add = [&](DType from, std::span<const DType> types) {
    std::size_t taken = 0;
    for (const Sample& sample : given) {
      if (sample.regions || taken == kEach) continue;
      bool any = false;
      for (DType to : types)
        if (std::optional<Sample> other = said_in(def, sample, from, to)) {
          samples.push_back(std::move(*other));
          any = true;
        }
      taken += any;
    }
  };
  add(DType::f32, kFloats);
  add(DType::i32, kSigned);
  add(DType::ui32, kUnsigned);
}

}  // namespace

std::vector<Sample> registered_samples_of(const std::string& name) {
  std::vector<Sample> out;
  if (auto it = registered().find(name); it != registered().end())
    for (const MakeSamples& make : it->second) make(out);
  return out;
}

std::vector<Sample> samples_of(const std::string& name) {
  std::vector<Sample> out = registered_samples_of(name);
  if (name.starts_with("stablehlo.") || name.starts_with("chlo.")) add_other_types(def(name), out);
  return out;
}

Op& build_sample(Builder& b, const OpDef& def, const Sample& sample, const Values& operands) {
  auto regions = sample.regions ? sample.regions() : std::vector<std::unique_ptr<Block>>();
  if (sample.results.empty()) return b.create(def.info, operands, sample.attrs, std::move(regions));
  return b.create(def.info, operands, sample.attrs, std::move(regions), sample.results);
}

Literal real_view(const Literal& x) {
  if (!is_complex(x.dtype())) return x;
  std::vector<Dim> dims = x.shape().dims();
  dims.emplace_back(2);
  return Literal(Type(real_part(x.dtype()), Shape(std::move(dims))), x.storage());
}

Literal random_literal(const Type& type, std::uint64_t seed, double low, double high) {
  if (is_complex(type.dtype())) {
    Literal parts = random_literal(real_view(Literal(type)).type(), seed, low, high);
    return Literal(type, parts.storage());
  }
  Literal out(type);
  std::uint64_t state = seed * 1000003u + 17;
  for (std::int64_t i = 0; i < out.count(); ++i) {
    double unit = static_cast<double>(next(state) >> 11) * 0x1p-53,
           value = low + unit * (high - low);
    if (is_bool(type.dtype()))
      out.set_integer(i, unit < 0.5);
    else if (is_integer(type.dtype()))
      out.set_integer(i, static_cast<std::int64_t>(std::floor(value)));
    else
      out.set_number(i, value);
  }
  return out;
}

Literal edge_literal(DType dtype) {
  if (is_bool(dtype)) return Literal::of<bool>({2}, {false, true});
  if (is_float(dtype)) return list_of(dtype, float_edges(dtype));
  std::vector<std::int64_t> edges = integer_edges(dtype);
  Literal out(Type(dtype, {static_cast<std::int64_t>(edges.size())}));
  for (std::size_t i = 0; i < edges.size(); ++i)
    out.set_integer(static_cast<std::int64_t>(i), edges[i]);
  return out;
}

std::pair<Literal, Literal> edge_pairs(DType dtype) {
  Literal edges = edge_literal(dtype);
  std::int64_t n = edges.count();
  Literal left(Type(dtype, {n * n})), right = Literal(Type(dtype, {n * n}));
  std::size_t width = byte_width(dtype);
  auto copy = [&](Literal& to, std::int64_t at, std::int64_t from) {
    std::memcpy(to.mutable_data() + static_cast<std::size_t>(at) * width,
                edges.data() + static_cast<std::size_t>(from) * width, width);
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      copy(left, i * n + j, i);
      copy(right, i * n + j, j);
    }
  return {left, right};
}

}  // namespace strata::op
