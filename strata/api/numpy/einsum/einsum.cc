// einsum: subscripts to products, two operands at a time.
#include "strata/api/numpy/einsum/einsum.h"

#include <algorithm>
#include <cctype>

#include "strata/api/lax/products.h"
#include "strata/api/numpy/einsum/einsum_path.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/types.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using detail::Equation;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }
std::int64_t position(const std::string& letters, char c) {
  return static_cast<std::int64_t>(letters.find(c));
}

/// An array and the letter of each of its axes.
struct Term {
  Array array;
  std::string letters;
};

std::string without_spaces(const std::string& text) {
  std::string out;
  for (char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) out += c;
  return out;
}

/// "..." becomes letters that no subscript has, aligned at the right.
std::string expand_ellipsis(const std::string& letters, int rank, int widest,
                            const std::string& subscripts) {
  const std::size_t at = letters.find("...");
  if (at == std::string::npos) return letters;
  const int own = rank < 0 ? widest : rank - static_cast<int>(letters.size()) + 3;
  if (own < 0)
    fail("einsum", "\"{}\": too many letters for an operand of {} dimensions", subscripts, rank);
  std::string dots;
  for (int i = widest - own; i < widest; ++i)
    dots += static_cast<char>(1 + i);  // control characters are no subscripts
  return letters.substr(0, at) + dots + letters.substr(at + 3);
}

Equation parse(const std::string& subscripts, const std::vector<Array>& operands) {
  const std::string text = without_spaces(subscripts);
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation out;
  for (std::size_t from = 0; from <= left.size();) {
    const std::size_t comma = std::min(left.find(',', from), left.size());
    out.inputs.push_back(left.substr(from, comma - from));
    from = comma + 1;
  }
  if (out.inputs.size() != operands.size())
    fail("einsum", "\"{}\" names {} operands, {} are given", subscripts, out.inputs.size(),
         operands.size());
  int widest = 0;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (out.inputs[i].find("...") != std::string::npos)
      widest = std::max(widest, operands[i].ndim() - static_cast<int>(out.inputs[i].size()) + 3);
  for (std::size_t i = 0; i < operands.size(); ++i)
    out.inputs[i] = expand_ellipsis(out.inputs[i], operands[i].ndim(), widest, subscripts);
  if (arrow != std::string::npos) {
    out.output = expand_ellipsis(text.substr(arrow + 2), -1, widest, subscripts);
    return out;
  }
  // Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
  std::string all;
  for (const std::string& in : out.inputs) all += in;
  std::string sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto count = std::count(sorted.begin(), sorted.end(), sorted[i]);
    if ((sorted[i] < 32 || count == 1) && !has(out.output, sorted[i])) out.output += sorted[i];
  }
  return out;
}

void check(const std::string& subscripts, const Equation& e, const std::vector<Array>& operands) {
  std::map<char, std::int64_t> size_of;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& letters = e.inputs[i];
    if (static_cast<int>(letters.size()) != operands[i].ndim())
      fail("einsum", "\"{}\": operand {} has {} letters but is {}", subscripts, i, letters.size(),
           describe(operands[i].type()));
    for (std::size_t d = 0; d < letters.size(); ++d) {
      const std::int64_t size = operands[i].shape()[static_cast<int>(d)];
      auto [it, fresh] = size_of.emplace(letters[d], size);
      if (!fresh && it->second != size)
        fail("einsum", "\"{}\": letter '{}' has sizes {} and {}", subscripts, letters[d],
             it->second, size);
    }
  }
  for (char c : e.output) {
    if (!size_of.count(c))
      fail("einsum", "\"{}\": letter '{}' of the result is in no operand", subscripts, c);
    if (std::count(e.output.begin(), e.output.end(), c) > 1)
      fail("einsum", "\"{}\": letter '{}' is twice in the result", subscripts, c);
  }
}

/// Diagonals of the axes whose letter is repeated, so that each letter is there once.
Term on_diagonals(Term t) {
  for (std::size_t d = 0; d < t.letters.size();) {
    const std::size_t again = t.letters.find(t.letters[d], d + 1);
    if (again == std::string::npos) {
      ++d;
      continue;
    }
    t.array = diagonal(t.array, {.axis1 = static_cast<std::int64_t>(d),
                                 .axis2 = static_cast<std::int64_t>(again)});
    t.letters += t.letters[d];  // a diagonal becomes the last axis
    t.letters.erase(again, 1).erase(d, 1);
  }
  return t;
}

/// Sums over the letters that nobody else needs, in the dtype to which the array's and `preferred`
/// promote.
Term reduce_unneeded(Term t, const std::string& needed, std::optional<DType> preferred) {
  Ints axes;
  std::string rest;
  for (std::size_t d = 0; d < t.letters.size(); ++d)
    if (has(needed, t.letters[d]))
      rest += t.letters[d];
    else
      axes.push_back(static_cast<std::int64_t>(d));
  if (axes.empty()) return t;
  const DType dtype = preferred ? promote_types(t.array.dtype(), *preferred) : t.array.dtype();
  return {sum(t.array, Reduce{.axis = axes, .dtype = dtype}), rest};
}

