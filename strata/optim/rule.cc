#include "strata/optim/rule.h"

namespace strata::optim::detail {

namespace {
class Functions : public Rule {
 public:
  Functions(std::string text, Needs needs, Init init, Update update)
      : text_(std::move(text)), needs_(needs), init_(std::move(init)), update_(std::move(update)) {}
  std::string text() const override { return text_; }
  Needs needs() const override { return needs_; }
  Tree init(const Tree& params) const override { return init_(params); }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                               const Extra& extra) const override {
    return update_(updates, state, params, extra);
  }

 private:
  std::string text_;
  Needs needs_;
  Init init_;
  Update update_;
};
}  // namespace

GradientTransformation rule(std::string text, Needs needs, Init init, Update update) {
  return GradientTransformation(
      std::make_shared<Functions>(std::move(text), needs, std::move(init), std::move(update)));
}
GradientTransformation leafwise(std::string text, std::function<Array(const Array&)> f) {
  return rule(
      std::move(text), [](const Tree&) { return Tree(); },
      [f = std::move(f)](const Tree& u, const Tree&, const Tree*, const Extra&) {
        return std::pair(trees::map(f, u), Tree());
      });
}
GradientTransformation leafwise(std::string text,
                                std::function<Array(const Array&, const Array&)> f) {
  return rule(
      std::move(text), {.params = true}, [](const Tree&) { return Tree(); },
      [f = std::move(f)](const Tree& u, const Tree&, const Tree* p, const Extra&) {
        return std::pair(trees::map(f, u, *p), Tree());
      });
}
void refuse_complex(const char* rule, const Tree& params) {
  for (std::size_t i = 0; i < params.size(); ++i)
    if (is_complex(params.value(i).dtype()))
      throw Error(rule, "takes no complex parameters; {} is one", params.entry(i).name);
}

}  // namespace strata::optim::detail
