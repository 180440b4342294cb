#include "strata/api/lax/products.h"

#include <algorithm>
#include <numeric>

#include "strata/api/lax/precision.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/types.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/eager.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::cast;
using internal::describe;
using internal::EagerKey;
using internal::emit_known;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Value;
using internal::Values;

bool has(const Ints& list, std::int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

void require_one_dtype(const char* name, const Array& lhs, const Array& rhs) {
  if (lhs.dtype() != rhs.dtype())
    fail(name, "operands have different dtypes: {} and {}", describe(lhs.type()),
         describe(rhs.type()));
}

DotDimensionNumbers matrices(const char* name, const Array& lhs, const Array& rhs) {
  if (lhs.ndim() < 2 || lhs.ndim() != rhs.ndim())
    fail(name, "operands have equally many dimensions, two or more, got {} and {}",
         describe(lhs.type()), describe(rhs.type()));
  Ints batch(static_cast<std::size_t>(lhs.ndim() - 2));
  std::iota(batch.begin(), batch.end(), 0);
  return {.lhs_contracting = {lhs.ndim() - 1},
          .rhs_contracting = {rhs.ndim() - 2},
          .lhs_batch = batch,
          .rhs_batch = batch};
}

void require_scale(const char* side, const Array& x, const Array& scale, const Ints& contracting) {
  if (scale.ndim() != x.ndim())
    fail("scaled_dot", "the scale of {}, {}, does not have the dimensions of {}", side,
         describe(scale.type()), describe(x.type()));
  for (int d = 0; d < x.ndim(); ++d) {
    const std::int64_t size = x.shape()[d], given = scale.shape()[d];
    const bool fits =
        has(contracting, d) ? given > 0 && size % given == 0 && size / given >= 2 : given == size;
    if (!fits)
      fail("scaled_dot", "the scale of {}, {}, does not fit dimension {} of {}", side,
           describe(scale.type()), d, describe(x.type()));
  }
}

/// x times its scale in bf16, each number of the scale repeated for its neighbours.
Array scaled(const char* side, const Array& x, const std::optional<Array>& scale,
             const Ints& contracting) {
  const Array narrow = x.astype(bfloat16);
  if (!scale) return narrow;
  require_scale(side, x, *scale, contracting);
  Array factors = scale->astype(bfloat16);
  for (std::int64_t d : contracting) {
    const int dim = static_cast<int>(d);
    factors = numpy::repeat(factors, x.shape()[dim] / factors.shape()[dim], dim);
  }
  return narrow * factors;
}

Array product(const Array& lhs, const Array& rhs, const DotDimensionNumbers& d, DType result,
              bool weak) {
  const op::DotDims dims{d.lhs_batch, d.rhs_batch, d.lhs_contracting, d.rhs_contracting};
  const bool is_same = lhs.state() == rhs.state();
  const EagerKey key = EagerKey()
                           .add("dot_general")
                           .add(is_same)
                           .add(d.lhs_batch)
                           .add(d.rhs_batch)
                           .add(d.lhs_contracting)
                           .add(d.rhs_contracting)
                           .add(result)
                           .add(weak)
                           .add(lhs)
                           .add(rhs);
  return emit_known(key, {&lhs, &rhs}, [&] {
    return internal::Emitted{{lhs, rhs}, weak, [dims, result](Builder& b, const Values& v) {
                               return op::dot_general(b, v[0], v[1], dims, result);
                             }};
  });
}

}  // namespace

Array dot_general(const Operand& lhs, const Operand& rhs, const DotDimensionNumbers& d,
                  const DotGeneral& options) {
  Site site(lhs);
  const DType common = numpy::promote_types(lhs->dtype(), rhs->dtype()),
              result = options.preferred_element_type.value_or(common);
  if (is_complex(result) && !is_complex(common)) {  // real products, which become complex numbers
    DotGeneral real = options;
    real.preferred_element_type = real_part(result);
    return cast(dot_general(lhs, rhs, d, real), {result, false});
  }
  const bool weak = lhs->weak() && rhs->weak() && !options.preferred_element_type;
  const DotTypes types = dot_types(options.precision, lhs->dtype(), rhs->dtype(), result);
  if (types.text.empty()) return product(lhs, rhs, d, result, weak);
  const Array x = cast(lhs, {types.lhs, false}), y = cast(rhs, {types.rhs, false});
  const op::DotDims dims{d.lhs_batch, d.rhs_batch, d.lhs_contracting, d.rhs_contracting};
  return cast(emit_one({x, y}, false,
                       [&](Builder& b, const Values& v) {
                         Value* out = op::dot_general(b, v[0], v[1], dims, types.accumulation);
                         out->op()->attrs.set("algorithm", ir::Opaque{types.text});
                         return out;
                       }),
              {result, weak});
}

