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
Array weighted_loss(const tree::Tree& p, const Batch& b, const model::ModelPtr& model) {
  Array losses = model->token_losses(p, b.tokens, b.targets);
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
Array norms(const tree::Tree& p) {
  std::vector<Array> squares;
  tree::for_each(p, [&](const Array& leaf) {
    // The expression of optim::typed::global_norm, so that clipping and this share one pass.
    Array wide = astype(leaf, DType::f32);
    squares.push_back(sum(wide * wide));
  });
  return sqrt(stack(squares));
}

template <class O>
State updated(const O& optimizer, const State& state, const tree::Tree& gradients) {
  using Moments = typename O::template State<tree::Tree>;
  auto [updates, next] =
      optimizer.update(gradients, std::get<Moments>(state.optimizer), state.params);
  return {optim::typed::apply_updates(state.params, updates), std::move(next)};
}

}  // namespace

State init(const Array& key, const model::ModelPtr& model, const Optimizer& optimizer,
           DType weight_dtype) {
  State state;
  state.params = model->cast(model->init(key), weight_dtype);
  std::visit([&](const auto& o) { state.optimizer = o.init(state.params); }, optimizer);
  return state;
}

std::pair<Array, tree::Tree> loss_and_gradients(const tree::Tree& params, const Batch& batch,
                                                const model::ModelPtr& model,
                                                const StepOptions& options) {
  const std::int64_t parts = options.micro_batches;
  if (parts < 1 || batch.tokens.shape(0) % parts != 0)
    throw Error("train_step", "a batch of {} sequences does not divide into {} micro-batches",
                batch.tokens.shape(0), parts);
  // The share of one unit of weight in the whole batch; a batch without any weight has loss 0.
  const Array share = 1.0 / maximum(sum(weights_of(batch)), 1.0);
  auto of_part = [&](const Batch& part) {
    return value_and_grad(
        [&](const tree::Tree& p) { return weighted_loss(p, part, model) * share; })(params);
  };
  if (parts == 1) return of_part(batch);
  using Sums = std::pair<Array, tree::Tree>;
  auto add = [&](const Sums& sums, const Batch& part) {
    auto [loss, gradients] = of_part(part);
    auto added = [](const Array& sum, const Array& g) { return sum + astype(g, DType::f32); };
    return std::pair(Sums(sums.first + loss, tree::map(added, sums.second, gradients)), nullptr);
  };
  const Sums zero(zeros({}),
                  tree::map([](const Array& w) { return zeros_like(w, DType::f32); }, params));
  return scan(add, zero, divided(batch, parts)).first;
}

Step make_step(model::ModelPtr model, Optimizer optimizer, const StepOptions& options) {
  auto body = [model, optimizer, options](const State& state, const Batch& batch) {
    auto [loss, gradients] = loss_and_gradients(state.params, batch, model, options);
    State next = std::visit([&](const auto& o) { return updated(o, state, gradients); }, optimizer);
    Outcome outcome{loss, sum(weights_of(batch)), norms(gradients), norms(next.params)};
    return std::pair(std::move(outcome), std::move(next));
  };
  return jit(std::move(body), {.donate_argnums = {0}, .name = "train_step"});
}

Eval make_eval(model::ModelPtr model) {
  return jit(
      [model](const tree::Tree& p, const Batch& b) {
        return std::pair(weighted_loss(p, b, model), sum(weights_of(b)));
      },
      {.name = "eval_step"});
}

}  // namespace strata::train
