#include "strata/compile/kernel/gemm/gemm_accumulation.h"

#include "strata/op/reduce/combiner.h"

namespace strata::compile {

void add_parts(loop::Builder& b, const std::vector<Inst*>& sums, int lanes, DType type,
               const std::function<void(const std::function<void()>& add)>& each) {
  const DType dtype = sums.front()->type.dtype;
  std::vector<Inst*> totals;
  for (std::size_t i = 0; i < sums.size(); ++i)
    totals.push_back(b.local(b.constant(type, 0.0), lanes));
  each([&] {
    for (std::size_t i = 0; i < sums.size(); ++i)
      b.set(totals[i], b.binary(op::opcode(op::Combiner::add, type), b.get(totals[i]),
                                b.convert(type, b.get(sums[i]))));
  });
  for (std::size_t i = 0; i < sums.size(); ++i) b.set(sums[i], b.convert(dtype, b.get(totals[i])));
}

void accumulate_chains(loop::Builder& b, const op::SumChains& chains,
                       const std::vector<Inst*>& sums, int lanes, TermKind kind, std::int64_t terms,
                       const std::function<void(const Index& s, std::int64_t n)>& chain) {
  const DType dtype = sums.front()->type.dtype;
  auto add = [&](const Index& first, std::int64_t all, std::int64_t each, DType type,
                 const std::function<void(const Index& s, std::int64_t n)>& body) {
    add_parts(b, sums, lanes, type, [&](const std::function<void()>& add_one) {
      const std::int64_t whole = all / each, steps = steps_of(kind, each);
      b.for_(0, whole, 1, [&](Index i) {
        body(first + i * steps, each);
        add_one();
      });
      if (all % each == 0) return;
      body(first + whole * steps, all % each);
      add_one();
    });
  };
  auto group = [&](const Index& first, std::int64_t n) {
    add(first, n, chains.chain, dtype, [&](const Index& s, std::int64_t some) {
      for (Inst* sum : sums) b.set(sum, b.constant(dtype, 0.0));
      chain(s, some);
    });
  };
  if (terms <= chains.group) return group(0, terms);
  add(0, terms, chains.group, chains.wide ? op::pieces_type(dtype) : dtype, group);
}

}  // namespace strata::compile
