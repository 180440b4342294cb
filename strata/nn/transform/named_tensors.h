// Names of a layer's tensors, by which policies of strata::remat say what the backward pass keeps.
// Layers give them to what they compute; programs hold them only where somebody asks.
//
//   const nn::NamesTensors names(true);
//   auto loss = strata::remat(f, {.policy = "names:mlpwi_0"});  // f calls nn::SwiGLU
#pragma once

#include <string_view>

#include "strata/api/array.h"

namespace strata::nn {

/// While it stands `named` gives names, on this thread.
class NamesTensors {
 public:
  explicit NamesTensors(bool gives);
  ~NamesTensors();
  NamesTensors(const NamesTensors&) = delete;
  NamesTensors& operator=(const NamesTensors&) = delete;

 private:
  bool before_;
};

/// x under a name (strata::checkpoint_name) where NamesTensors asks for it, else x.
Array named(const Array& x, std::string_view tensor);

}  // namespace strata::nn
