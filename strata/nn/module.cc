#include "strata/nn/module.h"

namespace strata::nn {

namespace {

thread_local const ModuleScope* innermost = nullptr;

/// Looks for a struct by its address and type.
class Finder : public tree::Visitor {
 public:
  Finder(const void* object, const std::type_info& type) : object_(object), type_(type) {}
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void node(const void* object, const std::type_info& type) override {
    if (found || object != object_ || type != type_) return;
    found = tree::keystr(path_, {.simple = true, .separator = "/"});
  }
  std::optional<std::string> found;

 private:
  const void* object_;
  const std::type_info& type_;
  tree::KeyPath path_;
};

/// Errors ask for the context once the first module is called.
struct Registered {
  Registered() { set_error_context(&module_context); }
};

}  // namespace

ModuleScope::ModuleScope(const void* object, const std::type_info& type, const char* name,
                         Accept accept)
    : object_(object), type_(&type), name_(name), accept_(accept), outer_(innermost) {
  static const Registered registered;
  innermost = this;
}
ModuleScope::~ModuleScope() { innermost = outer_; }

const ModuleScope* ModuleScope::current() { return innermost; }

std::string ModuleScope::path() const {
  if (!outer_) return {};
  const std::string above = outer_->path();
  // A transform calls a copy of the module, which is in none of those around it: the next outer one
  // that holds it gives the path, else that of the caller.
  for (const ModuleScope* holder = outer_; holder; holder = holder->outer_) {
    Finder finder(object_, *type_);
    holder->accept_(holder->object_, finder);
    if (!finder.found) continue;
    const std::string base = holder == outer_ ? above : holder->path();
    return base.empty() || finder.found->empty() ? base + *finder.found
                                                 : base + "/" + *finder.found;
  }
  return above;
}

std::string module_context() {
  const ModuleScope* scope = ModuleScope::current();
  if (!scope) return {};
  const std::string path = scope->path();
  return path.empty() ? scope->name() : fmt::format("{} ({})", path, scope->name());
}

}  // namespace strata::nn
