// stablehlo.convolution: products of windows of an array with a kernel.
//
// Contract (StableHLO, convolution): operands lhs, rhs of one rank N; numbers
// `input_batch_dimension`, `input_feature_dimension`, `kernel_input_feature_dimension`,
// `kernel_output_feature_dimension`, `output_batch_dimension`, `output_feature_dimension`,
// `feature_group_count`, `batch_group_count`; lists `input_spatial_dimensions`,
// `kernel_spatial_dimensions`, `output_spatial_dimensions`, `window_strides`, `padding` (low and
// high in turn), `lhs_dilation`, `rhs_dilation`, `window_reversal` (0 or 1). Constraints: the
// messages below; (C27) lhs and rhs have one dtype, the result's is the program's choice.
// A dot_general of the kernel with the windows of lhs (op/reduce/windows.h), groups being one more
// batching dimension. Each result element is one chain over the kernel's positions, row-major over
// `kernel_spatial_dimensions`, then over the group's input features (of 8192 terms and more in one
// group so for each of some pieces of the features, added up: feature_pieces; of 32768 and more by
// SumChains); padding is multiplied as zeros. Where windows are the whole of an array whose
// features stand before its places (eight, or a multiple), as in the derivative by a kernel of one
// place, the sum goes on as the array is. Holes between elements of a dilated lhs are zeros; a
// convolution of much work leaves them out (by_phases), which shows where the kernel is infinite or
// NaN (docs/exceptions.md).
#include <algorithm>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/reduce/windows.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "convolution";
constexpr std::int64_t kManyTerms = 1 << 15;  // from here on sums use chains

/// The dimensions of one of the three arrays by role: `first` is batch (lhs, result) or input
/// feature (rhs), `second` feature (lhs, result) or output feature (rhs).
struct Roles {
  std::int64_t first = 0, second = 0;
  Ints spatial;
};
struct ConvDims {
  Roles lhs, rhs, out;
  WindowDims window;  // spatial dimensions only
  Ints reversal;      // those of the kernel that are read backwards
  std::int64_t groups = 1, batch_groups = 1;
};

std::int64_t at(const Ints& list, std::size_t i) { return list[i]; }
const Dim& dim(const Type& type, std::int64_t d) { return type.shape().dim(static_cast<int>(d)); }

// ---- inference ---------------------------------------------------------------------------------

Roles roles(const Attrs& attrs, const char* array, const char* first, const char* second,
            const char* spatial, const char* length, const char* range, int rank) {
  Roles r{expect_attr<std::int64_t>(kSelf, attrs, first),
          expect_attr<std::int64_t>(kSelf, attrs, second),
          expect_attr<Ints>(kSelf, attrs, spatial)};
  if (static_cast<int>(r.spatial.size()) != rank - 2)
    throw Error(kSelf, "{} must have {} entries, got {} ({})", spatial, rank - 2, r.spatial.size(),
                length);
  std::vector<bool> used(static_cast<std::size_t>(rank), false);
  Ints all = r.spatial;
  all.push_back(r.first);
  all.push_back(r.second);
  for (std::int64_t d : all) {
    if (d < 0 || d >= rank)
      throw Error(kSelf, "{} dimension {} is out of range for rank {} ({})", array, d, rank, range);
    if (used[static_cast<std::size_t>(d)])
      throw Error(kSelf, "{} dimension {} is given twice ({})", array, d, range);
    used[static_cast<std::size_t>(d)] = true;
  }
  return r;
}

ConvDims dims_of(const Attrs& attrs, const Type& lhs, const Type& rhs) {
  int rank = lhs.rank(), spatial = rank - 2;
  ConvDims d;
  d.lhs = roles(attrs, "input", "input_batch_dimension", "input_feature_dimension",
                "input_spatial_dimensions", "C12", "C13", rank);
  d.rhs = roles(attrs, "kernel", "kernel_input_feature_dimension",
                "kernel_output_feature_dimension", "kernel_spatial_dimensions", "C17", "C18", rank);
  d.out = roles(attrs, "output", "output_batch_dimension", "output_feature_dimension",
                "output_spatial_dimensions", "C19", "C20", rank);
  d.groups = attr_or<std::int64_t>(kSelf, attrs, "feature_group_count", 1);
  d.batch_groups = attr_or<std::int64_t>(kSelf, attrs, "batch_group_count", 1);
  d.window.stride = window_list(kSelf, attrs, {"window_strides", "C2", "C3"}, spatial);
  d.window.base_dilation = window_list(kSelf, attrs, {"lhs_dilation", "C5", "C6"}, spatial);
  d.window.window_dilation = window_list(kSelf, attrs, {"rhs_dilation", "C7", "C8"}, spatial);
  // The kernel's sizes may become known only at run time; where they are needed they are.
  for (std::int64_t i : d.rhs.spatial)
    d.window.size.push_back(std::max<std::int64_t>(dim(rhs, i).bound(), 0));
  set_padding(kSelf, attrs, "C4", d.window);
  d.reversal =
      attr_or<Ints>(kSelf, attrs, "window_reversal", Ints(static_cast<std::size_t>(spatial), 0));
  if (static_cast<int>(d.reversal.size()) != spatial)
    throw Error(kSelf, "window_reversal must have {} entries, got {} (C9)", spatial,
                d.reversal.size());
  return d;
}

