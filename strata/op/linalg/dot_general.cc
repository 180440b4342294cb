// stablehlo.dot_general: a product summed over contracting dimensions.
//
// Contract (StableHLO, dot_general): operands lhs, rhs of any dtypes; attributes
// `lhs_batching_dimensions`, `rhs_batching_dimensions`, `lhs_contracting_dimensions`,
// `rhs_contracting_dimensions` (pairs by position).
//   (C1, C2) as many batching and as many contracting dimensions on both sides; (C3, C4) unique on
//   each side; (C5-C8) in range; (C9, C10) paired dimensions have equal sizes; (C11) no or two
//   precisions; (C12) result dimensions: batch, lhs free, rhs free; (C13) complex results of
//   complex operands and of no others: element types may differ otherwise, which the specification
//   does not admit and programs of JAX need; (C14-C20) of quantised operands
//   (op/quantized/quantized.h); (C21) an algorithm comes with no other precision than the default;
//   (C22-C24) its counts are positive.
// The result's dtype is that of lhs (of rhs where that is complex) unless the operation was made
// with another; it is complex exactly when an operand is.
//
// Each result element is a chain acc = fma(lhs[k], rhs[k], acc) from +0 over k ascending (of 32768
// terms and more many short ones, added up: sum_pieces), row-major over the contracting dimensions
// in their given order, in `product_accumulator`: f64 when an operand or the result is f64, f32 for
// other floats (the products of bf16, f16 and narrower are exact in it), the result's type,
// wrapping, for integers; rounded to the result's dtype once, at the end. `algorithm` and
// `precision_config` allow less and change nothing.
#include "strata/op/linalg/dot_general.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/legalize.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce_order.h"
#include "strata/op/reduce/windows.h"
#include "strata/op/rules.h"
#include "strata/type/permutation.h"

