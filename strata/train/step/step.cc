#include "strata/train/step/step.h"

#include "strata/api/numpy.h"
#include "strata/api/trace/trace.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/model/decoder/multi_token.h"
#include "strata/model/z_loss.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/pass/dot/accumulator_folding.h"
#include "strata/train/step/router_losses.h"

namespace strata::train {
namespace {

Array weights_of(const Batch& b) {
  return b.weights ? astype(*b.weights, DType::f32) : ones(b.targets.shape().sizes(), DType::f32);
}

/// Sum of losses (B, S) by the weights of their targets.
Array weighted(const Array& losses, const Batch& b) {
  return sum(b.weights ? losses * astype(*b.weights, DType::f32) : losses);
}

/// Sum of the losses of the targets by their weights, f32.
Array weighted_loss(const tree::Tree& p, const Batch& b, const model::ModelPtr& model) {
  return weighted(
      b.segments ? model->packed_token_losses(p, b.tokens, b.targets, {*b.segments, *b.positions})
                 : model->token_losses(p, b.tokens, b.targets),
      b);
}

/// What the loss of a part is made of, where routers or further tokens have one too, and what of
/// the targets' is z-loss.
struct Parts {
  std::optional<Array> targets, further, z_loss;
  std::optional<model::decoder::RouterSums> routers;
  STRATA_FIELDS(targets, further, z_loss, routers)
};

/// What one unit of weight is worth in the loss of the whole batch: of a target, and of one that is
/// predicted further ahead; none where none are.
struct Shares {
  Array targets;
  std::optional<Array> further = std::nullopt;
  /// The multiplier of the z-loss.
  double z_loss = 0;
};
/// A batch without any weight has loss 0.
Shares shares_of(const Batch& batch, const model::ModelPtr& model, const StepOptions& options) {
  const auto of = [](double worth, const Array& weights) { return worth / maximum(weights, 1.0); };
  const Array weights = weights_of(batch);
  Shares out{.targets = of(1, sum(weights)), .z_loss = options.z_loss};
  if (const std::int64_t layers = model::decoder::further_layers(*model); layers > 0)
    out.further =
        of(options.mtp_loss_factor, model::decoder::further_count(weights, batch.segments, layers));
  return out;
}

/// The part's share of what is minimised.
std::pair<Array, Parts> objective(const tree::Tree& p, const Batch& part,
                                  const model::ModelPtr& model, const Shares& shares,
                                  const std::optional<RouterLosses>& routers) {
  std::optional<model::ZLoss> z;
  if (shares.z_loss > 0) z.emplace(shares.z_loss);
  const auto of_z = [&]() -> std::optional<Array> {
    if (!z) return {};
    return weighted(*z->added(), part) * shares.targets;
  };
  if (!routers && !shares.further) {
    const Array loss = weighted_loss(p, part, model) * shares.targets;
    return {loss, Parts{.z_loss = of_z()}};
  }
  const model::decoder::MultiTokenLosses l =
      routers ? (*routers)(p, part)
              : model::decoder::multi_token_losses(*model, p, part.tokens, part.targets,
                                                   documents_of(part), part.weights);
  Parts parts{
      .targets = weighted(l.losses, part) * shares.targets, .z_loss = of_z(), .routers = l.routers};
  Array all = *parts.targets;
  if (l.further) {
    parts.further = *l.further * *shares.further;
    all = all + *parts.further;
  }
  if (routers) all = all + routers->loss(*l.routers);
  return {all, std::move(parts)};
}

std::optional<RouterLosses> routers_of(const tree::Tree& params, const Batch& batch,
                                       const model::ModelPtr& model, const StepOptions& options) {
  if (!options.routers) return {};
  return RouterLosses(params, batch, model, *options.routers, options.micro_batches);
}

/// The squares of a leaf, summed in f32: clipping and norms share one pass over it.
Array square_of(const Array& leaf) {
  const Array wide = astype(leaf, DType::f32);
  return sum(wide * wide);
}

/// Norms of all leaves of the weights; 0 for those that `p` lacks.
Array norms(const tree::Tree& params, const tree::Tree& p) {
  std::vector<Array> squares;
  for (const tree::Entry& e : params.entries()) {
    const std::optional<std::size_t> at = p.find(e.name);
    squares.push_back(at ? square_of(p.value(*at)) : zeros({}));
  }
  return sqrt(stack(squares));
}

/// Gradients scaled down together where their global norm is above max_norm. Optax multiplies after
/// it divides, each leaf anew; here the quotient is one number for all leaves.
tree::Tree clipped(const tree::Tree& gradients, double max_norm) {
  if (max_norm <= 0) return gradients;
  Array total = zeros({});
  for (const Array& g : gradients.values()) total = total + square_of(g);
  const Array norm = sqrt(total), scale = where(less(norm, max_norm), 1.0, max_norm / norm);
  return gradients.map(
      [&](const Array& g) { return astype(astype(g, DType::f32) * scale, g.dtype()); });
}

tree::Tree in_f32(const tree::Tree& t, bool wanted = true) {
  if (!wanted) return t;
  return t.map([](const Array& leaf) { return astype(leaf, DType::f32); });
}

tree::Tree trained(const tree::Tree& params, const std::optional<tree::Filter>& frozen) {
  return frozen ? params.filter(!*frozen) : params;
}
/// `params` with the values that `some` has.
tree::Tree with(const tree::Tree& params, const tree::Tree& some) {
  return params.map([&](const tree::Entry& e, const Array& old) {
    const std::optional<std::size_t> at = some.find(e.name);
    return at ? some.value(*at) : old;
  });
}

/// The new state where loss and gradients are finite, else the old one: what a step could not be
/// taken from can be looked at. Frozen weights are the same in both.
State taken_if(const Array& finite, State next, const State& state,
               const std::optional<tree::Filter>& frozen) {
  const auto pick = [&](const Array& now, const Array& before) {
    return where(finite, now, before);
  };
  next.params = with(next.params,
                     tree::map(pick, trained(next.params, frozen), trained(state.params, frozen)));
  next.optimizer = tree::map(pick, next.optimizer, state.optimizer);
  return next;
}

void check_parts(const Batch& batch, std::int64_t parts) {
  if (parts < 1 || batch.tokens.shape(0) % parts != 0)
    throw Error("train_step", "a batch of {} sequences does not divide into {} micro-batches",
                batch.tokens.shape(0), parts);
}

/// The loss alone, as rules that search along a line ask for it.
Array loss_of(const tree::Tree& params, const Batch& batch, const model::ModelPtr& model,
              const StepOptions& options) {
  const Shares shares = shares_of(batch, model, options);
  const auto routers = routers_of(params, batch, model, options);
  const auto of_part = [&](const Batch& part) {
    return objective(params, part, model, shares, routers).first;
  };
  if (options.micro_batches == 1) return of_part(batch);
  auto add = [&](const Array& so_far, const Batch& part) {
    return std::pair(so_far + of_part(part), nullptr);
  };
  return scan(add, zeros({}), divided(batch, options.micro_batches)).first;
}

State updated(const Optimizer& optimizer, const State& state, const Batch& batch,
              const model::ModelPtr& model, const StepOptions& options, const Array& loss,
              const tree::Tree& gradients) {
  const tree::Tree mine = trained(state.params, optimizer.frozen);
  const tree::Tree seen = in_f32(mine, optimizer.in_f32);
  const auto loss_at = [&](const tree::Tree& p) {
    return loss_of(with(state.params, p), batch, model, options);
  };
  const optim::Needs needs = optimizer.rule.rule().needs();
  optim::Extra extra;
  if (needs.value) extra.value = loss;
  if (needs.grad) extra.grad = in_f32(gradients);
  if (needs.value_fn) extra.value_fn = loss_at;
  if (needs.obj_fn) extra.obj_fn = loss_at;
  auto [updates, next] =
      optimizer.rule.update(in_f32(clipped(gradients, optimizer.max_norm), optimizer.in_f32),
                            state.optimizer, &seen, extra);
  return {optim::apply_updates(state.params, updates), std::move(next)};
}

/// Loss and gradients of all parts so far.
struct Sums {
  Array loss;
  tree::Tree gradients;
  Parts parts;
  STRATA_FIELDS(loss, gradients, parts)
};

Sums sums_of(const tree::Tree& params, const Batch& batch, const model::ModelPtr& model,
             const StepOptions& options, const std::optional<RouterLosses>& routers,
             const std::optional<tree::Filter>& frozen) {
  const std::int64_t parts = options.micro_batches;
  const Shares shares = shares_of(batch, model, options);
  const tree::Tree mine = trained(params, frozen);
  auto of_part = [&](const Batch& part) {
    auto [value, gradients] = value_and_grad([&](const tree::Tree& p) {
      return objective(frozen ? with(params, p) : p, part, model, shares, routers);
    })(mine);
    return Sums{value.first, std::move(gradients), std::move(value.second)};
  };
  if (parts == 1) return of_part(batch);
  auto add = [&](const Sums& sums, const Batch& part) {
    const Sums own = of_part(part);
    // One sum over all parts, where its order lets it go on.
    auto added = [](const Array& sums, const Array& g) {
      const Array out = sums + astype(g, DType::f32);
      if (ir::Value* traced = out.state()->value; traced && traced->op())
        pass::mark_accumulator_add(*traced->op());
      return out;
    };
    auto plus = [](const Array& a, const Array& b) { return a + b; };
    return std::pair(Sums{sums.loss + own.loss, tree::map(added, sums.gradients, own.gradients),
                          tree::map(plus, sums.parts, own.parts)},
                     nullptr);
  };
  Parts none;
  if (routers || shares.further) none.targets = zeros({});
  if (shares.further) none.further = zeros({});
  if (shares.z_loss > 0) none.z_loss = zeros({});
  if (routers) none.routers = routers->no_sums();
  const Sums zero{zeros({}),
                  tree::map([](const Array& w) { return zeros_like(w, DType::f32); }, mine), none};
  return scan(add, zero, divided(batch, parts)).first;
}

}  // namespace

State init(const Array& key, const model::ModelPtr& model, const Optimizer& optimizer,
           DType weight_dtype) {
  return init(model->cast(model->init(key), weight_dtype), optimizer);
}

State init(tree::Tree weights, const Optimizer& optimizer) {
  State state;
  state.optimizer = optimizer.rule.init(in_f32(trained(weights, optimizer.frozen)));
  state.params = std::move(weights);
  return state;
}

std::pair<Array, tree::Tree> loss_and_gradients(const tree::Tree& params, const Batch& batch,
                                                const model::ModelPtr& model,
                                                const StepOptions& options,
                                                const std::optional<tree::Filter>& frozen) {
  check_parts(batch, options.micro_batches);
  Sums sums =
      sums_of(params, batch, model, options, routers_of(params, batch, model, options), frozen);
  return {sums.loss, std::move(sums.gradients)};
}

Step make_step(model::ModelPtr model, Optimizer optimizer, const StepOptions& options) {
  auto body = [model, optimizer, options](const State& state, const Batch& batch) {
    check_parts(batch, options.micro_batches);
    const auto routers = routers_of(state.params, batch, model, options);
    const Sums sums = sums_of(state.params, batch, model, options, routers, optimizer.frozen);
    State next = updated(optimizer, state, batch, model, options, sums.loss, sums.gradients);
    std::optional<RouterOutcome> routed;
    if (routers) {
      routed = routers->outcome(*sums.parts.routers);
      next.params = routers->with_biases(state.params, next.params, *routed, optimizer.frozen);
    }
    const Array gradient_norms = norms(state.params, sums.gradients);
    // Clipping asks for all norms before it steps; where there is none, nothing waits for them.
    if (optimizer.max_norm > 0)
      next = taken_if(logical_and(isfinite(sums.loss), all(isfinite(gradient_norms))),
                      std::move(next), state, optimizer.frozen);
    Outcome outcome{sums.parts.targets.value_or(sums.loss),
                    sum(weights_of(batch)),
                    gradient_norms,
                    norms(next.params, trained(next.params, optimizer.frozen)),
                    routed,
                    sums.parts.further,
                    sums.parts.z_loss};
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

Evaluate make_evaluation(model::ModelPtr model, StepOptions options) {
  options.micro_batches = 1;
  auto body = [model, options](const tree::Tree& p, const Batch& b) {
    const auto routers = routers_of(p, b, model, options);
    const Shares shares = shares_of(b, model, options);
    const auto [all, parts] = objective(p, b, model, shares, routers);
    const Array weights = sum(weights_of(b));
    Evaluation out{
        parts.targets.value_or(all) / shares.targets, weights, {}, parts.further, parts.z_loss};
    if (routers) out.routers = routers->outcome(*parts.routers);
    return out;
  };
  return jit(std::move(body), {.name = "eval_step"});
}

Eval make_acceptance(model::ModelPtr model, std::int64_t layer) {
  return jit(
      [model, layer](const tree::Tree& p, const Batch& b) {
        return model::decoder::further_accepted(*model, p, b.tokens, b.targets, documents_of(b),
                                                b.weights, layer);
      },
      {.name = "acceptance_step"});
}

}  // namespace strata::train
