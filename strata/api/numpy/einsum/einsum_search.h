// What the searches for einsum's order share. Private to this room.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "strata/api/numpy/einsum/einsum.h"

namespace strata::numpy::detail {

using Letters = std::set<char>;

inline Letters both(const Letters& a, const Letters& b) {
  Letters out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}
inline Letters either(Letters a, const Letters& b) {
  a.insert(b.begin(), b.end());
  return a;
}
inline Letters without(const Letters& a, const Letters& b) {
  Letters out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

struct Problem {
  std::vector<Letters> inputs;
  Letters output;
  std::map<char, double> sizes;

  double size(const Letters& letters) const {
    double out = 1;
    for (char c : letters) out *= sizes.at(c);
    return out;
  }
  double flops(const Letters& letters, bool is_inner, std::size_t terms) const {
    return size(letters) *
           (std::max<double>(1, static_cast<double>(terms) - 1) + (is_inner ? 1 : 0));
  }
};

/// Steps as EinsumPath::path has them: by dynamic programming over sets of operands.
std::vector<std::vector<std::int64_t>> dynamic_path(const Problem& problem);
/// EinsumPath::text.
std::string path_text(const Equation& equation, const EinsumPath& path);

}  // namespace strata::numpy::detail