namespace strata::op {
namespace {

/// The attribute that says by which chains a sum goes: terms of a chain, of a group, and whether
/// groups are added up in f64.
constexpr const char* kChains = "strata.sum_chains";

DotDims dims_of(const Attrs& attrs) {
  auto list = [&](const char* name) { return attrs.get_or<Ints>(name, {}); };
  return {list("lhs_batching_dimensions"), list("rhs_batching_dimensions"),
          list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions")};
}
DotDims dims_of(const Op& op) { return dims_of(op.attrs); }
void set_dims(Attrs& attrs, const DotDims& d) {
  attrs.set("lhs_batching_dimensions", d.lhs_batch).set("rhs_batching_dimensions", d.rhs_batch);
  attrs.set("lhs_contracting_dimensions", d.lhs_contract)
      .set("rhs_contracting_dimensions", d.rhs_contract);
}

Ints lhs_free(const Op& op, const DotDims& d) {
  return free_dims(op.operand(0)->rank(), d.lhs_batch, d.lhs_contract);
}
Ints rhs_free(const Op& op, const DotDims& d) {
  return free_dims(op.operand(1)->rank(), d.rhs_batch, d.rhs_contract);
}

// ---- inference ---------------------------------------------------------------------------------

/// Numbers of the constraints on one side's dimensions.
struct SideConstraints {
  int unique, batch_range, contract_range;
};

void expect_side(const char* side, const Type& type, const Ints& batch, const Ints& contract,
                 const SideConstraints& c) {
  std::vector<bool> used(static_cast<std::size_t>(type.rank()), false);
  for (const Ints* list : {&batch, &contract})
    for (std::int64_t d : *list) {
      if (d < 0 || d >= type.rank())
        throw Error("dot_general", "{} dimension {} is out of range for {} (C{})", side, d,
                    type.to_string(), list == &batch ? c.batch_range : c.contract_range);
      if (used[static_cast<std::size_t>(d)])
        throw Error("dot_general", "{} dimension {} of {} is given twice (C{})", side, d,
                    type.to_string(), c.unique);
      used[static_cast<std::size_t>(d)] = true;
    }
}

void expect_pairs(const char* kind, const Type& lhs, const Type& rhs, const Ints& l, const Ints& r,
                  int count, int sizes) {
  if (l.size() != r.size())
    throw Error("dot_general", "{} dimensions must pair up, got {} and {} (C{})", kind, l.size(),
                r.size(), count);
  for (std::size_t i = 0; i < l.size(); ++i)
    if (!may_equal(lhs.shape().dim(static_cast<int>(l[i])),
                   rhs.shape().dim(static_cast<int>(r[i]))))
      throw Error("dot_general", "{} dimensions {} of {} and {} of {} differ in size (C{})", kind,
                  l[i], lhs.to_string(), r[i], rhs.to_string(), sizes);
}

/// The number that stands behind `name = ` in the text of an algorithm, which is carried as it is
/// written.
std::int64_t count_in(std::string_view algorithm, std::string_view name) {
  std::size_t at = algorithm.find(name);
  if (at == algorithm.npos) return 1;
  at = algorithm.find_first_of("-0123456789", at + name.size());
  return at == algorithm.npos
             ? 1
             : std::strtoll(std::string(algorithm.substr(at)).c_str(), nullptr, 10);
}

void expect_precision(const Attrs& attrs) {
  const auto* precision = attrs.find("precision_config");
  const auto* words = precision == nullptr ? nullptr : std::get_if<ir::Strings>(precision);
  if (words != nullptr && !words->empty() && words->size() != 2)
    throw Error("dot_general", "precision_config must have 2 entries, got {} (C11)", words->size());
  const auto* found = attrs.find("algorithm");
  const auto* algorithm = found == nullptr ? nullptr : std::get_if<ir::Opaque>(found);
  if (algorithm == nullptr) return;
  if (words != nullptr)
    for (const std::string& word : *words)
      if (word != "DEFAULT")
        throw Error("dot_general", "precision {} does not go with {} (C21)", word, algorithm->text);
  for (auto [name, number] :
       {std::pair("lhs_component_count", 22), std::pair("rhs_component_count", 23),
        std::pair("num_primitive_operations", 24)})
    if (std::int64_t n = count_in(algorithm->text, name); n <= 0)
      throw Error("dot_general", "{} must be positive, got {} (C{})", name, n, number);
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("dot_general", operands, 2);
  const Type &lhs = operands[0]->type(), &rhs = operands[1]->type();
  DotDims d = dims_of(attrs);
  expect_side("lhs", lhs, d.lhs_batch, d.lhs_contract,
              {.unique = 3, .batch_range = 5, .contract_range = 6});
  expect_side("rhs", rhs, d.rhs_batch, d.rhs_contract,
              {.unique = 4, .batch_range = 7, .contract_range = 8});
  expect_pairs("batching", lhs, rhs, d.lhs_batch, d.rhs_batch, 1, 9);
  expect_pairs("contracting", lhs, rhs, d.lhs_contract, d.rhs_contract, 2, 10);
  expect_precision(attrs);
  std::vector<Dim> dims;  // C12
  for (std::int64_t i : d.lhs_batch) dims.push_back(lhs.shape().dim(static_cast<int>(i)));
  for (std::int64_t i : free_dims(lhs.rank(), d.lhs_batch, d.lhs_contract))
    dims.push_back(lhs.shape().dim(static_cast<int>(i)));
  for (std::int64_t i : free_dims(rhs.rank(), d.rhs_batch, d.rhs_contract))
    dims.push_back(rhs.shape().dim(static_cast<int>(i)));
  return {Type(is_complex(rhs.dtype()) ? rhs.dtype() : lhs.dtype(), Shape(std::move(dims)))};
}

/// The result's dtype is the program's choice; its shape is not.
void verify(const Op& op) {
  Type inferred = infer(op.operands, op.attrs, op.regions)[0];
  if (op.num_results() != 1) throw Error("dot_general", "has one result, got {}", op.num_results());
  const Type& stated = op.result()->type();
  bool from_complex = is_complex(op.operand(0)->dtype()) || is_complex(op.operand(1)->dtype());
  if (stated.is_tensor() && from_complex != is_complex(stated.dtype()))
    throw Error("dot_general", "a product of {} and {} cannot be {} (C13)",
                op.operand(0)->type().to_string(), op.operand(1)->type().to_string(),
                stated.to_string());
  if (!stated.is_tensor() || !may_equal(stated.shape(), inferred.shape()))
    throw Error("dot_general", "the result is {}, but the operands give {} (C12)",
                stated.to_string(), inferred.to_string());
}

// ---- reference evaluation ----------------------------------------------------------------------

/// Positions of all combinations of `dims`, row-major in the order they are listed.
std::vector<std::int64_t> offsets(const Shape& shape, const Ints& dims) {
  std::vector<std::int64_t> strides = shape.strides(), out{0};
  for (std::int64_t d : dims) {
    std::vector<std::int64_t> next;
    for (std::int64_t base : out)
      for (std::int64_t i = 0; i < shape[static_cast<int>(d)]; ++i)
        next.push_back(base + i * strides[static_cast<std::size_t>(d)]);
    out = std::move(next);
  }
  return out;
}

template <class A>
A multiply_add(A x, A y, A acc) {
  if constexpr (std::is_floating_point_v<A>)
    return std::fma(x, y, acc);
  else
    return combine<A>(Combiner::add, acc, combine<A>(Combiner::mul, x, y));
}

/// Between any two types; complex ones only among themselves. 16-bit floats go through f32.
template <class To, class From>
To cast(From x) {
  constexpr bool narrow = std::is_same_v<To, BFloat16> || std::is_same_v<To, Float16>;
  if constexpr (!std::is_same_v<From, Accumulator<From>>)
    return cast<To>(static_cast<float>(x));
  else if constexpr (internal::is_complex_v<To> != internal::is_complex_v<From>)
    STRATA_UNREACHABLE("a product of complex and real numbers");
  else if constexpr (narrow)
    return To(static_cast<float>(x));
  else
    return static_cast<To>(x);
}
template <class A>
std::vector<A> widened(const Literal& x) {
  std::vector<A> out;
  dispatch(x.dtype(), [&](auto storage) {
    for (auto element : x.span<decltype(storage)>()) out.push_back(cast<A>(element));
  });
  return out;
}

/// All result elements, in order, in the accumulator's type. Chains begin at the elements of
/// `sums`, or at zero.
template <class A>
std::vector<A> products(const Op& op, const Literal& lhs, const Literal& rhs, const Literal* sums) {
  DotDims d = dims_of(op);
  auto lhs_batch = offsets(lhs.shape(), d.lhs_batch), rhs_batch = offsets(rhs.shape(), d.rhs_batch);
  auto rows = offsets(lhs.shape(), lhs_free(op, d)),
       columns = offsets(rhs.shape(), rhs_free(op, d));
  auto lhs_k = offsets(lhs.shape(), d.lhs_contract), rhs_k = offsets(rhs.shape(), d.rhs_contract);
  std::vector<A> x = widened<A>(lhs), y = widened<A>(rhs), from, out;
  if (sums) from = widened<A>(*sums);
  const std::optional<SumPieces> pieces = sums ? std::nullopt : sum_pieces(op);
  const std::optional<SumChains> by_chains = pieces ? SumChains{} : sum_chains(op);
  const auto terms = static_cast<std::int64_t>(lhs_k.size());
  auto add = [](auto a, auto b) { return combine<decltype(a)>(Combiner::add, a, b); };
  for (std::size_t n = 0; n < lhs_batch.size(); ++n)
    for (std::int64_t row : rows)
      for (std::int64_t column : columns) {
        auto chain = [&](std::int64_t first, std::int64_t last, A acc) {
          for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k)
            acc =
                multiply_add<A>(x[static_cast<std::size_t>(lhs_batch[n] + row + lhs_k[k])],
                                y[static_cast<std::size_t>(rhs_batch[n] + column + rhs_k[k])], acc);
          return acc;
        };
        auto by_groups = [&](std::int64_t first, std::int64_t last, auto all) {
          for (std::int64_t g = first; g < last; g += by_chains->group) {
            const std::int64_t end = std::min(last, g + by_chains->group);
            A group{};
            for (std::int64_t k = g; k < end; k += by_chains->chain)
              group = add(group, chain(k, std::min(end, k + by_chains->chain), A{}));
            all = add(all, static_cast<decltype(all)>(group));
          }
          return static_cast<A>(all);
        };
        using Wide = std::conditional_t<std::is_same_v<A, float>, double, A>;
        auto sum = [&](std::int64_t first, std::int64_t last) {
          return by_chains->wide ? by_groups(first, last, Wide{}) : by_groups(first, last, A{});
        };
        A total{};
        if (pieces) {
          const Wide of_pieces = reduce_in_order<Wide>(
              {.count = pieces->count}, Combiner::add,
              identity(Combiner::add, dtype_of<Wide>).template span<Wide>()[0], Wide{},
              [&](std::int64_t i) {
                return static_cast<Wide>(sum(i * SumPieces::kLength, (i + 1) * SumPieces::kLength));
              });
          const std::int64_t done = pieces->count * SumPieces::kLength;
          total = static_cast<A>(pieces->rest ? add(of_pieces, static_cast<Wide>(sum(done, terms)))
                                              : of_pieces);
        } else {
          total = by_chains ? sum(0, terms) : chain(0, terms, sums ? from[out.size()] : A{});
        }
        out.push_back(total);
      }
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {add_products(op, operands[0], operands[1], nullptr)};
}

// ---- derivative and transpose ------------------------------------------------------------------

/// The same product of other operands.
Value* again_of(Builder& b, const Op& op, Value* lhs, Value* rhs) {
  return b.create(op.info(), {lhs, rhs}, op.attrs, {}, {op.result()->type()}).result();
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again_of(b, op, operands[0], operands[1]);
  Value* left = tangents[0] ? again_of(b, op, tangents[0], operands[1]) : nullptr;
  Value* right = tangents[1] ? again_of(b, op, operands[0], tangents[1]) : nullptr;
  return {{result}, {add_or_null(b, left, right)}};
}

Ints counted(std::int64_t first, std::size_t n) {
  Ints out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(first + static_cast<std::int64_t>(i));
  return out;
}

Ints joined(Ints a, const Ints& b, const Ints& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

/// Cotangent of one operand ("own"). `ct` has its batch dimensions first and, from `ct_other`, the
/// free dimensions of the other operand; the product over those leaves own free and own contracting
/// dimensions (in the other's order), whichever side comes first. The side is chosen so that the
/// dimensions come out in place; else a transposition brings them home.
Value* operand_cotangent(Builder& b, Value* ct, Value* other, const Type& own,
                         const Ints& own_batch, const Ints& own_contract, const Ints& other_batch,
                         const Ints& other_contract, std::size_t ct_other) {
  Ints own_free = free_dims(own.rank(), own_batch, own_contract),
       other_free = free_dims(other->rank(), other_batch, other_contract);
  Ints ct_batch = counted(0, own_batch.size()),
       ct_contract = counted(static_cast<std::int64_t>(ct_other), other_free.size());
  Ints contract = own_contract;  // in the order in which the other side's dimensions stand
  std::sort(contract.begin(), contract.end(), [&](std::int64_t x, std::int64_t y) {
    auto partner = [&](std::int64_t d) {
      return other_contract[static_cast<std::size_t>(
          std::find(own_contract.begin(), own_contract.end(), d) - own_contract.begin())];
    };
    return partner(x) < partner(y);
  });
  DType wide = byte_width(ct->dtype()) >= byte_width(other->dtype()) ? ct->dtype() : other->dtype();
  ct = convert(b, ct, wide);
  other = convert(b, other, wide);
  Ints swapped = joined(own_batch, contract, own_free);
  if (std::is_sorted(swapped.begin(), swapped.end()))
    return dot_general(b, other, ct, {other_batch, ct_batch, other_free, ct_contract}, own.dtype());
  Value* product =
      dot_general(b, ct, other, {ct_batch, other_batch, ct_contract, other_free}, own.dtype());
  return transpose(b, product, inverse_permutation(joined(own_batch, own_free, contract)));
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Value* ct = cotangents[0];
  if (ct == nullptr) return {nullptr, nullptr};
  STRATA_CHECK(linear[0] != linear[1], "a product is linear in one operand at a time");
  DotDims d = dims_of(op);
  std::size_t batches = d.lhs_batch.size(), rows = lhs_free(op, d).size();
  if (linear[0])
    return {operand_cotangent(b, ct, operands[1], op.operand(0)->type(), d.lhs_batch,
                              d.lhs_contract, d.rhs_batch, d.rhs_contract, batches + rows),
            nullptr};
  return {nullptr, operand_cotangent(b, ct, operands[0], op.operand(1)->type(), d.rhs_batch,
                                     d.rhs_contract, d.lhs_batch, d.lhs_contract, batches)};
}

// ---- batching ----------------------------------------------------------------------------------

/// Both batched: a new batching dimension in front. One batched: its new dimension is the first
/// free one of its side and is moved to the front of the result. The order over k stays.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  DotDims d = dims_of(op);
  if (!batched[0] && !batched[1]) return {{again_of(b, op, operands[0], operands[1])}, {false}};
  if (batched[0]) d.lhs_batch = shifted(d.lhs_batch), d.lhs_contract = shifted(d.lhs_contract);
  if (batched[1]) d.rhs_batch = shifted(d.rhs_batch), d.rhs_contract = shifted(d.rhs_contract);
  std::size_t at = 0;  // where the new dimension stands in the result
  if (batched[0] && batched[1]) {
    d.lhs_batch = prepended(0, d.lhs_batch);
    d.rhs_batch = prepended(0, d.rhs_batch);
  } else {
    at = d.lhs_batch.size() + (batched[0] ? 0 : lhs_free(op, dims_of(op)).size());
  }
  std::vector<Dim> dims = op.result()->shape().dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), Dim(size));
  Attrs attrs = op.attrs;
  set_dims(attrs, d);
  Value* product = b.create(op.info(), {operands[0], operands[1]}, attrs, {},
                            {op.result()->type().with(Shape(std::move(dims)))})
                       .result();
  return {{move_dim(b, product, static_cast<int>(at), 0)}, {true}};
}

