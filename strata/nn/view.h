// A model in another mode: training or not, decoding or not.
//
//   nn::eval(model);                                            // in place
//   Model decoder = nn::view(model, {.deterministic = true, .decode = true});
//
// A layer is told what it knows: a field of that name that is a flag, a number or an optional of
// these. Nothing has to be declared, and fields of one's own layers are found by name as well.
#pragma once

#include <map>

#include "strata/nn/variable.h"

namespace strata::nn {

struct ViewOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<bool> deterministic = std::nullopt, use_running_average = std::nullopt,
                      decode = std::nullopt;
  /// Other fields by name.
  std::map<std::string, bool> flags = {};
  std::map<std::string, std::int64_t> numbers = {};
  /// The layers that are told, by their paths; kinds do not count.
  Filter only = everything();
};

namespace detail {
/// Sets what the options name. Returns the names that no layer knows.
std::vector<std::string> set_view(const std::function<void(tree::Visitor&)>& accept,
                                  const ViewOptions& options);
[[noreturn]] void refuse_names(const std::vector<std::string>& unused);
}  // namespace detail

/// Tells the layers of a model in place. Throws Error for a name that none of them knows; what it
/// could set is set.
template <tree::TreeLike M>
void set_view(M& model, const ViewOptions& options) {
  const auto unused = detail::set_view([&](tree::Visitor& v) { tree::accept(model, v); }, options);
  if (!unused.empty()) detail::refuse_names(unused);
}
/// A copy of the model whose layers are told; arrays are shared. Source: Flax NNX's view.
/// Deviation: upstream's view shares its Variables with the model; here state that a call changes
/// is the copy's.
template <tree::TreeLike M>
M view(M model, const ViewOptions& options) {
  set_view(model, options);
  return model;
}
/// Makes dropout drop and batches give statistics. A model without such layers stays as it is.
/// Source: Flax NNX's Module.train.
template <tree::TreeLike M>
void train(M& model) {
  (void)detail::set_view([&](tree::Visitor& v) { tree::accept(model, v); },
                         {.deterministic = false, .use_running_average = false});
}
/// Makes dropout pass everything and the running statistics count. A model without such layers
/// stays as it is. Source: Flax NNX's Module.eval.
template <tree::TreeLike M>
void eval(M& model) {
  (void)detail::set_view([&](tree::Visitor& v) { tree::accept(model, v); },
                         {.deterministic = true, .use_running_average = true});
}

}  // namespace strata::nn
