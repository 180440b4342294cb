// What a device holds of each value of a program while it is partitioned: in which layout, or as
// addends (addends.h), and what is made of that on demand.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "strata/partition/emit.h"
#include "strata/partition/plan.h"

namespace strata::spmd {

/// Whether the type's arrays may be held as addends at all.
bool can_be_cut(const Type& type);

class Parts {
 protected:
  struct Part {
    op::Value* local;
    Layout layout;
    Addends addends = {};  // of which devices hold them
  };

  Parts(const Grid& grid, const Plan& plan, const PartitionOptions& options)
      : grid_(grid), plan_(plan), options_(options), emit_(grid) {}

  void set(const op::Value* v, op::Value* local, Layout layout, Addends addends = {});
  const Part& part(const op::Value* v) const;
  static Layout whole_of(const op::Value* v);
  /// Where the plan puts the value; null for anywhere.
  const Layout* planned(const op::Value* v) const;
  Layout planned_or_whole(const op::Value* v) const;

  /// The value combined and moved into that layout; while an operation is computed on addends
  /// (`keep`), what it takes as addends.
  op::Value* in_layout(op::Builder& b, const op::Value* v, const Layout& layout);
  op::Value* whole(op::Builder& b, const op::Value* v) { return in_layout(b, v, whole_of(v)); }
  /// A result as it came out (as addends `a`, or those that are kept), moved to where it is
  /// planned.
  void place(op::Builder& b, const op::Value* v, op::Value* local, Layout layout,
             const Addends& a = {});

  // ---- addends ---------------------------------------------------------------------------------

  /// What the value may be addends of; null for nothing, and in `exact`.
  const Addends* wanted(const op::Value* v) const;
  bool are_addends(const op::Value* v) const { return !part(v).addends.axes.empty(); }
  /// Addends that came about: kept where the plan wants these, else combined.
  void arrive(op::Builder& b, const op::Value* v, op::Value* local, Layout layout,
              const Addends& a);
  /// Combines what regions of `op` use from outside, so that no iteration does.
  void settle_captures(op::Builder& b, const op::Op& op);
  op::Value* as_addends(op::Builder& b, const op::Value* v, const Layout& layout, const Addends& a);
  /// As addends, or where `a` names no axis the value itself.
  op::Value* entering(op::Builder& b, const op::Value* v, const Layout& layout, const Addends& a) {
    return a.axes.empty() ? in_layout(b, v, layout) : as_addends(b, v, layout, a);
  }
  /// Where the operation may be computed on addends of its operands, it is until `keep_none`.
  void keep(const op::Op& op);
  void keep_none() { kept_.reset(); }
  /// Of the operation that is computed on addends.
  const std::optional<Addends>& kept() const { return kept_; }

  const Grid& grid_;
  const Plan& plan_;
  PartitionOptions options_;
  Emitter emit_;

 private:
  std::unordered_map<const op::Value*, Part> parts_;
  // Of values in other layouts than their own; looked up only.
  std::map<std::tuple<const op::Block*, const op::Value*, std::vector<Axes>>, op::Value*> moved_;
  std::optional<Addends> kept_;
  std::vector<const op::Value*> made_;  // operands that become addends where they are none
};

}  // namespace strata::spmd
