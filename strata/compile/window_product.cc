#include "strata/compile/window_product.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "strata/compile/fusion_access.h"
#include "strata/compile/product_kernel.h"
#include "strata/compile/product_result.h"
#include "strata/compile/product_side.h"
#include "strata/compile/product_terms.h"
#include "strata/loop/lanes.h"
#include "strata/op/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using Sizes = std::vector<std::int64_t>;
using Indices = std::vector<Index>;

constexpr std::int64_t kMostDepth = 1152;          // of k in a block, so that a panel of kPanelLanes columns stays close
constexpr std::int64_t kPanelLanes = 32, kLeastDepth = 128;
constexpr std::int64_t kMostDepthAlong = 4608;     // with few columns, of which a panel has few lines
constexpr std::int64_t kMostRows = 512;            // of results in a block
constexpr std::int64_t kPatchBytes = 384 << 10;    // of the array in a block: with the panels well inside the second cache
constexpr std::int64_t kPatchBytesAlong = 512 << 10;

std::int64_t product_of(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); }

/// Which operand is windows of more than single elements where they lie; -1: none.
int windows_side(const Op& product, const Fusion& fusion) {
  for (int side = 0; side < 2; ++side) {
    const Value* v = product.operand(side);
    if (!v->op() || !fusion.inlined.count(v)) continue;
    auto dims = op::window_dims(*v->op());
    if (!dims) continue;
    for (int d = 0; d < dims->rank(); ++d)
      if (!dims->is_trivial(d)) return side;
  }
  return -1;
}

/// A dimension of the windows that is counted along: how far it moves in dimension `dim` of the array.
struct Axis {
  std::int64_t size, step;
  std::size_t dim;
};

/// `sizes` cut into blocks: whole inner ones as long as no more than `most` elements come together, then a part of one.
Sizes box_of(const Sizes& sizes, std::int64_t most, bool may_leave_rest) {
  Sizes box(sizes.size(), 1);
  std::int64_t elements = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    std::int64_t room = most / elements;
    if (sizes[i] <= room) {
      box[i] = sizes[i];
      elements *= sizes[i];
      continue;
    }
    std::int64_t divisor = largest_divisor(sizes[i], room);
    box[i] = divisor * 2 >= room ? divisor : may_leave_rest ? room : divisor * 8 >= room || elements > 64 ? divisor : sizes[i];
    break;
  }
  return box;
}

class WindowProduct {
 public:
  WindowProduct(const Group& group, const op::Contraction& c, int side, const Fusion& fusion, const CpuTarget& target)
      : op_(*group.roots.front()),
        group_(group),
        fusion_(fusion),
        swapped_(side == 1),
        seen_(op_.operand(side), side == 0 ? c.lhs_batch : c.rhs_batch, side == 0 ? c.lhs_contract : c.rhs_contract),
        other_(op_.operand(1 - side), side == 0 ? c.rhs_batch : c.lhs_batch, side == 0 ? c.rhs_contract : c.lhs_contract),
        windows_(*seen_.value->op()),
        dims_(*op::window_dims(windows_)) {
    other_.minor = minor_dimension(other_.value, fusion);
    rows_ = axes(seen_.free);
    depth_ = axes(seen_.contract);
    batch_ = seen_.size(seen_.batch);
    m_ = seen_.size(seen_.free);
    n_ = other_.size(other_.free);
    acc_ = op::product_accumulator(op_);
    if (takes_pairs(op_, target)) pair_ = join_pairs();
    for (const Axis& a : depth_) k_ *= a.size;
    tile_ = register_tile(acc_, target);
    along_ = few_columns_of_long_rows(seen_, dims_, n_);
    if (!along_ && n_ <= tile_.lanes / 4)
      tile_ = narrow_tile(tile_, n_);
    else if (n_ <= tile_.lanes / 2)
      tile_ = {tile_.rows * 3 / 2, tile_.lanes / 2};
    choose_blocks();
  }

  Built build() {
    packs_first_ = other_.contracts_minor() && row_blocks() > 1;
    if (packs_first_) out_.kernels.push_back(pack_all());
    out_.kernels.push_back(multiply());
    return std::move(out_);
  }

 private:
  std::size_t rank() const { return dims_.size.size(); }
  std::int64_t padded(std::int64_t n) const { return (n + tile_.lanes - 1) / tile_.lanes * tile_.lanes; }
  /// Columns of a panel: those that a tile takes as lanes, or all of the few that it takes one by one.
  std::int64_t panel_lanes() const { return along_ ? n_ : tile_.lanes; }
  std::int64_t panels() const { return (n_ + panel_lanes() - 1) / panel_lanes(); }
  std::int64_t panel_size(std::int64_t depth) const { return depth * panel_lanes(); }
  std::int64_t column_blocks() const { return (n_ + nb_ - 1) / nb_; }
  std::int64_t row_blocks() const { return blocks(rows_, row_box_); }
  std::int64_t depth_blocks() const { return blocks(depth_, depth_box_); }

