#include "strata/op/sort/sort_key.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "strata/ir/made_by.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/rules.h"
#include "strata/op/sort/comparator.h"

namespace strata::op {
namespace {

using ir::made_by;

bool is_comparable(DType dtype) { return loop::is_loop_dtype(dtype); }

/// Computed elementwise, so that arrays can be computed with as well.
bool is_pointwise(const Op& op) {
  if (op.num_results() != 1 || !op.regions.empty() || op.info().has_effect ||
      op.result()->rank() != 0)
    return false;
  return def(op).traits.elementwise;
}

/// Whether `left` is made of left arguments as `right` is of the right ones.
class Mirrored {
 public:
  explicit Mirrored(const Block& region) : region_(region) {}
  bool operator()(const Value* left, const Value* right) {
    if (!(left->type() == right->type())) return false;
    const Op *x = made_by(left, "stablehlo.constant"), *y = made_by(right, "stablehlo.constant");
    if (x && y) return ir::equal(x->attrs, y->attrs);  // often outside of the region
    if (left->block() != &region_ || right->block() != &region_) return false;
    if (!left->op() || !right->op())
      return !left->op() && !right->op() && left->index() % 2 == 0 &&
             right->index() == left->index() + 1;
    if (!seen_.insert({left, right}).second) return true;
    const Op &a = *left->op(), &b = *right->op();
    if (&a.info() != &b.info() || a.operands.size() != b.operands.size() ||
        !ir::equal(a.attrs, b.attrs))
      return false;
    if (!is_pointwise(a) || !is_pointwise(b)) return false;
    for (std::size_t i = 0; i < a.operands.size(); ++i)
      if (!(*this)(a.operands[i], b.operands[i])) return false;
    return true;
  }