void expect_divides(const char* constraint, const char* count, std::int64_t groups,
                    const char* what, const Type& type, std::int64_t d) {
  if (dim(type, d).is_static() && dim(type, d).size() % groups != 0)
    throw Error(kSelf, "{} {} must divide the {} {} (dimension {} of {}) ({})", count, groups,
                dim(type, d).size(), what, d, type.to_string(), constraint);
}

void expect_groups(const ConvDims& d, const Type& lhs, const Type& rhs) {
  if (d.groups <= 0)
    throw Error(kSelf, "feature_group_count must be positive, got {} (C21)", d.groups);
  if (d.batch_groups <= 0)
    throw Error(kSelf, "batch_group_count must be positive, got {} (C22)", d.batch_groups);
  if (d.groups > 1 && d.batch_groups > 1)
    throw Error(kSelf, "one of feature_group_count {} and batch_group_count {} must be 1 (C23)",
                d.groups, d.batch_groups);
  expect_divides("C10", "batch_group_count", d.batch_groups, "examples", lhs, d.lhs.first);
  expect_divides("C11", "feature_group_count", d.groups, "input features", lhs, d.lhs.second);
  const Dim &features = dim(lhs, d.lhs.second), &kernel = dim(rhs, d.rhs.first);
  if (features.is_static() && kernel.is_static() && kernel.size() != features.size() / d.groups)
    throw Error(kSelf,
                "the kernel takes {} input features (dimension {} of {}), but the input has {} "
                "(dimension {} of {}){} (C14)",
                kernel.size(), d.rhs.first, rhs.to_string(), features.size(), d.lhs.second,
                lhs.to_string(), d.groups == 1 ? "" : fmt::format(" in {} groups", d.groups));
  expect_divides("C15", "batch_group_count", d.batch_groups, "output features", rhs, d.rhs.second);
  expect_divides("C16", "feature_group_count", d.groups, "output features", rhs, d.rhs.second);
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &lhs = operands[0]->type(), &rhs = operands[1]->type();
  if (lhs.rank() != rhs.rank() || lhs.rank() < 2)
    throw Error(kSelf, "operands must have one rank of at least 2, got {} and {} (C1)",
                lhs.to_string(), rhs.to_string());
  if (lhs.expressed().dtype() != rhs.expressed().dtype())
    throw Error(kSelf, "operands must have one dtype, got {} and {} (C27)", lhs.to_string(),
                rhs.to_string());
  ConvDims d = dims_of(attrs, lhs, rhs);
  expect_groups(d, lhs, rhs);
  if (const auto* precision = attrs.find("precision_config"))
    if (const auto* words = std::get_if<ir::Strings>(precision);
        words && !words->empty() && words->size() != 2)
      throw Error(kSelf, "precision_config must have 2 entries, got {} (C24)", words->size());
  std::vector<Dim> dims(static_cast<std::size_t>(lhs.rank()), Dim(0));  // (C25)
  const Dim& batch = dim(lhs, d.lhs.first);
  dims[static_cast<std::size_t>(d.out.first)] = d.batch_groups == 1 ? batch
                                                : batch.is_static()
                                                    ? Dim(batch.size() / d.batch_groups)
                                                    : Dim::unknown();
  dims[static_cast<std::size_t>(d.out.second)] = dim(rhs, d.rhs.second);
  for (std::size_t i = 0; i < d.out.spatial.size(); ++i) {
    bool known = dim(rhs, d.rhs.spatial[i]).is_static();
    dims[static_cast<std::size_t>(d.out.spatial[i])] =
        known ? window_count(d.window, static_cast<int>(i), dim(lhs, d.lhs.spatial[i]))
              : Dim::unknown();
  }
  return {Type(lhs.expressed().dtype(), Shape(std::move(dims)))};
}