// ---- sharding, cost, lowering ------------------------------------------------------------------

Factors shard(const Op& op) {
  FactorTable t(op);
  DotDims d = dims_of(op);
  int at = 0;
  auto size = [&](int operand, std::int64_t dim) {
    return op.operand(operand)->shape().dim(static_cast<int>(dim)).bound();
  };
  for (std::size_t i = 0; i < d.lhs_batch.size(); ++i) {
    int f = t.factor('p', size(0, d.lhs_batch[i]));
    t.operand(0, static_cast<int>(d.lhs_batch[i]), f);
    t.operand(1, static_cast<int>(d.rhs_batch[i]), f);
    t.result(0, at++, f);
  }
  auto pass = [&](int operand, const Ints& dims) {
    for (std::int64_t dim : dims) {
      int f = t.factor('p', size(operand, dim));
      t.operand(operand, static_cast<int>(dim), f);
      t.result(0, at++, f);
    }
  };
  pass(0, lhs_free(op, d));
  pass(1, rhs_free(op, d));
  for (std::size_t i = 0; i < d.lhs_contract.size(); ++i) {
    int f = t.factor('r', size(0, d.lhs_contract[i]));
    t.operand(0, static_cast<int>(d.lhs_contract[i]), f);
    t.operand(1, static_cast<int>(d.rhs_contract[i]), f);
  }
  return t.take();
}

