// One operand of a product: its dimensions by role, and the element at a place of each.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/compile/kernel/elemental_emitter.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {

/// The sums from which a product goes on (strata.dot_add), or null.
inline const ir::Value* given_sums(const ir::Op& product) {
  return product.operands.size() > 2 ? product.operand(2) : nullptr;
}

struct GemmOperand {
  const ir::Value* value = nullptr;
  std::vector<int> batch, free, contract;  // free: ascending
  int minor = -1;  // along which neighbours are in memory, where that is known (fusion_access.h)
  bool flips = false;      // of bytes the highest bit is turned around, so that signed ones are 128
                           // more and unsigned, unsigned ones 128 less and signed
  std::int64_t ahead = 0;  // by how many elements of memory what is read along the free dimensions
                           // is fetched before it is needed

  GemmOperand(const ir::Value* v, std::vector<int> batch_dims, std::vector<int> contract_dims)
      : value(v),
        batch(std::move(batch_dims)),
        free(op::free_dims(v->rank(), batch, contract_dims)),
        contract(std::move(contract_dims)) {}

  Shape part(const std::vector<int>& dims) const {
    std::vector<Dim> out;
    for (int d : dims) out.push_back(value->shape().dim(d));
    return Shape(out);
  }
  std::int64_t size(const std::vector<int>& dims) const { return part(dims).count(); }
  std::vector<Index> index(loop::Builder& b, Index batch_at, Index free_at, Index k) const {
    std::vector<Index> out(static_cast<std::size_t>(value->rank()));
    auto place = [&](const std::vector<int>& dims, Index at) {
      std::vector<Index> index = delinearize_from_front(b, part(dims), at);
      for (std::size_t i = 0; i < dims.size(); ++i)
        out[static_cast<std::size_t>(dims[i])] = index[i];
    };
    place(batch, batch_at);
    place(free, free_at);
    place(contract, k);
    return out;
  }
  /// Whether neighbours in k are neighbours in memory; as far as the operand's own shape tells,
  /// where nothing else does.
  bool contracts_minor() const {
    if (minor >= 0) return std::find(contract.begin(), contract.end(), minor) != contract.end();
    for (int d = value->rank() - 1; d >= 0; --d) {
      if (value->shape()[d] == 1) continue;
      return std::find(contract.begin(), contract.end(), d) != contract.end();
    }
    return false;
  }
};

}  // namespace strata::compile
