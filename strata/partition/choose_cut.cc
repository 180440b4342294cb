#include "strata/partition/choose_cut.h"

#include <algorithm>
#include <map>

#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce.h"

namespace strata::spmd {
namespace {

using Dims = std::vector<std::vector<int>>;  // [dimension] -> factors, major first

class Chooser {
 public:
  Chooser(const op::Op& op, const Grid& grid, bool may_cut_sums)
      : grid_(grid),
        may_cut_sums_(may_cut_sums),
        is_convolution_(op.name() == "stablehlo.convolution") {
    cut_.factors = (*op::def(op).shard)(op);
    std::size_t n = cut_.factors.kinds.size();
    cut_.axes.resize(n);
    alone_.assign(n, true);
    each_tensor(op, [&](const Dims& dims, const Shape& shape) {
      for (std::size_t d = 0; d < dims.size(); ++d)
        for (int f : dims[d])
          if (dims[d].size() != 1 || size(f) != shape[static_cast<int>(d)])
            alone_[static_cast<std::size_t>(f)] = false;
    });
  }

  template <class F>
  void each_tensor(const op::Op& op, F&& f) const {
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      f(cut_.factors.operands[i], op.operands[i]->shape());
    for (int i = 0; i < op.num_results(); ++i)
      f(cut_.factors.results[static_cast<std::size_t>(i)], op.result(i)->shape());
  }

  /// The axes of each dimension go to its factors, major first, as far as they fit.
  void vote(const Dims& dims, const Shape& shape, const Layout& layout) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      std::size_t at = 0;
      const Axes& axes = layout.dims[d];
      for (int f : dims[d]) {
        Axes mine;
        std::int64_t left = size(f);
        bool any = alone_[static_cast<std::size_t>(f)];
        for (; at < axes.size(); ++at) {
          std::int64_t k = grid_.product({axes[at]});
          if (!any && (left % k != 0 || left == 0)) break;
          left /= k;
          mine.push_back(axes[at]);
        }
        if (!mine.empty() && may_be_cut(f)) votes_[{f, mine}] += shape.count() + 1;
        if (!any && left != 1) break;
      }
    }
  }

  Cut choose(const op::Op& op) {
    std::vector<std::pair<std::pair<int, Axes>, std::int64_t>> all(votes_.begin(), votes_.end());
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      if (a.second != b.second) return a.second > b.second;
      return kind(a.first.first) == 'p' && kind(b.first.first) != 'p';
    });
    Axes used;
    for (const auto& [candidate, votes] : all) {
      const auto& [f, axes] = candidate;
      Axes& mine = cut_.axes[static_cast<std::size_t>(f)];
      if (!mine.empty()) continue;
      for (int a : axes) {
        if (std::count(used.begin(), used.end(), a) > 0) break;
        mine.push_back(a);
        used.push_back(a);
      }
    }
    if (needs_more_than_one(op)) keep_two(op);
    drop_strided(op);
    return std::move(cut_);
  }

 private:
  std::int64_t size(int f) const { return cut_.factors.sizes[static_cast<std::size_t>(f)]; }
  char kind(int f) const { return cut_.factors.kinds[static_cast<std::size_t>(f)]; }
  bool may_be_cut(int f) const {
    return kind(f) == 'p' || (kind(f) == 'r' && may_cut_sums_ && !is_of_window(f));
  }
  /// Of a convolution, places in the kernel stand in no other operand.
  bool is_of_window(int f) const {
    auto has = [&](const Dims& dims) {
      return std::any_of(dims.begin(), dims.end(), [&](const std::vector<int>& factors) {
        return std::count(factors.begin(), factors.end(), f) > 0;
      });
    };
    return is_convolution_ &&
           std::count_if(cut_.factors.operands.begin(), cut_.factors.operands.end(), has) < 2;
  }

  /// Fewer axes for factors of which only one element would be left, where that matters: a
  /// reduction asks alone whether the minor-most dimension of more than one element is reduced.
  void keep_two(const op::Op& op) {
    if (op.name() == "stablehlo.reduce" && (is_of_any_order(op) || same_order(op))) return;
    each_tensor(op, [&](const Dims& dims, const Shape& shape) {
      for (std::size_t d = 0; d < dims.size(); ++d)
        for (int f : dims[d]) {
          Axes& axes = cut_.axes[static_cast<std::size_t>(f)];
          while (!axes.empty() && grid_.product(axes) >= shape[static_cast<int>(d)])
            axes.pop_back();
        }
    });
  }
  /// Whether it gives the same bits in whatever order it combines.
  static bool is_of_any_order(const op::Op& reduce) {
    return reduce.operands.size() == 2 && reduce.regions.empty() &&
           op::in_any_order(op::combiner_of(reduce), reduce.operand(0)->dtype());
  }
  bool same_order(const op::Op& reduce) const {
    std::vector<int> reduced = op::reduced_dims(reduce);
    const Type& whole = reduce.operand(0)->type();
    Type part = local_type(grid_, whole, cut_.layout(cut_.factors.operands[0]));
    return op::reduce_order(whole, reduced).lanes == op::reduce_order(part, reduced).lanes;
  }

  /// Cutting a factor behind one that is not cut to the last would give strided parts.
  void drop_strided(const op::Op& op) {
    bool dropped = true;
    while (dropped) {
      dropped = false;
      each_tensor(op, [&](const Dims& dims, const Shape&) {
        for (const auto& factors : dims) {
          bool full = true;
          for (int f : factors) {
            Axes& axes = cut_.axes[static_cast<std::size_t>(f)];
            if (!full && !axes.empty()) {
              axes.clear();
              dropped = true;
            }
            full = full && grid_.product(axes) == size(f);
          }
        }
      });
    }
  }

  const Grid& grid_;
  bool may_cut_sums_, is_convolution_;
  Cut cut_;
  std::vector<bool> alone_;  // whether a factor is all of each dimension that it is in
  std::map<std::pair<int, Axes>, std::int64_t> votes_;
};

}  // namespace

Cut choose_cut(const op::Op& op, const Grid& grid, const std::vector<const Layout*>& operands,
               const std::vector<const Layout*>& results, bool may_cut_sums) {
  Chooser chooser(op, grid, may_cut_sums);
  const op::Factors factors = (*op::def(op).shard)(op);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i] != nullptr)
      chooser.vote(factors.operands[i], op.operands[i]->shape(), *operands[i]);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i] != nullptr)
      chooser.vote(factors.results[i], op.result(static_cast<int>(i))->shape(), *results[i]);
  return chooser.choose(op);
}

}  // namespace strata::spmd
