#include "strata/transform/grouped_products.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "strata/mesh/sharding.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"

namespace strata::transform {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using ir::Values;

bool is_grouped(const Op& op) { return op.name() == "strata.gmm" || op.name() == "strata.tgmm"; }

/// chlo.ragged_dot of lhs, rhs and one list of sizes.
Value* ragged_dot(Builder& b, const Values& v, std::int64_t lhs_contract, std::int64_t rhs_contract,
                  op::Ints group) {
  const op::Ints none;
  return b
      .create("chlo.ragged_dot", v,
              {{"lhs_batching_dimensions", none},
               {"rhs_batching_dimensions", none},
               {"lhs_contracting_dimensions", op::Ints{lhs_contract}},
               {"rhs_contracting_dimensions", op::Ints{rhs_contract}},
               {"lhs_ragged_dimensions", op::Ints{0}},
               {"rhs_group_dimensions", std::move(group)}})
      .result();
}

/// A product without a batch. Sizes below zero count as zero, and rows after the groups are zero:
/// of these other compilers promise nothing.
Value* ragged(Builder& b, const Op& op, Values v) {
  v[2] = op::max(b, v[2], op::zeros_like(b, v[2]));
  if (op.name() == "strata.tgmm") return ragged_dot(b, v, 0, 0, {});
  const bool turned = op.attrs.has("transpose_rhs") && op.attr<bool>("transpose_rhs");
  Value* y = ragged_dot(b, v, 1, turned ? 2 : 1, {0});
  const Type rows(v[2]->dtype(), Shape{y->shape()[0]});
  Value* end = op::reduce_sum(b, v[2], {0});
  Value* has =
      op::compare(b, op::iota(b, rows, 0), op::broadcast_in_dim(b, end, rows.shape(), {}), "LT");
  return op::select(b, op::broadcast_in_dim(b, has, y->shape(), {0}), y, op::zeros_like(b, y));
}

/// x without its first dimension, which is 1; with one.
Value* without_first(Builder& b, Value* x) {
  const std::vector<Dim>& dims = x->shape().dims();
  return op::reshape(b, x, Shape(std::vector<Dim>(dims.begin() + 1, dims.end())));
}
Value* with_first(Builder& b, Value* x) {
  std::vector<Dim> dims = x->shape().dims();
  dims.insert(dims.begin(), Dim(1));
  return op::reshape(b, x, Shape(std::move(dims)));
}

/// How a constraint that the value comes from, by operations that keep its first dimension, cuts
/// that into `parts`.
class Cut {
 public:
  Cut(const mesh::AbstractMesh& mesh, std::int64_t parts) : mesh_(mesh), parts_(parts) {}

  std::optional<mesh::TensorSharding> of(Value* v) {
    const Op* op = v->op();
    if (op == nullptr || !v->type().is_tensor() || v->rank() == 0 ||
        !v->shape().dim(0).is_static() || v->shape()[0] != parts_ || seen_.size() > kMost ||
        !seen_.insert(op).second)
      return {};
    if (op->name() == "sdy.sharding_constraint") {
      auto s = mesh::parse_sharding(op->attr<ir::Opaque>("sharding").text);
      if (s && !s->dims.empty() && s->dims[0].size(mesh_) == parts_ &&
          std::all_of(s->dims[0].axes.begin(), s->dims[0].axes.end(),
                      [](const mesh::AxisRef& a) { return !a.part; }))
        return *s;
    }
    for (Value* operand : op->operands)
      if (auto s = of(operand)) return s;
    return {};
  }

