#include "strata/model/z_loss.h"

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/model/model.h"
#include "strata/nn/wide.h"

namespace strata::model {
namespace {

thread_local ZLoss* innermost = nullptr;

struct Parts {
  Array losses, log_z;
};
Parts parts_of(const Array& logits, const Array& targets) {
  const Array wide = astype(logits, nn::wide(logits.dtype()));
  const Array of_target =
      squeeze(take_along_axis(wide, expand_dims(targets, -1), -1, {.mode = "clip"}), {-1});
  const Array log_z = logsumexp(wide, -1);
  return {log_z - of_target, log_z};
}

}  // namespace

ZLoss::ZLoss(double multiplier) : multiplier_(multiplier), outer_(innermost) { innermost = this; }
ZLoss::~ZLoss() { innermost = outer_; }

Array with_z_loss(const Array& losses, const Array& log_z) {
  if (!innermost) return losses;
  innermost->added_ = innermost->multiplier_ * (log_z * log_z);
  return losses + *innermost->added_;
}

Array plain_cross_entropies(const Array& logits, const Array& targets) {
  return parts_of(logits, targets).losses;
}

Array cross_entropies(const Array& logits, const Array& targets) {
  const Parts parts = parts_of(logits, targets);
  return with_z_loss(parts.losses, parts.log_z);
}

}  // namespace strata::model