 private:
  const Block& region_;
  std::set<std::pair<const Value*, const Value*>> seen_;
};

bool is_total(const Op& compare) {
  return compare.attrs.get_or<std::string>("compare_type", "") == "TOTALORDER";
}
bool compares(const Op& op, std::string_view direction) {
  return op.attr<std::string>("comparison_direction") == direction;
}

/// A scalar constant that is +0, or a NaN without sign.
bool is_zero(const Value* v) {
  const Op* op = made_by(v, "stablehlo.constant");
  if (!op) return false;
  const Literal& x = op->attr<Literal>("value");
  return x.number(0) == 0 && !std::signbit(x.number(0));
}
bool is_nan(const Value* v) {
  const Op* op = made_by(v, "stablehlo.constant");
  if (!op) return false;
  const Literal& x = op->attr<Literal>("value");
  return std::isnan(x.number(0)) && !std::signbit(x.number(0));
}

/// x where it is a number other than 0: the value of select(x != x, nan, select(x == 0, 0, x)), as
/// JAX compares.
const Value* as_number(const Value* v) {
  const Op* outer = made_by(v, "stablehlo.select");
  const Op* inner = outer ? made_by(outer->operand(2), "stablehlo.select") : nullptr;
  if (!inner || !is_nan(outer->operand(1)) || !is_zero(inner->operand(1))) return nullptr;
  const Value* x = inner->operand(2);
  const Op *differs = made_by(outer->operand(0), "stablehlo.compare"),
           *same = made_by(inner->operand(0), "stablehlo.compare");
  if (!differs || !same || is_total(*differs) || is_total(*same) || !compares(*differs, "NE") ||
      !compares(*same, "EQ"))
    return nullptr;
  if (differs->operand(0) != x || differs->operand(1) != x) return nullptr;
  bool zero = (same->operand(0) == x && is_zero(same->operand(1))) ||
              (same->operand(1) == x && is_zero(same->operand(0)));
  return zero ? x : nullptr;
}

std::optional<SortKey> key_of(const Block& region, const Op& compare) {
  bool greater = compares(compare, "GT");
  if (!greater && !compares(compare, "LT")) return std::nullopt;
  const Value *x = compare.operand(0), *y = compare.operand(1);
  if (!is_comparable(x->dtype())) return std::nullopt;
  SortKey out{.key = x, .operand = -1, .order = "total", .descending = greater};
  if (!Mirrored(region)(x, y)) {
    if (!Mirrored(region)(y, x)) return std::nullopt;
    out.descending = !greater;
  }
  if (x->block() != &region)
    return std::nullopt;  // a constant from outside, compared with itself: nothing here computes it
  if (is_float(x->dtype()) && !is_total(compare)) out.order = "ieee";
  const Value* argument = x;
  if (const Value* number = is_float(x->dtype()) && is_total(compare) ? as_number(x) : nullptr;
      number && !number->op()) {
    argument = number;
    out.order = "numbers";
  }
  if (!argument->op()) out.operand = argument->index() / 2;
  return out;
}

/// Whether the operation compares what `first` does, for equality in the same order.
bool is_tie(const Op& op, const Op& first) {
  if (!compares(op, "EQ") || is_total(op) != is_total(first)) return false;
  const Value *x = first.operand(0), *y = first.operand(1);
  return (op.operand(0) == x && op.operand(1) == y) || (op.operand(0) == y && op.operand(1) == x);
}

bool add_keys(const Block& region, const Value* before, std::vector<SortKey>& out) {
  if (const Op* compare = made_by(before, "stablehlo.compare")) {
    std::optional<SortKey> key = key_of(region, *compare);
    if (key) out.push_back(*key);
    return key.has_value();
  }
  const Op* either = made_by(before, "stablehlo.or");
  for (int i = 0; either && i < 2; ++i) {
    const Op *first = made_by(either->operand(i), "stablehlo.compare"),
             *both = made_by(either->operand(1 - i), "stablehlo.and");
    if (!first || !both) continue;
    for (int j = 0; j < 2; ++j) {
      const Op* tie = made_by(both->operand(j), "stablehlo.compare");
      if (tie && is_tie(*tie, *first))
        return add_keys(region, either->operand(i), out) &&
               add_keys(region, both->operand(1 - j), out);
    }
  }
  return false;
}

int dimension_of(const Op& op) {
  auto d = op.attrs.get_or<std::int64_t>("dimension", -1);
  return static_cast<int>(d < 0 ? d + op.operand(0)->rank() : d);
}

// ---- the sort ----------------------------------------------------------------------------------

/// The comparator's value `key` for each element of the arrays.
Value* computed(Builder& b, const Op& op, const Value* key, const Values& arrays) {
  std::unique_ptr<Block> f = ir::clone(op.region(0));
  const Block& region = op.region(0);
  for (std::size_t i = 0; i < region.ops().size(); ++i)
    if (region.ops()[i].get() == key->op()) f->results = {f->ops()[i]->result(key->index())};
  std::int64_t count = arrays[0]->shape().count();
  Values flat;
  for (Value* x : arrays)
    for (int side = 0; side < 2; ++side) flat.push_back(reshape(b, x, Shape{count}));
  Batched keys = batch(b, *f, flat, std::vector<bool>(flat.size(), true), count);
  return reshape(b, batched_operand(b, keys.results[0], keys.batched[0], count),
                 arrays[0]->shape());
}

Attrs attrs_of(const SortKey& key) {
  return {{"order", std::string(key.order)}, {"descending", key.descending}};
}

bool counts_along(const Value* v, int dimension) {
  const Op* op = made_by(v, "stablehlo.iota");
  return op && op->attr<std::int64_t>("iota_dimension") == dimension && !is_float(v->dtype());
}
/// The elements of x, whose rows are `rows`, in the order of their numbers.
Value* ordered(Builder& b, const Value* x, Value* rows, int dimension, Value* order) {
  return counts_along(x, dimension) ? convert(b, order, x->dtype())
                                    : take_along(b, rows, order, rows->rank() - 1);
}

}  // namespace

std::vector<SortKey> sort_keys(const Block& comparator) {
  std::vector<SortKey> out;
  if (comparator.results.size() != 1 || !add_keys(comparator, comparator.results[0], out))
    return {};
  // Where there are NaN, `<` is no order: what comes out is what merging makes of it, which is
  // known for one key.
  bool ordered = out.size() == 1 || std::none_of(out.begin(), out.end(), [](const SortKey& k) {
                   return std::string_view(k.order) == "ieee";
                 });
  return ordered ? out : std::vector<SortKey>{};
}

bool sorts_by_keys(const Op& op) {
  if (op.name() == "chlo.top_k") return op.attr<std::int64_t>("k") > kFewKept;
  if (op.name() != "stablehlo.sort") return false;
  const Shape& shape = op.operand(0)->shape();
  if (!shape.is_static() || shape.count() == 0 ||
      shape[dimension_of(op)] > std::numeric_limits<std::int32_t>::max())
    return false;
  return !sort_keys(op.region(0)).empty();
}

Values sort_by_keys(Builder& b, const Op& op, std::span<Value* const> operands,
                    const std::vector<SortKey>& keys) {
  auto n = static_cast<std::size_t>(op.num_results());
  int d = dimension_of(op), last = operands[0]->rank() - 1;
  Values rows;
  for (std::size_t i = 0; i < n; ++i) rows.push_back(move_dim(b, operands[i], d, last));
  if (n == 1 && keys.size() == 1 && keys[0].operand == 0)
    return {move_dim(b, b.create("strata.sort", {rows[0]}, attrs_of(keys[0])).result(), last, d)};
  Value* order = nullptr;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {  // stable sorts, the last key first
    Value* x = key->operand >= 0 ? rows[static_cast<std::size_t>(key->operand)]
                                 : computed(b, op, key->key, rows);
    if (order) x = take_along(b, x, order, last);
    Value* next = b.create("strata.argsort", {x}, attrs_of(*key)).result();
    order = order ? take_along(b, order, next, last) : next;
  }
  Values out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(move_dim(b, ordered(b, operands[i], rows[i], d, order), last, d));
  return out;
}

Values first_sorted(Builder& b, const Values& arrays, int dimension, bool descending,
                    std::int64_t keep) {
  int last = arrays[0]->rank() - 1;
  Attrs attrs{{"order", std::string("total")}, {"descending", descending}, {"keep", keep}};
  Value* order =
      b.create("strata.argsort", {move_dim(b, arrays[0], dimension, last)}, std::move(attrs))
          .result();
  Values out;
  for (Value* x : arrays)
    out.push_back(move_dim(b, ordered(b, x, move_dim(b, x, dimension, last), dimension, order),
                           last, dimension));
  return out;
}

std::unique_ptr<Block> comparator_of(const std::vector<DType>& dtypes, const std::string& order,
                                     bool descending) {
  std::string direction = descending ? "GT" : "LT";
  auto region = comparator(dtypes, direction);
  if (order == "total") return region;
  region = std::make_unique<Block>();
  for (DType dtype : dtypes)
    for (int side = 0; side < 2; ++side) region->add_argument(Type::scalar(dtype));
  Builder b(*region);
  Values sides = {region->argument(0), region->argument(1)};
  auto of = [&](Value* x, Value* y, const char* how, const char* type) {
    return b
        .create("stablehlo.compare", {x, y},
                {{"comparison_direction", std::string(how)}, {"compare_type", std::string(type)}})
        .result();
  };
  if (order == "numbers")
    for (Value*& x : sides) {
      Value* zero = scalar(b, dtypes[0], 0);
      Value* number = select(b, of(x, zero, "EQ", "FLOAT"), zero, x);
      x = select(b, of(x, x, "NE", "FLOAT"),
                 scalar(b, dtypes[0], std::numeric_limits<double>::quiet_NaN()), number);
    }
  region->results = {
      of(sides[0], sides[1], direction.c_str(), order == "numbers" ? "TOTALORDER" : "FLOAT")};
  return region;
}

}  // namespace strata::op
