#include "strata/partition/gspmd.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/mesh/cursor.h"

namespace strata::spmd {
namespace {

using ir::Op;
using Numbers = std::vector<std::int64_t>;

std::int64_t product(const Numbers& all) {
  std::int64_t out = 1;
  for (std::int64_t n : all) {
    if (n < 1 || out > (std::int64_t{1} << 20) / n) return -1;
    out *= n;
  }
  return out;
}

template <class F>
void list(mesh::Cursor& in, std::string_view close, F&& item) {
  if (in.consume(close)) return;
  do item();
  while (in.ok() && in.consume(","));
  in.expect(close);
}
Numbers numbers(mesh::Cursor& in, std::string_view open, std::string_view close) {
  Numbers out;
  in.expect(open);
  list(in, close, [&] { out.push_back(in.number()); });
  return out;
}

/// The axes of the mesh: for each part of the devices' numbers where it begins, 1 for the slowest.
class Parts {
 public:
  explicit Parts(std::int64_t devices) : ends_{1, devices} {}

  /// Adds what a sharding tells apart; false when something new was.
  bool add(const HloSharding& s) {
    std::size_t before = ends_.size();
    std::int64_t at = 1;
    for (std::int64_t n : s.devices) ends_.insert(at *= n);
    check(s);
    axes(s);
    return ends_.size() == before;
  }

  /// For each tile dimension its axes, by number.
  std::vector<std::vector<std::size_t>> axes(const HloSharding& s) {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // in the order of the tiles
    Numbers begins{1};
    for (std::int64_t n : s.devices) begins.push_back(begins.back() * n);
    for (std::int64_t d : s.order) {
      auto at = static_cast<std::size_t>(d);
      auto from = ends_.find(begins[at]);
      for (; *from < begins[at + 1]; ++from) parts.emplace_back(*from, *std::next(from));
    }
    std::vector<std::vector<std::size_t>> out;
    std::size_t next = 0;
    for (std::int64_t left : s.tiles) {
      out.emplace_back();
      while (left > 1 && next < parts.size()) {
        auto [begin, end] = parts[next];
        std::int64_t size = end / begin;
        if (left % size != 0) {
          if (size % left != 0) fail(s);
          ends_.insert(begin * left);
          parts[next] = {begin, begin * left};
          parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(next) + 1, {begin * left, end});
          size = left;
        }
        auto place = std::distance(ends_.begin(), ends_.find(parts[next].first));
        out.back().push_back(static_cast<std::size_t>(place));
        left /= size;
        ++next;
      }
    }
    return out;
  }

  std::string mesh() const {
    std::string out;
    std::size_t n = 0;
    for (auto it = ends_.begin(); std::next(it) != ends_.end(); ++it, ++n)
      out += fmt::format("{}\"{}\"={}", n == 0 ? "" : ", ", name(n), *std::next(it) / *it);
    return "<[" + out + "]>";
  }
  static std::string name(std::size_t axis) { return fmt::format("_{}", axis); }

