#include "strata/op/rules.h"

#include "strata/op/build.h"
#include "strata/op/constrained.h"

namespace strata::op {

// ---- inference ---------------------------------------------------------------------------------

std::string_view short_name(std::string_view name) {
  std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

void expect_operands(std::string_view op, std::span<Value* const> operands, int count) {
  if (static_cast<int>(operands.size()) != count)
    throw Error(std::string(op), "expected {} operand{}, got {}", count, count == 1 ? "" : "s",
                operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!operands[i]->type().is_tensor())
      throw Error(std::string(op), "operands must be arrays, got {} (I{})",
                  operands[i]->type().to_string(), i + 1);
}

/// Every dtype is, since types that kernels do not know are said by others (op/legalize.h).
void expect_storage(std::string_view, DType) {}

void expect_length(std::string_view op, const char* what, const Ints& list, int rank) {
  if (static_cast<int>(list.size()) == rank) return;
  const Constrained c(what);
  throw Error(std::string(op), "{} has {} entries for an array of rank {}{}", c.what, list.size(),
              rank, c.number);
}

bool may_equal(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.size() == b.size();
  if (a.is_static() && b.is_bounded()) return a.size() <= b.bound();
  if (b.is_static() && a.is_bounded()) return b.size() <= a.bound();
  return true;
}

bool may_equal(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d)
    if (!may_equal(a.dim(d), b.dim(d))) return false;
  return true;
}

Dim merged(const Dim& a, const Dim& b) {
  if (a.is_static()) return a;
  if (b.is_static()) return b;
  if (a.is_bounded() && b.is_bounded()) return a.bound() <= b.bound() ? a : b;
  if (a.is_symbolic() || a.is_bounded()) return a;
  return b;
}

Shape merged(const Shape& a, const Shape& b) {
  std::vector<Dim> dims;
  for (int d = 0; d < a.rank(); ++d) dims.push_back(merged(a.dim(d), b.dim(d)));
  return Shape(std::move(dims));
}

// ---- derivative --------------------------------------------------------------------------------

JvpResult zero_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const>) {
  JvpResult out{again(b, op, operands).results(), {}};
  out.tangents.assign(out.results.size(), nullptr);
  return out;
}

JvpResult linear_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                     std::span<Value* const> tangents) {
  if (all_null(tangents)) return zero_jvp(b, op, operands, tangents);
  Values results = again(b, op, operands).results();
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(or_zeros(b, tangents[i], operands[i]));
  return {std::move(results), again(b, op, full).results()};
}

Value* or_zeros(Builder& b, Value* tangent, Value* primal) {
  return tangent ? tangent : zeros_like(b, primal);
}

bool all_null(std::span<Value* const> values) {
  for (Value* v : values)
    if (v) return false;
  return true;
}

// ---- batching ----------------------------------------------------------------------------------

Type with_leading(const Type& type, std::int64_t size) {
  std::vector<Dim> dims = type.shape().dims();
  dims.insert(dims.begin(), Dim(size));
  Type out = type.with(Shape(std::move(dims)));
  if (!type.is_quantized() || type.quantization()->axis < 0) return out;
  Quantization q = *type.quantization();
  ++q.axis;
  return out.with(std::move(q));
}

Value* batched_operand(Builder& b, Value* v, bool batched, std::int64_t size) {
  return batched ? v : broadcast_leading(b, v, size);
}

Batched elementwise_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                          const std::vector<bool>& batched, std::int64_t size) {
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  std::vector<Type> types;
  for (Value* r : op.results()) types.push_back(with_leading(r->type(), size));
  Op& out = b.create(op.info(), std::move(full), op.attrs, {}, std::move(types));
  return {out.results(), std::vector<bool>(static_cast<std::size_t>(out.num_results()), true)};
}

Batched constant_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>&, std::int64_t) {
  return {again(b, op, operands).results(), {false}};
}

