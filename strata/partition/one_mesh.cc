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

/// A part of an axis along which the numbers of devices count evenly: the k-th of its end / begin
/// places adds k * stride.
struct Piece {
  std::int64_t begin, end, stride;  // begin and end as of spmd::SubAxis
};
using Pieces = std::vector<Piece>;  // of one axis, major first

/// The pieces of each axis. None where device numbers are not 0 to n - 1, each the sum of what its
/// coordinates add.
std::optional<std::vector<Pieces>> pieces_of(const mesh::Mesh& m) {
  const auto& axes = m.axes();
  const auto& devices = m.devices();
  std::vector<Pieces> out(axes.size());
  if (devices.empty() || devices[0] != 0) return std::nullopt;
  std::int64_t step = m.size();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t size = axes[k].size;
    step /= size;
    auto device = [&](std::int64_t place) {
      return devices[static_cast<std::size_t>(place * step)];
    };
    for (std::int64_t minor = 1; minor < size;) {
      std::int64_t count = 1, stride = device(minor);
      for (std::int64_t n = 1; minor * n < size && device(minor * n) == n * stride; ++n)
        if (size % (minor * (n + 1)) == 0) count = n + 1;
      if (count == 1 || stride < 1) return std::nullopt;
      out[k].insert(out[k].begin(), {size / (minor * count), size / minor, stride});
      minor *= count;
    }
  }
  for (std::int64_t i = 0; i < m.size(); ++i) {
    std::vector<std::int64_t> at = m.abstract().coordinates(i);
    std::int64_t device = 0;
    for (std::size_t k = 0; k < at.size(); ++k)
      for (const Piece& p : out[k])
        device += at[k] / (axes[k].size / p.end) % (p.end / p.begin) * p.stride;
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
      if (const std::string* axes = text_of(op->attrs, "manual_axes")) {
        Manual m{&op->attrs, parse_manual_axes(*axes), ""};
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
      const std::string* text = text_of(attrs, name);
      if (text == nullptr) continue;
      if (text->find("sharding_per_value") != std::string::npos || text->rfind("[", 0) == 0) {
        auto all = mesh::parse_shardings(*text);
        if (all) texts.push_back({&attrs, name, true, std::move(*all)});
      } else if (auto one = mesh::parse_sharding(*text)) {
        texts.push_back({&attrs, name, false, {std::move(*one)}});
      }
    }
  }
};

/// The digits of device numbers that all axes consist of, and axes in their terms.
class Digits {
 public:
  explicit Digits(std::int64_t devices) : cuts_{1, devices} {}
  /// Numbers along which a part of an axis counts: [stride, stride * size).
  using Span = std::pair<std::int64_t, std::int64_t>;
  /// Those of an axis, major first; none where its parts are not those of the pieces.
  static std::optional<std::vector<Span>> spans(const AxisRef& a, const mesh::Mesh& m,
                                                const std::vector<Pieces>& pieces) {
    auto at = m.abstract().find(a.name);
    if (!at) return std::nullopt;
    std::int64_t begin = a.pre(), end = begin * a.size(m.abstract());
    std::vector<Span> out;
    for (const Piece& p : pieces[*at]) {
      std::int64_t from = std::max(begin, p.begin), to = std::min(end, p.end);
      if (from >= to) continue;
      if (p.end % to != 0 || p.end % from != 0 || from % p.begin != 0) return std::nullopt;
      out.push_back({p.stride * (p.end / to), p.stride * (p.end / from)});
    }
    return out;
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
  std::map<std::string, std::vector<Pieces>> pieces;
  Digits digits(used.begin()->second->size());
  for (const auto& [name, m] : used) {
    auto of = pieces_of(*m);
    if (!of || m->size() != used.begin()->second->size()) return;
    for (const Pieces& axis : *of)
      for (const Piece& p : axis) digits.cut({p.stride, p.stride * (p.end / p.begin)});
    pieces[name] = std::move(*of);
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
          auto spans = Digits::spans(a, *m->second, pieces[m->first]);
          is_view = is_view && spans.has_value();
          for (const Digits::Span& span : spans.value_or(std::vector<Digits::Span>()))
            digits.cut(span);
        }
      });
    }
  if (!is_view || !digits.nest()) return;
  auto in_digits = [&](const AxisRef& a, const std::string& mesh) {
    std::vector<std::string> out;
    const auto spans = Digits::spans(a, *used.at(mesh), pieces.at(mesh));
    for (const Digits::Span& span : *spans)
      for (std::string& name : digits.names(span)) out.push_back(std::move(name));
    return out;
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
