#include "strata/train/step.h"

namespace strata::train {

State init(const Array& key, const llama::Config& model, const optim::AdamW& optimizer) {
  State state;
  state.params = llama::init(key, model);
  state.optimizer = optimizer.init(state.params);
  return state;
}

}  // namespace strata::train
