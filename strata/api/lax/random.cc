#include "strata/api/lax/random.h"

#include "strata/api/lax/shapes.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Values;

const ir::OpInfo& info_of(const char* name) {
  const ir::OpInfo* info = ir::Registry::global().find(name);
  STRATA_CHECK(info != nullptr, "no operation {}", name);
  return *info;
}

bool is_key(const Type& type) {
  return type == Type(DType::ui32, Shape{4}) || type == Type(DType::ui64, Shape{2});
}

}  // namespace

std::pair<Array, Array> rng_bit_generator(const Operand& key, const Sizes& shape, DType dtype,
                                          RandomAlgorithm algorithm) {
  Site site(key);
  static constexpr const char* names[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  const DType made = canonical(dtype, x64_enabled());
  if (!is_unsigned(made) || is_bool(made))
    fail("rng_bit_generator", "bits are unsigned integers, got {}", strata::name(dtype));
  if (!is_key(key->type()))
    fail("rng_bit_generator", "a key is u32[4] or u64[2], got {}", describe(key->type()));
  const bool halves = key->dtype() == DType::ui32;
  const Type state(DType::ui64, Shape{2});
  const std::vector<Array> out =
      internal::emit(std::vector<Array>{key.array}, [&](Builder& b, const Values& v) {
        ir::Value* words =
            halves ? op::bitcast_convert(b, op::reshape(b, v[0], Shape{2, 2}), DType::ui64) : v[0];
        const Values made_now =
            b.create(info_of("stablehlo.rng_bit_generator"), {words},
                     {{"rng_algorithm", std::string(names[static_cast<int>(algorithm)])}}, {},
                     {state, Type(made, Shape::of(shape))})
                .results();
        ir::Value* next =
            halves ? op::reshape(b, op::bitcast_convert(b, made_now[0], DType::ui32), Shape{4})
                   : made_now[0];
        return Values{next, made_now[1]};
      });
  return {out[0], out[1]};
}

Array rng_uniform(const Operand& a, const Operand& b, const Sizes& shape) {
  Site site(a);
  if (a->ndim() != 0 || b->ndim() != 0 || a->dtype() != b->dtype())
    fail("rng_uniform", "bounds are scalars of one dtype, got {} and {}", describe(a->type()),
         describe(b->type()));
  const Array sizes = shape_as_value(shape);
  return internal::emit_one(
      {a.array, b.array, sizes}, false, [&](Builder& builder, const Values& v) {
        return builder
            .create(info_of("stablehlo.rng"), v, {{"rng_distribution", std::string("UNIFORM")}}, {},
                    {a->type().with(Shape::of(shape))})
            .result();
      });
}

}  // namespace strata::lax
