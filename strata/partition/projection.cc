#include "strata/partition/projection.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace strata::spmd {
namespace {

using Dims = std::vector<std::vector<int>>;  // [dimension] -> factors, major first

enum class Prefix : std::uint8_t { none, strict, equal };

/// Whether `a` is what `b` begins with; the last axis may be a part of b's.
Prefix prefix(const SubAxes& a, const SubAxes& b) {
  if (a.empty()) return b.empty() ? Prefix::equal : Prefix::strict;
  if (a.size() > b.size()) return Prefix::none;
  for (std::size_t i = 0; i + 1 < a.size(); ++i)
    if (a[i] != b[i]) return Prefix::none;
  if (a.size() == b.size() && a.back() == b.back()) return Prefix::equal;
  return a.back().is_prefix_of(b[a.size() - 1]) ? Prefix::strict : Prefix::none;
}

std::int64_t product(const SubAxes& axes) {
  std::int64_t out = 1;
  for (const SubAxis& a : axes) out *= a.size();
  return out;
}

class Projection {
 public:
  Projection(const op::Factors& factors, const std::vector<std::optional<Sharding>>& tensors)
      : factors_(factors), operands_(factors.operands.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      tensors_.push_back(project(dims(i), tensors[i]));
  }

  const Dims& dims(std::size_t tensor) const {
    return tensor < operands_ ? factors_.operands[tensor] : factors_.results[tensor - operands_];
  }
  std::size_t operands() const { return operands_; }
  std::vector<TensorFactors>& tensors() { return tensors_; }
  std::int64_t size(int f) const { return factors_.sizes[static_cast<std::size_t>(f)]; }
  int count() const { return static_cast<int>(factors_.sizes.size()); }

  bool expand(std::size_t tensor, int f, const SubAxes& axes) {
    auto it = tensors_[tensor].factors.find(f);
    if (it == tensors_[tensor].factors.end() || prefix(it->second.axes, axes) != Prefix::strict)
      return false;
    it->second.axes = axes;
    return true;
  }

  /// The axes along a factor on which the tensors that have it agree: those of one begin those of
  /// the next. Only one side may lengthen them when they spread one way.
  SubAxes compatible(int f, Direction direction) const {
    if (direction == Direction::none) return {};
    SubAxes out;
    bool can_expand = true;
    auto side = [&](bool operands) {
      std::size_t first = operands ? 0 : operands_, last = operands ? operands_ : tensors_.size();
      for (std::size_t i = first; i < last; ++i)
        if (auto it = tensors_[i].factors.find(f); it != tensors_[i].factors.end())
          std::tie(out, can_expand) = joined(out, it->second.axes, can_expand);
    };
    side(direction != Direction::backward);
    if (direction != Direction::both) can_expand = false;
    side(direction == Direction::backward);
    return out;
  }

  /// What of an axis does not conflict with other factors of a tensor.
  static std::optional<SubAxis> across(SubAxis axis, const TensorFactors& tensor, int f) {
    std::optional<SubAxis> out = axis;
    for (const auto& [other, sharding] : tensor.factors) {
      if (other == f) continue;
      if (out) out = prefix_without(*out, sharding.overflow);
      if (out) out = prefix_without(*out, sharding.axes);
    }
    return out;
  }

  /// What of an axis a tensor takes along a factor that `before` devices cut already.
  std::optional<SubAxis> within(SubAxis axis, const TensorFactors& tensor, int f,
                                std::int64_t before) const {
    std::optional<SubAxis> out = prefix_without(axis, tensor.replicated);
    if (out) out = prefix_without(*out, tensor.unreduced);
    if (!out) return out;
    const FactorSharding& mine = tensor.factors.at(f);
    for (const SubAxis& a : mine.axes)
      if (a.contains(*out)) return out;
    if (!mine.is_closed && mine.overflow.empty()) {
      if (mine.is_minor_most) return out;
      if (before != 0 && size(f) % before == 0) {
        std::int64_t fits = std::gcd(size(f) / before, out->size());
        if (fits == out->size()) return out;
        if (fits != 1) return SubAxis{out->axis, out->begin, out->begin * fits};
      }
    }
    if (!mine.axes.empty() && mine.axes.back().is_prefix_of(*out)) return mine.axes.back();
    return std::nullopt;
  }

