#include "strata/nn/transform/named_tensors.h"

#include <string>

#include "strata/api/transform/custom.h"

namespace strata::nn {
namespace {

thread_local bool t_gives = false;

}  // namespace

NamesTensors::NamesTensors(bool gives) : before_(t_gives) { t_gives = gives; }

NamesTensors::~NamesTensors() { t_gives = before_; }

Array named(const Array& x, std::string_view tensor) {
  return t_gives ? checkpoint_name(x, std::string(tensor)) : x;
}

}  // namespace strata::nn
