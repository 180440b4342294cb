#include "strata/nn/linen.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "strata/base/text.h"

namespace strata::nn {

namespace {

/// The collections in the order in which they were registered.
struct Collections {
  std::mutex mutex;
  std::vector<std::pair<std::string, const tree::Kind*>> all = {
      {"params", &Param::kind()},
      {"batch_stats", &BatchStat::kind()},
      {"cache", &Cache::kind()},
      {"intermediates", &Intermediate::kind()},
      {"perturbations", &Perturbation::kind()}};
};
Collections& collections() {
  static Collections of_process;
  return of_process;
}

/// `path` with the longest of the prefixes replaced.
std::string renamed(const std::string& path, const LinenNames& names) {
  const std::pair<std::string, std::string>* best = nullptr;
  for (const auto& pair : names) {
    const bool fits = path == pair.first || path.starts_with(pair.first + "/");
    if (fits && (!best || pair.first.size() > best->first.size())) best = &pair;
  }
  return best ? best->second + path.substr(best->first.size()) : path;
}

/// Whether a tree has leaves at or below a path.
bool has_path(const std::vector<std::string>& leaves, const std::string& path) {
  return std::any_of(leaves.begin(), leaves.end(), [&](const std::string& leaf) {
    return leaf == path || leaf.starts_with(path + "/");
  });
}

/// "layers_0/kernel" as "layers/0/kernel", element by element, where the leaves have such a path.
std::string with_numbers(const std::string& path, const std::vector<std::string>& leaves) {
  std::string out;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string element = path.substr(begin, end - begin);
    const std::string before = out.empty() ? "" : out + "/";
    const std::size_t underscore = element.rfind('_');
    std::string split = element;
    if (underscore != std::string::npos) split[underscore] = '/';
    out =
        before +
        (!has_path(leaves, before + element) && has_path(leaves, before + split) ? split : element);
    begin = end + 1;
  }
  return out;
}

tree::Tree with_kinds(const tree::Tree& variables,
                      const std::function<std::string(const std::string&)>& path_of) {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  std::map<std::string, std::string> from;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string& name = variables.entry(i).name;
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos)
      throw Error("from_linen", "the path {} has no collection in front, such as params/", name);
    const tree::Kind& kind = variable_type_from_name(name.substr(0, slash));
    const std::string path = path_of(name.substr(slash + 1));
    if (const auto [it, fresh] = from.emplace(path, name); !fresh)
      throw Error("from_linen", "{} and {} both become {}", it->second, name, path);
    entries.emplace_back(std::string_view(path), kind, variables.entry(i).metadata);
    values.push_back(variables.value(i));
  }
  return tree::Tree(std::move(entries), std::move(values));
}

}  // namespace

std::string variable_name_from_type(const tree::Kind& kind) {
  Collections& c = collections();
  const std::lock_guard lock(c.mutex);
  for (const auto& [name, other] : c.all)
    if (other == &kind) return name;
  throw Error("variable_name_from_type", "the kind {} has no collection; register_variable_name",
              kind.name());
}

const tree::Kind& variable_type_from_name(const std::string& name) {
  Collections& c = collections();
  const std::lock_guard lock(c.mutex);
  std::string all;
  for (const auto& [other, kind] : c.all) {
    if (other == name) return *kind;
    all += (all.empty() ? "" : ", ") + other;
  }
  throw Error("variable_type_from_name",
              "there is no collection {}, but [{}]; register_variable_name adds one", name, all);
}

void register_variable_name(const std::string& name, const tree::Kind& kind, bool overwrite) {
  Collections& c = collections();
  const std::lock_guard lock(c.mutex);
  const auto it =
      std::find_if(c.all.begin(), c.all.end(), [&](const auto& one) { return one.first == name; });
  if (it == c.all.end()) {
    c.all.emplace_back(name, &kind);
  } else if (it->second != &kind) {
    if (!overwrite)
      throw Error("register_variable_name",
                  "{} is the collection of {}; overwrite = true replaces it", name,
                  it->second->name());
    it->second = &kind;
  }
}

tree::Tree from_linen(const tree::Tree& variables, const LinenNames& names) {
  return with_kinds(variables, [&](const std::string& path) { return renamed(path, names); });
}

tree::Tree from_linen_like(const tree::Tree& variables, const tree::Tree& model,
                           const LinenNames& names) {
  const std::vector<std::string> leaves = model.names();
  tree::Tree out = with_kinds(variables, [&](const std::string& path) {
    return with_numbers(renamed(path, names), leaves);
  });
  for (const tree::Entry& entry : out.entries())
    if (!model.contains(entry.name)) {
      const std::vector<std::string_view> all(leaves.begin(), leaves.end());
      throw Error("from_linen", "the model has no {}{}", entry.name, did_you_mean(entry.name, all));
    }
  return out;
}

tree::Tree to_linen(const tree::Tree& state, const LinenNames& names) {
  LinenNames back;
  for (const auto& [linen, ours] : names) back.emplace_back(ours, linen);
  std::vector<tree::Entry> entries;
  for (const tree::Entry& entry : state.entries())
    entries.emplace_back(
        std::string_view(variable_name_from_type(*entry.kind) + "/" + renamed(entry.name, back)),
        *entry.kind, entry.metadata);
  return tree::Tree(std::move(entries), {state.values().begin(), state.values().end()});
}

}  // namespace strata::nn
