#include "strata/pass/dot/attention.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "strata/ir/uses.h"
#include "strata/op/kind.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/pass/dot/chunk_region.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;
using op::Factors;

/// Operations between the product and the last one that is looked at.
constexpr int kFar = 1000;

/// What a value is that was made of the scores. `probability`: their exponential, times or divided
/// by anything.
enum class Part : std::uint8_t { score, probability, mixed, row };
const char* name(Part part) { return part == Part::score ? "scores" : "probabilities"; }

/// Where the dimensions of the scores are in such a value; -1: gone.
struct Known {
  Part part;
  std::vector<int> dims;
};

using Dims = std::vector<int>;  // of the scores, ascending

std::string text(const Dims& dims) {
  std::string out = dims.size() == 1 ? "dimension " : "dimensions ";
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + std::to_string(dims[i]);
  return out;
}

bool holds(const std::vector<int>& list, int factor) {
  return std::find(list.begin(), list.end(), factor) != list.end();
}

class Pattern {
 public:
  Pattern(const ir::Uses& uses, const Op& product)
      : uses_(uses), product_(product), shape_(product.result()->shape()) {
    auto c = op::contraction_of(product);
    int d = static_cast<int>(c.lhs_batch.size());
    const int rows = product.operand(0)->rank() - d - static_cast<int>(c.lhs_contract.size());
    for (; d < shape_.rank(); ++d)
      if (shape_[d] > 1)
        (d < static_cast<int>(c.lhs_batch.size()) + rows ? left_ : right_).push_back(d);
    Dims all(static_cast<std::size_t>(shape_.rank()));
    std::iota(all.begin(), all.end(), 0);
    known_.emplace(product.result(), Known{Part::score, std::move(all)});
  }

  /// Whether both sides have dimensions of their own.
  bool is_matrix() const { return !left_.empty() && !right_.empty(); }

  void follow(const Block& block) {
    const int first = uses_.position(&product_),
              end = std::min(first + kFar, static_cast<int>(block.ops().size()));
    for (int p = first + 1; p < end; ++p) read(*block.ops()[static_cast<std::size_t>(p)]);
    for (const Value* v : block.results)
      if (const Known* known = full(v))
        refuse(fmt::format("the {} are also a result", name(known->part)));
  }

  /// What there is to say, or nothing.
  std::string line() {
    const bool multiplied = std::any_of(products_.begin(), products_.end(),
                                        [](const auto& p) { return p.first == Part::probability; });
    if (!multiplied && !(summed_ && (!products_.empty() || !why_.empty()))) return {};
    const std::string what =
        fmt::format("{} -> {}: ", product_.name(), product_.result()->type().to_string());
    if (std::string reason = why_not(); !reason.empty()) return "not attention: " + what + reason;
    return "attention: " + what +
           fmt::format("softmax over {}{}{}{}", text(sums_.front()), masked_ ? ", masked" : "",
                       capped_ ? ", soft-capped" : "", gradients_ ? ", with gradients" : "");
  }

 private:
  const Known* known(const Value* v) const {
    auto found = known_.find(v);
    return found == known_.end() ? nullptr : &found->second;
  }
  /// As `known`, of a value with all rows and keys.
  const Known* full(const Value* v) const {
    const Known* k = known(v);
    return k && k->part != Part::row ? k : nullptr;
  }
  void refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  void read(const Op& op) {
    for (const auto& region : op.regions)
      for (const Value* v : ir::captures(*region))
        if (const Known* k = full(v))
          refuse(fmt::format("{} reads the {} whole", op.name(), name(k->part)));
    if (op.info().has_effect || op.num_results() == 0) return whole(op);
    if (op::is_contraction(op)) return read_by_product(op);
    if (op::is_reduction(op)) return reduced(op);
    if (op::is_elemental(op) && op::def(op).shard) return mapped(op);
    whole(op);
  }

  /// An operation that does not go element by element. What it makes counts as what it reads, so
  /// that the reason is told where more follows.
  void whole(const Op& op) {
    for (const Value* v : op.operands) {
      const Known* k = full(v);
      if (!k) continue;
      refuse(fmt::format("{} reads the {} whole", op.name(), name(k->part)));
      const Known same = *k;
      for (const Value* result : op.results())
        if (result->type() == v->type()) known_.emplace(result, same);
    }
  }

  /// Which dimensions of the scores the operation sums, of operand i.
  Dims summed(const Known& k, const Factors& factors, std::size_t i) const {
    Dims out;
    for (int d = 0; d < shape_.rank(); ++d) {
      const int at = k.dims[static_cast<std::size_t>(d)];
      if (at < 0 || shape_[d] == 1) continue;
      for (int f : factors.operands[i][static_cast<std::size_t>(at)])
        if (factors.kinds[static_cast<std::size_t>(f)] == 'r' && !holds(out, d)) out.push_back(d);
    }
    return out;
  }
  /// Where they are in the result; false where one that may not be lost is.
  bool moved(const Known& k, const Factors& factors, std::size_t i, Dims& to) const {
    to.assign(k.dims.size(), -1);
    for (int d = 0; d < shape_.rank(); ++d) {
      const int at = k.dims[static_cast<std::size_t>(d)];
      if (at < 0 || shape_[d] == 1) continue;
      const std::vector<int>& list = factors.operands[i][static_cast<std::size_t>(at)];
      for (std::size_t r = 0; r < factors.results[0].size() && !list.empty(); ++r)
        if (holds(factors.results[0][r], list[0]))
          to[static_cast<std::size_t>(d)] = static_cast<int>(r);
      const bool passes = !list.empty() && factors.kinds[static_cast<std::size_t>(list[0])] == 'p';
      if (!passes && k.part != Part::row) return false;
    }
    return true;
  }