Work cost(const Op& op) {
  double k = 1;
  for (std::int64_t d : dims_of(op).lhs_contract)
    k *= static_cast<double>(
        std::max<std::int64_t>(op.operand(0)->shape().dim(static_cast<int>(d)).bound(), 1));
  return {2 * k * elements(op), bytes_moved(op)};
}

// ---- complex numbers ---------------------------------------------------------------------------

/// An operand's part with the dimensions of the result and, last, the contracting ones.
Value* spread(Builder& b, const Op& op, Value* part, int side) {
  DotDims d = dims_of(op);
  const Ints &batch = side == 0 ? d.lhs_batch : d.rhs_batch,
             &contract = side == 0 ? d.lhs_contract : d.rhs_contract;
  Ints free = side == 0 ? lhs_free(op, d) : rhs_free(op, d),
       to(static_cast<std::size_t>(part->rank()));
  auto place = [&](const Ints& dims, std::size_t at) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      to[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(at + i);
  };
  place(batch, 0);
  place(free, batch.size() + (side == 0 ? 0 : lhs_free(op, d).size()));
  place(contract, static_cast<std::size_t>(op.result()->rank()));
  std::vector<Dim> shape = op.result()->shape().dims();
  for (std::int64_t k : d.lhs_contract)
    shape.push_back(op.operand(0)->shape().dim(static_cast<int>(k)));
  return broadcast_in_dim(b, part, Shape(shape), to);
}