Term permute(Term t, const std::string& letters) {
  if (t.letters == letters) return t;
  Ints permutation;
  for (char c : letters) permutation.push_back(position(t.letters, c));
  return {transpose(t.array, permutation), letters};
}

std::string letters_without(const std::string& letters, const std::string& others) {
  std::string out;
  for (char c : letters)
    if (!has(others, c)) out += c;
  return out;
}

/// The product of two terms; `needed` are the letters that come later.
Term contract(const Term& x, const Term& y, const std::string& needed,
              const lax::DotGeneral& options) {
  std::string batch, summed;
  for (char c : needed)  // in the order of the result, so that no transpose is needed for the batch
    if (has(x.letters, c) && has(y.letters, c) && !has(batch, c)) batch += c;
  for (char c : x.letters)
    if (has(y.letters, c) && !has(batch, c)) summed += c;
  lax::DotDimensionNumbers dims;
  for (char c : batch) {
    dims.lhs_batch.push_back(position(x.letters, c));
    dims.rhs_batch.push_back(position(y.letters, c));
  }
  for (char c : summed) {
    dims.lhs_contracting.push_back(position(x.letters, c));
    dims.rhs_contracting.push_back(position(y.letters, c));
  }
  const std::string both = batch + summed;
  return {lax::dot_general(x.array, y.array, dims, options),
          batch + letters_without(x.letters, both) + letters_without(y.letters, both)};
}

/// The order of operands whose product has the result's letters already, when there is one.
Term contract_towards(const Term& x, const Term& y, const std::string& needed,
                      const std::string& wanted, const lax::DotGeneral& options) {
  auto order = [&](const Term& a, const Term& b) {
    std::string batch;
    for (char c : needed)
      if (has(a.letters, c) && has(b.letters, c) && !has(batch, c)) batch += c;
    std::string out = batch;
    for (char c : a.letters)
      if (has(needed, c) && !has(batch, c)) out += c;
    for (char c : b.letters)
      if (has(needed, c) && !has(batch, c)) out += c;
    return out;
  };
  return order(x, y) != wanted && order(y, x) == wanted ? contract(y, x, needed, options)
                                                        : contract(x, y, needed, options);
}

/// The places of the operands of each product, two (or one, which is summed); they leave the list,
/// and the product is its new last one.
std::vector<std::vector<std::int64_t>> steps_of(const Equation& e, const std::vector<Array>& arrays,
                                                const EinsumOptimize& optimize) {
  if (arrays.size() < 2) return {};
  return detail::find_path(e, arrays, optimize);
}

/// The term at this place, which leaves the list.
Term taken(std::vector<Term>& terms, std::int64_t place) {
  Term out = std::move(terms[static_cast<std::size_t>(place)]);
  terms.erase(terms.begin() + place);
  return out;
}

}  // namespace

Equation detail::parse_equation(const std::string& subscripts, const std::vector<Array>& operands) {
  const Equation e = parse(subscripts, operands);
  check(subscripts, e, operands);
  return e;
}

Array einsum(const std::string& subscripts, const std::vector<Array>& arrays, const Einsum& options,
             Where where) {
  Site site(where);
  if (arrays.empty()) fail("einsum", "needs at least one operand");
  const WeakDType type = internal::promoted("einsum", arrays);
  const Equation e = detail::parse_equation(subscripts, arrays);
  const lax::DotGeneral product{.precision = options.precision,
                                .preferred_element_type = options.preferred_element_type};
  std::vector<Term> terms;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    terms.push_back(on_diagonals({internal::cast(arrays[i], type), e.inputs[i]}));
  auto needed = [&] {
    std::string out = e.output;
    for (const Term& t : terms) out += t.letters;
    return out;
  };
  for (const std::vector<std::int64_t>& step : steps_of(e, arrays, options.optimize)) {
    Term y = taken(terms, step.back());
    if (step.size() == 1) {
      terms.push_back(reduce_unneeded(std::move(y), needed(), options.preferred_element_type));
      continue;
    }
    Term x = taken(terms, step.front());
    y = reduce_unneeded(std::move(y), needed() + x.letters, options.preferred_element_type);
    x = reduce_unneeded(std::move(x), needed() + y.letters, options.preferred_element_type);
    terms.push_back(contract_towards(x, y, needed(), terms.empty() ? e.output : needed(), product));
  }
  const Array out =
      permute(reduce_unneeded(std::move(terms[0]), e.output, options.preferred_element_type),
              e.output)
          .array;
  return options.preferred_element_type ? out.astype(*options.preferred_element_type) : out;
}

}  // namespace strata::numpy