/// The result's dtype is the program's choice; its shape (C25, C26) is not.
void verify(const Op& op) {
  Type inferred = infer(op.operands, op.attrs, op.regions)[0];
  if (op.num_results() != 1) throw Error(kSelf, "has one result, got {}", op.num_results());
  const Type& stated = op.result()->type();
  if (!stated.is_tensor() || stated.rank() != inferred.rank())
    throw Error(kSelf, "the result is {}, but the operands give {} (C26)", stated.to_string(),
                inferred.to_string());
  if (!may_equal(stated.shape(), inferred.shape()))
    throw Error(kSelf, "the result is {}, but the operands give {} (C25)", stated.to_string(),
                inferred.to_string());
  if (is_complex(stated.dtype()) != is_complex(inferred.dtype()))
    throw Error(kSelf, "a product of {} cannot be {} (C27)", op.operand(0)->type().to_string(),
                stated.to_string());
}

// ---- definition --------------------------------------------------------------------------------

/// Dimension `d` of `x` as two: `outer` times the rest.
Value* split_dim(Builder& b, Value* x, std::int64_t d, std::int64_t outer) {
  std::vector<Dim> dims = x->shape().dims();
  auto i = static_cast<std::ptrdiff_t>(d);
  dims[static_cast<std::size_t>(d)] = Dim(x->shape()[static_cast<int>(d)] / outer);
  dims.insert(dims.begin() + i, Dim(outer));
  return reshape(b, x, Shape(std::move(dims)));
}
/// Dimensions `d` and `d + 1` of `x` as one.
Value* join_dims(Builder& b, Value* x, std::int64_t d) {
  std::vector<Dim> dims = x->shape().dims();
  auto i = static_cast<std::size_t>(d);
  dims[i] = Dim(x->shape()[static_cast<int>(d)] * x->shape()[static_cast<int>(d) + 1]);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  return reshape(b, x, Shape(std::move(dims)));
}
/// Moves dimension `from` in front of dimension `into` of what remains, and joins the two.
Value* fold_into(Builder& b, Value* x, std::int64_t from, std::int64_t into) {
  return join_dims(b, move_dim(b, x, static_cast<int>(from), static_cast<int>(into)), into);
}
Value* reversed(Builder& b, Value* rhs, const ConvDims& d) {
  Ints dims;
  for (std::size_t i = 0; i < d.reversal.size(); ++i)
    if (d.reversal[i]) dims.push_back(d.rhs.spatial[i]);
  return dims.empty() ? rhs : reverse(b, rhs, dims);
}

std::int64_t terms_of(const Shape& kernel, const Roles& roles) {
  std::int64_t out = kernel[static_cast<int>(roles.first)];
  for (std::int64_t d : roles.spatial) out *= kernel[static_cast<int>(d)];
  return out;
}
/// Into how many pieces, side by side, the input features are cut where a result sums very many
/// terms, as a derivative by the kernel does over all places and a batch, which are its features.
std::int64_t feature_pieces(const Shape& kernel, const Roles& roles) {
  constexpr std::int64_t kLeastTerms = 1 << 13, kLeastPiece = 1 << 12, kMost = 16;
  const std::int64_t features = kernel[static_cast<int>(roles.first)];
  const std::int64_t terms = terms_of(kernel, roles);
  std::int64_t out = terms < kLeastTerms ? 1 : std::min({kMost, terms / kLeastPiece, features});
  while (features % out != 0) --out;
  return out;
}

/// Where dimension `d` of an array stands once dimension `split` has become two.
std::int64_t after_split(std::int64_t d, std::int64_t split) { return d > split ? d + 1 : d; }

