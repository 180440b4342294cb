#include "strata/optim/gradient_transformation.h"

#include <atomic>
#include <set>

#include "strata/api/trace/trace.h"

namespace strata::optim {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number{0};
  return ++number;
}

class FromFunctions : public Rule {
 public:
  using Init = std::function<Tree(const Tree&)>;
  using Update = std::function<std::pair<Tree, Tree>(const Tree&, const Tree&, const Tree*)>;
  FromFunctions(std::string text, Init init, Update update, Needs needs = {})
      : text_(std::move(text)), init_(std::move(init)), update_(std::move(update)), needs_(needs) {}
  std::string text() const override { return text_; }
  Needs needs() const override { return needs_; }
  Tree init(const Tree& params) const override { return init_(params); }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                               const Extra&) const override {
    return update_(updates, state, params);
  }

 private:
  std::string text_;
  Init init_;
  Update update_;
  Needs needs_;
};

class Chain : public Rule {
 public:
  explicit Chain(std::vector<std::pair<std::string, GradientTransformation>> parts)
      : parts_(std::move(parts)) {}
  std::string text() const override {
    std::string out = "chain(";
    for (std::size_t i = 0; i < parts_.size(); ++i)
      out += (i > 0 ? ", " : "") + parts_[i].second.text();
    return out + ")";
  }
  Needs needs() const override {
    Needs all;
    for (const auto& [name, part] : parts_) all = merged(all, part.rule().needs());
    return all;
  }
  Tree init(const Tree& params) const override {
    std::vector<Tree> states;
    for (const auto& [name, part] : parts_) states.push_back(part.init(params).below(name));
    return tree::merge(states);
  }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                               const Extra& extra) const override {
    if (const std::string unused = not_taken(extra, needs()); !unused.empty())
      strata::internal::fail("update", "no member of {} uses what it is given: Extra's {}", text(),
                             unused);
    Tree u = updates;
    std::vector<Tree> states;
    for (const auto& [name, part] : parts_) {
      auto [next, after] =
          part.update(u, state.subtree(name), params, taken(extra, part.rule().needs()));
      u = std::move(next);
      states.push_back(after.below(name));
    }
    return {std::move(u), tree::merge(states)};
  }

 private:
  std::vector<std::pair<std::string, GradientTransformation>> parts_;
};

class IgnoringExtras : public Rule {
 public:
  explicit IgnoringExtras(GradientTransformation inner) : inner_(std::move(inner)) {}
  std::string text() const override { return inner_.text(); }
  Needs needs() const override {
    Needs all = inner_.rule().needs();
    all.any = true;
    return all;
  }
  Tree init(const Tree& params) const override { return inner_.init(params); }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                               const Extra& extra) const override {
    return inner_.update(updates, state, params, taken(extra, inner_.rule().needs()));
  }

 private:
  GradientTransformation inner_;
};

}  // namespace

Needs merged(const Needs& a, const Needs& b) {
  return {a.params || b.params, a.value || b.value,     a.grad || b.grad, a.value_fn || b.value_fn,
          a.obj_fn || b.obj_fn, a.grad_fn || b.grad_fn, a.more || b.more, a.any || b.any};
}
Extra taken(const Extra& given, const Needs& by) {
  if (by.any) return given;
  Extra out;
  if (by.value) out.value = given.value;
  if (by.grad) out.grad = given.grad;
  if (by.value_fn) out.value_fn = given.value_fn;
  if (by.obj_fn) out.obj_fn = given.obj_fn;
  if (by.grad_fn) out.grad_fn = given.grad_fn;
  if (by.more) out.more = given.more;
  return out;
}
std::string not_taken(const Extra& given, const Needs& by) {
  if (by.any) return "";
  std::string out;
  const auto see = [&](bool is_given, bool is_read, const char* name) {
    if (is_given && !is_read) out += (out.empty() ? "" : ", ") + std::string(name);
  };
  see(given.value.has_value(), by.value, "value");
  see(given.grad.has_value(), by.grad, "grad");
  see(static_cast<bool>(given.value_fn), by.value_fn, "value_fn");
  see(static_cast<bool>(given.obj_fn), by.obj_fn, "obj_fn");
  see(static_cast<bool>(given.grad_fn), by.grad_fn, "grad_fn");
  see(!given.more.empty(), by.more, "more");
  return out;
}

