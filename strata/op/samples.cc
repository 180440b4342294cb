#include "strata/op/samples.h"

#include <cmath>
#include <limits>
#include <map>

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
  for (std::size_t i = 0; i < values.size(); ++i) out.set_number(static_cast<std::int64_t>(i), values[i]);
  return out;
}

std::vector<double> float_edges(DType dtype) {
  double inf = std::numeric_limits<double>::infinity();
  double big = dtype == DType::f64 ? 1e300 : dtype == DType::f16 ? 6e4 : 3e38;
  double tiny = dtype == DType::f64 ? 5e-324 : dtype == DType::f16 ? 6e-8 : dtype == DType::bf16 ? 1e-40 : 2e-45;
  return {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.75, 3, -3, 7.25, 100.5, -1234.5, big, -big, tiny, -tiny, inf, -inf, std::nan("")};
}

std::vector<std::int64_t> integer_edges(DType dtype) {
  int width = bit_width(dtype);
  std::int64_t top = width == 64 ? INT64_MAX : (std::int64_t{1} << (is_signed(dtype) ? width - 1 : width)) - 1;
  if (is_signed(dtype)) return {0, 1, -1, 2, -2, 3, 7, 8, -8, 31, 32, 63, top, -top, -top - 1};
  return {0, 1, 2, 3, 7, 8, 31, 32, 63, top / 2, top / 2 + 1, top - 1, dtype == DType::ui64 ? -1 : top};
}

}  // namespace

bool add_samples(const std::string& name, MakeSamples make) {
  registered()[name].push_back(std::move(make));
  return true;
}

std::vector<Sample> samples_of(const std::string& name) {
  std::vector<Sample> out;
  if (auto it = registered().find(name); it != registered().end())
    for (const MakeSamples& make : it->second) make(out);
  return out;
}

Op& build_sample(Builder& b, const OpDef& def, const Sample& sample, const Values& operands) {
  auto regions = sample.regions ? sample.regions() : std::vector<std::unique_ptr<Block>>();
  if (sample.results.empty()) return b.create(def.info, operands, sample.attrs, std::move(regions));
  return b.create(def.info, operands, sample.attrs, std::move(regions), sample.results);
}

Literal random_literal(const Type& type, std::uint64_t seed, double low, double high) {
  Literal out(type);
  std::uint64_t state = seed * 1000003u + 17;
  for (std::int64_t i = 0; i < out.count(); ++i) {
    double unit = static_cast<double>(next(state) >> 11) * 0x1p-53, value = low + unit * (high - low);
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
  for (std::size_t i = 0; i < edges.size(); ++i) out.set_integer(static_cast<std::int64_t>(i), edges[i]);
  return out;
}

std::pair<Literal, Literal> edge_pairs(DType dtype) {
  Literal edges = edge_literal(dtype);
  std::int64_t n = edges.count();
  Literal left(Type(dtype, {n * n})), right = Literal(Type(dtype, {n * n}));
  std::size_t width = byte_width(dtype);
  auto copy = [&](Literal& to, std::int64_t at, std::int64_t from) {
    std::memcpy(to.mutable_data() + static_cast<std::size_t>(at) * width, edges.data() + static_cast<std::size_t>(from) * width, width);
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      copy(left, i * n + j, i);
      copy(right, i * n + j, j);
    }
  return {left, right};
}

}  // namespace strata::op
