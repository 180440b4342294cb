#include "strata/partition/emit.h"

#include <algorithm>
#include <map>

#include "strata/base/check.h"
#include "strata/op/reduce/combiner.h"

namespace strata::spmd {
namespace {

using ir::Ints;
using op::Builder;
using op::Value;

std::size_t common_prefix(const Axes& a, const Axes& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}
bool is_prefix(const Axes& a, const Axes& of) { return common_prefix(a, of) == a.size(); }
Axes from(const Axes& a, std::size_t i) {
  return {a.begin() + static_cast<std::ptrdiff_t>(i), a.end()};
}
Axes joined(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Value* of_type(Builder& b, const char* name, Value* x, ir::Attrs attrs, Type result) {
  const ir::OpInfo& info = op::def(name).info;
  return b.create(info, {x}, std::move(attrs), {}, {std::move(result)}).result();
}
Type resized(const Value* x, int dim, std::int64_t size) {
  std::vector<std::int64_t> sizes = x->shape().sizes();
  sizes[static_cast<std::size_t>(dim)] = size;
  return x->type().with(Shape::of(sizes));
}
std::int64_t size_of(const Value* x, std::size_t dim) { return x->shape()[static_cast<int>(dim)]; }

}  // namespace

void Emitter::log(const char* kind, const Axes& axes, std::int64_t bytes) {
  moves_.push_back({kind, grid_->to_string(axes), bytes, why_, times_, op_});
}

ir::Attrs Emitter::group_attrs(const Axes& axes) {
  std::vector<std::vector<std::int64_t>> groups = grid_->groups(axes);
  std::vector<std::int64_t> flat;
  for (const auto& g : groups) flat.insert(flat.end(), g.begin(), g.end());
  Shape shape{static_cast<std::int64_t>(groups.size()), grid_->product(axes)};
  return {{"replica_groups", Literal::of(shape, flat)},
          {"channel_id", ++channel_},
          {"use_global_device_ids", true}};
}

Value* Emitter::at_device(Builder& b, const std::vector<std::int64_t>& per_device) {
  std::int64_t n = grid_->devices();
  std::vector<std::int32_t> table(per_device.begin(), per_device.end());
  if (std::all_of(table.begin(), table.end(), [&](std::int32_t x) { return x == table[0]; }))
    return op::constant(b, Literal::scalar(table[0]));
  Value* id = b.create("stablehlo.partition_id", {}).result();
  Value* all = op::constant(b, Literal::of(Shape{n}, table));
  return op::reshape(b, op::dynamic_slice(b, all, {id}, {1}), {});
}

Value* Emitter::tile_begin(Builder& b, const Axes& axes, std::int64_t part) {
  Ints begins;
  for (std::int64_t d = 0; d < grid_->devices(); ++d) begins.push_back(grid_->tile(d, axes) * part);
  return at_device(b, begins);
}

Value* Emitter::all_gather(Builder& b, Value* x, int dim, const Axes& axes) {
  std::int64_t k = grid_->product(axes);
  ir::Attrs attrs = group_attrs(axes);
  attrs.set("all_gather_dim", std::int64_t{dim});
  log("all_gather", axes, static_cast<std::int64_t>(x->type().bytes()) * (k - 1));
  return of_type(b, "stablehlo.all_gather", x, std::move(attrs),
                 resized(x, dim, x->shape()[dim] * k));
}

Value* Emitter::all_to_all(Builder& b, Value* x, int split, int concat, const Axes& axes) {
  std::int64_t k = grid_->product(axes);
  ir::Attrs attrs = group_attrs(axes);
  attrs.erase("use_global_device_ids");
  attrs.set("split_dimension", std::int64_t{split}).set("concat_dimension", std::int64_t{concat});
  attrs.set("split_count", k);
  log("all_to_all", axes, static_cast<std::int64_t>(x->type().bytes()) / k * (k - 1));
  const ir::OpInfo& info = op::def("stablehlo.all_to_all").info;
  return b.create(info, {x}, std::move(attrs)).result();
}

Value* Emitter::all_reduce(Builder& b, Value* x, const Axes& axes, op::Combiner combiner) {
  std::int64_t k = grid_->product(axes);
  if (k == 1) return x;
  ir::Attrs attrs = group_attrs(axes);
  attrs.set("combiner", std::string(op::name(combiner)));
  log("all_reduce", axes, 2 * static_cast<std::int64_t>(x->type().bytes()) * (k - 1) / k);
  return of_type(b, "stablehlo.all_reduce", x, std::move(attrs), x->type());
}

Value* Emitter::reduce_scatter(Builder& b, Value* x, int dim, const Axes& axes,
                               op::Combiner combiner) {
  std::int64_t k = grid_->product(axes);
  ir::Attrs attrs = group_attrs(axes);
  attrs.set("combiner", std::string(op::name(combiner)));
  attrs.set("scatter_dimension", std::int64_t{dim});
  log("reduce_scatter", axes, static_cast<std::int64_t>(x->type().bytes()) * (k - 1) / k);
  return of_type(b, "stablehlo.reduce_scatter", x, std::move(attrs),
                 resized(x, dim, x->shape()[dim] / k));
}

Value* Emitter::collective_permute(Builder& b, Value* x, const Ints& pairs, const Axes& axes) {
  Shape shape{static_cast<std::int64_t>(pairs.size()) / 2, 2};
  log("permute", axes, static_cast<std::int64_t>(x->type().bytes()));
  return of_type(b, "stablehlo.collective_permute", x,
                 {{"source_target_pairs", Literal::of(shape, pairs)}, {"channel_id", ++channel_}},
                 x->type());
}

Value* Emitter::permute(Builder& b, Value* x, const Layout& from, const Layout& to) {
  auto tiles = [&](const Layout& layout) {
    std::map<Ints, Ints> out;  // devices by the part that they hold
    for (std::int64_t d = 0; d < grid_->devices(); ++d) {
      Ints at;
      for (const Axes& a : layout.dims) at.push_back(grid_->tile(d, a));
      out[at].push_back(d);
    }
    return out;
  };
  Ints pairs;
  std::map<Ints, Ints> sources = tiles(from);
  for (auto& [at, targets] : tiles(to)) {
    Ints& holders = sources[at];
    Ints left;
    for (std::int64_t d : targets) {  // who has its part keeps it
      auto own = std::find(holders.begin(), holders.end(), d);
      if (own == holders.end()) {
        left.push_back(d);
        continue;
      }
      holders.erase(own);
      pairs.insert(pairs.end(), {d, d});
    }
    for (std::size_t i = 0; i < left.size(); ++i) pairs.insert(pairs.end(), {holders[i], left[i]});
  }
  return collective_permute(b, x, pairs, {});
}

Value* Emitter::shift(Builder& b, Value* x, const Axes& axes, std::int64_t distance) {
  Ints pairs;
  for (const auto& group : grid_->groups(axes))
    for (std::int64_t t = 0; t < static_cast<std::int64_t>(group.size()); ++t) {
      std::int64_t from = t + distance;
      if (from < 0 || from >= static_cast<std::int64_t>(group.size())) continue;
      pairs.insert(pairs.end(),
                   {group[static_cast<std::size_t>(from)], group[static_cast<std::size_t>(t)]});
    }
  return collective_permute(b, x, pairs, axes);
}

/// The device's tile along each dimension, cut over `by` (empty: all of it); the last ones may
/// reach beyond the end.
Value* Emitter::slice_tiles(Builder& b, Value* x, const std::vector<Axes>& by) {
  Ints sizes = x->shape().sizes(), high(sizes.size(), 0), zero(sizes.size(), 0);
  op::Values starts;
  for (std::size_t d = 0; d < by.size(); ++d) {
    std::int64_t k = grid_->product(by[d]), part = (sizes[d] + k - 1) / k;
    starts.push_back(tile_begin(b, by[d], part));
    high[d] = part * k - sizes[d];
    sizes[d] = part;
  }
  if (high != zero) {
    Value* filler = op::constant(b, Literal(Type::scalar(x->dtype())));
    x = op::pad(b, x, filler, zero, high);
  }
  return op::dynamic_slice(b, x, starts, sizes);
}

Value* Emitter::masked(Builder& b, Value* x, int dim, std::int64_t size, const Axes& axes,
                       Value* value) {
  std::int64_t part = x->shape()[dim];
  if (part * grid_->product(axes) == size) return x;
  std::vector<std::int64_t> valid;
  for (std::int64_t i = 0; i < grid_->devices(); ++i)
    valid.push_back(std::max<std::int64_t>(0, size - grid_->tile(i, axes) * part));
  Type places(DType::i32, x->shape());
  Value* limit = op::broadcast_in_dim(b, at_device(b, valid), x->shape(), {});
  Value* inside = op::compare(b, op::iota(b, places, dim), limit, "LT");
  return op::select(b, inside, x, op::broadcast_in_dim(b, value, x->shape(), {}));
}

Value* Emitter::reshard(Builder& b, Value* x, const Type& whole, const Layout& from_layout,
                        const Layout& to) {
  if (from_layout == to || !whole.is_tensor()) return x;
  Layout now = from_layout;
  std::size_t rank = now.dims.size();
  Ints sizes = whole.shape().sizes();
  auto nests = [&](std::size_t d, const Axes& a) { return sizes[d] % grid_->product(a) == 0; };
  auto gather = [&](std::size_t d, std::size_t keep) {
    x = all_gather(b, x, static_cast<int>(d), from(now.dims[d], keep));
    now.dims[d].resize(keep);
    if (keep == 0 && size_of(x, d) != sizes[d])
      x = op::slice_dim(b, x, static_cast<int>(d), 0, sizes[d]);
  };
  std::vector<bool> even(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    even[d] = nests(d, now.dims[d]) && nests(d, to.dims[d]);
    if (!even[d] && now.dims[d] != to.dims[d] && !now.dims[d].empty()) gather(d, 0);
  }
  while (now != to) {
    // What can be cut off here.
    std::vector<Axes> by(rank);
    bool cuts = false;
    for (std::size_t d = 0; d < rank; ++d) {
      if (now.dims[d] == to.dims[d] || !is_prefix(now.dims[d], to.dims[d])) continue;
      Axes more = from(to.dims[d], now.dims[d].size());
      std::size_t free = 0;
      while (free < more.size() && !now.uses(more[free])) ++free;
      if (!even[d] && free < more.size()) continue;
      more.resize(free);
      cuts = cuts || free > 0;
      by[d] = more;
    }
    if (cuts) {
      x = slice_tiles(b, x, by);
      for (std::size_t d = 0; d < rank; ++d) now.dims[d] = joined(now.dims[d], by[d]);
      continue;
    }
    bool permutes = true;
    for (std::size_t d = 0; d < rank; ++d)
      permutes = permutes && grid_->product(now.dims[d]) == grid_->product(to.dims[d]);
    if (permutes) {
      x = permute(b, x, now, to);
      break;
    }
    // Axes that go to the end of another dimension's.
    bool exchanged = false;
    for (std::size_t d = 0; d < rank && !exchanged; ++d) {
      std::size_t fixed = common_prefix(now.dims[d], to.dims[d]);
      for (std::size_t i = fixed; i < now.dims[d].size() && !exchanged; ++i) {
        Axes moved = from(now.dims[d], i);
        for (std::size_t t = 0; t < rank && !exchanged; ++t) {
          if (t == d || !even[t] || !even[d]) continue;
          Axes after = joined(now.dims[t], moved);
          if (!is_prefix(after, to.dims[t])) continue;
          x = all_to_all(b, x, static_cast<int>(t), static_cast<int>(d), moved);
          now.dims[d].resize(i);
          now.dims[t] = after;
          exchanged = true;
        }
      }
    }
    if (exchanged) continue;
    for (std::size_t d = 0; d < rank; ++d) {
      std::size_t fixed = common_prefix(now.dims[d], to.dims[d]);
      if (fixed == now.dims[d].size()) continue;
      gather(d, fixed);
      exchanged = true;
      break;
    }
    STRATA_CHECK(exchanged, "{} names an axis twice", spmd::to_string(*grid_, to));
  }
  return x;
}

}  // namespace strata::spmd
