#include "strata/nn/norm/group_norm.h"

#include "strata/nn/dtypes.h"
#include "strata/nn/module.h"

namespace strata::nn {

GroupNorm::GroupNorm(std::int64_t num_features, Rngs& rngs, const GroupNormOptions& o)
    : epsilon(o.epsilon), statistics(detail::statistics_of(o)) {
  using strata::internal::fail;
  if (o.num_groups && o.group_size)
    fail("GroupNorm", "num_groups is {} and group_size {}; give one of the two", *o.num_groups,
         *o.group_size);
  const std::int64_t given = o.group_size ? *o.group_size : o.num_groups.value_or(32);
  if (given <= 0 || num_features % given != 0)
    fail("GroupNorm", "{} features cannot be divided into groups: {} is {}", num_features,
         o.group_size ? "group_size" : "num_groups", given);
  num_groups = o.group_size ? num_features / given : given;
  group_size = o.group_size ? given : num_features / given;
  if (o.reduction_axes) reduction_axes = given_axes("GroupNorm", *o.reduction_axes);
  scale = detail::scale_of(o, num_features, rngs);
  bias = detail::bias_of(o, num_features, rngs);
}

namespace {
/// x with its last axis C as (groups, size); an axis of 1 as (1, 1).
Array grouped(const Array& x, std::int64_t groups, std::int64_t size) {
  std::vector<std::int64_t> shape = x.shape().sizes();
  const bool broadcast = shape.back() == 1;
  shape.back() = broadcast ? 1 : groups;
  shape.push_back(broadcast ? 1 : size);
  return x.reshape(shape);
}
}  // namespace

Array GroupNorm::operator()(const Array& input, const NormCall& call) const {
  const ModuleScope scope(*this, "GroupNorm");
  using strata::internal::fail;
  const std::int64_t features = num_groups * group_size;
  if (input.ndim() == 0 || input.shape(-1) != features)
    fail("GroupNorm", "the input {} has {} features, the layer {} in {} groups",
         strata::internal::describe(input.type()), input.ndim() == 0 ? 0 : input.shape(-1),
         features, num_groups);
  const std::int64_t last = input.ndim() - 1;
  std::vector<std::int64_t> reduced;
  if (reduction_axes) {
    reduced = norm_axes("GroupNorm", *reduction_axes, input);
    if (reduced.empty() || reduced.back() != last)
      fail("GroupNorm", "reduction_axes lack the axis of features, {}", last);
    reduced.pop_back();
  } else {
    for (std::int64_t i = 1; i < last; ++i) reduced.push_back(i);
  }
  std::optional<Array> mask = call.mask;
  if (mask) {
    if (mask->ndim() > 0 && mask->shape(-1) != features && mask->shape(-1) != 1)
      fail("GroupNorm", "the mask {} has {} features, the input {}",
           strata::internal::describe(mask->type()), mask->shape(-1), features);
    if (mask->ndim() > 0) mask = grouped(*mask, num_groups, group_size);
  }
  Array x = input, s = value_or_none(scale), b = value_or_none(bias);
  promote_dtype({&x, &s, &b}, statistics.dtype);
  std::vector<std::int64_t> within = reduced;
  within.push_back(last + 1);
  const Moments m = moments(grouped(x, num_groups, group_size), within, statistics, mask);
  const auto repeated = [this](const Array& of_group) {
    return numpy::repeat(of_group, group_size, -1);
  };
  return scope.returns(normalize(x, {repeated(m.mean), repeated(m.var)}, s, b,
                                 {.reduction_axes = reduced,
                                  .feature_axes = {last},
                                  .epsilon = epsilon,
                                  .dtype = statistics.dtype}),
                       input);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::GroupNorm)
