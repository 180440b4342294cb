#include "strata/optim/optimizer.h"

#include "strata/api/trace/trace.h"

namespace strata::optim {

namespace {
/// The leaves of the model that have a gradient, and the gradients in the same order.
struct Paired {
  Tree params, grads;
};
Paired paired(const Tree& model, const Tree& grads) {
  for (const tree::Entry& entry : grads.entries())
    if (!model.contains(entry.name))
      strata::internal::fail("Optimizer::update",
                             "there is a gradient for {}, which the model lacks", entry.name);
  std::vector<tree::Entry> entries;
  std::vector<Array> params, of_params;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const std::optional<std::size_t> at = grads.find(model.entry(i).name);
    if (!at) continue;
    if (model.value(i).shape() != grads.value(*at).shape())
      strata::internal::fail("Optimizer::update", "the gradient of {} is {}, the parameter {}",
                             model.entry(i).name,
                             strata::internal::describe(grads.value(*at).type()),
                             strata::internal::describe(model.value(i).type()));
    entries.push_back(model.entry(i));
    params.push_back(model.value(i));
    of_params.push_back(grads.value(*at));
  }
  Tree out(std::move(entries), std::move(params));
  Tree same = out.with_values(std::move(of_params));
  return {std::move(out), std::move(same)};
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
  const auto [params, of_params] = paired(model, grads);
  auto [updates, next] = tx.update(of_params, opt_state, params, extra);
  if (const std::string differ = differences(opt_state, next); !differ.empty())
    strata::internal::fail("Optimizer::update",
                           "the gradients are of other leaves than the state was made for: {}",
                           differ);
  opt_state = opt_state.map(next, [](const Array&, const Array& b) { return b; });
  step = step + Array::scalar(std::uint64_t{1}, DType::ui32, false);
  return {updates, apply_updates(params, updates)};
}

}  // namespace strata::optim

STRATA_COMPILE_VISIT(strata::optim::Optimizer)
