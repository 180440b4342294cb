#include "strata/partition/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace strata::spmd {
namespace {

using ir::Op;
using ir::Value;

class Explanation {
 public:
  Explanation(const Meshes& meshes, const Shardings& shardings)
      : meshes_(meshes), shardings_(shardings) {}

  void line(std::string name, const Value* v, const Sharding* s) {
    if (s == nullptr || (s->is_empty() && shardings_.origins.count({v, -1}) == 0)) return;
    std::string by;
    std::set<std::string> seen;
    const mesh::Mesh& mesh = *meshes_.find(s->mesh);
    std::vector<int> axes{-1};  // stands for the annotation of the value itself
    for (const DimSharding& d : s->dims)
      for (const SubAxis& a : d.axes) axes.push_back(a.axis);
    for (int a : axes) {
      auto origin = shardings_.origins.find({v, a});
      if (origin == shardings_.origins.end() || !seen.insert(origin->second).second) continue;
      by += fmt::format(
          "{}{}", by.empty() ? "" : "; ",
          a < 0 ? "its own annotation"
                : mesh.axes()[static_cast<std::size_t>(a)].name + " from " + origin->second);
    }
    out += fmt::format("  {} : {} {}{}\n", name, v->type().to_string(), dims(*s),
                       by.empty() ? "" : "  by " + by);
  }

  std::string out;

 private:
  std::string dims(const Sharding& s) const {
    std::string text;
    for (const mesh::DimSharding& d : to_mesh(s, meshes_).dims)
      text += (text.empty() ? "" : ", ") + d.to_string();
    return "[" + text + "]";
  }
  const Meshes& meshes_;
  const Shardings& shardings_;
};

double held(const Grid& grid, const Value* v, const Layout& layout) {
  return v->type().is_tensor() ? static_cast<double>(local_type(grid, v->type(), layout).bytes())
                               : 0;
}

}  // namespace

std::string explain(const ir::Function& f, const std::string& mesh_name, const mesh::Mesh& mesh,
                    const Meshes& meshes, const Shardings& shardings, const Grid& grid,
                    const Partitioned& program) {
  Explanation e(meshes, shardings);
  e.out = fmt::format(
      "@{} on {}mesh {}, {} devices\n", f.name,
      mesh_name.empty() || mesh_name.compare(0, 5, "mesh<") == 0 ? "" : "@" + mesh_name + ": ",
      mesh.to_shardy(), grid.devices());
  auto find = [&](const Value* v) -> const Sharding* {
    auto it = shardings.values.find(v);
    return it == shardings.values.end() ? nullptr : &it->second;
  };
  e.out += "values\n";
  for (int i = 0; i < f.body.num_arguments(); ++i)
    e.line(fmt::format("argument {}", i), f.body.argument(i), find(f.body.argument(i)));
  ir::walk(f.body, [&](const Op& op) {
    for (int i = 0; i < op.num_results(); ++i)
      e.line(fmt::format("{}{}{}", op.name(), op.num_results() > 1 ? fmt::format(" #{}", i) : "",
                         op.where.empty() ? "" : " at " + op.where.text()),
             op.result(i), find(op.result(i)));
  });
  for (std::size_t i = 0; i < shardings.results.size(); ++i)
    if (shardings.results[i])
      e.line(fmt::format("result {}", i), f.body.results[i], &*shardings.results[i]);

  e.out += "collectives, with the bytes that each device receives\n";
  double total = 0;
  for (const Move& m : program.moves) {
    total += static_cast<double>(m.bytes * m.times);
    e.out += fmt::format("  {}{} {}{}  for {}\n", m.kind, m.axes.empty() ? "" : " over " + m.axes,
                         m.bytes, m.times > 1 ? fmt::format(" x {}", m.times) : "", m.why);
  }
  double arguments = 0, results = 0;
  for (std::size_t i = 0; i < program.arguments.size(); ++i)
    arguments += held(grid, f.body.argument(static_cast<int>(i)), program.arguments[i]);
  for (std::size_t i = 0; i < program.results.size(); ++i)
    results += held(grid, f.body.results[i], program.results[i]);
  e.out += fmt::format("  {:.0f} bytes in all\n", total);
  e.out += fmt::format("each device holds {:.0f} bytes of arguments and {:.0f} of results\n",
                       arguments, results);
  return e.out;
}

}  // namespace strata::spmd