  static std::int64_t blocks(const std::vector<Axis>& axes, const Sizes& box) {
    std::int64_t out = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) out *= (axes[i].size + box[i] - 1) / box[i];
    return out;
  }
  static Sizes sizes(const std::vector<Axis>& axes) {
    Sizes out;
    for (const Axis& a : axes) out.push_back(a.size);
    return out;
  }
  /// These dimensions of the windows, but those of one element.
  std::vector<Axis> axes(const std::vector<int>& dims) const {
    std::vector<Axis> out;
    for (int d : dims) {
      auto at = static_cast<std::size_t>(d);
      bool count = at >= rank();
      std::size_t dim = count ? at - rank() : at;
      if (std::int64_t size = seen_.value->shape()[d]; size > 1)
        out.push_back({size, count ? dims_.stride[dim] : dims_.window_dilation[dim], dim});
    }
    return out;
  }

  // ---- pairs

  /// The innermost axis of k as it was, of which two neighbours are one step: sums go on in the order of k. Where its size is odd, the last pair has one element.
  struct Pair {
    std::int64_t size, step;
  };
  /// Takes neighbours as pairs where their number is even, or where nothing else moves along their dimension of the array (features mostly), so that it is known which is the last.
  std::optional<Pair> join_pairs() {
    if (depth_.empty()) return std::nullopt;
    Axis& a = depth_.back();
    int along = 0;
    for (const auto* dims : {&seen_.batch, &seen_.free, &seen_.contract})
      along += static_cast<int>(std::count_if(dims->begin(), dims->end(), [&](int d) { return static_cast<std::size_t>(d) % rank() == a.dim && seen_.value->shape()[d] > 1; }));
    if (along > 1 && a.size % 2 != 0) return std::nullopt;
    const Pair out{a.size, a.step};
    a.size = (a.size + 1) / 2;
    a.step *= 2;
    return out;
  }
  /// What a step of k takes: `element(0)`, or a pair of it and `element(1)`, the one behind. `at`: the step along the paired axis; asked where its size is odd.
  Inst* term(const std::function<Inst*(std::int64_t)>& element, const Index& at) {
    loop::Builder& b = *builder_;
    if (!pair_) return b.convert(acc_, element(0));
    Inst* low = element(0);
    if (pair_->size % 2 == 0) return pair_of(b, low, element(1));
    return pair_of(b, low, b.guarded(b.less(at, pair_->size / 2), [&] { return element(1); }, b.constant(DType::bf16, 0)));
  }
  const Axis& paired() const { return depth_.back(); }
  TermKind kind() const { return pair_ ? TermKind::pairs : TermKind::single; }
  /// In which terms are laid out.
  DType laid_out() const { return pair_ ? DType::i32 : acc_; }

  // ---- blocks

  /// Blocks of at most so many rows and so much of k. What they see of a dimension is counted in the steps that both make there.
  void cut(std::int64_t most_rows, std::int64_t most_depth) {
    row_box_ = box_of(sizes(rows_), most_rows, true);
    depth_box_ = box_of(sizes(depth_), most_depth, false);
    unit_.assign(rank(), 0);
    auto join = [&](const std::vector<Axis>& axes, const Sizes& box) {
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (box[i] > 1) unit_[axes[i].dim] = std::gcd(unit_[axes[i].dim], axes[i].step);
    };
    join(rows_, row_box_);
    join(depth_, depth_box_);
    for (std::int64_t& unit : unit_) unit = std::max<std::int64_t>(unit, 1);
  }
  /// How many elements of each dimension of the array a block with so many rows sees, in steps of `unit_`.
  Sizes extents(const Sizes& row_box) const {
    Sizes out(rank(), 1);
    auto widen = [&](const std::vector<Axis>& axes, const Sizes& box) {
      for (std::size_t i = 0; i < axes.size(); ++i) out[axes[i].dim] += (box[i] - 1) * axes[i].step / unit_[axes[i].dim];
    };
    widen(rows_, row_box);
    widen(depth_, depth_box_);
    return out;
  }

  /// Shape alone decides: blocks of which the caches hold what they see, by which the least is moved, and enough for the threads.
  void choose_blocks() {
    nb_ = std::min(padded(n_), padded(256));
    const std::int64_t deepest = along_ ? kMostDepthAlong : kMostDepth * std::max<std::int64_t>(1, kPanelLanes / tile_.lanes), patch_bytes = along_ ? kPatchBytesAlong : kPatchBytes;
    std::int64_t rows = tile_.rows, depth = kLeastDepth, least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t d = deepest; d >= kLeastDepth; d /= 2)
      for (std::int64_t r = kMostRows; r >= tile_.rows; r /= 2) {
        cut(r, d);
        const bool fits = product_of(extents(row_box_)) * static_cast<std::int64_t>(byte_width(acc_)) <= patch_bytes;
        if (const std::int64_t moved = elements_moved(); fits && moved < least) rows = r, depth = d, least = moved;
      }
    cut(rows, depth);
    auto points = [&] { return batch_ * row_blocks() * column_blocks(); };
    if (points() < 8 && rows > 256) cut(rows /= 2, depth);
    while (points() < 8 && nb_ > tile_.lanes) nb_ = padded(nb_ / 2);
    while (points() < 6 && rows > 64) cut(rows /= 2, depth);
    nb_ = std::min(nb_, n_);
    lay_out_patch();
  }
  /// By the blocks as they are cut: what is laid out of the array and of the other side, and the sums that wait between blocks of k.
  std::int64_t elements_moved() const {
    const std::int64_t patches = row_blocks() * depth_blocks() * column_blocks() * product_of(extents(row_box_));
    return patches + row_blocks() * k_ * n_ + 2 * (depth_blocks() - 1) * m_ * padded(n_);
  }

  /// Dimensions in the order in which k walks through them, so that a tile reads on and on; one that k does not walk through lies
  /// outside of all, or inside where neighbours in memory are neighbours in it. Lanes are neighbours in any case.
  void lay_out_patch() {
    Sizes extent = extents(row_box_);
    std::size_t minor = rank();
    while (minor > 1 && extent[minor - 1] == 1) --minor;
    auto key = [&](std::size_t d) {
      if (along_ && d == rows_.back().dim) return static_cast<int>(depth_.size()) + 1;
      int out = d + 1 == minor ? static_cast<int>(depth_.size()) : -1;
      for (std::size_t i = 0; i < depth_.size(); ++i)
        if (depth_[i].dim == d) out = static_cast<int>(i);
      return out;
    };
    std::vector<std::size_t> order(rank());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    pitch_.assign(rank(), 0);
    std::int64_t at = 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      pitch_[*d] = at;
      if (extent[*d] == 1) continue;
      at *= extent[*d];
      std::int64_t width = static_cast<std::int64_t>(byte_width(acc_));
      if (at * width % 4096 == 0) at += 64 / width;  // neighbours in one set of the first cache push each other out
    }
    patch_size_ = at;
  }

  /// The place of block `number` among the blocks of all axes, row-major, and the lengths there; a last shorter one is code of its own.
  void for_block(const std::vector<Axis>& axes, const Sizes& box, Index number, const std::function<void(const Indices&, const Sizes&)>& body) {
    loop::Builder& b = *builder_;
    Indices start(axes.size());
    std::size_t cut = axes.size();
    Index cut_at;
    for (std::size_t i = axes.size(); i-- > 0;) {
      std::int64_t count = (axes[i].size + box[i] - 1) / box[i];
      Index at = count == 1 ? Index(0) : b.mod(number, count);
      number = b.div(number, count);
      start[i] = at * box[i];
      if (axes[i].size % box[i] == 0) continue;
      cut = i;
      cut_at = at;
    }
    if (cut == axes.size()) return body(start, box);
    std::int64_t last = axes[cut].size / box[cut];
    b.if_(b.less(cut_at, last), [&] { body(start, box); },
          [&] {
            Sizes shorter = box;
            shorter[cut] = axes[cut].size % box[cut];
            start[cut] = last * box[cut];
            body(start, shorter);
          });
  }

  /// Loops over [0, total) in pieces of `size`, the last one shorter.
  void sweep(std::int64_t total, std::int64_t size, const std::function<void(Index, std::int64_t)>& body) {
    std::int64_t whole = total / size;
    repeat(whole, [&](Index i) { body(i * size, size); });
    if (total % size) body(whole * size, total % size);
  }
  void repeat(std::int64_t times, const std::function<void(Index)>& body) {
    if (times == 1) return body(0);
    if (times > 1) builder_->for_(0, times, 1, body);
  }
  /// Loops over all places of a box.
  void nest(const Sizes& box, const std::function<void(const Indices&)>& body) {
    Indices at(box.size());
    std::function<void(std::size_t)> from = [&](std::size_t i) {
      if (i == box.size()) return body(at);
      repeat(box[i], [&](Index x) {
        at[i] = x;
        from(i + 1);
      });
    };
    from(0);
  }

  // ---- the other side, in panels of `lanes` columns: [panel][k][lane]

  /// Packs columns n0 + [0, width) for the axes of k in `box` from `start` to `panel`, `at` and on.
  void pack(KernelContext& context, Index batch, Index n0, std::int64_t width, const Indices& start, const Sizes& box, loop::Ref* panel, Index at) {
    loop::Builder& b = *builder_;
    std::int64_t lanes = panel_lanes();
    auto place = [&](const Indices& k) {  // row-major in the box
      Index out = 0;
      for (std::size_t i = 0; i < k.size(); ++i) out = out * box[i] + k[i];
      return out;
    };
    auto put = [&](const Indices& k, Index x) {
      auto element = [&](std::int64_t behind) {
        Index whole = 0;
        for (std::size_t i = 0; i < k.size(); ++i) {
          const bool paired = pair_ && i + 1 == k.size();
          whole = whole * (paired ? pair_->size : depth_[i].size) + (paired ? (start[i] + k[i]) * 2 + behind : start[i] + k[i]);
        }
        return context.at(other_.value, other_.index(b, batch, n0 + x, whole));
      };
      b.store(panel, at + place(k) * lanes + x, term(element, pair_ ? start.back() + k.back() : Index()));
    };
    if (!other_.contracts_minor())
      return nest(box, [&](const Indices& k) { b.vector(0, width, tile_.lanes, [&](Index x) { put(k, x); }); });
    if (box.empty()) return b.for_(0, width, 1, [&](Index x) { put({}, x); });
    // A few steps of all columns at a time, so that the lines written stay in the first cache.
    nest(Sizes(box.begin(), box.end() - 1), [&](const Indices& outer) {
      sweep(box.back(), 16, [&](Index s, std::int64_t some) {
        b.for_(0, width, 1, [&](Index x) {
          Indices k = outer;
          k.push_back(s);
          for (std::int64_t u = 0; u < some; ++u, k.back() = k.back() + 1) put(k, x);
        });
      });
    });
  }

  /// The whole other side, once for all blocks of rows.
  BuiltKernel pack_all() {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>("pack");
    built.kernel->grid = batch_ * panels();
    built.parallel = static_cast<double>(batch_ * n_ * k_) > kInlineWork;
    loop::Builder b(*built.kernel);
    builder_ = &b;
    KernelContext context(b, fusion_, built);
    out_.temporaries.push_back(batch_ * panels() * panel_size(k_) * static_cast<std::int64_t>(byte_width(acc_)));
    loop::Ref* panel = context.temporary(0, laid_out(), batch_ * panels() * panel_size(k_), loop::Ref::Mode::inout);
    Index point = b.grid(), batch = b.div(point, panels()), number = b.mod(point, panels());
    auto fill = [&](Index n0, std::int64_t width) {
      pack(context, batch, n0, width, Indices(depth_.size(), Index(0)), sizes(depth_), panel, point * panel_size(k_));
    };
    const std::int64_t lanes = panel_lanes(), rest = n_ % lanes;
    if (rest == 0)
      fill(number * lanes, lanes);
    else if (panels() == 1)
      fill(0, rest);
    else
      b.if_(b.less(number, panels() - 1), [&] { fill(number * lanes, lanes); }, [&] { fill((panels() - 1) * lanes, rest); });
    return built;
  }

  // ---- the product

  BuiltKernel multiply() {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>("windows_product");
    built.kernel->grid = batch_ * row_blocks() * column_blocks();
    built.parallel = static_cast<double>(batch_ * m_ * n_) * static_cast<double>(k_) > 16 * kInlineWork;
    loop::Builder b(*built.kernel);
    builder_ = &b;
    ProductContext context(b, group_, fusion_, built);
    context_ = &context;
    std::int64_t depth = product_of(depth_box_);
    panel_ = packs_first_ ? context.temporary(0, laid_out(), batch_ * panels() * panel_size(k_), loop::Ref::Mode::in)
                          : b.scratch(laid_out(), depth * padded(nb_));
    patch_ = b.scratch(laid_out(), patch_size_);
    if (crosses()) crossing_ = b.scratch(acc_, tile_.rows * tile_.lanes);
    sums_ = depth_blocks() > 1 ? b.scratch(acc_, product_of(row_box_) * padded(nb_)) : nullptr;
    Index point = b.grid();
    Index column = b.mod(point, column_blocks()), row = b.mod(b.div(point, column_blocks()), row_blocks());
    here_.batch = b.div(point, column_blocks() * row_blocks());
    for_block(rows_, row_box_, row, [&](const Indices& start, const Sizes& box) {
      here_.row = start;
      here_.rows = box;
      std::int64_t count = column_blocks(), rest = n_ - (count - 1) * nb_;
      auto columns = [&](Index n0, std::int64_t width) {
        here_.n0 = n0;
        block(width);
      };
      if (count == 1 || rest == nb_) return columns(column * nb_, rest);
      b.if_(b.less(column, count - 1), [&] { columns(column * nb_, nb_); }, [&] { columns((count - 1) * nb_, rest); });
    });
    return built;
  }

  void block(std::int64_t columns) {
    loop::Builder& b = *builder_;
    if (sums_)
      b.vector(0, product_of(here_.rows) * padded(nb_), 16, [&](Index i) { b.store(sums_, i, b.constant(acc_, 0.0)); });
    repeat(depth_blocks(), [&](Index number) {
      for_block(depth_, depth_box_, number, [&](const Indices& start, const Sizes&) {
        here_.k = 0;
        for (std::size_t i = 0; i < start.size(); ++i) here_.k = here_.k * depth_[i].size + start[i];
        stage(start);
        if (!packs_first_)
          sweep(columns, panel_lanes(), [&](Index n, std::int64_t width) {
            pack(*context_, here_.batch, here_.n0 + n, width, start, depth_box_, panel_, n * product_of(depth_box_));
          });
        if (along_) return multiply_along();
        sweep(columns, tile_.lanes, [&](Index n, std::int64_t width) {
          sweep_tiles(here_.rows, tile_.rows, [&](const Indices& at, const Sizes& tile) { multiply_tile(n, width, at, tile); });
        });
      });
    });
    if (!sums_) return;
    auto sum = [&](const Indices& row, Index n) { return b.load(sums_, sum_at(row, n)); };
    if (along_ || crosses()) return results_across(Indices(rows_.size(), Index(0)), here_.rows, 0, columns, sum);
    nest(here_.rows, [&](const Indices& at) {
      b.vector(0, columns, tile_.lanes, [&](Index x) { result(at, x, sum(at, x)); });
    });
  }

  /// Whether neighbours in the result are rows of a tile rather than its lanes.
  bool crosses() const { return swapped_ && !rows_.empty() && !along_; }
  /// Stores the results of a box of rows at columns n + [0, columns), neighbours in memory together.
  void results_across(const Indices& at, const Sizes& box, Index n, std::int64_t columns,
                      const std::function<Inst*(const Indices& row, Index column)>& sum) {
    Sizes outer(box.begin(), box.end() - 1);
    builder_->for_(0, columns, 1, [&](Index x) {
      nest(outer, [&](const Indices& place) {
        builder_->vector(0, box.back(), box.back() > 8 ? 16 : 8, [&](Index r) {
          Indices row = at;
          for (std::size_t i = 0; i < place.size(); ++i) row[i] = row[i] + place[i];
          row.back() = row.back() + r;
          result(row, n + x, sum(row, n + x));
        });
      });
    });
  }

  /// The term at a place of what the block sees of the array.
  Inst* seen(const Indices& at) {
    auto element = [&](std::int64_t behind) {
      Indices position(rank());
      for (std::size_t d = 0; d < rank(); ++d) position[d] = here_.origin[d] + at[d] * unit_[d] - Index(dims_.low[d]);
      if (behind) position[paired().dim] = position[paired().dim] + pair_->step;
      return op::element_seen(*context_, windows_, position);
    };
    return term(element, pair_ ? here_.pair + at[paired().dim] : Index());
  }

  /// Lays out what the block sees of the array, the trailing dimensions as one long row.
  void stage(const Indices& depth_start) {
    loop::Builder& b = *builder_;
    Indices& origin = here_.origin;
    origin.assign(rank(), Index());
    Indices batch = delinearize(b, seen_.part(seen_.batch), here_.batch);
    for (std::size_t i = 0; i < seen_.batch.size(); ++i) {
      auto at = static_cast<std::size_t>(seen_.batch[i]);
      std::size_t d = at % rank();
      origin[d] = origin[d] + batch[i] * (at >= rank() ? dims_.stride[d] : dims_.window_dilation[d]);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) origin[rows_[i].dim] = origin[rows_[i].dim] + here_.row[i] * rows_[i].step;
    for (std::size_t i = 0; i < depth_.size(); ++i) origin[depth_[i].dim] = origin[depth_[i].dim] + depth_start[i] * depth_[i].step;
    if (pair_) here_.pair = depth_start.back();
    const Sizes extent = extents(here_.rows);
    if (std::optional<Square> square = square_of(extent)) return stage_turned(extent, *square);
    std::size_t first = rank();  // of the dimensions that make the row
    std::int64_t row = 1;
    while (first > 0 && (extent[first - 1] == 1 || row < 16)) row *= extent[--first];
    nest(Sizes(extent.begin(), extent.begin() + static_cast<std::ptrdiff_t>(first)), [&](const Indices& at) {
      b.vector(0, row, 16, [&](Index j) {
        Indices place(rank());
        Index to = 0;
        for (std::size_t d = rank(); d-- > 0;) {
          Index x = d < first ? at[d] : extent[d] == 1 ? Index(0) : b.mod(j, extent[d]);
          if (d >= first && extent[d] > 1) j = b.div(j, extent[d]);
          to = to + x * pitch_[d];
          place[d] = x;
        }
        b.store(patch_, recombine(to), seen(place));
      });
    });
  }

  static constexpr std::int64_t kSquare = 8;
  /// A dimension of which neighbours lie side by side in memory, and another of which they do so in the patch.
  struct Square {
    std::size_t in_memory, in_patch;
  };
  std::optional<Square> square_of(const Sizes& extent) const {
    std::size_t in_memory = rank(), in_patch = rank();
    for (std::size_t d = 0; d < rank(); ++d) {
      if (extent[d] > 1) in_memory = d;
      if (extent[d] > 1 && pitch_[d] == 1) in_patch = d;
    }
    if (in_memory == in_patch || in_patch == rank() || in_memory + 1 != rank() || byte_width(acc_) != 4) return std::nullopt;
    if ((unit_[in_memory] != 1 && !(pair_ && in_memory == paired().dim && unit_[in_memory] == 2)) || extent[in_memory] < kSquare || extent[in_patch] < kSquare) return std::nullopt;
    return Square{in_memory, in_patch};
  }
  /// What is read along one of them and written along the other is turned in registers by squares, the last of which lies over the one before where they do not end together
  /// (16 x 128 x 32 x 64 f32 by windows of 3 x 3 in steps of 2: 18.9 ms written by lanes, 4.4 so).
  void stage_turned(const Sizes& extent, const Square& square) {
    loop::Builder& b = *builder_;
    const auto [m, p] = square;
    auto by_squares = [&](std::int64_t size, const std::function<void(Index)>& body) {
      repeat(size / kSquare, [&](Index i) { body(i * kSquare); });
      if (size % kSquare) body(size - kSquare);
    };
    Sizes others = extent;
    others[m] = others[p] = 1;
    nest(others, [&](const Indices& at) {
      by_squares(extent[p], [&](Index p0) {
        by_squares(extent[m], [&](Index m0) {
          b.vector(0, kSquare, kSquare, [&](Index lane) {
            std::vector<Inst*> values;
            Indices place = at;
            place[m] = m0 + lane;
            Index to = 0;
            for (std::size_t d = 0; d < rank(); ++d) to = to + (d == p ? p0 + lane : d == m ? m0 : at[d]) * pitch_[d];
            for (std::int64_t i = 0; i < kSquare; ++i) {
              place[p] = p0 + i;
              values.push_back(seen(place));
            }
            const std::vector<Inst*> turned = loop::transposed(b, std::move(values));
            for (std::int64_t i = 0; i < kSquare; ++i) b.store(patch_, to + i * pitch_[m], turned[static_cast<std::size_t>(i)]);
          });
        });
      });
    });
  }

  /// Tiles of at most `room` rows of a box: along the innermost axis, and whole rows of it together where it is short. Pieces are as
  /// even as can be, so that at most two lengths become code.
  void sweep_tiles(const Sizes& box, std::int64_t room, const std::function<void(const Indices&, const Sizes&)>& body) {
    Sizes tile(box.size(), 1);
    std::size_t cut = box.size();
    for (std::size_t i = box.size(); i-- > 0;) {
      if (box[i] * 2 <= room && i > 0) {
        tile[i] = box[i];
        room /= box[i];
        continue;
      }
      cut = i;
      break;
    }
    Indices at(box.size());
    std::function<void(std::size_t)> from = [&](std::size_t i) {
      if (i == box.size()) return body(at, tile);
      if (i != cut) return repeat(box[i] / tile[i], [&](Index x) {
        at[i] = x * tile[i];
        from(i + 1);
      });
      std::int64_t pieces = (box[i] + room - 1) / room, longer = (box[i] + pieces - 1) / pieces, many = box[i] - pieces * (longer - 1);
      tile[i] = longer;
      repeat(many, [&](Index x) {
        at[i] = x * longer;
        from(i + 1);
      });
      tile[i] = longer - 1;
      repeat(pieces - many, [&](Index x) {
        at[i] = x * (longer - 1) + many * longer;
        from(i + 1);
      });
    };
    from(0);
  }

  /// What k walks through in the patch: counts and steps, neighbours that continue each other joined.
  struct Run {
    std::int64_t count, step;
  };
  std::vector<Run> runs() const {
    std::vector<Run> out;
    for (std::size_t i = depth_.size(); i-- > 0;) {
      if (depth_box_[i] == 1) continue;
      std::int64_t step = depth_[i].step / unit_[depth_[i].dim] * pitch_[depth_[i].dim];
      if (!out.empty() && step == out.back().count * out.back().step)
        out.back().count *= depth_box_[i];
      else
        out.push_back({depth_box_[i], step});
    }
    if (out.empty()) out.push_back({1, 0});
    return out;  // innermost first
  }

  Index in_patch(const Indices& row) const {
    Index out = 0;
    for (std::size_t i = 0; i < row.size(); ++i) out = out + row[i] * (rows_[i].step / unit_[rows_[i].dim] * pitch_[rows_[i].dim]);
    return out;
  }
  /// Where the sum of a row and a column of the block waits between blocks of k.
  Index sum_at(const Indices& row, Index n) const {
    Index m = 0;
    for (std::size_t i = 0; i < row.size(); ++i) m = m * here_.rows[i] + row[i];
    return along_ ? n * product_of(here_.rows) + m : m * padded(nb_) + n;
  }
  /// The places of a tile in the block, row-major.
  static std::vector<Indices> rows_of(const Indices& at, const Sizes& tile) {
    std::vector<Indices> out;
    for (std::int64_t r = 0, height = product_of(tile); r < height; ++r) {
      Indices row = at;
      std::int64_t rest = r;
      for (std::size_t i = tile.size(); i-- > 0; rest /= tile[i]) row[i] = row[i] + Index(rest % tile[i]);
      out.push_back(row);
    }
    return out;
  }
  /// Where column n of the block begins in its panel.
  Index panel_at(Index n) const {
    return packs_first_ ? here_.batch * (panels() * panel_size(k_)) + (here_.n0 + n) * k_ + here_.k * panel_lanes() : n * product_of(depth_box_);
  }

  void multiply_tile(Index n, std::int64_t width, const Indices& at, const Sizes& tile) {
    loop::Builder& b = *builder_;
    std::vector<Indices> rows = rows_of(at, tile);
    Index panel = panel_at(n);
    b.vector(0, width, tile_.lanes, [&](Index x) {
      std::vector<Inst*> sums;
      for (const Indices& row : rows)
        sums.push_back(b.local(sums_ ? b.load(sums_, sum_at(row, n + x)) : b.constant(acc_, 0.0), tile_.lanes));
      over_k([&](Index k, Index from) {
        Inst* right = b.load(panel_, panel + x + k * tile_.lanes);
        for (std::size_t r = 0; r < sums.size(); ++r)
          b.set(sums[r], multiply_add(b, kind(), acc_, b.load(patch_, in_patch(rows[r]) + from), right, b.get(sums[r])));
      });
      for (std::size_t r = 0; r < rows.size(); ++r) {
        Inst* sum = b.get(sums[r]);
        if (sums_)
          b.store(sums_, sum_at(rows[r], n + x), sum);
        else if (crosses())
          b.store(crossing_, Index(static_cast<std::int64_t>(r) * tile_.lanes) + x, sum);
        else
          result(rows[r], n + x, sum);
      }
    });
    if (sums_ || !crosses()) return;
    results_across(at, tile, n, width, [&](const Indices& row, Index column) {
      Index r = 0;
      for (std::size_t i = 0; i < row.size(); ++i) r = r * tile[i] + row[i] - at[i];
      return b.load(crossing_, r * tile_.lanes + column - n);
    });
  }

  /// All columns, with rows along the lanes.
  void multiply_along() {
    loop::Builder& b = *builder_;
    Sizes outer(here_.rows.begin(), here_.rows.end() - 1);
    Index panel = panel_at(0);
    sweep_tiles(outer, std::max<std::int64_t>(1, tile_.rows / n_), [&](const Indices& at, const Sizes& tile) {
      b.vector(0, here_.rows.back(), tile_.lanes, [&](Index x) {
        std::vector<Indices> rows = rows_of(at, tile);
        for (Indices& row : rows) row.push_back(x);
        std::vector<Inst*> sums;
        for (const Indices& row : rows)
          for (std::int64_t n = 0; n < n_; ++n)
            sums.push_back(b.local(sums_ ? b.load(sums_, sum_at(row, n)) : b.constant(acc_, 0.0), tile_.lanes));
        over_k([&](Index k, Index from) {
          std::size_t at_sum = 0;
          for (const Indices& row : rows) {
            Inst* left = b.load(patch_, in_patch(row) + from);
            for (std::int64_t n = 0; n < n_; ++n, ++at_sum)
              b.set(sums[at_sum], multiply_add(b, kind(), acc_, left, b.load(panel_, panel + k * panel_lanes() + n), b.get(sums[at_sum])));
          }
        });
        std::size_t at_sum = 0;
        for (const Indices& row : rows)
          for (std::int64_t n = 0; n < n_; ++n, ++at_sum) {
            Inst* sum = b.get(sums[at_sum]);
            sums_ ? b.store(sums_, sum_at(row, n), sum) : result(row, n, sum);
          }
      });
    });
  }

  /// Every k of the block in order: its number, and how far it is in the patch.
  void over_k(const std::function<void(Index k, Index from)>& step) {
    std::vector<Run> walk = runs();
    std::function<void(std::size_t, Index, Index)> over = [&](std::size_t i, Index k, Index from) {
      auto [count, by] = walk[i];
      if (i > 0) return repeat(count, [&, by = by](Index x) { over(i - 1, (k + x) * walk[i - 1].count, from + x * by); });
      std::int64_t unroll = count <= 8 ? count : 4;
      if (count >= unroll)
        repeat(count / unroll, [&, by = by](Index x) {
          for (std::int64_t u = 0; u < unroll; ++u) step(k + x * unroll + u, from + (x * unroll + u) * by);
        });
      for (std::int64_t u = count / unroll * unroll; u < count; ++u) step(k + u, from + Index(u * by));
    };
    over(walk.size() - 1, 0, 0);
  }

  /// Stores the sum of `row` (in the block) at column `n` of the block.
  void result(const Indices& row, Index n, Inst* sum) {
    Index m = 0;
    for (std::size_t i = 0; i < row.size(); ++i) m = m * rows_[i].size + here_.row[i] + row[i];
    Index column = here_.n0 + n;
    Index offset = swapped_ ? (here_.batch * n_ + column) * m_ + m : (here_.batch * m_ + m) * n_ + column;
    context_->store(offset, column.lanes() > 1 ? column : m, sum);
  }

  const Op& op_;
  const Group& group_;
  const Fusion& fusion_;
  bool swapped_;
  ProductSide seen_, other_;
  const Op& windows_;
  op::WindowDims dims_;
  std::vector<Axis> rows_, depth_;  // what rows of the product and k count along
  std::int64_t batch_ = 1, m_ = 1, n_ = 1, k_ = 1, nb_ = 1;
  DType acc_ = DType::f32;
  Tile tile_;
  Sizes unit_;                      // of an array's dimension: all positions that a block sees differ by multiples of it
  Sizes row_box_, depth_box_;       // lengths of a block along rows_ and depth_
  Sizes pitch_;                     // how far neighbours in each dimension are apart in the patch
  std::int64_t patch_size_ = 0;
  std::optional<Pair> pair_;        // of bf16, where terms are such
  bool packs_first_ = false;
  bool along_ = false;              // few columns: rows lie along the lanes
  Built out_;
  loop::Builder* builder_ = nullptr;
  ProductContext* context_ = nullptr;
  loop::Ref *panel_ = nullptr, *patch_ = nullptr, *sums_ = nullptr, *crossing_ = nullptr;
  struct {
    Index batch, n0, k, pair;  // k, pair: where the block begins along all of k and along the axis of pairs
    Indices row, origin;       // origin: of what it sees of the array, with padding
    Sizes rows;
  } here_;  // the block under way
};

}  // namespace

