#include "strata/partition/mesh_groups.h"

#include <algorithm>
#include <functional>
#include <map>

#include "strata/base/error.h"
#include "strata/mesh/cursor.h"
#include "strata/partition/sharding.h"

namespace strata::spmd {
namespace {

/// Bounds the table that a short text can ask for.
constexpr std::int64_t kMostDevices = 1 << 20;

struct Groups {
  std::string mesh;
  std::vector<mesh::AxisRef> axes;
};

Groups parse(std::string_view text) {
  Groups out;
  mesh::Cursor in(text);
  in.expect("#stablehlo.replica_group_mesh_axes");
  in.expect("<");
  in.expect("mesh");
  in.expect("=");
  in.expect("@");
  out.mesh = in.next_is("\"") ? in.quoted() : in.word();
  in.expect(",");
  in.expect("axes");
  in.expect("=");
  in.expect("[");
  if (!in.consume("]")) {
    do {
      in.expect("#stablehlo.axis_ref");
      in.expect("<");
      in.expect("name");
      in.expect("=");
      std::string name = in.quoted();
      if (in.consume(",")) {
        in.expect("sub_axis_info");
        in.expect("=");
        in.expect("(");
        std::int64_t pre = in.number();
        in.expect(")");
        out.axes.emplace_back(std::move(name), pre, in.number());
      } else {
        out.axes.emplace_back(std::move(name));
      }
      in.expect(">");
    } while (in.ok() && in.consume(","));
    in.expect("]");
  }
  in.expect(">");
  if (in.ok() && !in.at_end()) in.fail("something follows the groups");
  if (!in.ok()) throw Error("replica_groups", "{}: {}", text, in.status().message());
  return out;
}

Literal table(const Groups& groups, const mesh::Mesh& m) {
  if (m.size() > kMostDevices)
    throw Error("replica_groups", "groups over the {} devices of @{}", m.size(), groups.mesh);
  std::int64_t size = 1;
  for (const mesh::AxisRef& a : groups.axes) {
    auto axis = m.abstract().find(a.name);
    if (!axis)
      throw Error("replica_groups", "\"{}\" is no axis of @{} {}", a.name, groups.mesh,
                  m.to_shardy());
    const std::int64_t whole = m.axes()[*axis].size;
    if (a.part && (a.part->pre < 1 || a.part->size < 1 || whole % a.part->pre != 0 ||
                   whole / a.part->pre % a.part->size != 0))
      throw Error("replica_groups", "({}){} is no part of axis \"{}\" of size {}", a.part->pre,
                  a.part->size, a.name, whole);
    size *= a.size(m.abstract());
  }
  auto twice = [&] {
    return Error("replica_groups", "an axis of @{} is named twice", groups.mesh);
  };
  if (m.size() % size != 0) throw twice();
  // Places of the mesh that differ along these axes alone have one key.
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> by_key;
  for (std::int64_t i = 0; i < m.size(); ++i) {
    std::vector<std::int64_t> key = m.abstract().coordinates(i);
    std::int64_t at = 0;
    for (const mesh::AxisRef& a : groups.axes) {
      const std::int64_t n = a.size(m.abstract()), c = a.coordinate(m.abstract(), i);
      const std::size_t axis = *m.abstract().find(a.name);
      at = at * n + c;
      key[axis] -= c * (m.axes()[axis].size / (a.pre() * n));
    }
    auto& members = by_key[key];
    members.resize(static_cast<std::size_t>(size), -1);
    members[static_cast<std::size_t>(at)] = m.devices()[static_cast<std::size_t>(i)];
  }
  std::vector<std::int64_t> flat;
  for (const auto& [key, members] : by_key) {
    if (std::count(members.begin(), members.end(), -1) > 0) throw twice();
    flat.insert(flat.end(), members.begin(), members.end());
  }
  return Literal::of(Shape{static_cast<std::int64_t>(by_key.size()), size}, flat);
}

}  // namespace

void list_groups(ir::Module& module) {
  Meshes meshes(module);
  std::function<void(ir::Block&)> visit = [&](ir::Block& block) {
    for (const auto& op : block.ops()) {
      if (const std::string* text = text_of(op->attrs, "replica_groups")) {
        Groups groups = parse(*text);
        const mesh::Mesh* m = meshes.find(groups.mesh);
        if (m == nullptr)
          throw Error("replica_groups", "{} names no mesh of the module", *text)
              .at(op->where.text());
        op->attrs.set("replica_groups", table(groups, *m));
      }
      for (const auto& region : op->regions) visit(*region);
    }
  };
  for (const auto& f : module.functions) visit(f->body);
}

}  // namespace strata::spmd
