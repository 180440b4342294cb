#include "strata/nn/view.h"

#include <fmt/ranges.h>

#include <mutex>
#include <set>
#include <typeindex>

#include "strata/api/trace/trace.h"
#include "strata/nn/modules.h"

namespace strata::nn {

namespace {
/// Handlers by type; looked up only.
struct Handlers {
  std::mutex mutex;
  std::map<std::type_index, ViewHandler> all;
};
Handlers& handlers() {
  static Handlers of_process;
  return of_process;
}
std::optional<ViewHandler> handler_of(const std::type_info& type) {
  Handlers& h = handlers();
  const std::lock_guard lock(h.mutex);
  const auto it = h.all.find(type);
  return it == h.all.end() ? std::nullopt : std::optional(it->second);
}
}  // namespace

void on_view(const std::type_info& type, ViewHandler handler) {
  Handlers& h = handlers();
  const std::lock_guard lock(h.mutex);
  h.all.insert_or_assign(type, std::move(handler));
}

namespace detail {

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
    if (options.batch_size) used_["batch_size"] = false;
    if (options.max_length) used_["max_length"] = false;
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
  void node(const void* object, const std::type_info& type) override {
    const std::optional<ViewHandler> handler = handler_of(type);
    if (!handler || !options_.only(tree::Entry(path_), Array())) return;
    for (const std::string& name : handler->names)
      if (const auto it = used_.find(name); it != used_.end()) it->second = true;
    told_.emplace_back(const_cast<void*>(object), *handler);
  }
  /// Behind the visit: handlers may change how many arrays a module has.
  void call_handlers() const {
    for (const auto& [module, handler] : told_) handler.handle(module, options_);
  }
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
  std::vector<std::pair<void*, ViewHandler>> told_;
  tree::KeyPath path_;
  bool is_field_ = false;
};

/// Collects the names of all flags and numbers.
class SettingNames : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { step_ = tree::key_text(tree::key_of(step)); }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void setting(const tree::Setting&) override { names.insert(step_); }
  std::set<std::string> names;

 private:
  std::string step_;
};

/// Collects the flags of each module by its path.
class FlagFinder : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void setting(const tree::Setting& where) override {
    const bool plain = std::holds_alternative<bool*>(where);
    if (path_.empty() || !(plain || std::holds_alternative<std::optional<bool>*>(where))) return;
    const tree::KeyPath module(path_.begin(), path_.end() - 1);
    std::vector<std::string>& of_module =
        flags[tree::keystr(module, {.simple = true, .separator = "/"})];
    const std::string name = tree::key_text(path_.back());
    // An optional that has a value is visited as a whole and as that value.
    if (!of_module.empty() && of_module.back().starts_with(name + ":")) return;
    of_module.push_back(name + (plain ? ": bool" : ": bool or none"));
  }
  std::map<std::string, std::vector<std::string>> flags;

 private:
  tree::KeyPath path_;
};

}  // namespace

std::vector<std::string> set_view(const std::function<void(tree::Visitor&)>& accept,
                                  const ViewOptions& options) {
  Setter setter(options);
  accept(setter);
  setter.call_handlers();
  return setter.unused();
}

ViewOptions as_view(const std::map<std::string, Attribute>& attributes, const Filter& only) {
  ViewOptions out{.only = only};
  for (const auto& [name, value] : attributes) {
    if (const bool* flag = std::get_if<bool>(&value))
      out.flags[name] = *flag;
    else
      out.numbers[name] = std::get<std::int64_t>(value);
  }
  return out;
}

std::string view_info(const std::function<void(tree::Visitor&)>& accept, const Filter& only) {
  FlagFinder finder;
  accept(finder);
  std::map<std::string, std::vector<std::string>> lines;  // by type
  for (const ModuleAt& at : modules_in(accept)) {
    if (lines.contains(at.type_name()) || !only(tree::Entry(at.path), Array())) continue;
    std::vector<std::string> of_type = finder.flags[at.name()];
    if (const std::optional<ViewHandler> handler = handler_of(*at.type))
      of_type.insert(of_type.end(), handler->names.begin(), handler->names.end());
    if (!of_type.empty()) lines[at.type_name()] = std::move(of_type);
  }
  std::string out;
  for (const auto& [type, of_type] : lines) {
    out += type + ":\n";
    for (const std::string& line : of_type) out += "  " + line + "\n";
  }
  return out;
}

void check_all_used(const char* call, const std::vector<std::string>& unused,
                    const std::function<void(tree::Visitor&)>& accept) {
  if (unused.empty()) return;
  SettingNames settings;
  accept(settings);
  strata::internal::fail(call,
                         "no layer that is meant has a field {}; fields of the model are [{}]",
                         fmt::join(unused, ", "), fmt::join(settings.names, ", "));
}

}  // namespace detail

}  // namespace strata::nn
