#include "strata/nn/linear/products.h"

namespace strata::nn {

namespace {

thread_local ProductScope* innermost = nullptr;

Array cast(const Array& x, std::optional<DType> dtype) {
  return dtype && x.dtype() != *dtype ? astype(x, *dtype) : x;
}

/// Finds the variable of a module whose handle a product got.
class WeightFinder : public tree::Visitor {
 public:
  explicit WeightFinder(const Array& weight) : weight_(weight) {}
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array& value, const tree::Kind& kind, MetadataPtr* metadata) override {
    if (found || value.state() != weight_.state()) return;
    found = true;
    name = tree::keystr(path_, {.simple = true, .separator = "/"});
    this->kind = &kind;
    if (metadata) this->metadata = *metadata;
  }
  bool found = false;
  std::string name;
  const tree::Kind* kind = nullptr;
  MetadataPtr metadata;

 private:
  const Array& weight_;
  tree::KeyPath path_;
};

}  // namespace

namespace {
std::string algorithm_text(const lax::DotAlgorithm& a) {
  return fmt::format("algorithm {} {} {} {} {} {} {}", strata::name(a.lhs_precision_type),
                     strata::name(a.rhs_precision_type), strata::name(a.accumulation_type),
                     a.lhs_component_count, a.rhs_component_count, a.num_primitive_operations,
                     a.allow_imprecise_accumulation);
}
}  // namespace

std::string ProductOptions::static_text() const {
  const auto one = [](const std::optional<DType>& d) {
    return std::string(d ? strata::name(*d) : "none");
  };
  std::string out = one(dtype);
  out += "/";
  if (const lax::Precision* p = precision.precision())
    out += fmt::format("{}", static_cast<int>(*p));
  else if (const lax::DotAlgorithmPreset* p = precision.preset())
    out += fmt::format("preset {}", static_cast<int>(*p));
  else
    out += algorithm_text(*precision.algorithm());
  out += "/" + one(preferred_element_type);
  return packed ? out + "/" + std::string(packed->name()) : out;
}

ProductScope::ProductScope(ProductHandler& handler) : handler_(handler), outer_(innermost) {
  innermost = this;
}
ProductScope::~ProductScope() { innermost = outer_; }

Array intercept(Product product, const PlainProduct& plain) {
  ProductScope* scope = innermost;
  if (!scope) return plain(product.lhs, product.rhs);
  if (const ModuleScope* module = ModuleScope::current()) {
    product.module_path = module->path();
    WeightFinder finder(product.rhs);
    module->accept(finder);
    product.weight = finder.name;
    product.kind = finder.kind;
    product.metadata = finder.metadata;
  }
  product.number = scope->numbers_[product.module_path + '\n' + product.op]++;
  // Off while it runs: a handler may multiply.
  struct Off {
    explicit Off(ProductScope* to) { innermost = to; }
    ~Off() { innermost = back; }
    ProductScope* back = innermost;
  };
  std::optional<Array> answer;
  {
    const Off off(scope->outer_);
    answer = scope->handler_.product(product, plain);
    if (!answer) return intercept(std::move(product), plain);
  }
  return *answer;
}

Array dot_general(const Array& lhs, const Array& rhs, const lax::DotDimensionNumbers& dimensions,
                  const ProductOptions& options) {
  const PlainProduct plain = [&](const Array& a, const Array& b) {
    return lax::dot_general(
        cast(a, options.dtype), cast(b, options.dtype), dimensions,
        {.precision = options.precision, .preferred_element_type = options.preferred_element_type});
  };
  if (!innermost) return plain(lhs, rhs);
  return intercept({.op = "dot_general",
                    .lhs = lhs,
                    .rhs = rhs,
                    .dimension_numbers = dimensions,
                    .options = options},
                   plain);
}

Array packed_dot(const Array& lhs, const Array& rhs, const ProductOptions& options) {
  const PlainProduct plain = [&](const Array& a, const Array& b) {
    return block_dot(cast(a, options.dtype), Packed{b, *options.packed});
  };
  if (!innermost) return plain(lhs, rhs);
  return intercept({.op = "block_dot", .lhs = lhs, .rhs = rhs, .options = options}, plain);
}

Array matmul(const Array& lhs, const Array& rhs, const ProductOptions& options) {
  const PlainProduct plain = [&](const Array& a, const Array& b) {
    return numpy::matmul(
        cast(a, options.dtype), cast(b, options.dtype),
        {.precision = options.precision, .preferred_element_type = options.preferred_element_type});
  };
  if (!innermost) return plain(lhs, rhs);
  return intercept(
      {.op = "dot_general",
       .lhs = lhs,
       .rhs = rhs,
       .dimension_numbers = {.lhs_contracting = {lhs.ndim() - 1}, .rhs_contracting = {0}},
       .options = options},
      plain);
}

Array einsum(const std::string& subscripts, const Array& lhs, const Array& rhs,
             const ProductOptions& options) {
  const PlainProduct plain = [&](const Array& a, const Array& b) {
    return numpy::einsum(
        subscripts, {cast(a, options.dtype), cast(b, options.dtype)},
        {.precision = options.precision, .preferred_element_type = options.preferred_element_type});
  };
  if (!innermost) return plain(lhs, rhs);
  return intercept(
      {.op = "einsum", .lhs = lhs, .rhs = rhs, .subscripts = subscripts, .options = options},
      plain);
}

Array convolution(const char* op, const Array& lhs, const Array& rhs, const PlainProduct& plain,
                  const ProductOptions& options) {
  const PlainProduct of_cast = [&](const Array& a, const Array& b) {
    return plain(cast(a, options.dtype), cast(b, options.dtype));
  };
  if (!innermost) return of_cast(lhs, rhs);
  return intercept({.op = op, .lhs = lhs, .rhs = rhs, .options = options}, of_cast);
}

}  // namespace strata::nn
