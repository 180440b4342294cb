#include "strata/op/legalize.h"

#include <algorithm>
#include <unordered_map>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/type/minifloat.h"

namespace strata::op {
const OpDef& bitcast_convert_def();  // bitcast_convert.cc
namespace {

/// Between a quantised tensor and its stored integers.
Value* bits_as(Builder& b, Value* v, const Type& type) {
  return b.create(bitcast_convert_def().info, {v}, {}, {}, {type}).result();
}

/// A copy whose regions hold the constants that they use from outside: rules see nothing but the
/// operation.
const Op& with_own_constants(Block& holder, const Op& op) {
  Builder b(holder);
  ir::ValueMap same;
  Op& copy = ir::clone(b, op, same);
  for (const auto& region : copy.regions) {
    ir::ValueMap inside;
    for (Value* v : ir::captures(*region)) {
      if (v->op() == nullptr || v->op()->name() != "stablehlo.constant") continue;
      Builder at_end(*region);
      ir::ValueMap none;
      inside.set(v, ir::clone(at_end, *v->op(), none).result());
      std::rotate(region->ops().begin(), region->ops().end() - 1, region->ops().end());
    }
    ir::replace_uses(*region, inside);
  }
  return copy;
}

/// What each value of the old graph is in the new one.
class Legalizer {
 public:
  /// At the edge, arguments and results keep their types.
  void edge(const Block& from, Block& to) {
    Builder b(to);
    for (const auto& a : from.arguments()) {
      Value* v = to.add_argument(a->type(), a->hint());
      parts_[a.get()] = v->type().is_tensor() ? parts_of(b, v) : Parts{v};
    }
    operations(from, b);
    for (Value* v : from.results)
      to.results.push_back(v->type().is_tensor() ? value_of(b, of(v), v->type()) : of(v)[0]);
  }

  /// A region with the parts of its arguments and results.
  std::unique_ptr<Block> region(const Block& from) {
    auto to = std::make_unique<Block>();
    for (const auto& a : from.arguments()) {
      Parts parts;
      for (const Type& t : part_types(a->type())) parts.push_back(to->add_argument(t, a->hint()));
      parts_[a.get()] = std::move(parts);
    }
    Builder b(*to);
    operations(from, b);
    to->results = flat(of(from.results));
    return to;
  }

  void operations(const Block& from, Builder& b) {
    for (const auto& op : from.ops()) {
      b.set_location(op->where);
      std::vector<Parts> results = one(*op, b);
      STRATA_CHECK(static_cast<int>(results.size()) == op->num_results(), "{} became {} results",
                   op->name(), results.size());
      for (int r = 0; r < op->num_results(); ++r)
        parts_[op->result(r)] = std::move(results[static_cast<std::size_t>(r)]);
    }
  }

 private:
  const Parts& of(const Value* v) const {
    auto it = parts_.find(v);
    STRATA_CHECK(it != parts_.end(), "a value of type {} is used before it was made",
                 v->type().to_string());
    return it->second;
  }
  std::vector<Parts> of(const Values& values) const {
    std::vector<Parts> out;
    for (Value* v : values) out.push_back(of(v));
    return out;
  }
  static Values flat(const std::vector<Parts>& parts) {
    Values out;
    for (const Parts& p : parts) out.insert(out.end(), p.begin(), p.end());
    return out;
  }
  static std::vector<Parts> grouped(const Op& made, const Op& like) {
    std::vector<Parts> out;
    int at = 0;
    for (Value* r : like.results()) {
      Parts parts;
      for (std::size_t i = 0; i < part_types(r->type()).size(); ++i)
        parts.push_back(made.result(at++));
      out.push_back(std::move(parts));
    }
    return out;
  }
  static std::vector<Type> result_types(const Op& op) {
    std::vector<Type> out;
    for (Value* r : op.results())
      for (const Type& t : part_types(r->type())) out.push_back(t);
    return out;
  }

  std::vector<Parts> one(const Op& op, Builder& b) {
    const OpDef& d = def(op);
    std::vector<Parts> operands = of(op.operands);
    if (!needs_legalizing(op)) return carried(op, operands, b);
    if (is_quantized(op)) {
      if (!takes_stored(op)) return numbers(op, operands, b);
      if (!d.traits.moves_only)
        return d.split != nullptr ? d.split(b, op, operands) : carried(op, operands, b);
    }
    if (d.split != nullptr) {
      Block holder;
      std::vector<Parts> results =
          d.split(b, op.regions.empty() ? op : with_own_constants(holder, op), operands);
      if (!results.empty()) return results;
    }
    if (d.split == nullptr && d.decompose != nullptr && std::holds_alternative<None>(d.lowering))
      return decomposed(op, operands, b);
    if (!op.regions.empty()) return carried(op, operands, b);
    if (takes_memory(op)) return whole(op, operands, b);
    if (d.traits.moves_only) return moved_parts(op, operands, b);
    for (Value* v : op.operands) refuse_complex(op, v);
    for (Value* v : op.results()) refuse_complex(op, v);
    return widened(op, operands, b);
  }
  static void refuse_complex(const Op& op, const Value* v) {
    if (v->type().is_tensor() && is_complex(v->dtype()))
      throw Error(std::string(short_name(op.name())), "there is no rule for {}",
                  v->type().to_string())
          .at(op.where.text())
          .unsupported();
  }

