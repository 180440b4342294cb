#include "strata/api/lax/slicing.h"

#include "strata/api/lax/operations.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::Values;

/// Start indices as scalars of one integer type; negative ones count from the end.
std::vector<Array> start_indices(const char* name, const Array& x,
                                 const std::vector<Array>& starts) {
  if (static_cast<int>(starts.size()) != x.ndim())
    fail(name, "{} start indices are given for {}", starts.size(), describe(x.type()));
  std::vector<Array> out;
  for (int i = 0; i < x.ndim(); ++i) {
    Array s = starts[static_cast<std::size_t>(i)];
    if (s.ndim() != 0 || !is_integer(s.dtype()))
      fail(name, "start index {} is an integer scalar, got {}", i, describe(s.type()));
    if (s.state()->scalar) {
      const std::int64_t value = s.item<std::int64_t>();
      out.push_back(Array::scalar(value < 0 ? value + x.shape()[i] : value, DType::i32, false));
      continue;
    }
    const bool may_be_negative = !is_unsigned(s.dtype());
    s = cast(s, {DType::i32, false});
    out.push_back(may_be_negative ? numpy::where(s < 0, s + x.shape()[i], s) : s);
  }
  return out;
}

}  // namespace

Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides) {
  Site site(x);
  if (static_cast<int>(start.size()) != x->ndim() || static_cast<int>(limit.size()) != x->ndim())
    fail("slice", "{} starts and {} limits are given for {}", start.size(), limit.size(),
         describe(x->type()));
  if (strides.size() != 0 && strides.size() != start.size())
    fail("slice", "{} strides are given for {}", strides.size(), describe(x->type()));
  for (std::int64_t s : strides)
    if (s < 1) fail("slice", "a stride is at least 1, got {}", s);
  bool whole = strides.size() == 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t size = x->shape()[static_cast<int>(i)];
    if (start[i] < 0 || limit[i] < start[i] || limit[i] > size)
      fail("slice", "range [{}, {}) of dimension {} does not lie in {}", start[i], limit[i], i,
           describe(x->type()));
    whole = whole && start[i] == 0 && limit[i] == size;
  }
  if (whole) return x;
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::slice(b, v[0], start.get(), limit.get(), strides.get());
  });
}
Array slice_in_dim(const Operand& x, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> limit, std::int64_t stride, std::int64_t axis) {
  Site site(x);
  const auto dim = static_cast<std::size_t>(axis_of("slice_in_dim", axis, x->ndim()));
  Ints from(static_cast<std::size_t>(x->ndim()), 0), to = sizes(x), strides(from.size(), 1);
  const std::int64_t size = to[dim];
  auto bound = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  from[dim] = bound(start.value_or(0));
  to[dim] = limit ? bound(*limit) : size;
  strides[dim] = stride;
  return slice(x, from, to, stride == 1 ? Sizes{} : Sizes(strides));
}
Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& slice_sizes) {
  Site site(x);
  if (static_cast<int>(slice_sizes.size()) != x->ndim())
    fail("dynamic_slice", "{} sizes are given for {}", slice_sizes.size(), describe(x->type()));
  std::vector<Array> operands = start_indices("dynamic_slice", x, starts);
  operands.insert(operands.begin(), x.array);
  return emit_one(operands, x->weak(), [&](Builder& b, const Values& v) {
    return op::dynamic_slice(b, v[0], Values(v.begin() + 1, v.end()), slice_sizes.get());
  });
}
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis) {
  Site site(x);
  const auto dim = static_cast<std::size_t>(axis_of("dynamic_slice_in_dim", axis, x->ndim()));
  std::vector<Array> starts(static_cast<std::size_t>(x->ndim()), Array(0));
  starts[dim] = start;
  Ints slice_sizes = sizes(x);
  slice_sizes[dim] = size;
  return dynamic_slice(x, starts, slice_sizes);
}
Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Array>& starts) {
  Site site(x);
  std::vector<Array> operands = start_indices("dynamic_update_slice", x, starts);
  operands.insert(operands.begin(), {x.array, detail::alike("dynamic_update_slice", x, update)});
  return emit_one(operands, x->weak(), [&](Builder& b, const Values& v) {
    return op::dynamic_update_slice(b, v[0], v[1], Values(v.begin() + 2, v.end()));
  });
}
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis) {
  Site site(x);
  std::vector<Array> starts(static_cast<std::size_t>(x->ndim()), Array(0));
  starts[static_cast<std::size_t>(axis_of("dynamic_update_slice_in_dim", axis, x->ndim()))] = start;
  return dynamic_update_slice(x, update, starts);
}

}  // namespace strata::lax