/// Sums over the last dimensions, one term after the other.
Value* sum_in_sequence(Builder& b, Value* terms, int rank) {
  auto region = std::make_unique<Block>();
  Value* sum = region->add_argument(Type::scalar(terms->dtype()));
  Value* term = region->add_argument(Type::scalar(terms->dtype()));
  Builder inner(*region);
  region->results = {add(inner, sum, term)};
  Ints dims;
  for (std::int64_t d = rank; d < terms->rank(); ++d) dims.push_back(d);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  Attrs attrs{{"dimensions", dims}, {"combiner", std::string(name(Combiner::region))}};
  return b
      .create("stablehlo.reduce", {terms, scalar(b, terms->dtype(), 0)}, std::move(attrs),
              std::move(regions))
      .result();
}

/// Few terms: each product rounded, then added in order, as sums of complex numbers are written.
/// Many: products of the parts.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.result()->dtype())) return {};
  constexpr std::int64_t kFew = 16;
  std::int64_t terms = 1;
  for (std::int64_t k : dims_of(op).lhs_contract)
    terms *= op.operand(0)->shape()[static_cast<int>(k)];
  DType part = real_part(op.result()->dtype());
  bool both = operands[0].size() == 2 && operands[1].size() == 2;
  if (both && terms <= kFew) {
    auto number = [&](int i, std::size_t p) {
      return complex_rules::Real{
          &b, convert(b, spread(b, op, operands[static_cast<std::size_t>(i)][p], i), DType::f64),
          op.operand(i)->dtype() == DType::c64};
    };
    Parts products = complex_rules::narrowed(
        complex_rules::multiply({number(0, 0), number(0, 1)}, {number(1, 0), number(1, 1)}),
        op.result()->dtype());
    int rank = op.result()->rank();
    return {{sum_in_sequence(b, products[0], rank), sum_in_sequence(b, products[1], rank)}};
  }
  auto product = [&](std::size_t l, std::size_t r) {
    Value* lhs = decode(b, operands[0][l], op.operand(0)->dtype());
    Value* rhs = decode(b, operands[1][r], op.operand(1)->dtype());
    return b.create(op.info(), {lhs, rhs}, op.attrs, {}, {op.result()->type().with(part)}).result();
  };
  if (operands[0].size() == 1) return {{product(0, 0), product(0, 1)}};
  if (operands[1].size() == 1) return {{product(0, 0), product(1, 0)}};
  return {{sub(b, product(0, 0), product(1, 1)), add(b, product(0, 1), product(1, 0))}};
}

