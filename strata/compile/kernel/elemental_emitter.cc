#include "strata/compile/kernel/elemental_emitter.h"

#include <algorithm>
#include <cstring>

#include "strata/op/legalize.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {

using loop::Opcode;

Index recombine(const Index& index) {
  // A quotient variable is `div(index x, constant d)`, its remainder `rem(index x, constant d)`
  // (loop::Builder::div).
  auto source = [](const Inst* v, Opcode code) -> const Inst* {
    return v->code == code && v->args.size() == 2 && v->args[1]->code == Opcode::constant ? v
                                                                                          : nullptr;
  };
  auto operand = [](const Inst* v) {
    return v->args[0]->code == Opcode::index ? v->args[0]->index : Index::of(v->args[0]);
  };
  for (const Index::Term& q : index.terms()) {
    const Inst* quotient = source(q.variable, Opcode::div);
    if (!quotient) continue;
    auto divisor = static_cast<std::int64_t>(quotient->args[1]->bits);
    for (const Index::Term& r : index.terms()) {
      const Inst* remainder = source(r.variable, Opcode::rem);
      if (!remainder || static_cast<std::int64_t>(remainder->args[1]->bits) != divisor) continue;
      if (!(operand(quotient) == operand(remainder)) || q.coefficient != r.coefficient * divisor)
        continue;
      Index rest =
          index - Index::of(q.variable) * q.coefficient - Index::of(r.variable) * r.coefficient;
      return recombine(rest + operand(quotient) * r.coefficient);
    }
  }
  return index;
}

Index linearize(loop::Builder&, const Shape& shape, std::span<const Index> index) {
  Index offset = 0;
  for (int i = 0; i < shape.rank(); ++i)
    offset = offset * shape[i] + index[static_cast<std::size_t>(i)];
  return recombine(offset);
}

std::vector<Index> delinearize(loop::Builder& b, const Shape& shape, const Index& offset) {
  std::vector<Index> out(static_cast<std::size_t>(shape.rank()));
  Index rest = offset;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    auto& slot = out[static_cast<std::size_t>(i)];
    std::int64_t size = shape[i];
    if (size <= 1) {
      slot = 0;
    } else if (i == 0) {
      slot = rest;
    } else {
      slot = b.mod(rest, size);
      rest = b.div(rest, size);
    }
  }
  return out;
}

std::vector<Index> delinearize_from_front(loop::Builder& b, const Shape& shape,
                                          const Index& offset) {
  std::vector<Index> out;
  Index rest = offset;
  std::int64_t behind = shape.count();
  for (int i = 0; i < shape.rank(); ++i) {
    behind = std::max<std::int64_t>(1, behind / std::max<std::int64_t>(1, shape[i]));
    if (shape[i] <= 1) {
      out.push_back(0);
      continue;
    }
    out.push_back(b.div(rest, behind));
    rest = b.mod(rest, behind);
  }
  return out;
}

Shape stored_shape(const Type& type) {
  if (!is_complex(type.dtype())) return type.shape();
  std::vector<Dim> dims = type.shape().dims();
  dims.emplace_back(2);
  return Shape(dims);
}

DType stored_dtype(const Type& type) {
  return is_complex(type.dtype()) ? real_part(type.dtype()) : op::part_types(type)[0].dtype();
}

Inst* constant_element(loop::Builder& b, const ir::Value* v, const Index& offset) {
  const ir::Op* op = v->op();
  if (!offset.is_constant() || !op || !op->operands.empty()) return nullptr;
  const ir::Attr* attr = op->attrs.find("value");
  const Literal* literal = attr ? std::get_if<Literal>(attr) : nullptr;
  DType dtype = v->dtype();
  if (!literal || !loop::is_loop_dtype(dtype) || bit_width(dtype) < 8 || offset.constant() < 0 ||
      offset.constant() >= literal->count())
    return nullptr;
  std::uint64_t bits = 0;
  std::memcpy(&bits,
              literal->data() + static_cast<std::size_t>(offset.constant()) * byte_width(dtype),
              byte_width(dtype));
  return b.constant_bits(dtype, bits);
}

Inst* ElementalEmitter::at(const ir::Value* v, std::span<const Index> index) {
  Index offset = linearize(b, stored_shape(v->type()), index);
  for (const Known& k : known_[v]) {
    if (!(k.offset == offset) || !b.is_open(k.body)) continue;
    const auto& guards = b.guards();
    if (k.guards.size() <= guards.size() &&
        std::equal(k.guards.begin(), k.guards.end(), guards.begin()))
      return k.inst;
  }
  Inst* result;
  if (inlined(v)) {
    result = computed(v, index);
  } else {
    result = known(v) ? constant_element(b, v, offset) : nullptr;
    if (!result) result = leaf(v, index, offset);
  }
  remember(v, offset, result);
  return result;
}

Inst* ElementalEmitter::computed(const ir::Value* v, std::span<const Index> index) {
  if (op::is_interleaving(*v->op()))
    return at(v->op()->operand(static_cast<int>(index.back().constant())),
              index.first(index.size() - 1));
  const auto* elemental = std::get_if<op::Elementwise>(&op::def(*v->op()).lowering);
  STRATA_CHECK(elemental != nullptr, "{} is computed here but has no elementwise lowering",
               v->op()->name());
  return elemental->element(*this, *v->op(), v->index(), index);
}

Inst* ElementalEmitter::at_offset(const ir::Value* v, const Index& offset) {
  return at(v, delinearize(b, v->shape(), offset));
}

std::vector<Inst*> ElementalEmitter::stored_at_offset(const ir::Value* v, const Index& offset) {
  std::vector<Index> index = delinearize(b, v->shape(), offset);
  if (!is_complex(v->dtype())) return {at(v, index)};
  std::vector<Inst*> out;
  for (std::int64_t part : {0, 1}) {
    index.emplace_back(part);
    out.push_back(at(v, index));
    index.pop_back();
  }
  return out;
}

void ElementalEmitter::remember(const ir::Value* v, const Index& offset, Inst* inst) {
  known_[v].push_back({offset, inst, b.current(), b.guards()});
}

}  // namespace strata::compile