Ints shifted(const Ints& dims) {
  Ints out;
  for (std::int64_t d : dims) out.push_back(d + 1);
  return out;
}

Ints prepended(std::int64_t first, const Ints& list) {
  Ints out{first};
  out.insert(out.end(), list.begin(), list.end());
  return out;
}

// ---- sharding ----------------------------------------------------------------------------------

FactorTable::FactorTable(const Op& op) {
  for (Value* v : op.operands) table_.operands.emplace_back(static_cast<std::size_t>(v->rank()));
  for (Value* v : op.results()) table_.results.emplace_back(static_cast<std::size_t>(v->rank()));
}

int FactorTable::factor(char kind, std::int64_t size) {
  table_.kinds.push_back(kind);
  table_.sizes.push_back(size);
  return static_cast<int>(table_.sizes.size()) - 1;
}

Factors pointwise_factors(const Op& op) {
  FactorTable t(op);
  int rank = op.result()->rank();
  for (int d = 0; d < rank; ++d) {
    const Dim& dim = op.result()->shape().dim(d);
    int f = t.factor('p', dim.is_static() ? dim.size() : dim.bound());
    for (int i = 0; i < static_cast<int>(op.operands.size()); ++i)
      if (op.operand(i)->rank() == rank) t.operand(i, d, f);
    for (int i = 0; i < op.num_results(); ++i)
      if (op.result(i)->rank() == rank) t.result(i, d, f);
  }
  return t.take();
}

Factors resized_factors(const Op& op) {
  Factors out = pointwise_factors(op);
  for (int d = 0; d < op.result()->rank(); ++d)
    for (Value* v : op.operands)
      if (v->rank() == op.result()->rank() && !(v->shape().dim(d) == op.result()->shape().dim(d)))
        out.kinds[static_cast<std::size_t>(d)] = 'm';
  return out;
}

// ---- cost --------------------------------------------------------------------------------------

namespace {

double count_of(const Value* v) {
  double n = 1;
  for (const Dim& d : v->shape().dims()) n *= d.bound() >= 0 ? static_cast<double>(d.bound()) : 1.0;
  return n;
}

}  // namespace

double bytes_moved(const Op& op) {
  double bytes = 0;
  for (Value* v : op.operands) bytes += count_of(v) * static_cast<double>(byte_width(v->dtype()));
  for (Value* v : op.results()) bytes += count_of(v) * static_cast<double>(byte_width(v->dtype()));
  return bytes;
}

double elements(const Op& op) { return count_of(op.result()); }

Work move_cost(const Op& op) { return {0, bytes_moved(op)}; }

// ---- lowering ----------------------------------------------------------------------------------

loop::Inst* LowerContext::operand_at(const Op& op, int i, const loop::Index& offset) {
  std::vector<std::int64_t> sizes = op.operand(i)->shape().sizes();
  std::vector<loop::Index> index(sizes.size());
  loop::Index rest = offset;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    index[d] = sizes[d] == 1 ? loop::Index(0) : d == 0 ? rest : b.mod(rest, sizes[d]);
    if (d > 0 && sizes[d] != 1) rest = b.div(rest, sizes[d]);
  }
  return operand(op, i, index);
}

loop::Inst* LowerContext::at(const Value* v, std::span<const loop::Index>) {
  STRATA_UNREACHABLE("this kernel sees only the operands of one operation, not a {} from outside",
                     v->type().to_string());
}

loop::Index linearized(std::span<const loop::Index> index, std::span<const std::int64_t> sizes) {
  loop::Index at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at = at * sizes[d] + index[d];
  return at;
}

loop::Inst* all_of(loop::Builder& b, std::span<loop::Inst* const> conditions) {
  loop::Inst* all = b.constant_int(DType::i1, 1);
  for (loop::Inst* c : conditions) all = b.binary(loop::Opcode::and_, all, c);
  return all;
}

}  // namespace strata::op
