#include "strata/model/int8_activations.h"

#include "strata/api/packed.h"
#include "strata/nn/linear/products.h"

namespace strata::model {
namespace {

struct Int8 : nn::ProductHandler {
  std::optional<Array> product(const nn::Product& p, const nn::PlainProduct&) override {
    if (p.options.packed == std::nullopt || std::string_view(p.op) != "block_dot") return {};
    const DType dtype = p.options.dtype.value_or(p.lhs.dtype());
    return block_dot(p.lhs.astype(dtype), Packed{p.rhs, *p.options.packed}, true);
  }
};

template <class Call>
auto rounded(const Call& call) {
  Int8 handler;
  const nn::ProductScope scope(handler);
  return call();
}

class Int8Model final : public Model {
 public:
  explicit Int8Model(ModelPtr model) : model_(std::move(model)) {}
  std::string family() const override { return model_->family(); }
  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  DType dtype() const override { return model_->dtype(); }
  tree::Tree init(const Array& key) const override { return model_->init(key); }
  tree::Tree cast(const tree::Tree& params, DType dtype) const override {
    return model_->cast(params, dtype);
  }
  Array forward(const tree::Tree& params, const Array& tokens) const override {
    return rounded([&] { return model_->forward(params, tokens); });
  }
  Array token_losses(const tree::Tree& params, const Array& tokens,
                     const Array& targets) const override {
    return rounded([&] { return model_->token_losses(params, tokens, targets); });
  }
  tree::Tree init_cache(std::int64_t batch, std::int64_t length) const override {
    return model_->init_cache(batch, length);
  }
  std::pair<Array, tree::Tree> extend(const tree::Tree& params, const Array& tokens,
                                      const Array& first, const tree::Tree& cache,
                                      const std::optional<Array>& only) const override {
    return rounded([&] { return model_->extend(params, tokens, first, cache, only); });
  }
  tree::Tree init_pages(std::int64_t pages, std::int64_t page_size) const override {
    return model_->init_pages(pages, page_size);
  }
  std::pair<Array, tree::Tree> extend_pages(const tree::Tree& params, const Batch& batch,
                                            const tree::Tree& cache,
                                            bool all_tokens) const override {
    return rounded([&] { return model_->extend_pages(params, batch, cache, all_tokens); });
  }
  std::int64_t count() const override { return model_->count(); }
  double flops_per_step(std::int64_t batch, std::int64_t length) const override {
    return model_->flops_per_step(batch, length);
  }

 private:
  ModelPtr model_;
};

}  // namespace

ModelPtr with_int8_activations(ModelPtr model) {
  return std::make_shared<Int8Model>(std::move(model));
}

}  // namespace strata::model