/// A product [groups, features of a group, units] with each of `units` at its place among the
/// output's dimensions.
Value* features_in_front(Builder& b, Value* product, std::int64_t features, std::int64_t place,
                         Ints places, std::vector<Dim> units) {
  places.insert(places.begin(), place);
  units.insert(units.begin(), Dim(features));
  Ints permutation(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    permutation[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
  return transpose(b, reshape(b, product, Shape(units)), permutation);
}
/// A product [groups, units, features of a group] with each of `units` at its place among the
/// output's dimensions, of which the last holds the features of all groups.
Value* features_behind(Builder& b, Value* product, std::int64_t groups, std::int64_t features,
                       const Ints& places, std::vector<Dim> units) {
  std::vector<Dim> result(places.size() + 1, Dim(features));
  Ints permutation(places.size() + 2);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result[static_cast<std::size_t>(places[i])] = units[i];
    permutation[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i) + 1;
  }
  permutation[places.size()] = 0;
  permutation.back() = static_cast<std::int64_t>(places.size()) + 1;
  units.insert(units.begin(), Dim(groups));
  units.push_back(Dim(features / groups));
  return reshape(b, transpose(b, reshape(b, product, Shape(units)), permutation), Shape(result));
}

Value* convolve(Builder& b, const Op& like, Value* lhs, Value* rhs, const ConvDims& d, DType dtype);

/// A spatial dimension along which lhs is dilated, in a convolution of much work, whose holes are
/// no terms of it then; none: -1.
int dilated_dim(const Op& op, const ConvDims& d, const Type& lhs, const Type& rhs) {
  constexpr double kMuchWork = 1 << 20;    // multiplications
  constexpr std::int64_t kMostPhases = 4;  // each is code of its own
  const Type& result = op.result()->type();
  if (!lhs.shape().is_static() || !rhs.shape().is_static() || !result.shape().is_static() ||
      result.shape().count() == 0)
    return -1;
  const std::int64_t features = rhs.shape()[static_cast<int>(d.rhs.second)];
  if (features == 0 || static_cast<double>(result.shape().count()) *
                               static_cast<double>(rhs.shape().count() / features) <
                           kMuchWork)
    return -1;
  for (std::size_t i = 0; i < d.lhs.spatial.size(); ++i)
    if (d.window.base_dilation[i] > 1 && d.window.base_dilation[i] <= kMostPhases &&
        d.window.stride[i] == 1 && d.window.window_dilation[i] == 1 &&
        lhs.shape()[static_cast<int>(d.lhs.spatial[i])] > 0)
      return static_cast<int>(i);
  return -1;
}

/// The convolution along spatial dimension i, which has `by` - 1 holes between elements of lhs:
/// results o = by q + r meet elements at every by-th place of the kernel alone, and so are those of
/// a convolution without holes, by a part of the kernel, for each r.
Value* by_phases(Builder& b, const Op& op, Value* lhs, Value* rhs, const ConvDims& d,
                 std::size_t i) {
  const std::int64_t by = d.window.base_dilation[i], size = d.window.size[i], low = d.window.low[i],
                     length = lhs->shape()[static_cast<int>(d.lhs.spatial[i])];
  const auto along = static_cast<int>(d.out.spatial[i]);
  const std::int64_t results = op.result()->shape()[along], of_phase = (results + by - 1) / by;
  std::vector<Dim> dims = op.result()->shape().dims();
  dims[static_cast<std::size_t>(along)] = Dim(of_phase);
  const Shape phase(dims);
  dims.insert(dims.begin() + along + 1, Dim(1));
  const Shape apart(dims);
  Values phases;
  for (std::int64_t r = 0; r < by; ++r) {
    const std::int64_t first = ((low - r) % by + by) % by;  // place of the kernel
    if (first >= size) {
      phases.push_back(zeros(b, op.result()->type().with(apart)));
      continue;
    }
    ConvDims part = d;
    part.reversal.assign(d.reversal.size(), 0);
    part.window.size[i] = (size - first + by - 1) / by;
    part.window.base_dilation[i] = 1;
    part.window.low[i] = (low - r - first) / by;
    part.window.high[i] = of_phase - length - part.window.low[i] + part.window.size[i] - 1;
    Ints start(static_cast<std::size_t>(rhs->rank()), 0), limit = rhs->shape().sizes(),
                                                          strides(start.size(), 1);
    const auto kernel_dim = static_cast<std::size_t>(d.rhs.spatial[i]);
    start[kernel_dim] = first, strides[kernel_dim] = by;
    Value* of_r =
        convolve(b, op, lhs, slice(b, rhs, start, limit, strides), part, op.result()->dtype());
    STRATA_CHECK(of_r->shape() == phase, "phase {} of {} is {}", r, op.result()->type().to_string(),
                 of_r->type().to_string());
    phases.push_back(reshape(b, of_r, apart));
  }
  Value* joined = join_dims(b, concatenate(b, phases, along + 1), along);
  return results == of_phase * by ? joined : slice_dim(b, joined, along, 0, results);
}

/// The dimension of the output that dimension i of the array becomes; -1 for its features.
std::int64_t output_place(const Roles& array, const Roles& out, std::int64_t i) {
  if (i == array.first) return out.first;
  for (std::size_t s = 0; s < array.spatial.size(); ++s)
    if (array.spatial[s] == i) return out.spatial[s];
  return -1;
}

/// Whether the kernel has one place, which is laid on elements of lhs alone: a product of features.
/// Steps between places that run along memory are left to windows, which bring them together.
bool is_pointwise(const ConvDims& d, const Type& lhs, const Type& rhs) {
  if (d.groups * d.batch_groups != 1 || !lhs.shape().is_static() || !rhs.shape().is_static() ||
      is_complex(lhs.dtype()))
    return false;
  for (std::size_t i = 0; i < d.lhs.spatial.size(); ++i)
    if (at(d.window.size, i) != Dim(1) || d.window.base_dilation[i] != 1 || d.window.low[i] < 0 ||
        d.window.high[i] < 0 || d.window.low[i] + d.window.high[i] != 0)
      return false;
  const bool steps = std::any_of(d.window.stride.begin(), d.window.stride.end(),
                                 [](std::int64_t n) { return n != 1; });
  if (steps && d.lhs.second != lhs.rank() - 1) return false;
  return feature_pieces(rhs.shape(), d.rhs) == 1;
}

/// The product of all features with the kernel's, where it is laid: as it is, so that what has
/// the features last, or second, is read and written along memory.
Value* pointwise(Builder& b, const Op& op, Value* lhs, Value* rhs, const ConvDims& d) {
  const auto rank = static_cast<std::size_t>(lhs->rank());
  Ints start(rank, 0), limit = lhs->shape().sizes(), strides(rank, 1);
  for (std::size_t i = 0; i < d.lhs.spatial.size(); ++i)
    strides[static_cast<std::size_t>(d.lhs.spatial[i])] = d.window.stride[i];
  if (std::any_of(strides.begin(), strides.end(), [](std::int64_t n) { return n != 1; }))
    lhs = slice(b, lhs, start, limit, strides);
  const bool kernel_features_first = d.rhs.first < d.rhs.second;
  const Dim in = rhs->shape().dim(static_cast<int>(d.rhs.first)),
            out = rhs->shape().dim(static_cast<int>(d.rhs.second));
  rhs = reshape(b, rhs,
                kernel_features_first ? Shape(std::vector{in, out}) : Shape(std::vector{out, in}));
  const Ints of_kernel{kernel_features_first ? 0 : 1}, of_array{d.lhs.second};
  Ints places;  // of the output, for each dimension of the product
  for (std::size_t i = 0; i < rank; ++i)
    if (const std::int64_t place = output_place(d.lhs, d.out, static_cast<std::int64_t>(i));
        place >= 0)
      places.push_back(place);
  const bool features_last = d.out.second == op.result()->rank() - 1;
  places.insert(features_last ? places.end() : places.begin(), d.out.second);
  Value* product =
      features_last ? dot_general(b, lhs, rhs, {{}, {}, of_array, of_kernel}, op.result()->dtype())
                    : dot_general(b, rhs, lhs, {{}, {}, of_kernel, of_array}, op.result()->dtype());
  Ints permutation(rank);
  for (std::size_t i = 0; i < rank; ++i)
    permutation[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
  return std::is_sorted(permutation.begin(), permutation.end())
             ? product
             : transpose(b, product, permutation);
}

/// Whether windows are all of a dimension, of one at least, and one element after another of the
/// rest: they are the array then, with these dimensions in front. (The derivative by a kernel of
/// one place is stated so.) Only where its features stand before its places, and these are squares,
/// by which products lay sides out: squares would cross from places to features otherwise.
bool are_whole(const WindowDims& d, const Value& array, const Roles& roles) {
  constexpr std::int64_t kSquare = 8;
  bool found = false;
  if (!array.shape().is_static()) return false;
  for (int i = 0; i < array.rank(); ++i) {
    if (d.is_trivial(i)) continue;
    const auto n = static_cast<std::size_t>(i);
    if (d.size[n] != array.shape()[i] || d.low[n] != 0 || d.high[n] != 0 ||
        d.base_dilation[n] != 1 || d.window_dilation[n] != 1)
      return false;
    found = true;
  }
  const bool features_first = std::all_of(roles.spatial.begin(), roles.spatial.end(),
                                          [&](std::int64_t s) { return s > roles.second; });
  return found && features_first && Shape::of(d.size).count() % kSquare == 0;
}
/// The windows' own dimensions, then one for each of them.
Value* whole_windows(Builder& b, Value* array, const WindowDims& d) {
  std::vector<Dim> dims;
  Ints permutation;
  for (bool trivial : {false, true})
    for (int i = 0; i < array->rank(); ++i)
      if (d.is_trivial(i) == trivial) permutation.push_back(i);
  for (std::int64_t size : d.size) dims.emplace_back(size);
  for (int i = 0; i < array->rank(); ++i) dims.push_back(window_count(d, i, array->shape().dim(i)));
  return reshape(b, transpose(b, array, permutation), Shape(dims));
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value *lhs = operands[0], *rhs = operands[1];
  if (lhs->shape().is_static() && lhs->shape().count() == 0)
    return {zeros(
        b, op.result()->type())};  // a derivative by windows that did not fit: nothing but padding
  ConvDims d = dims_of(op.attrs, lhs->type(), rhs->type());
  if (const int i = dilated_dim(op, d, lhs->type(), rhs->type()); i >= 0)
    return {by_phases(b, op, lhs, reversed(b, rhs, d), d, static_cast<std::size_t>(i))};
  if (is_pointwise(d, lhs->type(), rhs->type())) return {pointwise(b, op, lhs, rhs, d)};
  std::int64_t groups = d.groups * d.batch_groups;
  rhs = reversed(b, rhs, d);
  DotDims dot;
  Roles l = d.lhs, r = d.rhs;
  const bool is_static = lhs->shape().is_static() && rhs->shape().is_static(),
             cuts = groups == 1 && !is_complex(lhs->dtype()) && is_static;
  const std::int64_t pieces = cuts ? feature_pieces(rhs->shape(), r) : 1;
  const bool many = is_static && terms_of(rhs->shape(), r) >= kManyTerms;
  if (groups > 1 ||
      pieces > 1) {  // a dimension of groups, or pieces, in front of the one that it divides
    std::int64_t cut = d.groups > 1 || pieces > 1 ? l.second : l.first,
                 of_kernel = pieces > 1 ? r.first : r.second;
    lhs = split_dim(b, lhs, cut, groups * pieces);
    rhs = split_dim(b, rhs, of_kernel, groups * pieces);
    dot.lhs_batch = {of_kernel};
    dot.rhs_batch = {lhs->rank() + cut};
    auto shift = [&](Roles& roles, std::int64_t from) {
      roles.first = roles.first >= from ? roles.first + 1 : roles.first;
      roles.second = roles.second >= from ? roles.second + 1 : roles.second;
      for (std::int64_t& s : roles.spatial) s = after_split(s, from);
    };
    shift(l, cut);
    shift(r, of_kernel);
  }
  WindowDims all = WindowDims::trivial(lhs->rank());
  for (std::size_t i = 0; i < l.spatial.size(); ++i) {
    auto to = static_cast<std::size_t>(l.spatial[i]);
    all.size[to] = at(d.window.size, i);
    all.stride[to] = d.window.stride[i];
    all.base_dilation[to] = d.window.base_dilation[i];
    all.window_dilation[to] = d.window.window_dilation[i];
    all.low[to] = d.window.low[i];
    all.high[to] = d.window.high[i];
  }
  const bool whole = groups == 1 && are_whole(all, *lhs, l), chains = many && !whole;
  Value* seen = whole ? whole_windows(b, lhs, all)
                      : windows(b, lhs, zeros(b, Type::scalar(lhs->dtype())), all);
  int rank = lhs->rank();
  dot.lhs_contract = r.spatial;
  dot.rhs_contract = l.spatial;
  dot.lhs_contract.insert(whole ? dot.lhs_contract.begin() : dot.lhs_contract.end(), r.first);
  dot.rhs_contract.insert(whole ? dot.rhs_contract.begin() : dot.rhs_contract.end(),
                          rank + l.second);
  Ints places;             // output dimension of each dimension of batch and space, in lhs's order
  std::vector<Dim> units;  // their sizes
  for (int i = 0; i < rank; ++i) {
    const std::int64_t place = output_place(l, d.out, i);
    if (place < 0) continue;
    places.push_back(place);
    units.push_back(seen->shape().dim(rank + i));
  }
  // Which side comes first changes no bit; the one that comes last runs along memory.
  const std::int64_t features = rhs->shape()[static_cast<int>(r.second)] * groups;
  const bool features_last = d.out.second == op.result()->rank() - 1;
  const DType type = op.result()->dtype();
  auto product = [&](Value* x, Value* y) {
    const DType sums = product_accumulator(x->dtype(), y->dtype(), type);
    Value* out = dot_general(b, x, y, dot, pieces == 1 ? type : sums);
    if (chains && is_float(sums)) set_box_chains(*out->op());
    if (pieces == 1) return out;
    if (chains) out = convert(b, out, pieces_type(sums));
    return convert(b, convert(b, reduce_sum(b, out, {0}), sums), type);
  };
  if (features_last) {
    std::swap(dot.lhs_batch, dot.rhs_batch);
    std::swap(dot.lhs_contract, dot.rhs_contract);
    return {features_behind(b, product(seen, rhs), groups, features, places, units)};
  }
  return {features_in_front(b, product(rhs, seen), features, d.out.second, places, units)};
}

// ---- derivative and transpose ------------------------------------------------------------------

void set_dims(Attrs& attrs, const ConvDims& d) {
  attrs.set("input_batch_dimension", d.lhs.first).set("input_feature_dimension", d.lhs.second);
  attrs.set("kernel_input_feature_dimension", d.rhs.first)
      .set("kernel_output_feature_dimension", d.rhs.second);
  attrs.set("output_batch_dimension", d.out.first).set("output_feature_dimension", d.out.second);
  attrs.set("input_spatial_dimensions", d.lhs.spatial)
      .set("kernel_spatial_dimensions", d.rhs.spatial);
  attrs.set("output_spatial_dimensions", d.out.spatial);
  attrs.set("feature_group_count", d.groups).set("batch_group_count", d.batch_groups);
  attrs.set("window_strides", d.window.stride).set("padding", flat_padding(d.window));
  attrs.set("lhs_dilation", d.window.base_dilation).set("rhs_dilation", d.window.window_dilation);
  attrs.set("window_reversal", d.reversal);
}

/// A convolution of `like`'s precision with other numbers; its shape follows from the operands.
Value* convolve(Builder& b, const Op& like, Value* lhs, Value* rhs, const ConvDims& d,
                DType dtype) {
  Attrs attrs = like.attrs;
  set_dims(attrs, d);
  Type type = infer(std::vector<Value*>{lhs, rhs}, attrs, {})[0].with(dtype);
  return b.create(like.info(), {lhs, rhs}, std::move(attrs), {}, {std::move(type)}).result();
}
Value* again_of(Builder& b, const Op& op, Value* lhs, Value* rhs) {
  return b.create(op.info(), {lhs, rhs}, op.attrs, {}, {op.result()->type()}).result();
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again_of(b, op, operands[0], operands[1]);
  Value* left = tangents[0] ? again_of(b, op, tangents[0], operands[1]) : nullptr;
  Value* right = tangents[1] ? again_of(b, op, operands[0], tangents[1]) : nullptr;
  return {{result}, {add_or_null(b, left, right)}};
}

std::int64_t dilated(std::int64_t size, std::int64_t by) {
  return size == 0 ? 0 : (size - 1) * by + 1;
}

/// Spatial sizes of the three arrays, dilated as the forward convolution sees them (the result: by
/// the strides).
struct Extents {
  Ints lhs, rhs, out;
};
Extents extents(const Op& op, const ConvDims& d) {
  Extents e;
  for (std::size_t i = 0; i < d.lhs.spatial.size(); ++i) {
    auto size = [&](const Value* v, std::int64_t dim) { return v->shape()[static_cast<int>(dim)]; };
    e.lhs.push_back(dilated(size(op.operand(0), d.lhs.spatial[i]), d.window.base_dilation[i]));
    e.rhs.push_back(dilated(size(op.operand(1), d.rhs.spatial[i]), d.window.window_dilation[i]));
    e.out.push_back(dilated(size(op.result(), d.out.spatial[i]), d.window.stride[i]));
  }
  return e;
}

/// The cotangent convolved with the kernel, reversed and with its features exchanged; strides and
/// lhs dilations trade places.
Value* lhs_cotangent(Builder& b, const Op& op, Value* ct, Value* rhs) {
  ConvDims d = dims_of(op.attrs, op.operand(0)->type(), op.operand(1)->type()), t;
  Extents e = extents(op, d);
  std::int64_t groups = d.groups * d.batch_groups;
  rhs = reverse(b, reversed(b, rhs, d), d.rhs.spatial);
  if (groups > 1)
    rhs = fold_into(b, split_dim(b, rhs, d.rhs.second, groups), d.rhs.second, d.rhs.first);
  t.lhs = d.out;
  t.rhs = {d.rhs.second, d.rhs.first, d.rhs.spatial};
  t.out = d.lhs;
  t.groups = groups;
  t.reversal = Ints(d.reversal.size(), 0);
  t.window = d.window;
  std::swap(t.window.stride, t.window.base_dilation);
  for (std::size_t i = 0; i < e.lhs.size(); ++i) {
    t.window.low[i] = e.rhs[i] - d.window.low[i] - 1;
    t.window.high[i] = e.lhs[i] + e.rhs[i] - 1 - e.out[i] - t.window.low[i];
  }
  Value* out = convolve(b, op, ct, rhs, t, op.operand(0)->dtype());
  if (d.batch_groups > 1)
    out = fold_into(b, split_dim(b, out, d.lhs.second, groups), d.lhs.second, d.lhs.first);
  return out;
}

/// lhs convolved with the cotangent, batch and features exchanged in all three arrays; strides and
/// rhs dilations trade places.
Value* rhs_cotangent(Builder& b, const Op& op, Value* ct, Value* lhs) {
  ConvDims d = dims_of(op.attrs, op.operand(0)->type(), op.operand(1)->type()), t;
  Extents e = extents(op, d);
  t.lhs = {d.lhs.second, d.lhs.first, d.lhs.spatial};
  t.rhs = {d.out.first, d.out.second, d.out.spatial};
  t.out = d.rhs;
  t.groups = d.batch_groups;
  t.batch_groups = d.groups;
  t.reversal = Ints(d.reversal.size(), 0);
  t.window = d.window;
  std::swap(t.window.stride, t.window.window_dilation);
  for (std::size_t i = 0; i < e.lhs.size(); ++i)
    t.window.high[i] = e.out[i] - e.lhs[i] + e.rhs[i] - d.window.low[i] - 1;
  return reversed(b, convolve(b, op, lhs, ct, t, op.operand(1)->dtype()), d);
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Value* ct = cotangents[0];
  if (ct == nullptr) return {nullptr, nullptr};
  STRATA_CHECK(linear[0] != linear[1], "a convolution is linear in one operand at a time");
  std::size_t own = linear[0] ? 0 : 1;
  Values out{nullptr, nullptr};
  Value* other = operands[1 - own];
  const Type& type = op.operand(static_cast<int>(own))->type();
  if (ct->shape().count() == 0 || other->shape().count() == 0 || type.shape().count() == 0) {
    out[own] = zeros(b, type);
    return out;
  }
  DType wide = byte_width(ct->dtype()) >= byte_width(other->dtype()) ? ct->dtype() : other->dtype();
  ct = convert(b, ct, wide);
  other = convert(b, other, wide);
  out[own] = own == 0 ? lhs_cotangent(b, op, ct, other) : rhs_cotangent(b, op, ct, other);
  return out;
}

// ---- batching ----------------------------------------------------------------------------------

/// The new dimension joins the batch, the output features, or, when both operands have it, becomes
/// groups.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (!batched[0] && !batched[1]) return {{again_of(b, op, operands[0], operands[1])}, {false}};
  Type type = op.result()->type();
  if (size == 0) return {{zeros(b, with_leading(type, 0))}, {true}};
  ConvDims d = dims_of(op.attrs, op.operand(0)->type(), op.operand(1)->type());
  auto apart = [&](Value* out, std::int64_t dim) {
    return Batched{{move_dim(b, split_dim(b, out, dim, size), static_cast<int>(dim), 0)}, {true}};
  };
  if (!batched[1] && d.batch_groups == 1)
    return apart(
        convolve(b, op, fold_into(b, operands[0], 0, d.lhs.first), operands[1], d, type.dtype()),
        d.out.first);
  if (!batched[0] && d.groups * d.batch_groups == 1)
    return apart(
        convolve(b, op, operands[0], fold_into(b, operands[1], 0, d.rhs.second), d, type.dtype()),
        d.out.second);
  Value* lhs = fold_into(b, batched_operand(b, operands[0], batched[0], size), 0,
                         d.batch_groups > 1 ? d.lhs.first : d.lhs.second);
  Value* rhs = fold_into(b, batched_operand(b, operands[1], batched[1], size), 0, d.rhs.second);
  (d.batch_groups > 1 ? d.batch_groups : d.groups) *= size;
  return apart(convolve(b, op, lhs, rhs, d, type.dtype()), d.out.second);
}

// ---- sharding, cost ----------------------------------------------------------------------------

Factors shard(const Op& op) {
  FactorTable t(op);
  ConvDims d = dims_of(op.attrs, op.operand(0)->type(), op.operand(1)->type());
  auto size = [&](const Value* v, std::int64_t dim) {
    return v->shape().dim(static_cast<int>(dim)).bound();
  };
  auto to = [](std::int64_t dim) { return static_cast<int>(dim); };
  std::int64_t groups = d.groups * d.batch_groups;
  if (groups > 1) {
    int g = t.factor('p', groups);
    t.operand(0, to(d.groups > 1 ? d.lhs.second : d.lhs.first), g);
    t.operand(1, to(d.rhs.second), g);
    t.result(0, to(d.out.second), g);
  }
  int batch = t.factor('p', size(op.result(), d.out.first)),
      features = t.factor('p', size(op.operand(1), d.rhs.second) / groups),
      contracted = t.factor('r', size(op.operand(1), d.rhs.first));
  t.operand(0, to(d.lhs.first), batch);
  t.result(0, to(d.out.first), batch);
  t.operand(1, to(d.rhs.second), features);
  t.result(0, to(d.out.second), features);
  t.operand(0, to(d.lhs.second), contracted);
  t.operand(1, to(d.rhs.first), contracted);
  for (std::size_t i = 0; i < d.lhs.spatial.size(); ++i) {
    int space = t.factor('m', size(op.operand(0), d.lhs.spatial[i]));
    t.operand(0, to(d.lhs.spatial[i]), space);
    t.result(0, to(d.out.spatial[i]), space);
    t.operand(1, to(d.rhs.spatial[i]), t.factor('n', size(op.operand(1), d.rhs.spatial[i])));
  }
  return t.take();
}

Work cost(const Op& op) {
  ConvDims d = dims_of(op.attrs, op.operand(0)->type(), op.operand(1)->type());
  double k = static_cast<double>(
      std::max<std::int64_t>(dim(op.operand(1)->type(), d.rhs.first).bound(), 1));
  for (std::int64_t size : d.window.size) k *= static_cast<double>(std::max<std::int64_t>(size, 1));
  return {2 * k * elements(op), bytes_moved(op)};
}

}  // namespace

const OpDef& convolution_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.convolution",
               .infer = infer,
               .text = &ir::formats::convolution,
               .verify = verify,
               .quantized = quantized::convolution},
      .summary = "products of windows of an array with a kernel (StableHLO, convolution)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a dot_general of the kernel with windows (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