bool few_columns_of_long_rows(const ProductSide& windows, const op::WindowDims& dims, std::int64_t columns) {
  constexpr std::int64_t kFew = 7, kLong = 12, kMost = 12, kFarthest = 4, kManyTerms = 96;
  const bool many = windows.size(windows.contract) >= kManyTerms;  // results are stored a column at a time
  for (std::size_t i = windows.free.size(); i-- > 0;) {
    int d = windows.free[i], of = d - dims.rank();
    std::int64_t size = windows.value->shape()[d];
    if (size == 1) continue;
    return columns <= (many ? kMost : kFew) && size >= kLong && of >= 0 && dims.stride[static_cast<std::size_t>(of)] <= (many ? kFarthest : 1);
  }
  return false;
}

bool takes_windows(const Op& product, const Fusion& fusion) {
  int side = windows_side(product, fusion);
  if (side < 0) return false;
  op::Contraction c = op::contraction_of(product);
  ProductSide other(product.operand(1 - side), side == 0 ? c.rhs_batch : c.lhs_batch, side == 0 ? c.rhs_contract : c.lhs_contract);
  return other.size(other.contract) > 0;
}

Built build_window_product(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& product = *group.roots.front();
  op::Contraction c = op::contraction_of(product);
  return WindowProduct(group, c, windows_side(product, fusion), fusion, target).build();
}

}  // namespace strata::compile
