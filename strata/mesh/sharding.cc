#include "strata/mesh/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "strata/mesh/cursor.h"

namespace strata::mesh {
namespace {

std::string list_text(const std::vector<AxisRef>& axes) {
  std::string out = "{";
  for (std::size_t i = 0; i < axes.size(); ++i) out += (i > 0 ? ", " : "") + axes[i].to_string();
  return out + "}";
}
std::string_view kind_text(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::sum: return "";
    case ReductionKind::max: return "max";
    case ReductionKind::min: return "min";
  }
  return "";
}

std::vector<AxisRef> parse_axes(Cursor& in) {
  std::vector<AxisRef> out;
  in.expect("{");
  if (in.consume("}")) return out;
  do out.push_back(parse_axis_ref(in));
  while (in.ok() && in.consume(","));
  in.expect("}");
  return out;
}
DimSharding parse_dim(Cursor& in) {
  DimSharding out;
  in.expect("{");
  if (!in.consume("}")) {
    do {
      if (in.consume("?")) {
        out.open = true;
        break;
      }
      out.axes.push_back(parse_axis_ref(in));
    } while (in.ok() && in.consume(","));
    in.expect("}");
  }
  if (in.consume("p")) out.priority = in.number();
  return out;
}
std::variant<std::string, Mesh> parse_mesh_or_name(Cursor& in) {
  if (in.consume("@")) return in.next_is("\"") ? in.quoted() : in.word();
  if (in.expect("mesh"))
    if (std::optional<Mesh> mesh = parse_mesh(in)) return *std::move(mesh);
  return "";
}
bool is_plain(std::string_view name) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name[0] != '$' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), fits);
}

/// Collects what is wrong with lists of axes, as Shardy's verifier does.
class Verifier {
 public:
  explicit Verifier(const AbstractMesh& mesh) : mesh_(mesh) {}

  Status list(const std::vector<AxisRef>& axes) {
    const AxisRef* last = nullptr;
    for (const AxisRef& a : axes) {
      if (!mesh_.find(a.name)) return bad("unknown axis name: {}", quote(a.name));
      if (std::find(seen_.begin(), seen_.end(), a) != seen_.end())
        return bad("duplicate axis ref: {}", a.to_string());
      seen_.push_back(a);
      if (a.part) {
        parts_[a.name].push_back(a);
        if (last != nullptr && last->can_merge(a))
          return bad("two consecutive sub-axes can be merged: {}, {}", last->to_string(),
                     a.to_string());
      }
      last = &a;
    }
    return {};
  }
  Status sorted(const std::vector<AxisRef>& axes, std::string_view name) {
    auto less = [&](const AxisRef& a, const AxisRef& b) { return before(mesh_, a, b); };
    if (!std::is_sorted(axes.begin(), axes.end(), less))
      return bad("{} axes are not ordered w.r.t. mesh", name);
    return list(axes);
  }
  Status parts() {
    for (auto& [name, parts] : parts_)
      if (Status s = parts_of(name, parts); !s.ok()) return s;
    return {};
  }

 private:
  template <class... Args>
  static Status bad(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::invalid, "{}", fmt::format(format, std::forward<Args>(args)...)};
  }
  Status parts_of(const std::string& name, std::vector<AxisRef>& parts) {
    if (std::find(seen_.begin(), seen_.end(), AxisRef(name)) != seen_.end())
      return bad("both sub-axis and full-axis are used for axis name: {}", quote(name));
    std::sort(parts.begin(), parts.end(),
              [](const AxisRef& a, const AxisRef& b) { return *a.part < *b.part; });
    std::int64_t whole = mesh_.axis_size(name), end = 1;
    const AxisRef* last = nullptr;
    for (const AxisRef& a : parts) {
      if (a.part->pre < 1) return bad("sub-axis pre-size must be at least 1: {}", a.to_string());
      if (a.part->size <= 1) return bad("sub-axis sizes must be greater than 1: {}", a.to_string());
      std::int64_t next = a.part->pre * a.part->size;
      if (whole % next != 0)
        return bad("sub-axis next pre-size {} doesn't divide the size of the full axis {}: {}",
                   next, whole, a.to_string());
      if (a.part->size == whole)
        return bad("sub-axis size is equal to the full axis size: {}", a.to_string());
      if (last != nullptr && end > a.part->pre)
        return bad("overlapping sub-axes: {}, {}", last->to_string(), a.to_string());
      end = next;
      last = &a;
    }
    return {};
  }
  const AbstractMesh& mesh_;
  std::vector<AxisRef> seen_;
  std::map<std::string, std::vector<AxisRef>> parts_;
};

}  // namespace

std::string DimSharding::to_string() const {
  std::string out = list_text(axes);
  if (open) out.insert(out.size() - 1, axes.empty() ? "?" : ", ?");
  if (priority) out += fmt::format("p{}", *priority);
  return out;
}

