#include "strata/op/control/narrow.h"

#include "strata/op/calculus/support.h"
#include "strata/op/catalog.h"
#include "strata/op/control.h"
#include "strata/op/control/scan.h"

namespace strata::op {
namespace {

using Flags = std::vector<bool>;

// A copy of the block that returns only some results and holds what they need.
BlockPtr returning(const Block& block, const Flags& used) {
  BlockPtr out = ir::clone(block);
  out->results = filter(out->results, used);
  ir::remove_dead(*out);
  return out;
}

Values narrow_scan(Builder& b, const Op& op, const Flags& used) {
  ScanParts s(op);
  Flags results = used;
  BlockPtr body;
  for (bool grown = true; grown;) {
    grown = false;
    body = returning(s.body, results);
    Flags arguments = used_arguments(*body);
    for (std::size_t i = 0; i < s.carries; ++i)
      if (arguments[s.consts + i] && !results[i]) results[i] = grown = true;
  }
  Flags carries = part(results, 0, s.carries),
        arguments(static_cast<std::size_t>(body->num_arguments()), true);
  for (std::size_t i = 0; i < s.carries; ++i) arguments[s.consts + i] = carries[i];
  body->filter_arguments(arguments);
  Values out = scan(b, std::move(body), s.const_part(op.operands),
                    filter(s.carry_part(op.operands), carries), s.xs_part(op.operands),
                    {s.length, s.reverse});
  return spread(out, results);
}

Values narrow_while(Builder& b, const Op& op, const Flags& used) {
  Flags carries = either(used, used_arguments(op.region(0)));
  BlockPtr body;
  for (bool grown = true; grown;) {
    grown = false;
    body = returning(op.region(1), carries);
    Flags arguments = used_arguments(*body);
    for (std::size_t i = 0; i < carries.size(); ++i)
      if (arguments[i] && !carries[i]) carries[i] = grown = true;
  }
  BlockPtr cond = ir::clone(op.region(0));
  cond->filter_arguments(carries);
  body->filter_arguments(carries);
  return spread(while_(b, std::move(cond), std::move(body), filter(op.operands, carries)), carries);
}

Values narrow_branches(Builder& b, const Op& op, const Flags& used) {
  std::vector<BlockPtr> branches;
  for (const auto& region : op.regions) branches.push_back(returning(*region, used));
  return spread(b.create(op.info(), op.operands, op.attrs, std::move(branches)).results(), used);
}

Values narrow_remat(Builder& b, const Op& op, const Flags& used) {
  return spread(
      remat(b, returning(op.region(0), used), op.operands, op.attr<std::string>("policy")), used);
}

using Narrow = Values (*)(Builder&, const Op&, const Flags&);

Narrow rule(const Op& op) {
  const ir::OpInfo* info = &op.info();
  if (info == &scan_def().info) return narrow_scan;
  if (info == &while_def().info) return narrow_while;
  if (info == &case_def().info || info == &if_def().info) return narrow_branches;
  if (info == &remat_def().info) return narrow_remat;
  return nullptr;
}

}  // namespace

bool can_narrow(const Op& op) { return rule(op) != nullptr; }

Values narrow(Builder& b, const Op& op, const Flags& used) {
  STRATA_CHECK(static_cast<int>(used.size()) == op.num_results(), "{} flags for {} results",
               used.size(), op.num_results());
  return rule(op)(b, op, used);
}

}  // namespace strata::op
