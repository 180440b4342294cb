#include "strata/optim/optimizer.h"

#include "strata/api/trace.h"

namespace strata::optim {

namespace {
/// The leaves of the model at the paths of the gradients, in their order.
Tree parameters_of(const Tree& model, const Tree& grads) {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const std::string& name = grads.entry(i).name;
    const std::optional<std::size_t> at = model.find(name);
    if (!at)
      strata::internal::fail("Optimizer::update",
                             "there is a gradient for {}, which the model lacks", name);
    if (model.value(*at).shape() != grads.value(i).shape())
      strata::internal::fail("Optimizer::update", "the gradient of {} is {}, the parameter {}",
                             name, strata::internal::describe(grads.value(i).type()),
                             strata::internal::describe(model.value(*at).type()));
    entries.push_back(model.entry(*at));
    values.push_back(model.value(*at));
  }
  return Tree(std::move(entries), std::move(values));
}

/// State of kind OptVariable where it belongs to a parameter, else OptArray.
Tree with_kinds(const Tree& state, const Tree& params) {
  std::vector<tree::Entry> entries;
  for (const tree::Entry& e : state.entries()) {
    entries.emplace_back(e.path, nn::OptArray::kind(), e.metadata);
    for (std::size_t from = 1; from <= e.path.size(); ++from) {
      const tree::KeyPath rest(e.path.begin() + static_cast<std::ptrdiff_t>(from), e.path.end());
      const std::optional<std::size_t> at =
          params.find(tree::keystr(rest, {.simple = true, .separator = "/"}));
      if (!at) continue;
      entries.back() = tree::Entry(e.path, nn::OptVariable::kind(), params.entry(*at).metadata);
      break;
    }
  }
  return Tree(std::move(entries), std::vector<Array>(state.values().begin(), state.values().end()));
}
}  // namespace

Optimizer::Optimizer(const Tree& model, GradientTransformation transformation, tree::Filter wrt,
                     int)
    : step(numpy::zeros({}, DType::ui32)), tx(std::move(transformation)) {
  const Tree params = model.filter(wrt);
  if (params.empty())
    strata::internal::fail("Optimizer", "the filter {} takes none of the model's {} leaves",
                           wrt.text(), model.size());
  opt_state = with_kinds(tx.init(params), params);
}

std::pair<Tree, Tree> Optimizer::advance(const Tree& model, const Tree& grads, const Extra& extra) {
  const Tree params = parameters_of(model, grads);
  auto [updates, next] = tx.update(grads, opt_state, params, extra);
  if (const std::string differ = differences(opt_state, next); !differ.empty())
    strata::internal::fail("Optimizer::update",
                           "the gradients are of other leaves than the state was made for: {}",
                           differ);
  opt_state = opt_state.map(next, [](const Array&, const Array& b) { return b; });
  step = step + Array::scalar(std::uint64_t{1}, DType::ui32, false);
  return {updates, apply_updates(params, updates)};
}

}  // namespace strata::optim
