#include "strata/partition/data_flow.h"

#include "strata/op/control.h"
#include "strata/op/control/scan.h"
#include "strata/op/lowering_kind.h"

namespace strata::spmd {

using ir::Block;
using ir::Op;
using ir::Value;
using op::Structured;

DataFlow::DataFlow(const Block& block) {
  ir::walk(block, [&](const Op& op) { add(op); });
}

const Value* DataFlow::owner(const Value* v) const {
  auto it = owner_of.find(v);
  return it == owner_of.end() ? v : it->second;
}

/// `leads_source` leading dimensions of the sources, and `leads_owner` of the owner, are theirs
/// alone.
void DataFlow::edge(const Op& op, std::vector<const Value*> sources, const Value* owner,
                    std::vector<const Value*> targets, int leads_source, int leads_owner) {
  if (!owner->type().is_tensor() || !owner->shape().is_static()) return;
  Edge e{std::move(sources), owner, std::move(targets), {}, &op};
  std::vector<std::vector<int>> of_owner(static_cast<std::size_t>(owner->rank()));
  for (int d = 0; d < owner->rank(); ++d) {
    of_owner[static_cast<std::size_t>(d)] = {d};
    e.factors.kinds += 'p';
    e.factors.sizes.push_back(owner->shape()[d]);
  }
  for (const Value* s : e.sources) {
    std::vector<std::vector<int>> dims;
    for (int d = 0; d < leads_source; ++d) {
      dims.push_back({static_cast<int>(e.factors.kinds.size())});
      e.factors.kinds += 'n';
      e.factors.sizes.push_back(s->shape()[d]);
    }
    for (int d = leads_owner; d < owner->rank(); ++d) dims.push_back({d});
    e.factors.operands.push_back(std::move(dims));
  }
  e.factors.results = {std::move(of_owner)};
  for (const Value* t : e.targets) owner_of[t] = owner;
  edge_of[owner] = static_cast<int>(edges.size());
  edges_after[&op].push_back(static_cast<int>(edges.size()));
  edges.push_back(std::move(e));
}

void DataFlow::add(const Op& op) {
  if (op::is_structured(op, Structured::Kind::while_)) {
    for (int i = 0; i < op.num_results(); ++i)
      edge(op, {op.operand(i), op.region(1).results[static_cast<std::size_t>(i)]}, op.result(i),
           {op.region(0).argument(i), op.region(1).argument(i)});
  } else if (op::is_structured(op, Structured::Kind::case_)) {
    for (int i = 0; i < op.num_results(); ++i) {
      std::vector<const Value*> sources;
      for (const auto& r : op.regions) sources.push_back(r->results[static_cast<std::size_t>(i)]);
      edge(op, std::move(sources), op.result(i));
    }
  } else if (op::is_structured(op, Structured::Kind::scan)) {
    op::ScanParts s(op);
    const Block& body = op.region(0);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      bool is_carry = i >= s.consts && i < s.consts + s.carries;
      if (!is_carry)
        edge(op, {op.operands[i]}, body.argument(static_cast<int>(i)), {},
             i >= s.consts + s.carries ? 1 : 0);
    }
    for (std::size_t i = 0; i < body.results.size(); ++i) {
      const Value* result = op.result(static_cast<int>(i));
      if (i < s.carries)
        edge(op, {op.operands[s.consts + i], body.results[i]}, result,
             {body.argument(static_cast<int>(s.consts + i))});
      else
        edge(op, {body.results[i]}, result, {}, 0, 1);
    }
  } else if (op.regions.size() > 0 &&
             (op.name() == "sdy.manual_computation" ||
              (op::def(op).decompose == op::call_first_region &&
               op.region(0).num_arguments() == static_cast<int>(op.operands.size())))) {
    const Block& body = op.region(0);
    for (int i = 0; i < body.num_arguments(); ++i) edge(op, {op.operand(i)}, body.argument(i));
    for (int i = 0; i < op.num_results(); ++i)
      edge(op, {body.results[static_cast<std::size_t>(i)]}, op.result(i));
  }
}

}  // namespace strata::spmd