  /// Cuts a list at the first axis of which something must go.
  template <class F>
  static void truncate(SubAxes& axes, F&& keep) {
    std::int64_t before = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::optional<SubAxis> kept = keep(axes[i], before);
      if (!kept || *kept != axes[i]) {
        axes.resize(kept ? i + 1 : i);
        if (kept) axes[i] = *kept;
        return;
      }
      before *= kept->size();
    }
  }

  /// The factors of a tensor as a sharding of its dimensions again.
  Sharding sharding(std::size_t tensor, const std::string& mesh,
                    const std::optional<Sharding>& old) const {
    Sharding out{mesh, {}};
    const TensorFactors& mine = tensors_[tensor];
    for (const std::vector<int>& factors : dims(tensor)) {
      DimSharding dim;
      for (int f : factors) {
        const FactorSharding& s = mine.factors.at(f);
        dim.is_closed = dim.is_closed || s.is_closed;
        add(dim.axes, s.axes);
        if (!s.overflow.empty()) {
          add(dim.axes, s.overflow);
          break;
        }
        if (product(s.axes) < size(f)) break;  // what is behind would be strided
      }
      out.dims.push_back(std::move(dim));
    }
    out.replicated = mine.replicated;
    out.unreduced = mine.unreduced;
    if (old) out.reduction = old->reduction;
    return out;
  }

 private:
  static void add(SubAxes& to, const SubAxes& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (i == 0)
        append_merged(to, axes[i]);
      else
        to.push_back(axes[i]);
  }

  TensorFactors project(const Dims& dims, const std::optional<Sharding>& sharding) const {
    TensorFactors out;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      SubAxes axes = sharding ? sharding->dims[d].axes : SubAxes();
      bool is_closed = sharding && sharding->dims[d].is_closed, overflows = false;
      std::size_t at = 0;
      auto rest = [&](SubAxes& to) {
        for (; at < axes.size(); ++at) append_merged(to, axes[at]);
      };
      for (std::size_t i = 0; i < dims[d].size(); ++i) {
        FactorSharding& s = out.factors[dims[d][i]];
        s.is_minor_most = i + 1 == dims[d].size();
        if (overflows) {
          s.is_closed = true;
          break;
        }
        s.is_closed = is_closed;
        if (s.is_minor_most) {
          rest(s.axes);
          break;
        }
        std::int64_t left = size(dims[d][i]);
        while (at < axes.size()) {
          std::int64_t k = axes[at].size(), fits = k == 1 ? 1 : std::gcd(left, k);
          if (k != 1 && fits == 1) break;
          s.axes.push_back({axes[at].axis, axes[at].begin, axes[at].begin * fits});
          left /= fits;
          if (fits == k)
            ++at;
          else
            axes[at].begin *= fits;
        }
        if (left > 1 && at < axes.size()) {
          overflows = true;
          rest(s.overflow);
        }
      }
    }
    if (sharding) {
      out.replicated = sharding->replicated;
      out.unreduced = sharding->unreduced;
    }
    return out;
  }

  /// What two lists have in common, lengthened by the second where allowed; and whether it may be
  /// lengthened further.
  static std::pair<SubAxes, bool> joined(const SubAxes& old, const SubAxes& more, bool can_expand) {
    SubAxes out;
    std::size_t i = 0;
    for (; i < old.size() && i < more.size(); ++i) {
      const SubAxis &a = old[i], &b = more[i];
      if (a == b) {
        out.push_back(b);
      } else if (b.is_prefix_of(a)) {
        if (i + 1 < more.size()) {
          out.push_back(b);
          return {out, false};
        }
        out.push_back(a);
      } else if (a.is_prefix_of(b)) {
        if (!can_expand || i + 1 < old.size()) {
          out.push_back(a);
          return {out, false};
        }
        out.push_back(b);
      } else {
        return {out, false};
      }
    }
    for (std::size_t k = i; k < old.size(); ++k) out.push_back(old[k]);
    for (std::size_t k = i; can_expand && k < more.size(); ++k) out.push_back(more[k]);
    return {out, can_expand};
  }

  const op::Factors& factors_;
  std::size_t operands_;
  std::vector<TensorFactors> tensors_;
};

