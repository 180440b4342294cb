#include "strata/compile/kernel/conv/conv_kernel.h"

#include "strata/compile/kernel/conv/conv_tiling.h"
#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/loop/lanes.h"
#include "strata/loop/pieces.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using Sizes = ConvTiling::Sizes;
using Indices = std::vector<Index>;

class ConvKernel {
 public:
  ConvKernel(const Group& group, ConvTiling plan, const Fusion& fusion)
      : group_(group), fusion_(fusion), plan_(std::move(plan)) {}

  Built build() {
    if (plan_.packs_first) out_.kernels.push_back(pack_all());
    out_.kernels.push_back(multiply());
    return std::move(out_);
  }

 private:
  /// What a step of k takes: `element(0)`, or a pair of it and `element(1)`, the one behind. `at`:
  /// the step along the paired axis; asked where its size is odd.
  Inst* term(const std::function<Inst*(std::int64_t)>& element, const Index& at) {
    loop::Builder& b = *builder_;
    if (!plan_.pair) return b.convert(plan_.accumulator, element(0));
    Inst* low = element(0);
    if (plan_.pair->size % 2 == 0) return pack_bf16_pair(b, low, element(1));
    return pack_bf16_pair(b, low,
                          b.guarded(
                              b.less(at, plan_.pair->size / 2), [&] { return element(1); },
                              b.constant(DType::bf16, 0)));
  }

