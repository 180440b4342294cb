#include "strata/compile/kernel/gemm/gemm_block_sparsity.h"

namespace strata::compile {
namespace {

using loop::Opcode;

/// Whether any term of kSparseBlockSteps steps from s on is no zero.
Inst* any_term(loop::Builder& b, const SparseTileRange& terms, bool of_left, DType dtype,
               const Index& s) {
  Inst* found = b.local(b.constant_int(DType::i1, 0));
  auto note = [&](Inst* x) {
    Inst* some = b.compare(loop::Compare::ne, x,
                           is_float(dtype) ? b.constant(dtype, 0.0) : b.constant_int(dtype, 0));
    return b.set(found, b.binary(Opcode::or_, b.get(found), b.reduce(Opcode::or_, some)));
  };
  auto columns = [&](Index u) {
    b.vector(0, terms.columns, terms.lanes, [&](Index x) { note(terms.rhs(x, s + u)); });
  };
  auto rows = [&](Index u) {
    b.vector(0, terms.rows, 8, [&](Index r) { note(terms.lhs(r, s + u)); });
  };
  auto row = [&](Index r) {
    b.vector(0, kSparseBlockSteps, kSparseBlockSteps, [&](Index u) { note(terms.lhs(r, s + u)); });
  };
  // One of them tells that there is no block of zeros where none is.
  auto each = [&](std::int64_t count, const std::function<void(Index)>& look) {
    look(count - 1);
    if (count > 1)
      b.if_(b.unary(Opcode::not_, b.get(found)), [&] { b.for_(0, count - 1, 1, look); });
  };
  if (!of_left)
    each(kSparseBlockSteps, columns);
  else if (terms.rows_are_neighbours)
    each(kSparseBlockSteps, rows);
  else
    each(terms.rows, row);
  return b.get(found);
}

}  // namespace

std::pair<Index, Index> steps_with_terms(loop::Builder& b, const SparseTileRange& terms,
                                         bool of_left, DType dtype, std::int64_t count) {
  auto number = [&](std::int64_t x) { return b.constant_int(DType::i64, x); };
  Inst *first = b.local(number(0)), *last = b.local(number(count));
  auto is_zero = [&](Inst* at) {
    Inst* inside = b.binary(Opcode::min, b.binary(Opcode::max, at, number(0)), number(count - 1));
    Inst* some =
        any_term(b, terms, of_left, dtype, b.index_of(inside, 0, count - 1) * kSparseBlockSteps);
    return b.binary(Opcode::and_, b.compare(loop::Compare::lt, b.get(first), b.get(last)),
                    b.unary(Opcode::not_, some));
  };
  auto before_last = [&] { return b.binary(Opcode::sub, b.get(last), number(1)); };
  b.while_([&] { return is_zero(before_last()); }, [&] { b.set(last, before_last()); });
  b.while_([&] { return is_zero(b.get(first)); },
           [&] { b.set(first, b.binary(Opcode::add, b.get(first), number(1))); });
  return {b.index_of(b.get(first), 0, count), b.index_of(b.get(last), 0, count)};
}

}  // namespace strata::compile