 private:
  void check(const HloSharding& s) const {
    for (auto it = ends_.begin(); std::next(it) != ends_.end(); ++it)
      if (*std::next(it) % *it != 0) fail(s);
  }
  [[noreturn]] static void fail(const HloSharding& s) {
    throw Error("mhlo.sharding", "tiles [{}] of devices [{}] are those of no mesh of the program",
                fmt::join(s.tiles, ","), fmt::join(s.devices, ","))
        .unsupported();
  }
  std::set<std::int64_t> ends_;
};

/// "mhlo.sharding" as text: jax writes a string.
std::optional<std::string> text_of(const ir::Attrs& attrs) {
  const ir::Attr* a = attrs.find("mhlo.sharding");
  if (a == nullptr) return std::nullopt;
  if (const std::string* s = std::get_if<std::string>(a)) return *s;
  if (const ir::Opaque* o = std::get_if<ir::Opaque>(a)) {
    std::string text = o->text;
    if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
    return text;
  }
  return std::nullopt;
}

/// The dimensions that a custom call @Sharding leaves open: `unspecified_dims=[0,2]`.
Numbers open_dims(const Op& op) {
  const ir::Attr* a = op.attrs.find("backend_config");
  const std::string* text = a == nullptr ? nullptr : std::get_if<std::string>(a);
  if (text == nullptr) return {};
  std::size_t at = text->find("unspecified_dims=");
  if (at == std::string::npos) return {};
  mesh::Cursor in(std::string_view(*text).substr(at + 17));
  Numbers out = numbers(in, "[", "]");
  if (!in.ok()) throw Error("Sharding", "{}: {}", *text, in.status().message());
  return out;
}

bool is_call_of(const Op& op, std::string_view target) {
  const ir::Attr* a = op.attrs.find("call_target_name");
  const std::string* name = a == nullptr ? nullptr : std::get_if<std::string>(a);
  return name != nullptr && *name == target;
}

}  // namespace

HloSharding parse_hlo_sharding(std::string_view text) {
  mesh::Cursor in(text);
  HloSharding out;
  in.expect("{");
  if (in.consume("replicated") || in.consume("maximal device=")) {
    if (!in.next_is("}")) in.number();
    in.expect("}");
    if (!in.ok()) throw Error("mhlo.sharding", "{}: {}", text, in.status().message());
    return out;
  }
  if (in.next_is("manual") || in.next_is("unknown") || in.next_is("unreduced") || in.next_is("{"))
    throw Error("mhlo.sharding", "{} has no words in Shardy here", text).unsupported();
  out.is_tiled = true;
  in.expect("devices=");
  out.tiles = numbers(in, "[", "]");
  std::int64_t count = product(out.tiles);
  if (in.consume("<=")) {
    out.devices = numbers(in, "[", "]");
    if (in.consume("T")) out.order = numbers(in, "(", ")");
  } else {
    Numbers ids;
    do ids.push_back(in.number());
    while (in.ok() && in.consume(","));
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (in.ok() && ids[i] != static_cast<std::int64_t>(i))
        throw Error("mhlo.sharding", "{} lists devices in an order of its own", text).unsupported();
    out.devices = {static_cast<std::int64_t>(ids.size())};
  }
  if (out.order.empty()) {
    out.order.resize(out.devices.size());
    std::iota(out.order.begin(), out.order.end(), 0);
  }
  if (in.consume("last_tile_dims={") && !in.consume("replicated}"))
    throw Error("mhlo.sharding", "{} has subgroups other than copies", text).unsupported();
  in.consume("last_tile_dim_replicate");
  in.expect("}");
  Numbers sorted = out.order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) in.fail("T(...) is no transposition");
  if (out.order.size() != out.devices.size()) in.fail("T(...) is no transposition");
  if (count < 0 || product(out.devices) != count)
    in.fail("the tiles are not as many as the devices");
  if (!in.ok()) throw Error("mhlo.sharding", "{}: {}", text, in.status().message());
  return out;
}

