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

  /// Notes that somebody annotated the value.
  void note(const Value* v) {
    if (auto who = shardings_.origins.find({v, -1}); who != shardings_.origins.end())
      if (costs_.try_emplace(who->second).second) annotations_.push_back(who->second);
  }
  /// " by model from argument 1": whose annotations cut what the collective is for along its axes.
  std::string causes(const ir::Function& f, const Move& m, const mesh::Mesh& mesh) {
    std::vector<const Value*> values;
    if (m.op == nullptr) {
      values.assign(f.body.results.begin(), f.body.results.end());
    } else {
      for (const Value* v : m.op->operands) values.push_back(v);
      for (int r = 0; r < m.op->num_results(); ++r) values.push_back(m.op->result(r));
    }
    std::string text;
    std::set<std::string> paid;
    for (std::size_t a = 0; a < mesh.axes().size(); ++a) {
      if (!moves_over(m, mesh.axes()[a].name)) continue;
      std::set<std::string> seen;
      for (const Value* v : values) {
        auto who = shardings_.origins.find({v, static_cast<int>(a)});
        if (who == shardings_.origins.end() || !seen.insert(who->second).second) continue;
        text += fmt::format("{}{} from {}", text.empty() ? "  by " : "; ", mesh.axes()[a].name,
                            who->second);
        if (!paid.insert(who->second).second) continue;
        if (costs_.try_emplace(who->second).second) annotations_.push_back(who->second);
        Cost& c = costs_[who->second];
        c.bytes += m.bytes * m.times;
        c.collectives += m.times;
      }
    }
    return text;
  }
  /// A line for each annotation. Where several ask for one collective it counts for each.
  std::string costs() const {
    std::string text;
    for (const std::string& who : annotations_) {
      const Cost& c = costs_.at(who);
      text += fmt::format("  {} : {} bytes in {} collective{}\n", who, c.bytes, c.collectives,
                          c.collectives == 1 ? "" : "s");
    }
    return text;
  }

  std::string out;

 private:
  struct Cost {
    std::int64_t bytes = 0, collectives = 0;
  };
  /// Whether the collective goes over the axis or a part of it; a permute may go over any.
  static bool moves_over(const Move& m, const std::string& axis) {
    if (m.axes.empty()) return true;
    for (std::size_t at = 0; at <= m.axes.size();) {
      const std::size_t end = std::min(m.axes.find(',', at), m.axes.size());
      const std::string name = m.axes.substr(at, end - at);
      if (name.substr(0, name.find(':')) == axis) return true;
      at = end + 1;
    }
    return false;
  }

  std::string dims(const Sharding& s) const {
    std::string text;
    for (const mesh::DimSharding& d : to_mesh(s, meshes_).dims)
      text += (text.empty() ? "" : ", ") + d.to_string();
    return "[" + text + "]";
  }
  const Meshes& meshes_;
  const Shardings& shardings_;
  std::map<std::string, Cost> costs_;
  std::vector<std::string> annotations_;  // in the order of the program
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

  for (int i = 0; i < f.body.num_arguments(); ++i) e.note(f.body.argument(i));
  ir::walk(f.body, [&](const Op& op) {
    for (int i = 0; i < op.num_results(); ++i) e.note(op.result(i));
  });
  e.out += "collectives, with the bytes that each device receives\n";
  double total = 0;
  for (const Move& m : program.moves) {
    total += static_cast<double>(m.bytes * m.times);
    e.out += fmt::format("  {}{} {}{}  for {}{}\n", m.kind, m.axes.empty() ? "" : " over " + m.axes,
                         m.bytes, m.times > 1 ? fmt::format(" x {}", m.times) : "", m.why,
                         e.causes(f, m, mesh));
  }
  double arguments = 0, results = 0;
  for (std::size_t i = 0; i < program.arguments.size(); ++i)
    arguments += held(grid, f.body.argument(static_cast<int>(i)), program.arguments[i]);
  for (std::size_t i = 0; i < program.results.size(); ++i)
    results += held(grid, f.body.results[i], program.results[i]);
  e.out += fmt::format("  {:.0f} bytes in all\n", total);
  e.out += "what each annotation asks for\n" + e.costs();
  e.out += fmt::format("each device holds {:.0f} bytes of arguments and {:.0f} of results\n",
                       arguments, results);
  return e.out;
}

}  // namespace strata::spmd
