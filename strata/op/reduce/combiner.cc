#include "strata/op/reduce/combiner.h"

#include <limits>

#include "strata/ir/text/combiner_text.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"
#include "strata/type/minifloat.h"

namespace strata::op {
namespace {

constexpr std::pair<Combiner, std::string_view> kNames[] = {
    {Combiner::add, "add"},  {Combiner::mul, "mul"},      {Combiner::min, "min"},
    {Combiner::max, "max"},  {Combiner::and_, "and"},     {Combiner::or_, "or"},
    {Combiner::xor_, "xor"}, {Combiner::region, "region"}};

const std::string& combiner_attr(const Op& op) { return op.attr<std::string>("combiner"); }

/// The greatest and least value; infinities for floats.
template <class T>
T greatest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <class T>
T least() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

template <class T>
T identity_of(Combiner combiner) {
  switch (combiner) {
    case Combiner::add: return std::is_floating_point_v<T> ? T(-0.0) : T(0);
    case Combiner::mul: return T(1);
    case Combiner::min:
      if constexpr (!internal::is_complex_v<T>) return greatest<T>();
      break;
    case Combiner::max:
      if constexpr (!internal::is_complex_v<T>) return least<T>();
      break;
    case Combiner::and_:
      if constexpr (std::is_same_v<T, bool>)
        return true;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(~std::uint64_t{0});
      break;
    case Combiner::or_:
    case Combiner::xor_:
      if constexpr (std::is_integral_v<T>) return T(0);
      break;
    case Combiner::region: break;
  }
  STRATA_UNREACHABLE("no identity of {} on {}", name(combiner), strata::name(dtype_of<T>));
}

}  // namespace

std::string_view name(Combiner combiner) {
  for (const auto& [c, text] : kNames)
    if (c == combiner) return text;
  STRATA_UNREACHABLE("combiner {}", static_cast<int>(combiner));
}

std::optional<Combiner> parse_combiner(std::string_view text) {
  for (const auto& [c, word] : kNames)
    if (word == text) return c;
  return std::nullopt;
}

Combiner combiner_of(const Op& op) {
  std::optional<Combiner> found = parse_combiner(combiner_attr(op));
  STRATA_CHECK(found.has_value(), "{} has no combiner '{}'", op.name(), combiner_attr(op));
  return *found;
}

bool assigns(const Op& op) { return combiner_attr(op) == "assign"; }

loop::Opcode opcode(Combiner combiner, DType dtype) {
  switch (combiner) {
    case Combiner::add: return is_bool(dtype) ? loop::Opcode::or_ : loop::Opcode::add;
    case Combiner::mul: return is_bool(dtype) ? loop::Opcode::and_ : loop::Opcode::mul;
    case Combiner::min: return is_bool(dtype) ? loop::Opcode::and_ : loop::Opcode::min;
    case Combiner::max: return is_bool(dtype) ? loop::Opcode::or_ : loop::Opcode::max;
    case Combiner::and_: return loop::Opcode::and_;
    case Combiner::or_: return loop::Opcode::or_;
    case Combiner::xor_: return loop::Opcode::xor_;
    case Combiner::region: break;
  }
  STRATA_UNREACHABLE("a region is no single instruction");
}

DType accumulator(DType dtype) { return compute_type(dtype); }

namespace {

/// In types that the evaluator does not compute on: the extremes are the type's own.
Literal narrow_identity(Combiner combiner, DType dtype) {
  Literal out(Type::scalar(dtype));
  bool minimum = combiner == Combiner::min;
  if (is_integer(dtype)) {
    std::int64_t top = (std::int64_t{1} << (bit_width(dtype) - (is_signed(dtype) ? 1 : 0))) - 1,
                 bottom = is_signed(dtype) ? -top - 1 : 0;
    bool ones = combiner == Combiner::and_;
    out.set_integer(0, ones                        ? -1
                       : minimum                   ? top
                       : combiner == Combiner::max ? bottom
                       : combiner == Combiner::mul ? 1
                                                   : 0);
    return out;
  }
  MiniFloat f = minifloat(dtype);
  if (combiner == Combiner::add || combiner == Combiner::mul) {
    out.set_number(0, combiner == Combiner::mul ? 1.0 : -0.0);
    return out;
  }
  std::uint32_t magnitude = f.top == MiniFloat::Top::ieee ? f.overflow() : f.greatest();
  if (!f.has_sign) magnitude = minimum ? f.greatest() : 0;
  std::uint32_t sign = f.has_sign && !minimum ? 1u << f.sign_shift() : 0;
  out.mutable_data()[0] = static_cast<std::byte>(magnitude | sign);
  return out;
}

}  // namespace

Literal identity(Combiner combiner, DType dtype) {
  if (!has_storage(dtype)) return narrow_identity(combiner, dtype);
  return dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>)
      return Literal::scalar(T(identity_of<float>(combiner)));
    else
      return Literal::scalar(identity_of<T>(combiner));
  });
}

Literal initial_value(Combiner combiner, DType dtype) {
  if (combiner == Combiner::add) return Literal(Type::scalar(dtype));
  return identity(combiner, dtype);
}

bool in_any_order(Combiner combiner, DType dtype) {
  bool rounds = combiner == Combiner::add || combiner == Combiner::mul;
  return combiner != Combiner::region && !(rounds && (is_float(dtype) || is_complex(dtype)));
}

bool is_neutral(const Value* v, Combiner combiner) {
  if (v->op() == nullptr || v->op()->name() != "stablehlo.constant" || v->rank() != 0) return false;
  const Literal& value = v->op()->attr<Literal>("value");
  return value.same_bits(identity(combiner, v->dtype())) ||
         value.same_bits(initial_value(combiner, v->dtype()));
}