TensorSharding TensorSharding::all_open(std::string mesh, std::size_t rank) {
  TensorSharding out = all_closed(std::move(mesh), rank);
  for (DimSharding& d : out.dims) d.open = true;
  return out;
}
TensorSharding TensorSharding::all_closed(std::string mesh, std::size_t rank) {
  TensorSharding out;
  out.mesh = std::move(mesh);
  out.dims.resize(rank);
  return out;
}
std::string TensorSharding::mesh_name() const {
  const std::string* name = std::get_if<std::string>(&mesh);
  return name != nullptr ? *name : "";
}
bool TensorSharding::is_fully_replicated() const {
  return std::all_of(dims.begin(), dims.end(), [](const DimSharding& d) { return d.axes.empty(); });
}
bool TensorSharding::binds(std::string_view axis) const {
  auto in = [&](const std::vector<AxisRef>& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const AxisRef& a) { return a.name == axis; });
  };
  return in(replicated) || in(unreduced) ||
         std::any_of(dims.begin(), dims.end(), [&](const DimSharding& d) { return in(d.axes); });
}
std::string TensorSharding::to_string() const {
  std::string out = "<";
  if (const Mesh* inlined = std::get_if<Mesh>(&mesh))
    out += "mesh" + inlined->to_shardy();
  else
    out += "@" + (is_plain(mesh_name()) ? mesh_name() : quote(mesh_name()));
  out += ", [";
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i > 0 ? ", " : "") + dims[i].to_string();
  out += "]";
  if (!replicated.empty()) out += ", replicated=" + list_text(replicated);
  if (!unreduced.empty())
    out += fmt::format(", unreduced={}{}", kind_text(unreduced_kind), list_text(unreduced));
  return out + ">";
}

TensorSharding parse_sharding(Cursor& in) {
  TensorSharding out;
  in.expect("<");
  out.mesh = parse_mesh_or_name(in);
  in.expect(",");
  in.expect("[");
  if (!in.consume("]")) {
    do out.dims.push_back(parse_dim(in));
    while (in.ok() && in.consume(","));
    in.expect("]");
  }
  bool replicated = false, unreduced = false;
  while (in.ok() && in.consume(",")) {
    if (!replicated && in.consume("replicated")) {
      replicated = true;
      in.expect("=");
      out.replicated = parse_axes(in);
    } else if (!unreduced && in.consume("unreduced")) {
      unreduced = true;
      in.expect("=");
      if (in.consume("max"))
        out.unreduced_kind = ReductionKind::max;
      else if (in.consume("min"))
        out.unreduced_kind = ReductionKind::min;
      else
        in.consume("sum");
      out.unreduced = parse_axes(in);
    } else {
      in.fail("expected 'replicated' or 'unreduced', each once");
    }
  }
  in.expect(">");
  return out;
}
Result<TensorSharding> parse_sharding(std::string_view text) {
  Cursor in(text);
  in.consume("#sdy.sharding");
  TensorSharding out = parse_sharding(in);
  if (in.ok() && !in.at_end()) in.fail("something follows the sharding");
  if (!in.ok()) return in.status();
  return out;
}
Result<std::vector<TensorSharding>> parse_shardings(std::string_view text) {
  Cursor in(text);
  bool around = in.consume("#sdy.sharding_per_value<");
  std::vector<TensorSharding> out;
  in.expect("[");
  if (!in.consume("]")) {
    do {
      in.consume("#sdy.sharding");  // which may be left out within a list
      out.push_back(parse_sharding(in));
    } while (in.ok() && in.consume(","));
    in.expect("]");
  }
  if (around) in.expect(">");
  if (in.ok() && !in.at_end()) in.fail("something follows the shardings");
  if (!in.ok()) return in.status();
  return out;
}
std::string per_value_attribute(const std::vector<TensorSharding>& shardings) {
  std::string out = "#sdy.sharding_per_value<[";
  for (std::size_t i = 0; i < shardings.size(); ++i)
    out += (i > 0 ? ", " : "") + shardings[i].to_string();
  return out + "]>";
}

Status verify(const TensorSharding& sharding, const AbstractMesh& mesh,
              std::span<const std::int64_t> shape, bool divides) {
  if (sharding.rank() != shape.size())
    return {Code::invalid, "sharding doesn't match tensor rank: {} != {}", sharding.rank(),
            shape.size()};
  Verifier verifier(mesh);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const DimSharding& dim = sharding.dims[i];
    if (dim.priority && *dim.priority < 0)
      return {Code::invalid, "dim {} has a negative priority", i};
    if (dim.priority && !dim.open && dim.axes.empty())
      return {Code::invalid, "dim {} is empty and closed but has a priority", i};
    if (Status s = verifier.list(dim.axes); !s.ok()) return s;
    if (shape[i] == 0 && !dim.axes.empty())
      return {Code::invalid, "dim {} with size 0 should not be sharded", i};
  }
  if (Status s = verifier.sorted(sharding.replicated, "replicated"); !s.ok()) return s;
  if (Status s = verifier.sorted(sharding.unreduced, "unreduced"); !s.ok()) return s;
  if (Status s = verifier.parts(); !s.ok()) return s;
  for (std::size_t i = 0; divides && i < shape.size(); ++i) {
    std::int64_t pieces = sharding.dims[i].size(mesh);
    if (shape[i] >= 0 && shape[i] % pieces != 0)
      return {Code::invalid, "dim {} with size {} is not divisible by its sharded size {}", i,
              shape[i], pieces};
  }
  return {};
}

std::vector<std::int64_t> local_shape(const TensorSharding& sharding, const AbstractMesh& mesh,
                                      std::span<const std::int64_t> shape) {
  if (Status s = verify(sharding, mesh, shape, true); !s.ok())
    throw Error("sharding", "{} of {} over {}", s.message(), sharding.to_string(),
                mesh.to_string());
  std::vector<std::int64_t> out(shape.begin(), shape.end());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] >= 0) out[i] /= sharding.dims[i].size(mesh);
  return out;
}
std::vector<std::int64_t> tile_of(const TensorSharding& sharding, const AbstractMesh& mesh,
                                  std::int64_t place) {
  std::vector<std::int64_t> out;
  for (const DimSharding& dim : sharding.dims) {
    std::int64_t tile = 0;
    for (const AxisRef& a : dim.axes) tile = tile * a.size(mesh) + a.coordinate(mesh, place);
    out.push_back(tile);
  }
  return out;
}

}  // namespace strata::mesh