void gspmd_to_shardy(ir::Module& module) {
  struct Place {
    ir::Attrs* attrs;
    Op* constraint;  // a custom call, or null
    int rank;
    HloSharding sharding;
    Numbers open;
  };
  std::vector<Place> places;
  auto note = [&](ir::Attrs& attrs, Op* constraint, const Type& type) {
    std::optional<std::string> text = text_of(attrs);
    if (!text || attrs.has("sdy.sharding") || !type.is_tensor()) return;
    HloSharding s = parse_hlo_sharding(*text);
    if (s.is_tiled && static_cast<int>(s.tiles.size()) < type.rank())
      throw Error("mhlo.sharding", "{} for {}", *text, type.to_string());
    places.push_back({&attrs, constraint, type.rank(), std::move(s),
                      constraint == nullptr ? Numbers() : open_dims(*constraint)});
  };
  std::function<void(ir::Block&)> visit = [&](ir::Block& block) {
    for (const auto& op : block.ops()) {
      if (is_call_of(*op, "SPMDFullToShardShape") || is_call_of(*op, "SPMDShardToFullShape"))
        throw Error("mhlo.sharding", "bodies for one device are read from Shardy's notation alone")
            .at(op->where.text())
            .unsupported();
      if (op->num_results() == 1)
        note(op->attrs, is_call_of(*op, "Sharding") ? op.get() : nullptr, op->result()->type());
      for (const auto& region : op->regions) visit(*region);
    }
  };
  for (const auto& f : module.functions) {
    for (std::size_t i = 0; i < f->arg_attrs.size(); ++i)
      note(f->arg_attrs[i], nullptr, f->body.argument(static_cast<int>(i))->type());
    for (std::size_t i = 0; i < f->result_attrs.size() && i < f->body.results.size(); ++i)
      note(f->result_attrs[i], nullptr, f->body.results[i]->type());
    visit(f->body);
  }
  std::int64_t devices = 0;
  for (const Place& p : places) {
    if (!p.sharding.is_tiled) continue;
    std::int64_t count = product(p.sharding.devices);
    if (devices != 0 && count != devices)
      throw Error("mhlo.sharding", "one program over {} and over {} devices", devices, count);
    devices = count;
  }
  if (devices == 0) return;
  Parts parts(devices);
  for (bool stable = false; !stable;) {
    stable = true;
    for (const Place& p : places)
      if (p.sharding.is_tiled) stable = parts.add(p.sharding) && stable;
  }
  ir::add_mesh(module, {"gspmd", parts.mesh(), ""});
  std::map<const Op*, bool> constraints;
  for (Place& p : places) {
    std::vector<std::vector<std::size_t>> axes(static_cast<std::size_t>(p.rank));
    if (p.sharding.is_tiled) axes = parts.axes(p.sharding);
    std::string dims;
    for (int d = 0; d < p.rank; ++d) {
      std::string dim;
      for (std::size_t a : axes[static_cast<std::size_t>(d)])
        dim += fmt::format("{}\"{}\"", dim.empty() ? "" : ", ", Parts::name(a));
      if (std::count(p.open.begin(), p.open.end(), d) > 0) dim += dim.empty() ? "?" : ", ?";
      dims += fmt::format("{}{{{}}}", d == 0 ? "" : ", ", dim);
    }
    ir::Opaque text{fmt::format("#sdy.sharding<@gspmd, [{}]>", dims)};
    p.attrs->erase("mhlo.sharding");
    p.attrs->set(p.constraint == nullptr ? "sdy.sharding" : "sharding", std::move(text));
    if (p.constraint != nullptr) constraints[p.constraint] = true;
  }
  // The custom calls become constraints, which say the same.
  std::vector<std::unique_ptr<Op>> replaced;  // kept until the end: the map knows them by address
  std::function<void(ir::Block&, ir::ValueMap&)> rewrite = [&](ir::Block& block,
                                                               ir::ValueMap& map) {
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops());
    block.ops().clear();
    ir::Builder b(block);
    for (auto& op : old) {
      op->operands = ir::Operands(map(op->operands));
      for (const auto& region : op->regions) rewrite(*region, map);
      if (constraints.count(op.get()) == 0) {
        block.append(std::move(op));
        continue;
      }
      b.set_location(op->where);
      ir::Attrs attrs;
      attrs.set("sharding", op->attrs.get<ir::Opaque>("sharding"));
      map.set(op->result(), b.create("sdy.sharding_constraint", {op->operand(0)}, attrs).result());
      replaced.push_back(std::move(op));
    }
    block.results = map(block.results);
  };
  for (const auto& f : module.functions) {
    ir::ValueMap map;
    rewrite(f->body, map);
  }
}

}  // namespace strata::spmd