  /// What it stands for, as the compiler takes it.
  std::vector<Parts> decomposed(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    bodies_.push_back(decomposition(op));
    const Block& body = *bodies_.back();
    for (std::size_t i = 0; i < operands.size(); ++i)
      parts_[body.argument(static_cast<int>(i))] = operands[i];
    operations(body, b);
    return of(body.results);
  }
  /// The same operation on parts, its regions too.
  std::vector<Parts> carried(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& r : op.regions) regions.push_back(region(*r));
    Attrs attrs = op.attrs;
    recount(attrs, operands);
    return grouped(
        b.create(op.info(), flat(operands), std::move(attrs), std::move(regions), result_types(op)),
        op);
  }
  /// Attributes that count operands (strata.scan's) count their parts now.
  static void recount(Attrs& attrs, const std::vector<Parts>& operands) {
    std::size_t at = 0;
    for (const char* name : {"num_consts", "num_carry"})
      if (attrs.find(name) != nullptr) {
        std::int64_t parts = 0;
        for (std::int64_t i = attrs.get<std::int64_t>(name); i > 0 && at < operands.size(); --i)
          parts += static_cast<std::int64_t>(operands[at++].size());
        attrs.set(name, parts);
      }
  }
  /// On values as they are in memory.
  std::vector<Parts> whole(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    Values joined;
    for (std::size_t i = 0; i < operands.size(); ++i)
      joined.push_back(value_of(b, operands[i], op.operands[i]->type()));
    std::vector<Type> types;
    for (Value* r : op.results()) types.push_back(r->type());
    Op& made = b.create(op.info(), joined, op.attrs, {}, types);
    std::vector<Parts> out;
    for (Value* r : made.results()) out.push_back(parts_of(b, r));
    return out;
  }
  /// Part by part; operands of one part (indices, predicates) join in each.
  std::vector<Parts> moved_parts(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    std::size_t count = part_types(op.result()->type()).size();
    std::vector<Parts> out(static_cast<std::size_t>(op.num_results()));
    for (std::size_t p = 0; p < count; ++p) {
      Values mine;
      std::vector<Type> types;
      for (const Parts& parts : operands) mine.push_back(parts.size() == 1 ? parts[0] : parts[p]);
      for (Value* r : op.results()) types.push_back(part_types(r->type())[p]);
      Op& made = b.create(op.info(), mine, op.attrs, {}, types);
      for (int r = 0; r < op.num_results(); ++r)
        out[static_cast<std::size_t>(r)].push_back(made.result(r));
    }
    return out;
  }
  /// On the numbers that quantised operands stand for; results are quantised again.
  static std::vector<Parts> numbers(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    Values plain;
    std::vector<Type> types;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Type& type = op.operands[i]->type();
      plain.push_back(type.is_quantized() ? dequantize(b, operands[i][0], type)
                                          : value_of(b, operands[i], type));
    }
    for (Value* r : op.results()) types.push_back(r->type().expressed());
    Op& made = b.create(op.info(), plain, op.attrs, {}, types);
    std::vector<Parts> out;
    for (int r = 0; r < op.num_results(); ++r) {
      const Type& type = op.result(r)->type();
      out.push_back(type.is_quantized()
                        ? Parts{quantize(b, made.result(r), type, part_types(type)[0].dtype())}
                        : parts_of(b, made.result(r)));
    }
    return out;
  }
  /// On numbers of the wide types, each result rounded once.
  std::vector<Parts> widened(const Op& op, const std::vector<Parts>& operands, Builder& b) {
    Values wide;
    std::vector<Type> types;
    for (std::size_t i = 0; i < operands.size(); ++i)
      wide.push_back(decode(b, operands[i][0], op.operands[i]->dtype()));
    for (Value* r : op.results()) types.push_back(r->type().with(wide_type(r->dtype())));
    Op& made = b.create(op.info(), wide, op.attrs, {}, types);
    std::vector<Parts> out;
    for (int r = 0; r < op.num_results(); ++r)
      out.push_back({encode(b, made.result(r), op.result(r)->dtype())});
    return out;
  }

  std::unordered_map<const Value*, Parts> parts_;  // lookup only
  std::vector<std::unique_ptr<Block>>
      bodies_;  // of operations said by others: their values are keys
};

/// `op` alone: a copy on arguments of its operands' types. Regions must not use values from
/// outside.
std::unique_ptr<Block> alone(const Op& op) {
  auto block = std::make_unique<Block>();
  ir::ValueMap map;
  Values arguments;
  for (Value* v : op.operands) arguments.push_back(block->add_argument(v->type()));
  for (std::size_t i = 0; i < arguments.size(); ++i) map.set(op.operands[i], arguments[i]);
  Builder b(*block);
  b.set_location(op.where);
  Op& copy = ir::clone(b, op, map);
  for (std::size_t i = 0; i < arguments.size(); ++i) copy.operands[i] = arguments[i];
  block->results = copy.results();
  return block;
}