void spread_basic(Projection& p, const std::function<Direction(int)>& direction,
                  std::vector<bool>& changed) {
  for (int f = 0; f < p.count(); ++f) {
    SubAxes axes = p.compatible(f, direction(f));
    Projection::truncate(axes, [&](SubAxis axis, std::int64_t before) {
      std::optional<SubAxis> out = axis;
      for (const TensorFactors& t : p.tensors()) {
        if (out) out = Projection::across(*out, t, f);
        if (out && t.factors.count(f) > 0) out = p.within(*out, t, f, before);
      }
      return out;
    });
    for (std::size_t i = 0; i < p.tensors().size(); ++i)
      if (p.expand(i, f, axes)) changed[i] = true;
  }
}

/// The largest tensor that has all axes of a factor, the first of equals.
struct Source {
  std::int64_t size = -1, index = -1;
};

void spread_aggressive(Projection& p, bool is_elementwise,
                       const std::function<Direction(int)>& direction, std::vector<bool>& changed) {
  std::vector<SubAxes> axes;
  std::vector<int> order;
  bool any = false;
  for (int f = 0; f < p.count(); ++f) {
    axes.push_back(p.compatible(f, direction(f)));
    order.push_back(f);
    any = any || !axes.back().empty();
  }
  if (!any) return;
  std::vector<Source> sources(axes.size());
  for (std::size_t i = 0; i < p.tensors().size(); ++i) {
    std::int64_t size = 1;
    for (const auto& [f, s] : p.tensors()[i].factors) size *= p.size(f);
    for (const auto& [f, s] : p.tensors()[i].factors) {
      const SubAxes& all = axes[static_cast<std::size_t>(f)];
      Source& source = sources[static_cast<std::size_t>(f)];
      if (!all.empty() && prefix(all, s.axes) != Prefix::none && size > source.size)
        source = {size, static_cast<std::int64_t>(i)};
    }
  }
  auto key = [&](int f) {
    auto at = static_cast<std::size_t>(f);
    std::int64_t cut = is_elementwise ? product(axes[at]) : 0;
    return std::tuple(-sources[at].size, -cut, sources[at].index, f);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  // What tensor i takes along f, in its state so far.
  auto taken = [&](std::size_t i, int f) {
    const TensorFactors& t = p.tensors()[i];
    auto mine = t.factors.find(f);
    if (mine == t.factors.end()) return SubAxes();
    SubAxes out = axes[static_cast<std::size_t>(f)];
    Projection::truncate(out,
                         [&](SubAxis a, std::int64_t before) { return p.within(a, t, f, before); });
    if (prefix(mine->second.axes, out) != Prefix::strict) return SubAxes();
    Projection::truncate(out, [&](SubAxis a, std::int64_t) { return Projection::across(a, t, f); });
    return out;
  };
  for (std::size_t i = p.operands(); i < p.tensors().size(); ++i)
    for (int f : order)
      if (SubAxes more = taken(i, f); !more.empty() && p.expand(i, f, more)) changed[i] = true;
  for (std::size_t i = 0; i < p.operands(); ++i)
    for (int f : order) {
      SubAxes more = taken(i, f);
      if (more.empty()) continue;
      // What the result did not accept does not go sideways to other operands.
      for (std::size_t r = p.operands(); is_elementwise && r < p.tensors().size(); ++r)
        if (auto it = p.tensors()[r].factors.find(f);
            it != p.tensors()[r].factors.end() && prefix(it->second.axes, more) == Prefix::strict)
          more = it->second.axes;
      if (p.expand(i, f, more)) changed[i] = true;
    }
}

}  // namespace

std::vector<bool> spread(const op::Factors& factors, bool is_elementwise, Strategy strategy,
                         const std::function<Direction(int factor)>& direction,
                         const std::string& mesh, std::vector<std::optional<Sharding>>& tensors) {
  Projection p(factors, tensors);
  std::vector<bool> changed(tensors.size(), false);
  // The aggressive way takes the basic one first, as shardy's pass of that name does.
  if (strategy == Strategy::aggressive)
    spread_aggressive(p, is_elementwise, direction, changed);
  else
    spread_basic(p, direction, changed);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!changed[i]) continue;
    Sharding now = p.sharding(i, mesh, tensors[i]);
    changed[i] = tensors[i] ? now != *tensors[i] : !now.is_empty();
    if (changed[i]) tensors[i] = std::move(now);
  }
  return changed;
}

}  // namespace strata::spmd
