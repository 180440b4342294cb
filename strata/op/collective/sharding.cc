// sdy.sharding_constraint, sdy.reshard, sdy.propagation_barrier, sdy.sharding_group: what a program
// says of where its arrays are. Kept and printed; on one device each gives on what it is given.
//
// Contract (Shardy, sdy dialect): one operand; a result of its type, but for sharding_group, which
// has none.
//   sharding_constraint, reshard: `sharding` is a text #sdy.sharding<...>; tangents and cotangents
//   are as the value does, but what is unreduced and `strata.reduced` (explicit mode) change places
//   in a cotangent; a batched value is free in its new dimension (as JAX batches it).
//   propagation_barrier: `allowed_direction`, a word; the way back is the other direction, but
//   nothing is lost by allowing the same. sharding_group: `group_id`.
#include "strata/mesh/sharding.h"

#include <set>
#include <sstream>
#include <string>
#include <variant>

#include "strata/ir/text/format_shardy.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

/// The axes over which explicit mode types a value as reduced: its cotangent is unreduced.
constexpr const char* kReduced = "strata.reduced";

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  // A token may be laid out too.
  if (operands.size() != 1) throw Error("sharding", "expected 1 operand, got {}", operands.size());
  return {operands[0]->type()};
}
std::vector<Type> infer_nothing(std::span<Value* const> operands, const Attrs&,
                                std::span<const std::unique_ptr<Block>>) {
  expect_operands("sharding_group", operands, 1);
  return {};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return op.num_results() == 0 ? Literals() : Literals{operands[0]};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  return {{again(b, op, operands).result()}, {again(b, op, tangents).result()}};
}
JvpResult group_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                    std::span<Value* const>) {
  again(b, op, operands);
  return {};
}

/// Of the cotangent: what is unreduced and what is reduced change places.
Attrs of_cotangent(const Op& op) {
  Attrs out = op.attrs;
  if (!out.has("sharding")) return out;
  const strata::Result<mesh::TensorSharding> said =
      mesh::parse_sharding(out.get<ir::Opaque>("sharding").text);
  if (!said || (said->unreduced.empty() && !out.has(kReduced))) return out;
  mesh::TensorSharding swapped = *said;
  swapped.unreduced.clear();
  std::set<std::string> reduced;
  if (out.has(kReduced)) {
    std::istringstream names(out.get<std::string>(kReduced));
    for (std::string name; std::getline(names, name, ',');) reduced.insert(name);
  }
  // In the mesh's order, where it stands there.
  if (const auto* mesh = std::get_if<mesh::Mesh>(&swapped.mesh)) {
    for (const mesh::MeshAxis& axis : mesh->axes())
      if (reduced.count(axis.name) > 0) swapped.unreduced.emplace_back(axis.name);
  } else {
    for (const std::string& name : reduced) swapped.unreduced.emplace_back(name);
  }
  // Axes that may hold addends may not be said to hold copies.
  std::erase_if(swapped.replicated,
                [&](const mesh::AxisRef& a) { return reduced.count(a.name) > 0; });
  std::string names;
  for (const mesh::AxisRef& a : said->unreduced) names += (names.empty() ? "" : ",") + a.name;
  out.set("sharding", ir::Opaque{swapped.to_attribute()});
  out.erase(kReduced);
  if (!names.empty()) out.set(kReduced, names);
  return out;
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> cotangents) {
  return {b.create(op.info(), {cotangents[0]}, of_cotangent(op)).result()};
}

/// "#sdy.sharding<@mesh, [{"x"}]>" with a dimension in front that may be sharded in any way.
std::string with_open_dimension(const std::string& sharding) {
  std::size_t list = sharding.find(", [");
  if (list == std::string::npos)
    throw Error("sharding_constraint", "{} has no list of dimensions", sharding);
  bool is_empty = sharding.compare(list + 3, 1, "]") == 0;
  return sharding.substr(0, list + 3) + (is_empty ? "{?}" : "{?}, ") + sharding.substr(list + 3);
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t) {
  Attrs attrs = op.attrs;
  if (batched[0] && attrs.has("sharding"))
    attrs.set("sharding", ir::Opaque{with_open_dimension(attrs.get<ir::Opaque>("sharding").text)});
  return {b.create(op.info(), {operands[0]}, std::move(attrs)).results(), {batched[0]}};
}
Batched group_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                    const std::vector<bool>&, std::int64_t) {
  again(b, op, operands);
  return {};
}

loop::Inst* element(LowerContext& context, const Op& op, int, std::span<const loop::Index> index) {
  return context.operand(op, 0, index);
}

OpDef identity(const char* name, const char* summary, const ir::TextFormat* text) {
  return {
      .info = {.name = name, .infer = infer, .text = text},
      .summary = summary,
      .traits = {.elementwise = true, .cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .decompose = give_on,
  };
}

OpDef group() {
  OpDef d =
      identity("sdy.sharding_group", "says that values are sharded alike (Shardy, sharding_group)",
               &ir::formats::sharding_group);
  d.info.infer = infer_nothing;
  d.traits = {};
  d.jvp = group_jvp;
  d.transpose = None{"no result"};
  d.batch = group_batch;
  d.shard = None{"no result"};
  d.lowering = None{"no result, and nothing to run"};
  d.decompose = nullptr;
  return d;
}

}  // namespace

std::span<const OpDef> sharding_defs() {
  static const OpDef rows[] = {
      identity("sdy.propagation_barrier",
               "its operand, over which shardings do not spread (Shardy, propagation_barrier)",
               &ir::formats::propagation_barrier),
      identity("sdy.reshard", "its operand, from here on laid out so (Shardy, reshard)",
               &ir::formats::sharding_constraint),
      identity("sdy.sharding_constraint", "its operand, laid out so (Shardy, sharding_constraint)",
               &ir::formats::sharding_constraint),
      group(),
  };
  return rows;
}

}  // namespace strata::op