/// The complex value of which these are the parts as they were read, or null: nothing needs to be
/// put together again.
Value* whole_of(const Parts& parts, const Type& type) {
  const Op *re = parts[0]->op(), *im = parts[1]->op();
  bool read = re != nullptr && im != nullptr && re->name() == "stablehlo.real" &&
              im->name() == "stablehlo.imag";
  return read && re->operand(0) == im->operand(0) && re->operand(0)->type() == type ? re->operand(0)
                                                                                    : nullptr;
}

}  // namespace

bool is_legal(DType dtype) { return loop::is_loop_dtype(dtype); }

DType wide_type(DType dtype) {
  if (is_legal(dtype) || is_complex(dtype)) return dtype;
  return is_float(dtype) ? DType::f32 : is_signed(dtype) ? DType::i8 : DType::ui8;
}

std::vector<Type> part_types(const Type& type) {
  if (type.is_quantized()) return part_types(type.storage());
  if (!type.is_tensor() || is_legal(type.dtype())) return {type};
  if (is_complex(type.dtype()))
    return {type.with(real_part(type.dtype())), type.with(real_part(type.dtype()))};
  return {type.with(is_minifloat(type.dtype()) ? DType::ui8 : wide_type(type.dtype()))};
}

Value* decode(Builder& b, Value* part, DType dtype) {
  if (!is_minifloat(dtype)) return part;
  return decode_float(b, part, dtype);
}

Value* encode(Builder& b, Value* number, DType dtype) {
  if (is_legal(dtype)) return number;
  if (is_minifloat(dtype)) return encode_float(b, number, dtype);
  Value* spare = full_like(b, number, 8 - bit_width(dtype));
  Value* high = shift_left(b, number, spare);
  return is_signed(dtype) ? shift_right_arithmetic(b, high, spare)
                          : shift_right_logical(b, high, spare);
}

Parts parts_of(Builder& b, Value* v) {
  if (v->type().is_quantized()) return parts_of(b, bits_as(b, v, v->type().storage()));
  if (is_legal(v->dtype())) return {v};
  if (is_complex(v->dtype())) return {real(b, v), imag(b, v)};
  return {storage_cast(b, v, part_types(v->type())[0].dtype())};
}

Value* value_of(Builder& b, const Parts& parts, const Type& type) {
  if (type.is_quantized()) return bits_as(b, value_of(b, parts, type.storage()), type);
  if (is_legal(type.dtype())) return parts[0];
  if (is_complex(type.dtype())) {
    Value* whole = whole_of(parts, type);
    return whole != nullptr ? whole : complex(b, parts[0], parts[1]);
  }
  return storage_cast(b, parts[0], type.dtype());
}

bool needs_legalizing(const Op& op) {
  bool found = false;
  auto look = [&](const Op& o) {
    auto strange = [](const Value* v) {
      return v->type().is_tensor() && (v->type().is_quantized() || !is_legal(v->dtype()));
    };
    for (Value* v : o.operands) found |= strange(v);
    for (Value* v : o.results()) found |= strange(v);
  };
  look(op);
  for (const auto& region : op.regions) {
    ir::walk(*region, look);
    for (const auto& a : region->arguments())
      found |= a->type().is_tensor() && (a->type().is_quantized() || !is_legal(a->dtype()));
  }
  return found;
}

bool takes_memory(const Op& op) {
  const OpDef& d = def(op);
  if (!d.traits.takes_complex) return false;
  if (d.split != nullptr || op.info().has_effect) return true;
  auto passes = [](const Value* v) { return !v->type().is_tensor() || is_complex(v->dtype()); };
  Values results = op.results();
  return std::any_of(op.operands.begin(), op.operands.end(), passes) ||
         std::any_of(results.begin(), results.end(), passes);
}

std::unique_ptr<Block> legalize(const Block& block) {
  auto out = std::make_unique<Block>();
  Legalizer().edge(block, *out);
  return out;
}
std::unique_ptr<Block> legalize(const Op& op) { return legalize(*alone(op)); }
std::unique_ptr<Block> legalize_region(const Block& region) { return Legalizer().region(region); }

std::unique_ptr<Block> decomposition(const Op& op) {
  std::vector<Type> types;
  for (Value* v : op.operands) types.push_back(v->type());
  return decomposition(op, types);
}

std::unique_ptr<Block> decomposition(const Op& op, std::span<const Type> operands) {
  const OpDef& d = def(op);
  STRATA_CHECK(d.decompose != nullptr, "{} has no decomposition", op.name());
  auto block = std::make_unique<Block>();
  for (const Type& type : operands) block->add_argument(type);
  Builder b(*block);
  b.set_location(op.where);
  Values arguments = block->argument_values();
  block->results = d.decompose(b, op, arguments);
  return block;
}

Literals evaluate_decomposed(const Op& op, std::span<const Literal> operands,
                             Evaluator& evaluator) {
  std::vector<Type> types;
  for (const Literal& x : operands) types.push_back(x.type());
  return evaluator.run(*decomposition(op, types), operands);
}

}  // namespace strata::op