Contraction lowering(const Op& op) {
  DotDims d = dims_of(op);
  auto as_int = [](const Ints& list) { return std::vector<int>(list.begin(), list.end()); };
  return {as_int(d.lhs_batch), as_int(d.rhs_batch), as_int(d.lhs_contract), as_int(d.rhs_contract)};
}

void verify_quantized(const Op& op) {
  quantized::product(op);
  const Type& rhs = op.operand(1)->type();
  const Quantization& q = *rhs.quantization();
  for (std::int64_t z : q.zero_points)
    if (z != 0)
      throw Error("dot_general", "zero points of rhs must be 0, got {} (C15)", rhs.to_string());
  const Ints& contracted = op.attr<Ints>("rhs_contracting_dimensions");
  if (q.axis >= 0 && std::count(contracted.begin(), contracted.end(), q.axis) > 0)
    throw Error("dot_general", "rhs {} is contracted along its quantisation's axis (C16)",
                rhs.to_string());
}

}  // namespace

DType product_accumulator(const Op& op) {
  return product_accumulator(op.operand(0)->dtype(), op.operand(1)->dtype(), op.result()->dtype());
}

DType product_accumulator(DType lhs, DType rhs, DType result) {
  if (!is_float(lhs) && !is_float(rhs)) return accumulator(result);
  return lhs == DType::f64 || rhs == DType::f64 || result == DType::f64 ? DType::f64 : DType::f32;
}

