#include "strata/nn/stack.h"

namespace strata::nn::detail {

namespace {
class Renamer : public tree::Visitor {
 public:
  explicit Renamer(std::function<void(Metadata&)> change) : change_(std::move(change)) {}
  void leaf(Array&, const tree::Kind&, MetadataPtr* metadata) override {
    if (!metadata || !*metadata || (*metadata)->out_sharding.empty()) return;
    auto changed = std::make_shared<Metadata>(**metadata);
    change_(*changed);
    *metadata = std::move(changed);
  }

 private:
  std::function<void(Metadata&)> change_;
};
}  // namespace

void add_leading_axis(const std::function<void(tree::Visitor&)>& accept, const std::string& name) {
  Renamer renamer([&](Metadata& m) { m.out_sharding.insert(m.out_sharding.begin(), name); });
  accept(renamer);
}

void remove_leading_axis(const std::function<void(tree::Visitor&)>& accept,
                         const std::string& name) {
  Renamer renamer([&](Metadata& m) {
    if (m.out_sharding[0] != name)
      strata::internal::fail("Stack", "the leading axis of a variable with {} is not called \"{}\"",
                             m.to_string(), name);
    m.out_sharding.erase(m.out_sharding.begin());
  });
  accept(renamer);
}

}  // namespace strata::nn::detail
