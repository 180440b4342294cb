#include "strata/compile/fuse/fusion.h"

#include <fmt/format.h>

namespace strata::compile {

using ir::Op;

const Literal* constant_literal(const Op& op) {
  if (!op.operands.empty() || op.num_results() != 1) return nullptr;
  const ir::Attr* attr = op.attrs.find("value");
  return attr ? std::get_if<Literal>(attr) : nullptr;
}

bool reduces_trailing(const Shape& operand, const std::vector<int>& dims) {
  std::vector<bool> reduced(static_cast<std::size_t>(operand.rank()), false);
  for (int d : dims) reduced[static_cast<std::size_t>(d)] = true;
  bool seen = false;
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand[i] == 1) continue;
    if (reduced[static_cast<std::size_t>(i)])
      seen = true;
    else if (seen)
      return false;
  }
  return true;
}

std::string explain(const Fusion& fusion) {
  std::string out;
  for (const Group& g : fusion.groups) {
    static const char* kinds[] = {"loops", "gemm", "update", "custom"};
    out += fmt::format("{} total={} rows={}{}:", kinds[static_cast<int>(g.kind)], g.total, g.rows,
                       g.flat ? " flat" : "");
    for (const ir::Op* op : g.roots) out += " " + op->name();
    out += fmt::format(" -> {} stored\n", g.outputs.size());
  }
  return out;
}

}  // namespace strata::compile
