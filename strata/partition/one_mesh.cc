#include "strata/partition/one_mesh.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "strata/base/text.h"
#include "strata/ir/declaration.h"
#include "strata/partition/sharding.h"

namespace strata::spmd {
namespace {

using mesh::AxisRef;
using mesh::TensorSharding;

constexpr const char* kName = "one_mesh";

/// The devices of a mesh by numbers: axis k at place c adds c * strides[k]. None where they are not
/// 0 to n - 1 in such an order.
std::optional<std::vector<std::int64_t>> strides_of(const mesh::Mesh& m) {
  const auto& axes = m.axes();
  const auto& devices = m.devices();
  std::vector<std::int64_t> out(axes.size(), 0);
  std::int64_t step = m.size();
  if (devices.empty() || devices[0] != 0) return std::nullopt;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    step /= axes[k].size;
    if (axes[k].size > 1) out[k] = devices[static_cast<std::size_t>(step)];
    if (out[k] < 0) return std::nullopt;
  }
  for (std::int64_t i = 0; i < m.size(); ++i) {
    std::vector<std::int64_t> at = m.abstract().coordinates(i);
    std::int64_t device = 0;
    for (std::size_t k = 0; k < at.size(); ++k) device += at[k] * out[k];
    if (device != devices[static_cast<std::size_t>(i)] || device >= m.size()) return std::nullopt;
  }
  return out;
}

/// Every attribute of the module that names shardings, and the axes of manual computations.
class Texts {
 public:
  explicit Texts(ir::Module& module) {
    for (const auto& f : module.functions) {
      for (ir::Attrs& a : f->arg_attrs) add(a);
      for (ir::Attrs& a : f->result_attrs) add(a);
      visit(f->body);
    }
  }
  struct Text {
    ir::Attrs* attrs;
    const char* name;
    bool is_list;
    std::vector<TensorSharding> shardings;
  };
  struct Manual {
    ir::Attrs* attrs;
    std::vector<std::string> axes;
    std::string mesh;  // of its operands and results
  };
  std::vector<Text> texts;
  std::vector<Manual> manual;

 private:
  void visit(ir::Block& block) {
    for (const auto& op : block.ops()) {
      std::size_t before = texts.size();
      add(op->attrs);
      if (const auto* axes = std::get_if<ir::Opaque>(op->attrs.find("manual_axes"))) {
        Manual m{&op->attrs, parse_manual_axes(axes->text), ""};
        for (std::size_t i = before; i < texts.size() && m.mesh.empty(); ++i)
          for (const TensorSharding& s : texts[i].shardings)
            if (m.mesh.empty()) m.mesh = s.mesh_name();
        manual.push_back(std::move(m));
      }
      for (const auto& region : op->regions) visit(*region);
    }
  }
  void add(ir::Attrs& attrs) {
    for (const char* name : {"sdy.sharding", "sharding", "in_shardings", "out_shardings"}) {
      const ir::Attr* attr = attrs.find(name);
      const auto* opaque = attr ? std::get_if<ir::Opaque>(attr) : nullptr;
      if (opaque == nullptr) continue;
      if (opaque->text.find("sharding_per_value") != std::string::npos ||
          opaque->text.rfind("[", 0) == 0) {
        auto all = mesh::parse_shardings(opaque->text);
        if (all) texts.push_back({&attrs, name, true, std::move(*all)});
      } else if (auto one = mesh::parse_sharding(opaque->text)) {
        texts.push_back({&attrs, name, false, {std::move(*one)}});
      }
    }
  }
};

/// The digits of device numbers that all axes consist of, and axes in their terms.
class Digits {
 public:
  explicit Digits(std::int64_t devices) : cuts_{1, devices} {}
  /// The span of numbers along which an axis of this stride counts: [stride, stride * size).
  using Span = std::pair<std::int64_t, std::int64_t>;
  static std::optional<Span> span(const AxisRef& a, const mesh::Mesh& m,
                                  const std::vector<std::int64_t>& strides) {
    auto at = m.abstract().find(a.name);
    if (!at) return std::nullopt;
    std::int64_t stride = strides[*at], size = m.axes()[*at].size;
    std::int64_t end = a.pre() * a.size(m.abstract());
    if (size % end != 0) return std::nullopt;
    return Span{stride * (size / end), stride * (size / a.pre())};
  }
  void cut(const Span& s) { cuts_.insert({s.first, s.second}); }
  bool nest() const {
    for (auto it = cuts_.begin(); std::next(it) != cuts_.end(); ++it)
      if (*it < 1 || *std::next(it) % *it != 0) return false;
    return true;
  }
  mesh::Mesh mesh() const {
    std::vector<mesh::MeshAxis> axes;
    for (auto it = cuts_.rbegin(); std::next(it) != cuts_.rend(); ++it)
      axes.push_back({name(axes.size()), *it / *std::next(it)});
    return mesh::Mesh(std::move(axes));
  }
  /// Names of the digits of a span, major first.
  std::vector<std::string> names(const Span& s) const {
    std::vector<std::string> out;
    std::size_t number = 0;
    for (auto it = cuts_.rbegin(); std::next(it) != cuts_.rend(); ++it, ++number)
      if (*it <= s.second && *std::next(it) >= s.first) out.push_back(name(number));
    return out;
  }

