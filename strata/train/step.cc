#include "strata/train/step.h"

#include "strata/api/control.h"
#include "strata/api/grad.h"
#include "strata/api/jit.h"

namespace strata::train {
namespace {

Array weights_of(const Batch& b) {
  return b.weights ? astype(*b.weights, DType::f32) : ones(b.targets.shape().sizes(), DType::f32);
}

/// Sum of the losses of the targets by their weights, f32.
Array weighted_loss(const llama::Params& p, const Batch& b, const llama::Config& model) {
  Array losses = llama::token_losses(p, b.tokens, b.targets, model);
  return sum(b.weights ? losses * astype(*b.weights, DType::f32) : losses);
}

/// (B, ...) -> (parts, B / parts, ...)
Batch divided(const Batch& b, std::int64_t parts) {
  return tree::map(
      [&](const Array& x) {
        std::vector<std::int64_t> shape = x.shape().sizes();
        shape[0] /= parts;
        shape.insert(shape.begin(), parts);
        return reshape(x, shape);
      },
      b);
}

/// Norms of all leaves.
Array norms(const llama::Params& p) {
  std::vector<Array> squares;
  tree::for_each(p, [&](const Array& leaf) {
    // The expression of optim::typed::global_norm, so that clipping and this share one pass.
    Array wide = astype(leaf, DType::f32);
    squares.push_back(sum(wide * wide));
  });
  return sqrt(stack(squares));
}

template <class O>
State updated(const O& optimizer, const State& state, const llama::Params& gradients) {
  using Moments = typename O::template State<llama::Params>;
  auto [updates, next] =
      optimizer.update(gradients, std::get<Moments>(state.optimizer), state.params);
  return {optim::typed::apply_updates(state.params, updates), std::move(next)};
}

}  // namespace

State init(const Array& key, const llama::Config& model, const Optimizer& optimizer,
           DType weight_dtype) {
  State state;
  state.params =
      tree::map([&](const Array& w) { return astype(w, weight_dtype); }, llama::init(key, model));
  std::visit([&](const auto& o) { state.optimizer = o.init(state.params); }, optimizer);
  return state;
}

std::pair<Array, llama::Params> loss_and_gradients(const llama::Params& params, const Batch& batch,
                                                   const llama::Config& model,
                                                   const StepOptions& options) {
  const std::int64_t parts = options.micro_batches;
  if (parts < 1 || batch.tokens.shape(0) % parts != 0)
    throw Error("train_step", "a batch of {} sequences does not divide into {} micro-batches",
                batch.tokens.shape(0), parts);
  // The share of one unit of weight in the whole batch; a batch without any weight has loss 0.
  const Array share = 1.0 / maximum(sum(weights_of(batch)), 1.0);
  auto of_part = [&](const Batch& part) {
    return value_and_grad(
        [&](const llama::Params& p) { return weighted_loss(p, part, model) * share; })(params);
  };
  if (parts == 1) return of_part(batch);
  using Sums = std::pair<Array, llama::Params>;
  auto add = [&](const Sums& sums, const Batch& part) {
    auto [loss, gradients] = of_part(part);
    auto added = [](const Array& sum, const Array& g) { return sum + astype(g, DType::f32); };
    return std::pair(Sums(sums.first + loss, tree::map(added, sums.second, gradients)), nullptr);
  };
  const Sums zero(zeros({}),
                  tree::map([](const Array& w) { return zeros_like(w, DType::f32); }, params));
  return scan(add, zero, divided(batch, parts)).first;
}

Step make_step(llama::Config model, Optimizer optimizer, const StepOptions& options) {
  auto body = [model, optimizer, options](const State& state, const Batch& batch) {
    auto [loss, gradients] = loss_and_gradients(state.params, batch, model, options);
    State next = std::visit([&](const auto& o) { return updated(o, state, gradients); }, optimizer);
    Outcome outcome{loss, sum(weights_of(batch)), norms(gradients), norms(next.params)};
    return std::pair(std::move(outcome), std::move(next));
  };
  return jit(std::move(body), {.donate_argnums = {0}, .name = "train_step"});
}

Eval make_eval(llama::Config model) {
  return jit(
      [model](const llama::Params& p, const Batch& b) {
        return std::pair(weighted_loss(p, b, model), sum(weights_of(b)));
      },
      {.name = "eval_step"});
}

}  // namespace strata::train