std::optional<SumPieces> sum_pieces(const Op& op) {
  constexpr std::int64_t kLeast = 1 << 15;
  for (const Value* v : op.operands)
    if (v->op() && window_dims(*v->op())) return std::nullopt;
  std::int64_t terms = 1;
  for (std::int64_t k : dims_of(op).lhs_contract)
    terms *= op.operand(0)->shape()[static_cast<int>(k)];
  if (terms < kLeast) return std::nullopt;
  return SumPieces{terms / SumPieces::kLength, terms % SumPieces::kLength};
}

std::optional<SumChains> sum_chains(const Op& op) {
  const Ints said = op.attrs.get_or<Ints>(kChains, {});
  if (said.empty()) return std::nullopt;
  return SumChains{said[0], said[1], said[2] != 0};
}
void set_chains(Op& op, const SumChains& chains) {
  op.attrs.set(kChains, Ints{chains.chain, chains.group, chains.wide});
}

void set_box_chains(Op& op) {
  Ints sizes;
  for (std::int64_t d : dims_of(op).lhs_contract)
    sizes.push_back(op.operand(0)->shape()[static_cast<int>(d)]);
  set_chains(op, box_chains(sizes));
}

SumChains box_chains(const Ints& sizes) {
  constexpr std::int64_t kChain = 48, kGroup = 1152, kSmall = 4;
  auto cut = [&](std::int64_t most, std::int64_t unit) {
    std::int64_t count = 1;
    for (std::size_t i = sizes.size(); i-- > 0; count *= sizes[i]) {
      if (count * sizes[i] <= most) continue;
      auto fits = [&](std::int64_t part) {
        return sizes[i] % part == 0 && (count * part) % unit == 0;
      };
      const std::int64_t room = std::max<std::int64_t>(1, most / count);
      std::int64_t part = room;
      while (part > 1 && !fits(part)) --part;
      if (part * kSmall < room || !fits(part))
        for (part = room; !fits(part);) ++part;
      return count * part;
    }
    return count;
  };
  const std::int64_t chain = cut(kChain, 1);
  return {chain, cut(kGroup, chain), true};
}

Ints box_of(const Ints& sizes, std::int64_t count) {
  Ints out(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 0 && count > 1;) {
    out[i] = std::min(sizes[i], count);
    STRATA_CHECK(sizes[i] % out[i] == 0 && count % out[i] == 0, "{} of {} are no box", count,
                 sizes[i]);
    count /= out[i];
  }
  return out;
}

DType pieces_type(DType accumulator) {
  return accumulator == DType::f32 ? DType::f64 : accumulator;
}

Literal add_products(const Op& op, const Literal& lhs, const Literal& rhs, const Literal* sums) {
  Literal out(op.result()->type());
  dispatch(product_accumulator(op), [&](auto zero) {
    using A = Accumulator<decltype(zero)>;
    std::vector<A> elements = products<A>(op, lhs, rhs, sums);
    dispatch(out.dtype(), [&](auto storage) {
      using S = decltype(storage);
      auto to = out.mutable_span<S>();
      for (std::size_t i = 0; i < elements.size(); ++i)
        to[i] = cast<S>(static_cast<A>(elements[i]));
    });
  });
  return out;
}

const OpDef& dot_general_def() {
  static const OpDef d{
      .info = {.name = "stablehlo.dot_general",
               .infer = infer,
               .text = &ir::formats::dot_general,
               .verify = verify,
               .quantized = verify_quantized},
      .summary = "a product summed over contracting dimensions (StableHLO, dot_general)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = lowering,
      .split = split,
  };
  return d;
}

Value* product_like(Builder& b, const Op& like, Value* lhs, Value* rhs, const DotDims& dims) {
  Value* out = dot_general(b, lhs, rhs, dims, like.result()->dtype());
  if (const auto chains = sum_chains(like)) set_chains(*out->op(), *chains);
  return out;
}

Value* dot_general(Builder& b, Value* lhs, Value* rhs, const DotDims& dims) {
  return dot_general(b, lhs, rhs, dims, lhs->dtype());
}

Value* dot_general(Builder& b, Value* lhs, Value* rhs, const DotDims& dims, DType result) {
  Attrs attrs;
  set_dims(attrs, dims);
  Op& op = b.create(dot_general_def().info, {lhs, rhs}, std::move(attrs));
  if (result != op.result()->dtype()) op.result()->set_type(op.result()->type().with(result));
  return op.result();
}

}  // namespace strata::op
