#include "strata/nn/view.h"

#include "strata/api/trace.h"

namespace strata::nn::detail {

namespace {

class Setter : public tree::Visitor {
 public:
  explicit Setter(const ViewOptions& options) : options_(options), flags_(options.flags) {
    const auto add = [&](const char* name, const std::optional<bool>& value) {
      if (value) flags_[name] = *value;
    };
    add("deterministic", options.deterministic);
    add("use_running_average", options.use_running_average);
    add("decode", options.decode);
    for (const auto& [name, value] : flags_) used_[name] = false;
    for (const auto& [name, value] : options.numbers) used_[name] = false;
  }
  void enter(const tree::Step& step) override {
    path_.push_back(tree::key_of(step));
    is_field_ = step.kind == tree::Step::Kind::field;
  }
  void leave() override {
    path_.pop_back();
    is_field_ = false;
  }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void setting(const tree::Setting& where) override {
    if (!is_field_) return;
    const std::string name = tree::key_text(path_.back());
    const auto flag = flags_.find(name);
    const auto number = options_.numbers.find(name);
    if (flag == flags_.end() && number == options_.numbers.end()) return;
    tree::KeyPath module(path_.begin(), path_.end() - 1);
    if (!options_.only(tree::Entry(std::move(module)), Array())) return;
    const bool done = std::visit(
        [&]<class T>(T* field) {
          if constexpr (std::same_as<T, bool> || std::same_as<T, std::optional<bool>>) {
            if (flag == flags_.end()) return false;
            *field = flag->second;
          } else {
            if (number == options_.numbers.end()) return false;
            *field = number->second;
          }
          return true;
        },
        where);
    if (done) used_[name] = true;
  }
  std::vector<std::string> unused() const {
    std::vector<std::string> out;
    for (const auto& [name, was] : used_)
      if (!was) out.push_back(name);
    return out;
  }

 private:
  const ViewOptions& options_;
  std::map<std::string, bool> flags_;
  std::map<std::string, bool> used_;
  tree::KeyPath path_;
  bool is_field_ = false;
};

}  // namespace

std::vector<std::string> set_view(const std::function<void(tree::Visitor&)>& accept,
                                  const ViewOptions& options) {
  Setter setter(options);
  accept(setter);
  return setter.unused();
}

void refuse_names(const std::vector<std::string>& unused) {
  std::string names;
  for (const std::string& name : unused) names += (names.empty() ? "" : ", ") + name;
  strata::internal::fail("view", "no layer that is meant has a field {}", names);
}

}  // namespace strata::nn::detail
