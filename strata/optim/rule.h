// For those who write transformations: rules from functions, and the parts of states.
#pragma once

#include "strata/optim/math/trees.h"
#include "strata/optim/options.h"

namespace strata::optim::detail {

using Init = std::function<Tree(const Tree& params)>;
using Update = std::function<std::pair<Tree, Tree>(const Tree& updates, const Tree& state,
                                                   const Tree* params, const Extra& extra)>;
/// A transformation from its two functions.
GradientTransformation rule(std::string text, Needs needs, Init init, Update update);
inline GradientTransformation rule(std::string text, Init init, Update update) {
  return rule(std::move(text), Needs(), std::move(init), std::move(update));
}
/// One without state, leaf by leaf: f(update).
GradientTransformation leafwise(std::string text, std::function<Array(const Array&)> f);
/// The same that reads parameters: f(update, parameter).
GradientTransformation leafwise(std::string text,
                                std::function<Array(const Array&, const Array&)> f);

/// A state's field that is one array.
inline Tree field(const std::string& name, Array value) {
  return Tree({tree::Entry(name, tree::kinds::variable)}, {std::move(value)});
}
/// A state's field that is a tree.
inline Tree field(const std::string& name, const Tree& values) { return values.below(name); }
/// The leaves of all fields, in their order.
template <std::same_as<Tree>... Fields>
Tree state_of(const Fields&... fields) {
  return tree::merge({fields...});
}
/// The count before the first step.
inline Array no_count() { return numpy::zeros({}, DType::i32); }
/// Throws Error where a parameter is complex.
void refuse_complex(const char* rule, const Tree& params);

}  // namespace strata::optim::detail