void expect_combiner(std::string_view op, Combiner combiner, DType dtype) {
  bool exists = true;
  if (combiner == Combiner::min || combiner == Combiner::max) exists = !is_complex(dtype);
  if (combiner == Combiner::and_ || combiner == Combiner::or_ || combiner == Combiner::xor_)
    exists = is_integer(dtype) || is_bool(dtype);
  if (!exists)
    throw Error(std::string(op), "combiner {} does not exist for {}", name(combiner),
                strata::name(dtype));
}

void expect_region(std::string_view op, std::span<const std::unique_ptr<Block>> regions,
                   const std::vector<DType>& dtypes) {
  if (regions.size() != 1)
    throw Error(std::string(op), "expected one region, got {}", regions.size());
  const Block& region = *regions[0];
  std::size_t n = dtypes.size();
  if (region.arguments().size() != 2 * n)
    throw Error(std::string(op), "the region takes {} arguments, expected {}",
                region.arguments().size(), 2 * n);
  if (region.results.size() != n)
    throw Error(std::string(op), "the region returns {} values, expected {}", region.results.size(),
                n);
  auto expect = [&](const Value* v, DType dtype) {
    if (v->type() != Type::scalar(dtype))
      throw Error(std::string(op), "the region has a {} where {} is expected",
                  v->type().to_string(), Type::scalar(dtype).to_string());
  };
  for (std::size_t i = 0; i < 2 * n; ++i)
    expect(region.argument(static_cast<int>(i)), dtypes[i % n]);
  for (std::size_t i = 0; i < n; ++i) expect(region.results[i], dtypes[i]);
}

void expect_promotable(std::string_view op, DType element, DType dtype) {
  bool kind = is_bool(element) == is_bool(dtype) && is_integer(element) == is_integer(dtype) &&
              is_signed(element) == is_signed(dtype) && is_complex(element) == is_complex(dtype);
  if (!kind || bit_width(element) > bit_width(dtype))
    throw Error(std::string(op), "elements of {} cannot be combined in {}", strata::name(element),
                strata::name(dtype));
}

Literal promoted(const Literal& x, DType dtype, Evaluator& evaluator) {
  if (x.dtype() == dtype) return x;
  Block block;
  Value* v = block.add_argument(x.type());
  Builder b(block);
  block.results = {convert(b, v, dtype)};
  return evaluator.run(block, {&x, 1})[0];
}

namespace {

/// The operation with operands of other types.
Op& combine_again(Builder& b, const Op& op, Values operands, std::vector<Type> types) {
  return b.create(op.info(), std::move(operands), op.attrs, {}, std::move(types));
}

std::vector<Parts> part_by_part(Builder& b, const Op& op, std::span<const Parts> operands) {
  Parts out;
  std::vector<Type> types = part_types(op.result()->type());
  for (std::size_t p = 0; p < types.size(); ++p) {
    Values mine;
    for (const Parts& parts : operands) mine.push_back(parts.size() == 1 ? parts[0] : parts[p]);
    out.push_back(combine_again(b, op, mine, {types[p]}).result());
  }
  return {out};
}

std::vector<Parts> as_region(Builder& b, const Op& op, std::span<const Parts> operands) {
  Attrs attrs = op.attrs;
  attrs.set("combiner", std::string("region"));
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(
      legalize_region(*ir::combiner_region(combiner_attr(op), op.operand(0)->dtype())));
  Values flat;
  for (const Parts& parts : operands) flat.insert(flat.end(), parts.begin(), parts.end());
  return {b.create(op.info(), flat, attrs, std::move(regions), part_types(op.result()->type()))
              .results()};
}

std::vector<Parts> widened(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType dtype = op.operand(0)->dtype();
  Values wide;
  for (std::size_t i = 0; i < operands.size(); ++i)
    wide.push_back(op.operands[i]->dtype() == dtype ? decode(b, operands[i][0], dtype)
                                                    : operands[i][0]);
  Op& made = combine_again(b, op, wide, {op.result()->type().with(wide_type(dtype))});
  return {{encode(b, made.result(), dtype)}};
}

}  // namespace

std::vector<Parts> split_combined(Builder& b, const Op& op, std::span<const Parts> operands,
                                  bool rounds_each) {
  if (!op.regions.empty()) return {};
  DType dtype = op.operand(0)->dtype();
  const std::string& word = combiner_attr(op);
  if (word == "assign" || is_legal(dtype) || (is_complex(dtype) && word == "add"))
    return part_by_part(b, op, operands);
  if (is_complex(dtype) || (is_float(dtype) && rounds_each)) return as_region(b, op, operands);
  return widened(b, op, operands);
}

loop::Inst* lower_combine(loop::Builder& b, Combiner combiner, DType dtype, loop::Inst* current,
                          loop::Inst* update) {
  DType computed = accumulator(dtype);
  loop::Inst* value =
      b.binary(opcode(combiner, dtype), b.convert(computed, current), b.convert(computed, update));
  return b.convert(dtype, value);
}

Value* combined(Builder& b, Combiner combiner, Value* x, Value* y) {
  switch (combiner) {
    case Combiner::add: return add(b, x, y);
    case Combiner::mul: return mul(b, x, y);
    case Combiner::min: return min(b, x, y);
    case Combiner::max: return max(b, x, y);
    case Combiner::and_: return and_(b, x, y);
    case Combiner::or_: return or_(b, x, y);
    case Combiner::xor_: return xor_(b, x, y);
    case Combiner::region: break;
  }
  STRATA_UNREACHABLE("a region is no single operation");
}

}  // namespace strata::op
