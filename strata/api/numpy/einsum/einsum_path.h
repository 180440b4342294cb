// In which order a product of many arrays is best taken.
#pragma once

#include <string>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

/// How the order is looked for. "optimal": all orders of pairs. "branch-all", "branch-2",
/// "branch-1": all, two or one of the best next pairs each time, as long as they are not much worse
/// than another order was. "greedy" (or "eager", "opportunistic"): the pair that frees most memory.
/// "auto": the first of them up to 4 operands, then the next ones up to 6, 8 and 14. "dp" (or
/// "dynamic-programming"): the fewest multiplications without products of operands that share no
/// letter. A boolean as upstream: true is "optimal", false takes the first two each time.
class EinsumOptimize {
 public:
  EinsumOptimize(const char* name = "auto") : name_(name) {}    // NOLINT: implicit by intent
  EinsumOptimize(std::string name) : name_(std::move(name)) {}  // NOLINT
  EinsumOptimize(bool optimize) : name_(optimize ? "optimal" : "none") {}  // NOLINT
  /// How the order of products is found, by name.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

struct EinsumPath {
  /// Which operands are multiplied, step by step; they leave the list, and their product is its new
  /// last one.
  std::vector<std::vector<std::int64_t>> path;
  /// What upstream's second result prints: letters in one product of all and in the widest step;
  /// multiplications and additions of all at once and step by step; elements of the largest
  /// intermediate.
  std::int64_t naive_scaling = 0, optimized_scaling = 0;
  double naive_flop_count = 0, optimized_flop_count = 0, largest_intermediate = 0;
  /// These, and the product of each step, as upstream prints its second result: letters in the
  /// step, the BLAS routine that could do it (0: none; Strata needs none), the step, and what is
  /// left after it.
  std::string text;
};
/// The order for these subscripts and operands, of which only the shapes count. Throws Error as
/// einsum does, and for an unknown way. ("auto-hq" is for 16 operands at most, where upstream goes
/// on at random.) Source: opt_einsum 3.4, paths.py; for "dp" also Pfeifer, Haegeman and Verstraete,
/// arXiv:1304.6112.
EinsumPath einsum_path(const std::string& subscripts, const std::vector<Array>& operands,
                       const EinsumOptimize& optimize = {}, Where where = Where::current());

}  // namespace strata::numpy

namespace strata {

using numpy::einsum_path;

}  // namespace strata
