// stablehlo.einsum, stablehlo.unary_einsum: sums of products named by letters, deprecated spellings
// of dot_general and what surrounds it.
//
//   "bij,bjk->bik"      letters of both operands that stand in the result too are batching, others
//   of both are contracted "ab->ba", "aa->a"   a letter of one operand alone is summed where the
//   result lacks it; a repeated one means the diagonal
//   "...ij,...jk"       dots stand for the dimensions that have no letter, aligned at the right;
//   without "->" the result is the
//                       dots, then the letters that occur once, in alphabetical order
//
// Contract: attribute `einsum_config`; each operand has a letter or dots for every dimension, equal
// letters have equal sizes.
#include <algorithm>
#include <map>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "einsum";

/// Dimensions by letter; those under dots are the capitals of their own from 1 on, counted from the
/// right.
using Labels = std::vector<int>;
constexpr int kDots = 1000;

/// The operation in letters: one list for each operand, and the result's.
struct Letters {
  std::vector<Labels> operands;
  Labels result;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `rank` < 0: as many dimensions under the dots as the longest operand has.
Labels parse_labels(const std::string& text, int rank, int most_dots) {
  Labels out;
  std::size_t dots = text.find("...");
  int letters = 0;
  for (char c : text) letters += is_letter(c);
  int under = rank < 0 ? most_dots : rank - letters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      for (int k = 0; k < under; ++k) out.push_back(kDots + under - k);
      i += 2;
    } else if (is_letter(text[i])) {
      out.push_back(text[i]);
    } else if (text[i] != ' ') {
      throw Error(kSelf, "'{}' is no letter of a dimension", text[i]);
    }
  }
  if (rank >= 0 && static_cast<int>(out.size()) != rank)
    throw Error(kSelf, "'{}' does not name the {} dimensions of its operand", text, rank);
  return out;
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> out{""};
  for (char c : text) {
    if (c == separator)
      out.emplace_back();
    else
      out.back().push_back(c);
  }
  return out;
}

/// Letters that occur once, after the dots.
Labels implicit_result(const std::vector<Labels>& operands) {
  std::map<int, int> times;
  int dots = 0;
  for (const Labels& labels : operands)
    for (int l : labels) l > kDots ? dots = std::max(dots, l - kDots) : ++times[l];
  Labels out;
  for (int k = dots; k > 0; --k) out.push_back(kDots + k);
  for (auto [letter, n] : times)
    if (n == 1) out.push_back(letter);
  return out;
}

Letters letters_of(const Attrs& attrs, std::span<Value* const> operands) {
  const std::string& config = expect_attr<std::string>(kSelf, attrs, "einsum_config");
  std::size_t arrow = config.find("->");
  std::vector<std::string> parts = split_at(config.substr(0, arrow), ',');
  if (parts.size() != operands.size())
    throw Error(kSelf, "'{}' names {} operands, but there {} {}", config, parts.size(),
                operands.size() == 1 ? "is" : "are", operands.size());
  Letters out;
  int dots = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.operands.push_back(parse_labels(parts[i], operands[i]->rank(), 0));
    for (int l : out.operands[i]) dots = std::max(dots, l - kDots);
  }
  out.result = arrow == std::string::npos
                   ? implicit_result(out.operands)
                   : parse_labels(config.substr(arrow + 2), -1, std::max(dots, 0));
  return out;
}

// ---- inference ---------------------------------------------------------------------------------

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, static_cast<int>(operands.size()));
  if (operands.empty() || operands.size() > 2)
    throw Error(kSelf, "takes one or two operands, got {}", operands.size());
  Letters letters = letters_of(attrs, operands);
  std::map<int, Dim> sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->dtype() != operands[0]->dtype())
      throw Error(kSelf, "operands must have one dtype, got {} and {}",
                  operands[0]->type().to_string(), operands[i]->type().to_string());
    for (int d = 0; d < operands[i]->rank(); ++d) {
      auto [it, fresh] = sizes.emplace(letters.operands[i][static_cast<std::size_t>(d)],
                                       operands[i]->shape().dim(d));
      if (fresh) continue;
      if (!may_equal(it->second, operands[i]->shape().dim(d)))
        throw Error(kSelf, "dimension {} of {} has another size than an equal letter", d,
                    operands[i]->type().to_string());
      it->second = merged(it->second, operands[i]->shape().dim(d));
    }
  }
  std::vector<Dim> dims;
  std::map<int, int> seen;
  for (int l : letters.result) {
    auto it = sizes.find(l);
    if (it == sizes.end() || ++seen[l] > 1)
      throw Error(
          kSelf, "each letter of the result must stand in an operand, and once in the result: '{}'",
          attrs.get<std::string>("einsum_config"));
    dims.push_back(it->second);
  }
  return {operands[0]->type().with(Shape(std::move(dims)))};
}

/// The result's dtype is the program's choice; its shape is not.
void verify(const Op& op) {
  Type inferred = infer(op.operands, op.attrs, op.regions)[0];
  if (op.num_results() != 1) throw Error(kSelf, "has one result, got {}", op.num_results());
  const Type& stated = op.result()->type();
  if (!stated.is_tensor() || !may_equal(stated.shape(), inferred.shape()))
    throw Error(kSelf, "the result is {}, but the operands give {}", stated.to_string(),
                inferred.to_string());
  if (is_complex(stated.dtype()) != is_complex(inferred.dtype()))
    throw Error(kSelf, "a product of {} cannot be {}", name(op.operand(0)->dtype()),
                name(stated.dtype()));
}

