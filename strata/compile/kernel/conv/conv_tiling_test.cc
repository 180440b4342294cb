// What a block lays out holds every element that it sees, each at a place of its own, in the order
// in which sums walk.
#include "strata/compile/kernel/conv/conv_tiling.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "strata/compile/fuse/fuse.h"
#include "strata/compile/kernel/conv/conv_kernel.h"
#include "strata/compile/kernel/conv/conv_testing.h"
#include "strata/compile/pipeline.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using Sizes = ConvTiling::Sizes;
using testing::ConvolutionSizes;

struct Planned {
  std::unique_ptr<ir::Block> block;
  Fusion fusion;
  std::optional<ConvTiling> plan;
};

/// The plan of the one product with windows that the convolution becomes; none where it becomes
/// something else.
Planned plan_of(const ConvolutionSizes& sizes, bool features_last, DType dtype,
                const CpuTarget& target) {
  Planned out{prepare(*testing::convolution(dtype, DType::f32, sizes, features_last)), {}, {}};
  out.fusion = fuse(*out.block);
  for (const Group& g : out.fusion.groups)
    if (g.kind == GroupKind::gemm && is_conv(*g.roots.front(), out.fusion)) {
      const ir::Op& product = *g.roots.front();
      out.plan.emplace(product, op::contraction_of(product), windows_side(product, out.fusion),
                       out.fusion, target);
    }
  return out;
}

/// Calls `body` with every place of a box, row-major.
template <class Body>
void each_place(const Sizes& box, Body body) {
  Sizes at(box.size(), 0);
  for (std::int64_t i = 0; i < elements_of(box); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = box.size(); d-- > 0; rest /= box[d]) at[d] = rest % box[d];
    body(at);
  }
}

Sizes moved(const ConvTiling& plan, const std::vector<ConvTiling::Axis>& axes, const Sizes& at) {
  Sizes out(plan.rank(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) out[axes[i].dim] += at[i] * axes[i].step;
  return out;
}

void expect_laid_out(const ConvTiling& plan) {
  const Sizes extent = plan.extents(plan.row_box);
  std::set<std::int64_t> places;
  each_place(extent, [&](const Sizes& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * plan.pitch[d];
    EXPECT_LT(place, plan.patch_size);
    EXPECT_TRUE(places.insert(place).second) << "two elements at " << place;
  });
  Sizes walk;  // of k through the patch, by its runs
  const std::vector<ConvTiling::Run> runs = plan.runs(plan.depth_box);
  Sizes counts;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) counts.push_back(run->count);
  each_place(counts, [&](const Sizes& at) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < at.size(); ++i) place += at[i] * runs[at.size() - 1 - i].step;
    walk.push_back(place);
  });
  ASSERT_EQ(walk.size(), static_cast<std::size_t>(elements_of(plan.depth_box)));
  each_place(plan.row_box, [&](const Sizes& row) {
    const Sizes from = moved(plan, plan.rows, row);
    std::size_t step = 0;
    each_place(plan.depth_box, [&](const Sizes& k) {
      const Sizes by = moved(plan, plan.depth, k);
      std::int64_t along_k = 0;
      for (std::size_t d = 0; d < plan.rank(); ++d) {
        EXPECT_EQ((from[d] + by[d]) % plan.unit[d], 0);
        EXPECT_LT((from[d] + by[d]) / plan.unit[d], extent[d]);
        along_k += by[d] / plan.unit[d] * plan.pitch[d];
      }
      EXPECT_EQ(walk[step++], along_k);
    });
  });
}

/// Blocks of all shapes: in steps, with holes, in groups, by pairs, of many and of few features,
/// which make rows the lanes.
TEST(ConvTiling, LaysOutWhatABlockSees) {
  const ConvolutionSizes cases[] = {
      {{2, 16, 16, 32}, {3, 3, 32, 48}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}},  // as most are
      {{2, 33, 31, 24}, {3, 7, 24, 40}, {2, 2}, {1, 1, 3, 3}, {1, 1}, {1, 1}},  // in steps
      {{1, 40, 24, 3}, {8, 8, 3, 64}, {8, 8}, {0, 0, 0, 0}, {1, 1}, {1, 1}},  // patches beside each
                                                                              // other
      {{1, 30, 30, 20}, {3, 3, 20, 20}, {1, 1}, {2, 2, 2, 2}, {1, 1}, {2, 3}},     // with holes
      {{2, 24, 40, 96}, {3, 3, 96, 4}, {1, 2}, {1, 1, 1, 1}, {1, 1}, {1, 1}},      // few features
      {{1, 20, 20, 36}, {5, 3, 18, 36}, {1, 1}, {2, 2, 1, 1}, {1, 1}, {1, 1}, 2},  // in groups
      {{1, 12, 12, 600}, {3, 3, 600, 64}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}},   // several blocks
                                                                                   // of k
      {{1, 14, 14, 21}, {3, 3, 21, 32}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}},  // an odd number of
                                                                                // features
  };
  int planned = 0, along = 0, pairs = 0, deep = 0;
  for (const ConvolutionSizes& c : cases)
    for (bool last : {true, false})
      for (DType dtype : {DType::f32, DType::bf16})
        for (const char* processor : {"x86-64-v3", "x86-64-v4,+avx512bf16"}) {
          const ConvolutionSizes sizes = last ? c : [&] {
            ConvolutionSizes second = c;
            second.lhs = {c.lhs[0], c.lhs[3], c.lhs[1], c.lhs[2]};
            return second;
          }();
          SCOPED_TRACE(fmt::format("{} by {}, {}, {}, features {}", fmt::join(c.lhs, "x"),
                                   fmt::join(c.rhs, "x"), name(dtype), processor,
                                   last ? "last" : "second"));
          const Planned p = plan_of(sizes, last, dtype, CpuTarget::named(processor));
          if (!p.plan) continue;
          ++planned;
          along += p.plan->along;
          pairs += p.plan->pair.has_value();
          deep += p.plan->depth_blocks() > 1;
          expect_laid_out(*p.plan);
          EXPECT_GE(p.plan->row_blocks() * elements_of(p.plan->row_box), p.plan->m);
          EXPECT_GE(p.plan->column_blocks() * p.plan->nc, p.plan->n);
        }
  EXPECT_GE(planned, 56);
  EXPECT_GT(along, 0);
  EXPECT_GT(pairs, 0);
  EXPECT_GT(deep, 0);
}

}  // namespace
}  // namespace strata::compile
