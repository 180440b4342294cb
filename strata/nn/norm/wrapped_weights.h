// What the norms of weights share: they call another layer with other weights.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "strata/nn/variable.h"

namespace strata::nn::detail {

/// A path as one element of another, as upstream's dictionaries by path have it: "(query,kernel)",
/// and with a name behind it "(query,kernel,u)".
std::string path_key(const tree::Entry& entry, std::string_view name = {});

/// Gives a layer other weights while it lives; the ones before come back unless they are to be
/// `kept` out.
template <class L>
class OtherWeights {
 public:
  OtherWeights(L& layer, tree::Tree before, const tree::Tree& weights, bool kept)
      : layer_(layer), before_(std::move(before)), kept_(kept) {
    tree::assign(layer_, weights);
  }
  ~OtherWeights() {
    if (!kept_) tree::assign(layer_, before_);
  }
  OtherWeights(const OtherWeights&) = delete;
  OtherWeights& operator=(const OtherWeights&) = delete;

 private:
  L& layer_;
  tree::Tree before_;
  bool kept_;
};

}  // namespace strata::nn::detail