// ---- definition --------------------------------------------------------------------------------

bool contains(const Labels& labels, int l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}
std::int64_t place(const Labels& labels, int l) {
  return std::find(labels.begin(), labels.end(), l) - labels.begin();
}

/// Sums dimension `d` of x, which has its label too no longer.
Value* summed(Builder& b, Value* x, Labels& labels, std::size_t d) {
  labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(d));
  return reduce_sum(b, x, {static_cast<std::int64_t>(d)});
}

/// Repeated letters become one: off the diagonal there is nothing.
Value* diagonal(Builder& b, Value* x, Labels& labels) {
  for (std::size_t d = labels.size(); d-- > 1;) {
    auto first = static_cast<std::size_t>(place(labels, labels[d]));
    if (first == d) continue;
    Type numbers = x->type().with(DType::i64);
    Value* on = compare(b, iota(b, numbers, static_cast<int>(first)),
                        iota(b, numbers, static_cast<int>(d)), "EQ");
    x = summed(b, select(b, on, x, zeros_like(b, x)), labels, d);
  }
  return x;
}

/// Without the letters that neither the result nor the other operand has.
Value* own_sums(Builder& b, Value* x, Labels& labels, const Labels& result, const Labels& other) {
  for (std::size_t d = labels.size(); d-- > 0;)
    if (!contains(result, labels[d]) && !contains(other, labels[d])) x = summed(b, x, labels, d);
  return x;
}

Value* arranged(Builder& b, Value* x, const Labels& labels, const Labels& result) {
  Ints permutation;
  for (int l : result) permutation.push_back(place(labels, l));
  return transpose(b, x, permutation);
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Letters letters = letters_of(op.attrs, operands);
  DType dtype = op.result()->dtype();
  Labels left = letters.operands[0];
  Value* x = diagonal(b, operands[0], left);
  if (operands.size() == 1) {
    x = own_sums(b, x, left, letters.result, {});
    return {convert(b, arranged(b, x, left, letters.result), dtype)};
  }
  Labels right = letters.operands[1];
  Value* y = diagonal(b, operands[1], right);
  x = own_sums(b, x, left, letters.result, right);
  y = own_sums(b, y, right, letters.result, left);
  DotDims dims;
  Labels product;
  for (int l : left) {
    if (!contains(right, l)) continue;
    bool kept = contains(letters.result, l);
    (kept ? dims.lhs_batch : dims.lhs_contract).push_back(place(left, l));
    (kept ? dims.rhs_batch : dims.rhs_contract).push_back(place(right, l));
    if (kept) product.push_back(l);
  }
  for (int l : left)
    if (!contains(right, l)) product.push_back(l);
  for (int l : right)
    if (!contains(left, l)) product.push_back(l);
  return {arranged(b, dot_general(b, x, y, dims, dtype), product, letters.result)};
}

// ---- sharding, cost ----------------------------------------------------------------------------

Factors shard(const Op& op) {
  FactorTable t(op);
  Letters letters = letters_of(op.attrs, op.operands);
  std::map<int, int> factors;
  for (std::size_t i = 0; i < letters.operands.size(); ++i)
    for (std::size_t d = 0; d < letters.operands[i].size(); ++d) {
      int l = letters.operands[i][d];
      bool repeated = std::count(letters.operands[i].begin(), letters.operands[i].end(), l) > 1;
      std::int64_t size = op.operands[i]->shape().dim(static_cast<int>(d)).bound();
      if (repeated) {
        t.operand(static_cast<int>(i), static_cast<int>(d), t.factor('n', size));
        continue;
      }
      if (!factors.count(l)) factors[l] = t.factor(contains(letters.result, l) ? 'p' : 'r', size);
      t.operand(static_cast<int>(i), static_cast<int>(d), factors[l]);
    }
  for (std::size_t d = 0; d < letters.result.size(); ++d) {
    auto it = factors.find(letters.result[d]);
    int f = it != factors.end()
                ? it->second
                : t.factor('n', op.result()->shape().dim(static_cast<int>(d)).bound());
    t.result(0, static_cast<int>(d), f);
  }
  return t.take();
}

Work cost(const Op& op) {
  Letters letters = letters_of(op.attrs, op.operands);
  std::map<int, double> sizes;
  for (std::size_t i = 0; i < letters.operands.size(); ++i)
    for (std::size_t d = 0; d < letters.operands[i].size(); ++d)
      sizes[letters.operands[i][d]] = static_cast<double>(
          std::max<std::int64_t>(op.operands[i]->shape().dim(static_cast<int>(d)).bound(), 1));
  double flops = 2;
  for (auto [letter, size] : sizes) flops *= size;
  return {flops, bytes_moved(op)};
}

OpDef row(const char* name, const char* summary) {
  return {
      .info = {.name = name, .infer = infer, .text = &ir::formats::einsum, .verify = verify},
      .summary = summary,
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a dot_general and sums (decompose)"},
      .decompose = decompose,
  };
}

}  // namespace

std::span<const OpDef> einsum_defs() {
  static const OpDef rows[] = {
      row("stablehlo.einsum", "a sum of products named by letters (StableHLO, einsum; deprecated)"),
      row("stablehlo.unary_einsum",
          "a sum, a diagonal or a transposition named by letters (StableHLO, unary_einsum; "
          "deprecated)"),
  };
  return rows;
}

}  // namespace strata::op
