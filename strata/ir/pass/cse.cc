#include <unordered_map>

#include "strata/ir/pass/pass.h"

namespace strata::ir {
namespace {

void combine(std::size_t& hash, std::size_t more) {
  hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
}

/// Of the kinds of attributes by which many operations on one value differ: of slices the bounds,
/// of constants the first elements.
std::size_t hash(const Attr& attr) {
  std::size_t out = attr.index();
  if (const auto* number = std::get_if<std::int64_t>(&attr))
    combine(out, std::hash<std::int64_t>()(*number));
  if (const auto* text = std::get_if<std::string>(&attr))
    combine(out, std::hash<std::string>()(*text));
  if (const auto* numbers = std::get_if<Ints>(&attr))
    for (std::int64_t n : *numbers) combine(out, std::hash<std::int64_t>()(n));
  if (const auto* literal = std::get_if<Literal>(&attr))
    combine(out, std::hash<std::string_view>()({reinterpret_cast<const char*>(literal->data()),
                                                std::min<std::size_t>(literal->bytes(), 64)}));
  return out;
}

/// Candidates for equality; attributes are compared only when the rest is equal.
std::size_t hash(const Op& op) {
  std::size_t out = std::hash<std::string>()(op.name());
  for (const Value* v : op.operands) combine(out, std::hash<const Value*>()(v));
  for (const auto& [name, attr] : op.attrs) combine(out, hash(attr));
  return out;
}

bool same(const Op& a, const Op& b) {
  if (&a.info() != &b.info() || a.operands != b.operands || a.num_results() != b.num_results() ||
      !equal(a.attrs, b.attrs))
    return false;
  for (int i = 0; i < a.num_results(); ++i)
    if (a.result(i)->type() != b.result(i)->type()) return false;
  return true;
}

class Merger {
 public:
  void block(Block& b) {
    seen_.emplace_back();
    std::vector<std::unique_ptr<Op>> kept;
    for (auto& op : b.ops()) {
      op->operands = map_(op->operands);
      regions(*op);
      const Op* first = op->regions.empty() && !op->info().has_effect ? find(*op) : nullptr;
      if (first == nullptr) {
        kept.push_back(std::move(op));
        continue;
      }
      for (int i = 0; i < op->num_results(); ++i) map_.set(op->result(i), first->result(i));
      dead_.push_back(std::move(op));  // its results are keys of the map
    }
    b.ops() = std::move(kept);
    b.results = map_(b.results);
    seen_.pop_back();
  }

 private:
  /// Isolated regions know nothing of what stands around them.
  void regions(Op& op) {
    if (op.info().isolated) {
      for (auto& r : op.regions) Merger().block(*r);
    } else {
      for (auto& r : op.regions) block(*r);
    }
  }

  /// An equal operation seen before in this block or one around it; otherwise the operation is
  /// remembered.
  const Op* find(const Op& op) {
    std::size_t h = hash(op);
    for (auto& scope : seen_)
      for (auto [it, end] = scope.equal_range(h); it != end; ++it)
        if (same(*it->second, op)) return it->second;
    seen_.back().emplace(h, &op);
    return nullptr;
  }

  std::vector<std::unordered_multimap<std::size_t, const Op*>>
      seen_;  // at most one of a bucket is equal
  std::vector<std::unique_ptr<Op>> dead_;
  ValueMap map_;
};

}  // namespace

void cse(Block& block) { Merger().block(block); }

void cse(Module& module) {
  for (const auto& f : module.functions) cse(f->body);
}

}  // namespace strata::ir