  /// The second product, or one of the gradients'.
  void read_by_product(const Op& op) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Known* k = full(op.operands[i]);
      if (!k) continue;
      if (i > 1 || (full(op.operands[1 - i]) && i == 0))
        return refuse(op.name() + " reads them on both sides");
      products_.push_back({k->part, summed(*k, (*op::def(op).shard)(op), i)});
    }
  }

  void reduced(const Op& op) {
    const Known* k = known(op.operand(0));
    if (!k || op.num_results() != 1) return whole(op);
    const Factors factors = (*op::def(op).shard)(op);
    Dims dims = summed(*k, factors, 0), to;
    Known row{Part::row, {}};
    Known from{Part::row, k->dims};
    (void)moved(from, factors, 0, row.dims);
    const op::Combiner combiner = op::combiner_of(op);
    if (k->part == Part::row) return void(known_.emplace(op.result(), std::move(row)));
    const bool of_softmax = combiner == op::Combiner::max
                                ? k->part == Part::score
                                : combiner == op::Combiner::add && k->part == Part::probability;
    if (of_softmax && dims != left_ && dims != right_)
      refuse(fmt::format("{} takes {} together", op.name(), text(dims)));
    if (of_softmax && combiner == op::Combiner::add) {
      summed_ = true;
      sums_.push_back(dims);
    }
    known_.emplace(op.result(), std::move(row));
  }

  void mapped(const Op& op) {
    const Known* from = nullptr;
    std::size_t at = 0;
    bool row = false, several = false;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Known* k = known(op.operands[i]);
      if (!k) continue;
      row |= k->part == Part::row;
      if (k->part == Part::row) continue;
      several |= from != nullptr;
      if (!from || k->part == Part::probability) from = k, at = i;
    }
    if (from) return map_full(op, *from, at, several);
    if (!row) return;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (const Known* k = known(op.operands[i])) {
        Known out{Part::row, {}};
        (void)moved(*k, (*op::def(op).shard)(op), i, out.dims);
        return void(known_.emplace(op.result(), std::move(out)));
      }
  }
  void map_full(const Op& op, const Known& from, std::size_t at, bool several) {
    Known out{part_of(op, from, several), {}};
    if (!moved(from, (*op::def(op).shard)(op), at, out.dims))
      return refuse(fmt::format("{} takes the {} apart", op.name(), name(from.part)));
    masked_ |= from.part == Part::score && op::kind::select(op);
    capped_ |= from.part == Part::score && op::kind::tanh(op);
    known_.emplace(op.result(), std::move(out));
  }
  static Part part_of(const Op& op, const Known& from, bool several) {
    if (from.part == Part::score)
      return op::kind::exponential(op) ? Part::probability : Part::score;
    if (from.part == Part::mixed || several) return Part::mixed;
    const bool scales = op::kind::multiply(op) || op::kind::divide(op) || op::kind::select(op) ||
                        op::kind::convert(op);
    return scales || op::def(op).traits.moves_only ? Part::probability : Part::mixed;
  }

  /// Why a product with exponentials behind it is no attention, or an empty text.
  std::string why_not() {
    if (!why_.empty()) return why_;
    if (!summed_) return "nothing sums the exponentials of a row";
    const Dims& keys = sums_.front();
    const Dims& queries = keys == left_ ? right_ : left_;
    auto reads = [&](Part part, const Dims& dims) {
      return std::any_of(products_.begin(), products_.end(),
                         [&](const auto& p) { return p.first == part && p.second == dims; });
    };
    for (const auto& [part, dims] : products_)
      if (dims != keys && dims != queries)
        return fmt::format("a product with the {} sums over {}", name(part),
                           dims.empty() ? "none of their dimensions" : text(dims));
    gradients_ = reads(Part::probability, queries) || reads(Part::mixed, queries);
    if (reads(Part::probability, keys) || (reads(Part::mixed, keys) && gradients_)) return {};
    for (const auto& [part, dims] : products_)
      if (part == Part::probability)
        return fmt::format("the softmax goes over {}, the second product sums over {}", text(keys),
                           text(dims));
    return "no product reads the probabilities themselves";
  }

  const ir::Uses& uses_;
  const Op& product_;
  const Shape& shape_;
  Dims left_, right_;
  std::unordered_map<const Value*, Known> known_;  // lookup only
  std::vector<std::pair<Part, Dims>>
      products_;            // which read what is made of the scores, and what of it they sum
  std::vector<Dims> sums_;  // of exponentials
  std::string why_;
  bool summed_ = false, masked_ = false, capped_ = false, gradients_ = false;
};

bool may_be_scores(const Op& op) {
  return op::is_contraction(op) && op.operands.size() == 2 && op::def(op).shard &&
         op.result()->shape().is_static() && op.result()->rank() >= 2;
}

}  // namespace

std::vector<std::string> describe_attention(const Block& block) {
  std::vector<std::string> out;
  const ir::Uses uses(block);
  for (const auto& op : block.ops()) {
    for (const auto& region : op->regions)
      for (std::string& line : describe_attention(*region)) out.push_back(std::move(line));
    if (!may_be_scores(*op)) continue;
    Pattern pattern(uses, *op);
    if (!pattern.is_matrix()) continue;
    pattern.follow(block);
    if (std::string line = pattern.line(); !line.empty()) out.push_back(std::move(line));
  }
  return out;
}

}  // namespace strata::pass
