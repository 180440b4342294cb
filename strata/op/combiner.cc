#include "strata/op/combiner.h"

#include <limits>
#include <unordered_map>

#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr std::pair<Combiner, std::string_view> kNames[] = {{Combiner::add, "add"},  {Combiner::mul, "mul"},      {Combiner::min, "min"},
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

/// Elements of a region's operations are the region's own values, which are already instructions.
class RegionContext : public LowerContext {
 public:
  explicit RegionContext(loop::Builder& builder) : LowerContext(builder) {}
  void set(const Value* v, loop::Inst* inst) { values_[v] = inst; }
  loop::Inst* value(const Value* v) const {
    auto it = values_.find(v);
    if (it == values_.end()) throw Error("region", "a combiner may use only its own arguments and constants");
    return it->second;
  }
  loop::Inst* operand(const Op& op, int i, std::span<const loop::Index>) override { return value(op.operand(i)); }

 private:
  std::unordered_map<const Value*, loop::Inst*> values_;  // lookup only
};

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

Literal identity(Combiner combiner, DType dtype) {
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

bool is_neutral(const Value* v, Combiner combiner) {
  if (v->op() == nullptr || v->op()->name() != "stablehlo.constant" || v->rank() != 0) return false;
  const Literal& value = v->op()->attr<Literal>("value");
  return value.same_bits(identity(combiner, v->dtype())) || value.same_bits(initial_value(combiner, v->dtype()));
}

void expect_combiner(std::string_view op, Combiner combiner, DType dtype) {
  bool exists = true;
  if (combiner == Combiner::min || combiner == Combiner::max) exists = !is_complex(dtype);
  if (combiner == Combiner::and_ || combiner == Combiner::or_ || combiner == Combiner::xor_) exists = is_integer(dtype) || is_bool(dtype);
  if (!exists) throw Error(std::string(op), "combiner {} does not exist for {}", name(combiner), strata::name(dtype));
}

void expect_region(std::string_view op, std::span<const std::unique_ptr<Block>> regions, const std::vector<DType>& dtypes) {
  if (regions.size() != 1) throw Error(std::string(op), "expected one region, got {}", regions.size());
  const Block& region = *regions[0];
  std::size_t n = dtypes.size();
  if (region.arguments().size() != 2 * n)
    throw Error(std::string(op), "the region takes {} arguments, expected {}", region.arguments().size(), 2 * n);
  if (region.results.size() != n) throw Error(std::string(op), "the region returns {} values, expected {}", region.results.size(), n);
  auto expect = [&](const Value* v, DType dtype) {
    if (v->type() != Type::scalar(dtype))
      throw Error(std::string(op), "the region has a {} where {} is expected", v->type().to_string(), Type::scalar(dtype).to_string());
  };
  for (std::size_t i = 0; i < 2 * n; ++i) expect(region.argument(static_cast<int>(i)), dtypes[i % n]);
  for (std::size_t i = 0; i < n; ++i) expect(region.results[i], dtypes[i]);
}

std::vector<loop::Inst*> lower_region(LowerContext& context, const Block& region, std::span<loop::Inst* const> arguments) {
  STRATA_CHECK(region.arguments().size() == arguments.size());
  RegionContext inner(context.b);
  for (std::size_t i = 0; i < arguments.size(); ++i) inner.set(region.argument(static_cast<int>(i)), arguments[i]);
  for (const auto& op : region.ops()) {
    const Elemental* elemental = std::get_if<Elemental>(&def(*op).lowering);
    if (elemental == nullptr) throw Error("region", "{} inside a combiner cannot be compiled", op->name());
    for (int r = 0; r < op->num_results(); ++r) inner.set(op->result(r), elemental->element(inner, *op, r, {}));
  }
  std::vector<loop::Inst*> results;
  for (Value* v : region.results) results.push_back(inner.value(v));
  return results;
}

loop::Inst* lower_combine(loop::Builder& b, Combiner combiner, DType dtype, loop::Inst* current, loop::Inst* update) {
  DType computed = accumulator(dtype);
  loop::Inst* value = b.binary(opcode(combiner, dtype), b.convert(computed, current), b.convert(computed, update));
  return b.convert(dtype, value);
}

}  // namespace strata::op