GradientTransformation::GradientTransformation() : GradientTransformation(identity()) {}
GradientTransformation::GradientTransformation(std::shared_ptr<const Rule> rule)
    : rule_(std::move(rule)), number_(next_number()) {}
GradientTransformation::GradientTransformation(std::string text, FromFunctions::Init init,
                                               FromFunctions::Update update)
    : GradientTransformation(
          std::make_shared<FromFunctions>(std::move(text), std::move(init), std::move(update))) {}

std::pair<Tree, Tree> GradientTransformation::update(const Tree& updates, const Tree& state,
                                                     const Tree* params, const Extra& extra) const {
  const Needs needs = rule_->needs();
  const auto require = [&](bool needed, bool given, const char* what) {
    if (needed && !given) strata::internal::fail("update", "{} needs {}", rule_->text(), what);
  };
  require(needs.params, params != nullptr, "the parameters");
  require(needs.value, extra.value.has_value(), "the loss: Extra's value");
  require(needs.grad, extra.grad.has_value(), "the gradient of the loss: Extra's grad");
  require(needs.value_fn, static_cast<bool>(extra.value_fn),
          "the loss as a function of the parameters: Extra's value_fn");
  require(needs.obj_fn, static_cast<bool>(extra.obj_fn),
          "the loss as a function of the parameters: Extra's obj_fn");
  require(needs.grad_fn, static_cast<bool>(extra.grad_fn),
          "the gradient as a function of the parameters: Extra's grad_fn");
  return rule_->update(updates, state, params, extra);
}

std::string GradientTransformation::static_text() const {
  return fmt::format("{}#{}", rule_->text(), number_);
}

Tree apply_updates(const Tree& params, const Tree& updates) {
  return params.map([&](const tree::Entry& entry, const Array& p) {
    const std::optional<std::size_t> at = updates.find(entry.name);
    return at ? astype(p + updates.value(*at), p.dtype()) : p;
  });
}

GradientTransformation chain(std::vector<GradientTransformation> parts) {
  std::vector<std::pair<std::string, GradientTransformation>> named;
  for (std::size_t i = 0; i < parts.size(); ++i)
    named.emplace_back(std::to_string(i), std::move(parts[i]));
  return GradientTransformation(std::make_shared<Chain>(std::move(named)));
}

GradientTransformation named_chain(
    std::vector<std::pair<std::string, GradientTransformation>> parts) {
  std::set<std::string> names;
  for (const auto& [name, part] : parts)
    if (!names.insert(name).second) throw Error("named_chain", "two members are called {}", name);
  return GradientTransformation(std::make_shared<Chain>(std::move(parts)));
}

GradientTransformation identity() {
  return {"identity()", [](const Tree&) { return Tree(); },
          [](const Tree& u, const Tree&, const Tree*) { return std::pair(u, Tree()); }};
}
GradientTransformation with_extra_args_support(GradientTransformation tx) {
  return GradientTransformation(std::make_shared<IgnoringExtras>(std::move(tx)));
}
GradientTransformation set_to_zero() {
  return stateless("set_to_zero()", [](const Tree& u, const Tree*) {
    return u.map([](const Array& x) { return numpy::zeros_like(x); });
  });
}
GradientTransformation stateless(std::string text, std::function<Tree(const Tree&, const Tree*)> f,
                                 bool needs_params) {
  return GradientTransformation(std::make_shared<FromFunctions>(
      std::move(text), [](const Tree&) { return Tree(); },
      [f = std::move(f)](const Tree& u, const Tree&, const Tree* p) {
        return std::pair(f(u, p), Tree());
      },
      Needs{.params = needs_params}));
}

}  // namespace strata::optim
