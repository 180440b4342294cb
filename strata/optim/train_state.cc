#include "strata/optim/train_state.h"

namespace strata::optim {

TrainState TrainState::create(Tree params, GradientTransformation tx, std::int32_t step) {
  Tree opt_state = tx.init(params);
  return {std::move(params), std::move(opt_state),
          Array::scalar(std::int64_t{step}, DType::i32, false), std::move(tx)};
}

TrainState TrainState::apply_gradients(const Tree& grads, const Extra& extra) const {
  if (const std::string differ = differences(params, grads); !differ.empty())
    strata::internal::fail("TrainState::apply_gradients",
                           "the gradients are of other leaves than the parameters: {}", differ);
  auto [updates, next] = tx.update(grads, opt_state, params, extra);
  return {apply_updates(params, updates), std::move(next),
          step + Array::scalar(std::int64_t{1}, DType::i32, false), tx};
}

}  // namespace strata::optim