Array dot(const Operand& lhs, const Operand& rhs, const Dot& options) {
  Site site(lhs);
  const DotGeneral more{.precision = options.precision,
                        .preferred_element_type = options.preferred_element_type};
  if (options.dimension_numbers)
    return lax::dot_general(lhs, rhs, *options.dimension_numbers, more);
  auto simple = [](const Array& x) { return x.ndim() == 1 || x.ndim() == 2; };
  if (!simple(lhs) || !simple(rhs) || lhs->shape()[lhs->ndim() - 1] != rhs->shape()[0])
    fail("dot", "{} and {} are no vectors or matrices that go together; give dimension_numbers",
         describe(lhs->type()), describe(rhs->type()));
  return lax::dot_general(lhs, rhs,
                          {.lhs_contracting = {lhs->ndim() - 1},
                           .rhs_contracting = {0},
                           .lhs_batch = {},
                           .rhs_batch = {}},
                          more);
}

Array batch_matmul(const Operand& lhs, const Operand& rhs, const DotPrecision& precision) {
  Site site(lhs);
  return lax::dot_general(lhs, rhs, matrices("batch_matmul", lhs, rhs), {.precision = precision});
}

Array ragged_dot(const Operand& lhs, const Operand& rhs, const Operand& group_sizes,
                 const DotGeneral& options) {
  return ragged_dot_general(lhs, rhs, group_sizes,
                            {.dot_dimension_numbers = {.lhs_contracting = {1},
                                                       .rhs_contracting = {1},
                                                       .lhs_batch = {},
                                                       .rhs_batch = {}},
                             .lhs_ragged_dimensions = {0},
                             .rhs_group_dimensions = {0}},
                            options);
}

Array ragged_dot_general(const Operand& lhs, const Operand& rhs, const Operand& group_sizes,
                         const RaggedDotDimensionNumbers& d, const DotGeneral& options) {
  Site site(lhs);
  require_one_dtype("ragged_dot_general", lhs, rhs);
  return emit_one(
      {lhs.array, rhs.array, group_sizes.array}, false, [&](Builder& b, const Values& v) {
        Value* out =
            b.create("chlo.ragged_dot", v,
                     {{"lhs_batching_dimensions", d.dot_dimension_numbers.lhs_batch},
                      {"rhs_batching_dimensions", d.dot_dimension_numbers.rhs_batch},
                      {"lhs_contracting_dimensions", d.dot_dimension_numbers.lhs_contracting},
                      {"rhs_contracting_dimensions", d.dot_dimension_numbers.rhs_contracting},
                      {"lhs_ragged_dimensions", d.lhs_ragged_dimensions},
                      {"rhs_group_dimensions", d.rhs_group_dimensions}})
                .result();
        out->set_type(out->type().with(options.preferred_element_type.value_or(lhs->dtype())));
        return out;
      });
}

Array scaled_dot(const Operand& lhs, const Operand& rhs, const ScaledDot& options) {
  Site site(lhs);
  const DotDimensionNumbers d =
      options.dimension_numbers ? *options.dimension_numbers : matrices("scaled_dot", lhs, rhs);
  if (lhs->ndim() != rhs->ndim())
    fail("scaled_dot", "{} and {} do not have equally many dimensions", describe(lhs->type()),
         describe(rhs->type()));
  return lax::dot_general(
      scaled("lhs", lhs, options.lhs_scale, d.lhs_contracting),
      scaled("rhs", rhs, options.rhs_scale, d.rhs_contracting), d,
      {.preferred_element_type = options.preferred_element_type.value_or(DType::bf16)});
}

}  // namespace strata::lax
