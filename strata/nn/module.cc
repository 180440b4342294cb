#include "strata/nn/module.h"

namespace strata::nn {

namespace {

thread_local const ModuleScope* innermost = nullptr;
thread_local CallObserver* observers = nullptr;
/// Structs that are copies, and of which; the last ones first.
struct Copy {
  const void* copy;
  const std::type_info* type;
  const void* original;
};
thread_local std::vector<Copy> copies;

/// A struct and what it is a copy of, and so on.
std::vector<const void*> originals_of(const void* object, const std::type_info& type) {
  std::vector<const void*> out = {object};
  for (auto it = copies.rbegin(); it != copies.rend(); ++it)
    if (it->copy == out.back() && *it->type == type) out.push_back(it->original);
  return out;
}

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
                         const char* method, Accept accept)
    : object_(object),
      type_(&type),
      name_(name),
      method_(method),
      accept_(accept),
      outer_(innermost) {
  static const Registered registered;
  innermost = this;
  for (CallObserver* o = observers; o; o = o->outer()) o->begins(*this);
}
ModuleScope::~ModuleScope() {
  for (CallObserver* o = observers; o; o = o->outer()) o->ends(*this);
  innermost = outer_;
}

bool ModuleScope::watched() { return observers != nullptr; }
void ModuleScope::report(std::span<const Array> inputs, std::span<const Array> outputs) const {
  for (CallObserver* o = observers; o; o = o->outer()) o->returned(*this, inputs, outputs);
}

CallObserver::CallObserver() : outer_(observers) { observers = this; }
CallObserver::~CallObserver() { observers = outer_; }

namespace detail {

namespace {
class NodeVisitor : public tree::Visitor {
 public:
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void node(const void* object, const std::type_info& type) override {
    found.emplace_back(object, &type);
  }
  Nodes found;
};
}  // namespace

Nodes nodes_of(const std::function<void(tree::Visitor&)>& accept) {
  NodeVisitor visitor;
  accept(visitor);
  return std::move(visitor.found);
}

ModuleCopies::ModuleCopies(const Nodes& originals, const Nodes& of_copies) {
  if (originals.size() != of_copies.size()) return;
  for (std::size_t i = 0; i < originals.size(); ++i)
    copies.push_back({of_copies[i].first, of_copies[i].second, originals[i].first});
  count_ = originals.size();
}
ModuleCopies::~ModuleCopies() { copies.resize(copies.size() - count_); }

}  // namespace detail

const ModuleScope* ModuleScope::current() { return innermost; }

std::string ModuleScope::path() const {
  if (!outer_) return {};
  const std::string above = outer_->path();
  // A transform calls a copy of the module, which counts as what it is a copy of: the next outer
  // module that holds it gives the path, else that of the caller.
  const std::vector<const void*> same = originals_of(object_, *type_);
  for (const ModuleScope* holder = outer_; holder; holder = holder->outer_) {
    for (const void* object : same) {
      Finder finder(object, *type_);
      holder->accept_(holder->object_, finder);
      if (!finder.found) continue;
      const std::string base = holder == outer_ ? above : holder->path();
      return base.empty() || finder.found->empty() ? base + *finder.found
                                                   : base + "/" + *finder.found;
    }
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
