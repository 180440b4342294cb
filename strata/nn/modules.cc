#include "strata/nn/modules.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "strata/nn/random/rngs.h"

namespace strata::nn {

namespace {

/// Collects structs, and whether there is a variable below each.
class ModuleFinder : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {
    for (Found& f : found)
      if (is_prefix(f.at.path, path_)) f.has_variable = true;
  }
  void node(const void* object, const std::type_info& type) override {
    if (type == typeid(RngStream) || type == typeid(random::Key)) return;
    found.push_back({{path_, const_cast<void*>(object), &type}, false});
  }
  static bool is_prefix(const tree::KeyPath& a, const tree::KeyPath& b) {
    return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  struct Found {
    ModuleAt at;
    bool has_variable;
  };
  std::vector<Found> found;

 private:
  tree::KeyPath path_;
};

/// By path, each behind those below it.
bool before(const ModuleAt& a, const ModuleAt& b) {
  if (ModuleFinder::is_prefix(b.path, a.path)) return a.path.size() > b.path.size();
  if (ModuleFinder::is_prefix(a.path, b.path)) return false;
  return tree::path_less(a.path, b.path);
}

}  // namespace

std::string ModuleAt::name() const {
  return tree::keystr(path, {.simple = true, .separator = "/"});
}

std::string ModuleAt::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  std::string out = status == 0 ? text.get() : type->name();
  out = out.substr(0, out.find('<'));
  const std::size_t colon = out.rfind("::");
  return colon == std::string::npos ? out : out.substr(colon + 2);
}

namespace detail {

std::vector<ModuleAt> modules_in(const std::function<void(tree::Visitor&)>& accept) {
  ModuleFinder finder;
  accept(finder);
  std::vector<ModuleAt> out;
  for (ModuleFinder::Found& f : finder.found)
    if (f.has_variable || f.at.path.empty()) out.push_back(std::move(f.at));
  std::sort(out.begin(), out.end(), before);
  return out;
}

std::vector<ModuleAt> children_of(std::vector<ModuleAt> modules) {
  // What is below another module than the outermost is none of its children.
  std::vector<ModuleAt> out;
  for (const ModuleAt& m : modules) {
    if (m.path.empty()) continue;
    const bool below_other = std::any_of(modules.begin(), modules.end(), [&](const ModuleAt& o) {
      return !o.path.empty() && o.path.size() < m.path.size() &&
             ModuleFinder::is_prefix(o.path, m.path);
    });
    if (!below_other) out.push_back(m);
  }
  return out;
}

}  // namespace detail

}  // namespace strata::nn