 private:
  static constexpr std::size_t kMost = 1000;
  const mesh::AbstractMesh& mesh_;
  std::int64_t parts_;
  std::set<const Op*> seen_;
};

/// A product with a batch of as many as a mesh has parts: on each device its own.
Value* ragged_on_each(Builder& b, const Op& op, const Values& v, const mesh::TensorSharding& cut,
                      const mesh::AbstractMesh& mesh) {
  const auto on_first = [&](const Value* x) {
    mesh::TensorSharding s =
        mesh::TensorSharding::all_closed("", static_cast<std::size_t>(x->rank()));
    s.mesh = cut.mesh;
    s.dims[0].axes = cut.dims[0].axes;
    return s;
  };
  std::vector<mesh::TensorSharding> in;
  std::string axes;
  for (const Value* x : v) in.push_back(on_first(x));
  std::vector<mesh::AxisRef> names = cut.dims[0].axes;  // in the mesh's order
  std::sort(names.begin(), names.end(), [&](const mesh::AxisRef& x, const mesh::AxisRef& y) {
    return mesh::before(mesh, x, y);
  });
  for (const mesh::AxisRef& a : names) axes += (axes.empty() ? "" : ", ") + a.to_string();
  auto body = std::make_unique<ir::Block>();
  for (const Value* x : v) {
    std::vector<Dim> dims = x->shape().dims();
    dims.front() = Dim(1);
    body->add_argument(x->type().with(Shape(std::move(dims))));
  }
  Builder inner(*body);
  Values each;
  for (Value* x : body->argument_values()) each.push_back(without_first(inner, x));
  body->results = {with_first(inner, ragged(inner, op, std::move(each)))};
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(body));
  return b
      .create(op::def("sdy.manual_computation").info, v,
              ir::Attrs{
                  {"in_shardings", ir::Opaque{mesh::per_value_attribute(in)}},
                  {"out_shardings", ir::Opaque{mesh::per_value_attribute({on_first(op.result())})}},
                  {"manual_axes", ir::Opaque{"#sdy<manual_axes{" + axes + "}>"}}},
              std::move(regions), std::vector<Type>{op.result()->type()})
      .result();
}

bool is_static(const Op& op) {
  return op.result()->shape().is_static() && op.operand(0)->shape().is_static() &&
         op.operand(1)->shape().is_static();
}

/// strata.gmm or strata.tgmm as ragged_dot; null where it stays.
Value* as_ragged(Builder& b, const Op& op, const mesh::AbstractMesh* mesh) {
  if (!is_static(op)) return nullptr;
  const Values v(op.operands.begin(), op.operands.end());
  if (v[2]->rank() == 1) return ragged(b, op, v);
  if (v[2]->shape()[0] == 1) {
    Values each;
    for (Value* x : v) each.push_back(without_first(b, x));
    return with_first(b, ragged(b, op, std::move(each)));
  }
  if (mesh == nullptr) return nullptr;
  Cut cut(*mesh, v[2]->shape()[0]);
  for (Value* x : v)
    if (const auto s = cut.of(x)) return ragged_on_each(b, op, v, *s, *mesh);
  return nullptr;
}

}  // namespace

GroupedProducts products_of(std::string_view platform) {
  if (platform == "tpu") return GroupedProducts::ragged;
  return platform == "strata" ? GroupedProducts::as_they_are : GroupedProducts::dense;
}

void grouped_products(ir::Block& block, GroupedProducts how, const mesh::AbstractMesh* mesh) {
  if (how == GroupedProducts::as_they_are) return;
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> old = std::move(block.ops());
  block.ops().clear();
  Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      grouped_products(*region, how, mesh);
    }
    b.set_location(op->where);
    Value* made = nullptr;
    if (how == GroupedProducts::ragged && is_grouped(*op)) made = as_ragged(b, *op, mesh);
    const bool says = op->name() == "chlo.ragged_dot" &&
                      (how == GroupedProducts::dense || op->operand(2)->rank() > 1);
    if (says) made = ir::inline_block(b, *op::decomposition(*op), op->operands)[0];
    if (made != nullptr)
      map.set(op->result(0), made);
    else
      block.append(std::move(op));
  }
  block.results = map(block.results);
}

}  // namespace strata::transform
