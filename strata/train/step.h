// One training step: loss, gradients, optimizer, as one compiled program that reuses the memory of its state.
#pragma once

#include "strata/api/grad.h"
#include "strata/api/jit.h"
#include "strata/model/llama/model.h"
#include "strata/optim/adamw.h"

namespace strata::train {

/// What a run carries from step to step.
struct State {
  llama::Params params;
  optim::AdamW::State<llama::Params> optimizer;
  STRATA_FIELDS(params, optimizer)
};

State init(const Array& key, const llama::Config& model, const optim::AdamW& optimizer);

/// (state, tokens (B, S), targets (B, S)) -> (loss, state). Compiled at its first call for each shape; the given state's
/// memory is taken for the new one, so move it in: `auto [loss, next] = step(std::move(state), x, y)`.
inline auto make_step(llama::Config model, optim::AdamW optimizer) {
  auto body = [model, optimizer](const State& state, const Array& tokens, const Array& targets) {
    auto loss = [&](const llama::Params& p) { return llama::loss(p, tokens, targets, model); };
    auto [value, grads] = value_and_grad(loss)(state.params);
    auto [updates, next] = optimizer.update(grads, state.optimizer, state.params);
    return std::pair(value, State{optim::apply_updates(state.params, updates), next});
  };
  return jit(body, {.donate_argnums = {0}, .name = "train_step"});
}

/// (params, tokens, targets) -> loss, compiled.
inline auto make_eval(llama::Config model) {
  return jit([model](const llama::Params& p, const Array& tokens, const Array& targets) { return llama::loss(p, tokens, targets, model); },
             {.name = "eval_step"});
}

}  // namespace strata::train
