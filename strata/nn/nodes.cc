#include "strata/nn/nodes.h"

#include <algorithm>

namespace strata::nn {

namespace {

class NodeFinder : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array& value, const tree::Kind& kind, MetadataPtr*) override {
    found.push_back({.path = path_, .leaf = &value, .kind = &kind});
  }
  void node(const void* object, const std::type_info& type) override {
    found.push_back({.path = path_, .object = const_cast<void*>(object), .type = &type});
  }
  std::vector<NodeAt> found;

 private:
  tree::KeyPath path_;
};

bool is_prefix(const tree::KeyPath& a, const tree::KeyPath& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}
bool before(const NodeAt& a, const NodeAt& b) {
  if (is_prefix(b.path, a.path)) return a.path.size() > b.path.size();
  if (is_prefix(a.path, b.path)) return false;
  return tree::path_less(a.path, b.path);
}

}  // namespace

std::string NodeAt::name() const { return tree::keystr(path, {.simple = true, .separator = "/"}); }

std::vector<NodeAt> detail::nodes_in(const std::function<void(tree::Visitor&)>& accept) {
  NodeFinder finder;
  accept(finder);
  std::stable_sort(finder.found.begin(), finder.found.end(), before);
  return std::move(finder.found);
}

}  // namespace strata::nn