 private:
  static std::string name(std::size_t number) { return "_" + std::to_string(number); }
  std::set<std::int64_t> cuts_;
};

}  // namespace

void to_one_mesh(ir::Module& module) {
  Meshes meshes(module);
  Texts all(module);
  std::map<std::string, const mesh::Mesh*> used;
  for (const auto& text : all.texts)
    for (const TensorSharding& s : text.shardings) {
      const mesh::Mesh* m = meshes.find(s.mesh_name());
      if (s.mesh_name().empty() || m == nullptr) return;  // written out, or an error of its own
      if (!m->is_maximal() && !m->is_placeholder()) used[s.mesh_name()] = m;
    }
  auto differ = [&](const auto& x) { return !(*x.second == *used.begin()->second); };
  if (used.empty() || std::none_of(used.begin(), used.end(), differ)) return;
  std::map<std::string, std::vector<std::int64_t>> strides;
  Digits digits(used.begin()->second->size());
  for (const auto& [name, m] : used) {
    auto of = strides_of(*m);
    if (!of || m->size() != used.begin()->second->size()) return;
    for (std::size_t k = 0; k < of->size(); ++k)
      if (m->axes()[k].size > 1) digits.cut({(*of)[k], (*of)[k] * m->axes()[k].size});
    strides[name] = std::move(*of);
  }
  auto each_list = [](TensorSharding& s, const auto& f) {
    for (mesh::DimSharding& d : s.dims) f(d.axes, false);
    f(s.replicated, true);
    f(s.unreduced, true);
  };
  bool is_view = true;
  for (auto& text : all.texts)
    for (TensorSharding& s : text.shardings) {
      auto m = used.find(s.mesh_name());
      if (m == used.end()) continue;
      each_list(s, [&](std::vector<AxisRef>& axes, bool) {
        for (const AxisRef& a : axes) {
          auto span = Digits::span(a, *m->second, strides[m->first]);
          if (span && span->first < span->second && span->first > 0) digits.cut(*span);
          is_view = is_view && span.has_value();
        }
      });
    }
  if (!is_view || !digits.nest()) return;
  auto in_digits = [&](const AxisRef& a, const std::string& mesh) {
    auto span = *Digits::span(a, *used.at(mesh), strides.at(mesh));
    return span.first < span.second ? digits.names(span) : std::vector<std::string>();
  };
  for (auto& text : all.texts) {
    for (TensorSharding& s : text.shardings) {
      std::string mesh = s.mesh_name();
      if (used.count(mesh) == 0) continue;
      each_list(s, [&](std::vector<AxisRef>& axes, bool sorted) {
        std::vector<std::string> names;
        for (const AxisRef& a : axes)
          for (std::string& n : in_digits(a, mesh)) names.push_back(std::move(n));
        if (sorted)
          std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
            return a.size() != b.size() ? a.size() < b.size() : a < b;
          });
        axes.assign(names.begin(), names.end());
      });
      s.mesh = kName;
    }
    text.attrs->set(text.name, ir::Opaque{text.is_list ? mesh::per_value_attribute(text.shardings)
                                                       : text.shardings[0].to_attribute()});
  }
  for (auto& m : all.manual) {
    if (used.count(m.mesh) == 0) continue;
    std::string names;
    for (const std::string& axis : m.axes)
      for (const std::string& n : in_digits(AxisRef(axis), m.mesh))
        names += (names.empty() ? "\"" : ", \"") + n + "\"";
    m.attrs->set("manual_axes", ir::Opaque{"#sdy<manual_axes{" + names + "}>"});
  }
  ir::add_mesh(module, {kName, digits.mesh().to_shardy(), ""});
}

}  // namespace strata::spmd
