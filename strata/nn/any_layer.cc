#include "strata/nn/any_layer.h"

#include <atomic>

namespace strata::nn {

std::vector<Array> AnyLayer::call(std::span<const Array> inputs, Rngs* rngs) {
  if (!holder_) return {inputs.begin(), inputs.end()};
  std::vector<Array> out;
  if (!holder_->call(inputs, rngs, out))
    strata::internal::fail("AnyLayer", "the layer does not take {} arrays", inputs.size());
  return out;
}

std::vector<Array> AnyLayer::call(std::span<const Array> inputs, Rngs* rngs) const {
  if (!holder_) return {inputs.begin(), inputs.end()};
  std::vector<Array> out;
  const std::optional<bool> called = holder_->call_const(inputs, rngs, out);
  if (!called)
    strata::internal::fail("AnyLayer",
                           "a call may change the layer, which is const; call one that is not");
  if (!*called)
    strata::internal::fail("AnyLayer", "the layer does not take {} arrays", inputs.size());
  return out;
}

Array AnyLayer::one(std::vector<Array> results) {
  if (results.size() != 1)
    strata::internal::fail("AnyLayer", "the layer has {} results; `call` gives them all",
                           results.size());
  return std::move(results[0]);
}

namespace detail {

std::uint64_t next_function() {
  static std::atomic<std::uint64_t> next = 1;
  return next++;
}

namespace {
class Leaves : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array& value, const tree::Kind&, MetadataPtr*) override {
    found.emplace_back(tree::keystr(path_, {.simple = true, .separator = "/"}), &value);
  }
  std::vector<std::pair<std::string, Array*>> found;

 private:
  tree::KeyPath path_;
};
}  // namespace

std::vector<std::pair<std::string, Array*>> leaves_of(AnyLayer& layer) {
  Leaves leaves;
  layer.accept(leaves);
  return std::move(leaves.found);
}

}  // namespace detail

}  // namespace strata::nn