  /// The place of block `number` among the blocks of all axes, row-major, and the lengths there; a
  /// last shorter one is code of its own.
  void for_block(const std::vector<ConvTiling::Axis>& axes, const Sizes& box, Index number,
                 const std::function<void(const Indices&, const Sizes&)>& body) {
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
    b.if_(
        b.less(cut_at, last), [&] { body(start, box); },
        [&] {
          Sizes shorter = box;
          shorter[cut] = axes[cut].size % box[cut];
          start[cut] = last * box[cut];
          body(start, shorter);
        });
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
  void pack(KernelContext& context, Index batch, Index n0, std::int64_t width, const Indices& start,
            const Sizes& box, loop::Ref* panel, Index at) {
    loop::Builder& b = *builder_;
    std::int64_t lanes = plan_.panel_lanes();
    auto place = [&](const Indices& k) {  // row-major in the box
      Index out = 0;
      for (std::size_t i = 0; i < k.size(); ++i) out = out * box[i] + k[i];
      return out;
    };
    auto put = [&](const Indices& k, Index x) {
      auto element = [&](std::int64_t behind) {
        Index whole = 0;
        for (std::size_t i = 0; i < k.size(); ++i) {
          const bool paired = plan_.pair && i + 1 == k.size();
          whole = whole * (paired ? plan_.pair->size : plan_.depth[i].size) +
                  (paired ? (start[i] + k[i]) * 2 + behind : start[i] + k[i]);
        }
        return context.at(plan_.other.value, plan_.other.index(b, batch, n0 + x, whole));
      };
      b.store(panel, at + place(k) * lanes + x,
              term(element, plan_.pair ? start.back() + k.back() : Index()));
    };
    if (!plan_.other.contracts_minor())
      return nest(box, [&](const Indices& k) {
        b.vector(0, width, plan_.tile.lanes, [&](Index x) { put(k, x); });
      });
    if (box.empty()) return b.for_(0, width, 1, [&](Index x) { put({}, x); });
    // A few steps of all columns at a time, so that the lines written stay in the first cache.
    nest(Sizes(box.begin(), box.end() - 1), [&](const Indices& outer) {
      for_pieces(*builder_, 0, box.back(), 16, [&](Index s, std::int64_t some) {
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
    built.kernel->grid = plan_.batch * plan_.panels();
    built.parallel = static_cast<double>(plan_.batch * plan_.n * plan_.k) > kInlineWork;
    loop::Builder b(*built.kernel);
    builder_ = &b;
    KernelContext context(b, fusion_, built);
    out_.temporaries.push_back(plan_.batch * plan_.panels() * plan_.panel_size(plan_.k) *
                               static_cast<std::int64_t>(byte_width(plan_.accumulator)));
    loop::Ref* panel = context.temporary(0, plan_.laid_out(),
                                         plan_.batch * plan_.panels() * plan_.panel_size(plan_.k),
                                         loop::Ref::Mode::inout);
    Index point = b.grid(), batch = b.div(point, plan_.panels()),
          number = b.mod(point, plan_.panels());
    auto fill = [&](Index n0, std::int64_t width) {
      pack(context, batch, n0, width, Indices(plan_.depth.size(), Index(0)),
           lengths_of(plan_.depth), panel, point * plan_.panel_size(plan_.k));
    };
    const std::int64_t lanes = plan_.panel_lanes(), rest = plan_.n % lanes;
    if (rest == 0)
      fill(number * lanes, lanes);
    else if (plan_.panels() == 1)
      fill(0, rest);
    else
      b.if_(
          b.less(number, plan_.panels() - 1), [&] { fill(number * lanes, lanes); },
          [&] { fill((plan_.panels() - 1) * lanes, rest); });
    return built;
  }

  // ---- the product

  BuiltKernel multiply() {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>("conv");
    built.kernel->grid = plan_.batch * plan_.row_blocks() * plan_.column_blocks();
    built.parallel =
        static_cast<double>(plan_.batch * plan_.m * plan_.n) * static_cast<double>(plan_.k) >
        16 * kInlineWork;
    loop::Builder b(*built.kernel);
    builder_ = &b;
    GemmOutput context(b, group_, fusion_, built);
    context_ = &context;
    std::int64_t depth = elements_of(plan_.depth_box);
    panel_ = plan_.packs_first
                 ? context.temporary(0, plan_.laid_out(),
                                     plan_.batch * plan_.panels() * plan_.panel_size(plan_.k),
                                     loop::Ref::Mode::in)
                 : b.scratch(plan_.laid_out(), depth * plan_.padded(plan_.nc));
    patch_ = b.scratch(plan_.laid_out(), plan_.patch_size);
    if (plan_.crosses())
      crossing_ = b.scratch(plan_.accumulator, plan_.tile.rows * plan_.tile.lanes);
    sums_ = plan_.depth_blocks() > 1
                ? b.scratch(plan_.sums_type(), elements_of(plan_.row_box) * plan_.padded(plan_.nc))
                : nullptr;
    Index point = b.grid();
    Index column = b.mod(point, plan_.column_blocks()),
          row = b.mod(b.div(point, plan_.column_blocks()), plan_.row_blocks());
    here_.batch = b.div(point, plan_.column_blocks() * plan_.row_blocks());
    for_block(plan_.rows, plan_.row_box, row, [&](const Indices& start, const Sizes& box) {
      here_.row = start;
      here_.rows = box;
      std::int64_t count = plan_.column_blocks(), rest = plan_.n - (count - 1) * plan_.nc;
      auto columns = [&](Index n0, std::int64_t width) {
        here_.n0 = n0;
        block(width);
      };
      if (count == 1 || rest == plan_.nc) return columns(column * plan_.nc, rest);
      b.if_(
          b.less(column, count - 1), [&] { columns(column * plan_.nc, plan_.nc); },
          [&] { columns((count - 1) * plan_.nc, rest); });
    });
    return built;
  }

  void block(std::int64_t columns) {
    loop::Builder& b = *builder_;
    if (sums_)
      b.vector(0, elements_of(here_.rows) * plan_.padded(plan_.nc), 16,
               [&](Index i) { b.store(sums_, i, b.constant(plan_.sums_type(), 0.0)); });
    repeat(plan_.depth_blocks(), [&](Index number) {
      for_block(plan_.depth, plan_.depth_box, number, [&](const Indices& start, const Sizes&) {
        here_.k = 0;
        for (std::size_t i = 0; i < start.size(); ++i)
          here_.k = here_.k * plan_.depth[i].size + start[i];
        stage(start);
        if (!plan_.packs_first)
          for_pieces(*builder_, 0, columns, plan_.panel_lanes(), [&](Index n, std::int64_t width) {
            pack(*context_, here_.batch, here_.n0 + n, width, start, plan_.depth_box, panel_,
                 n * elements_of(plan_.depth_box));
          });
        if (plan_.along) return multiply_along();
        for_pieces(*builder_, 0, columns, plan_.tile.lanes, [&](Index n, std::int64_t width) {
          sweep_tiles(here_.rows, plan_.tile.rows, [&](const Indices& at, const Sizes& tile) {
            multiply_tile(n, width, at, tile);
          });
        });
      });
    });
    if (!sums_) return;
    auto sum = [&](const Indices& row, Index n) {
      return b.convert(plan_.accumulator, b.load(sums_, sum_at(row, n)));
    };
    if (plan_.along || plan_.crosses())
      return results_across(Indices(plan_.rows.size(), Index(0)), here_.rows, 0, columns, sum);
    nest(here_.rows, [&](const Indices& at) {
      b.vector(0, columns, plan_.tile.lanes, [&](Index x) { result(at, x, sum(at, x)); });
    });
  }

  /// Stores the results of a box of rows at columns n + [0, columns), neighbours in memory
  /// together.
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
      Indices position(plan_.rank());
      for (std::size_t d = 0; d < plan_.rank(); ++d)
        position[d] = here_.origin[d] + at[d] * plan_.unit[d] - Index(plan_.dims.low[d]);
      if (behind) position[plan_.paired().dim] = position[plan_.paired().dim] + plan_.pair->step;
      return op::element_seen(*context_, plan_.windows, position);
    };
    return term(element, plan_.pair ? here_.pair + at[plan_.paired().dim] : Index());
  }

  /// Lays out what the block sees of the array, the trailing dimensions as one long row.
  void stage(const Indices& depth_start) {
    loop::Builder& b = *builder_;
    Indices& origin = here_.origin;
    origin.assign(plan_.rank(), Index());
    Indices batch = delinearize(b, plan_.seen.part(plan_.seen.batch), here_.batch);
    for (std::size_t i = 0; i < plan_.seen.batch.size(); ++i) {
      auto at = static_cast<std::size_t>(plan_.seen.batch[i]);
      std::size_t d = at % plan_.rank();
      origin[d] = origin[d] + batch[i] * (at >= plan_.rank() ? plan_.dims.stride[d]
                                                             : plan_.dims.window_dilation[d]);
    }
    for (std::size_t i = 0; i < plan_.rows.size(); ++i)
      origin[plan_.rows[i].dim] = origin[plan_.rows[i].dim] + here_.row[i] * plan_.rows[i].step;
    for (std::size_t i = 0; i < plan_.depth.size(); ++i)
      origin[plan_.depth[i].dim] =
          origin[plan_.depth[i].dim] + depth_start[i] * plan_.depth[i].step;
    if (plan_.pair) here_.pair = depth_start.back();
    const Sizes extent = plan_.extents(here_.rows);
    if (std::optional<ConvTiling::Square> square = plan_.transpose_tile_of(extent))
      return stage_transposed(extent, *square);
    std::size_t first = plan_.rank();  // of the dimensions that make the row
    std::int64_t row = 1;
    while (first > 0 && (extent[first - 1] == 1 || row < 16)) row *= extent[--first];
    nest(Sizes(extent.begin(), extent.begin() + static_cast<std::ptrdiff_t>(first)),
         [&](const Indices& at) {
           b.vector(0, row, 16, [&](Index j) {
             Indices place(plan_.rank());
             Index to = 0;
             for (std::size_t d = plan_.rank(); d-- > 0;) {
               Index x = d < first ? at[d] : extent[d] == 1 ? Index(0) : b.mod(j, extent[d]);
               if (d >= first && extent[d] > 1) j = b.div(j, extent[d]);
               to = to + x * plan_.pitch[d];
               place[d] = x;
             }
             b.store(patch_, recombine(to), seen(place));
           });
         });
  }

  /// What is read along one of them and written along the other is turned in registers by squares,
  /// the last of which overlaps the one before where they do not end together (16 x 128 x 32 x 64
  /// f32 by windows of 3 x 3 in steps of 2: 18.9 ms written by lanes, 4.4 so).
  void stage_transposed(const Sizes& extent, const ConvTiling::Square& square) {
    loop::Builder& b = *builder_;
    const auto [m, p] = square;
    auto by_transpose_tiles = [&](std::int64_t size, const std::function<void(Index)>& body) {
      repeat(size / ConvTiling::kTransposeTile,
             [&](Index i) { body(i * ConvTiling::kTransposeTile); });
      if (size % ConvTiling::kTransposeTile) body(size - ConvTiling::kTransposeTile);
    };
    Sizes others = extent;
    others[m] = others[p] = 1;
    nest(others, [&](const Indices& at) {
      by_transpose_tiles(extent[p], [&](Index p0) {
        by_transpose_tiles(extent[m], [&](Index m0) {
          b.vector(0, ConvTiling::kTransposeTile, ConvTiling::kTransposeTile, [&](Index lane) {
            std::vector<Inst*> values;
            Indices place = at;
            place[m] = m0 + lane;
            Index to = 0;
            for (std::size_t d = 0; d < plan_.rank(); ++d)
              to = to + (d == p ? p0 + lane : d == m ? m0 : at[d]) * plan_.pitch[d];
            for (std::int64_t i = 0; i < ConvTiling::kTransposeTile; ++i) {
              place[p] = p0 + i;
              values.push_back(seen(place));
            }
            const std::vector<Inst*> turned = loop::transposed(b, std::move(values));
            for (std::int64_t i = 0; i < ConvTiling::kTransposeTile; ++i)
              b.store(patch_, to + i * plan_.pitch[m], turned[static_cast<std::size_t>(i)]);
          });
        });
      });
    });
  }

  /// Tiles of at most `room` rows of a box: along the innermost axis, and whole rows of it together
  /// where it is short. Pieces are as even as can be, so that at most two lengths become code.
  void sweep_tiles(const Sizes& box, std::int64_t room,
                   const std::function<void(const Indices&, const Sizes&)>& body) {
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
      if (i != cut)
        return repeat(box[i] / tile[i], [&](Index x) {
          at[i] = x * tile[i];
          from(i + 1);
        });
      std::int64_t pieces = (box[i] + room - 1) / room, longer = (box[i] + pieces - 1) / pieces,
                   many = box[i] - pieces * (longer - 1);
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

  Index in_patch(const Indices& row) const {
    Index out = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      out = out + row[i] * (plan_.rows[i].step / plan_.unit[plan_.rows[i].dim] *
                            plan_.pitch[plan_.rows[i].dim]);
    return out;
  }
  /// Where the sum of a row and a column of the block waits between blocks of k.
  Index sum_at(const Indices& row, Index n) const {
    Index m = 0;
    for (std::size_t i = 0; i < row.size(); ++i) m = m * here_.rows[i] + row[i];
    return plan_.along ? n * elements_of(here_.rows) + m : m * plan_.padded(plan_.nc) + n;
  }
  /// The places of a tile in the block, row-major.
  static std::vector<Indices> rows_of(const Indices& at, const Sizes& tile) {
    std::vector<Indices> out;
    for (std::int64_t r = 0, height = elements_of(tile); r < height; ++r) {
      Indices row = at;
      std::int64_t rest = r;
      for (std::size_t i = tile.size(); i-- > 0; rest /= tile[i])
        row[i] = row[i] + Index(rest % tile[i]);
      out.push_back(row);
    }
    return out;
  }
  /// Where column n of the block begins in its panel.
  Index panel_at(Index n) const {
    return plan_.packs_first ? here_.batch * (plan_.panels() * plan_.panel_size(plan_.k)) +
                                   (here_.n0 + n) * plan_.k + here_.k * plan_.panel_lanes()
                             : n * elements_of(plan_.depth_box);
  }

  void multiply_tile(Index n, std::int64_t width, const Indices& at, const Sizes& tile) {
    loop::Builder& b = *builder_;
    std::vector<Indices> rows = rows_of(at, tile);
    Index panel = panel_at(n);
    b.vector(0, width, plan_.tile.lanes, [&](Index x) {
      std::vector<Inst*> sums;
      for (const Indices& row : rows) sums.push_back(b.local(begin(row, n + x), plan_.tile.lanes));
      over_k(sums, [&](Index k, Index from) {
        Inst* right = b.load(panel_, panel + x + k * plan_.tile.lanes);
        for (std::size_t r = 0; r < sums.size(); ++r)
          b.set(sums[r],
                multiply_add(b, plan_.kind(), plan_.accumulator,
                             b.load(patch_, in_patch(rows[r]) + from), right, b.get(sums[r])));
      });
      for (std::size_t r = 0; r < rows.size(); ++r) {
        Inst* sum = b.get(sums[r]);
        if (sums_)
          put_by(rows[r], n + x, sum);
        else if (plan_.crosses())
          b.store(crossing_, Index(static_cast<std::int64_t>(r) * plan_.tile.lanes) + x, sum);
        else
          result(rows[r], n + x, sum);
      }
    });
    if (sums_ || !plan_.crosses()) return;
    results_across(at, tile, n, width, [&](const Indices& row, Index column) {
      Index r = 0;
      for (std::size_t i = 0; i < row.size(); ++i) r = r * tile[i] + row[i] - at[i];
      return b.load(crossing_, r * plan_.tile.lanes + column - n);
    });
  }

  /// All columns, with rows along the lanes.
  void multiply_along() {
    loop::Builder& b = *builder_;
    Sizes outer(here_.rows.begin(), here_.rows.end() - 1);
    Index panel = panel_at(0);
    sweep_tiles(outer, std::max<std::int64_t>(1, plan_.tile.rows / plan_.n),
                [&](const Indices& at, const Sizes& tile) {
                  b.vector(0, here_.rows.back(), plan_.tile.lanes, [&](Index x) {
                    std::vector<Indices> rows = rows_of(at, tile);
                    for (Indices& row : rows) row.push_back(x);
                    std::vector<Inst*> sums;
                    for (const Indices& row : rows)
                      for (std::int64_t n = 0; n < plan_.n; ++n)
                        sums.push_back(b.local(begin(row, n), plan_.tile.lanes));
                    over_k(sums, [&](Index k, Index from) {
                      std::size_t at_sum = 0;
                      for (const Indices& row : rows) {
                        Inst* left = b.load(patch_, in_patch(row) + from);
                        for (std::int64_t n = 0; n < plan_.n; ++n, ++at_sum)
                          b.set(sums[at_sum],
                                multiply_add(b, plan_.kind(), plan_.accumulator, left,
                                             b.load(panel_, panel + k * plan_.panel_lanes() + n),
                                             b.get(sums[at_sum])));
                      }
                    });
                    std::size_t at_sum = 0;
                    for (const Indices& row : rows)
                      for (std::int64_t n = 0; n < plan_.n; ++n, ++at_sum) {
                        Inst* sum = b.get(sums[at_sum]);
                        sums_ ? put_by(row, n, sum) : result(row, n, sum);
                      }
                  });
                });
  }

  /// What a tile's sum begins from: what waits, or zero for chains and for the first block.
  Inst* begin(const Indices& row, Index n) {
    loop::Builder& b = *builder_;
    return sums_ && !plan_.chain ? b.load(sums_, sum_at(row, n))
                                 : b.constant(plan_.accumulator, 0.0);
  }
  /// Puts a tile's sum by, until the next block of k.
  void put_by(const Indices& row, Index n, Inst* sum) {
    loop::Builder& b = *builder_;
    const Index at = sum_at(row, n);
    b.store(sums_, at,
            plan_.chain
                ? b.binary(loop::Opcode::add, b.load(sums_, at), b.convert(plan_.sums_type(), sum))
                : sum);
  }

  /// Every k of the block in order: its number, and how far it is in the patch; chain by chain
  /// where `sums` are added up so.
  void over_k(const std::vector<Inst*>& sums,
              const std::function<void(Index k, Index from)>& step) {
    if (!plan_.chain) return over_box(plan_.depth_box, step);
    loop::Builder& b = *builder_;
    const std::vector<ConvTiling::Run> walk = plan_.chain_runs();
    const std::int64_t length = elements_of(*plan_.chain);
    add_parts(b, sums, plan_.tile.lanes, plan_.accumulator, [&](const std::function<void()>& add) {
      std::function<void(std::size_t, Index, Index)> over = [&](std::size_t i, Index chain,
                                                                Index from) {
        if (i < walk.size())
          return repeat(walk[i].count, [&](Index x) {
            over(i + 1, chain * walk[i].count + x, from + x * walk[i].step);
          });
        for (Inst* sum : sums) b.set(sum, b.constant(plan_.accumulator, 0.0));
        over_box(*plan_.chain,
                 [&](const Index& k, const Index& at) { step(chain * length + k, from + at); });
        add();
      };
      over(0, 0, 0);
    });
  }
  void over_box(const Sizes& box, const std::function<void(Index k, Index from)>& step) {
    const std::vector<ConvTiling::Run> walk = plan_.runs(box);
    std::function<void(std::size_t, Index, Index)> over = [&](std::size_t i, Index k, Index from) {
      auto [count, by] = walk[i];
      if (i > 0)
        return repeat(count, [&, by = by](Index x) {
          over(i - 1, (k + x) * walk[i - 1].count, from + x * by);
        });
      std::int64_t unroll = count <= 8 ? count : 4;
      if (count >= unroll)
        repeat(count / unroll, [&, by = by](Index x) {
          for (std::int64_t u = 0; u < unroll; ++u)
            step(k + x * unroll + u, from + (x * unroll + u) * by);
        });
      for (std::int64_t u = count / unroll * unroll; u < count; ++u)
        step(k + u, from + Index(u * by));
    };
    over(walk.size() - 1, 0, 0);
  }

  /// Stores the sum of `row` (in the block) at column `n` of the block.
  void result(const Indices& row, Index n, Inst* sum) {
    Index m = 0;
    for (std::size_t i = 0; i < row.size(); ++i) m = m * plan_.rows[i].size + here_.row[i] + row[i];
    Index column = here_.n0 + n;
    Index offset = plan_.swapped ? (here_.batch * plan_.n + column) * plan_.m + m
                                 : (here_.batch * plan_.m + m) * plan_.n + column;
    context_->store(offset, column.lanes() > 1 ? column : m, sum);
  }

  const Group& group_;
  const Fusion& fusion_;
  const ConvTiling plan_;
  Built out_;
  loop::Builder* builder_ = nullptr;
  GemmOutput* context_ = nullptr;
  loop::Ref *panel_ = nullptr, *patch_ = nullptr, *sums_ = nullptr, *crossing_ = nullptr;
  struct {
    Index batch, n0, k,
        pair;  // k, pair: where the block begins along all of k and along the axis of pairs
    Indices row, origin;  // origin: of what it sees of the array, with padding
    Sizes rows;
  } here_;  // the block under way
};

}  // namespace

bool is_conv(const Op& product, const Fusion& fusion) {
  int side = windows_side(product, fusion);
  if (side < 0) return false;
  op::Contraction c = op::contraction_of(product);
  GemmOperand other(product.operand(1 - side), side == 0 ? c.rhs_batch : c.lhs_batch,
                    side == 0 ? c.rhs_contract : c.lhs_contract);
  return other.size(other.contract) > 0;
}

Built build_conv(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& product = *group.roots.front();
  op::Contraction c = op::contraction_of(product);
  return ConvKernel(group, ConvTiling(product, c, windows_side(product, fusion), fusion, target),
                    fusion)
      .build();
}

}  // namespace strata::compile
