#include "strata/api/tree/tree.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "strata/api/trace/trace.h"
#include "strata/base/text.h"

namespace strata::tree {

namespace {

const std::vector<Entry>& no_entries() {
  static const std::vector<Entry> none;
  return none;
}

/// "; did you mean X?", or nothing.
std::string hint(std::string_view name, std::span<const Entry> entries) {
  std::vector<std::string_view> names;
  for (const Entry& e : entries) names.push_back(e.name);
  return did_you_mean(name, names);
}

[[noreturn]] void no_such(const char* operation, std::string_view name,
                          std::span<const Entry> entries) {
  throw Error(operation, "there is no leaf at {} among {}{}", name, entries.size(),
              hint(name, entries));
}

/// Names of at most five, and how many more there are.
std::string some(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i) {
    if (i > 0) out += ", ";
    out += names[i];
  }
  if (names.size() > 5) out += fmt::format(" and {} more", names.size() - 5);
  return out;
}

std::string line(const Entry& entry, const Array& value) {
  std::string out = fmt::format(
      "{}: {} {}", entry.name, entry.kind->name(),
      value.has_value() ? strata::internal::describe(value.type()) : std::string("no value"));
  if (entry.metadata && !entry.metadata->empty()) out += " (" + entry.metadata->to_string() + ")";
  return out;
}

}  // namespace

Tree::Tree(std::vector<Entry> entries, std::vector<Array> values)
    : values_(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end())) {
  STRATA_CHECK(entries.size() == values_.size(), "{} paths for {} leaves", entries.size(),
               values_.size());
  auto layout = std::make_shared<Layout>();
  layout->entries = std::move(entries);
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!layout->place.emplace(layout->entries[i].name, i).second)
      throw Error("tree::Tree", "two leaves have the path {}", layout->entries[i].name);
  for (const Entry& e : layout->entries) {
    layout->text += e.kind->name();
    if (e.metadata && !e.metadata->empty()) layout->text += "(" + e.metadata->to_string() + ")";
    layout->text += ' ';
  }
  layout_ = std::move(layout);
}

Tree::Tree(std::initializer_list<std::pair<std::string, Array>> leaves) {
  std::vector<Entry> entries;
  std::vector<Array> values;
  for (const auto& [name, value] : leaves) {
    entries.emplace_back(std::string_view(name));
    values.push_back(value);
  }
  *this = Tree(std::move(entries), std::move(values));
}

std::span<const Entry> Tree::entries() const& { return layout_ ? layout_->entries : no_entries(); }

std::vector<std::string> Tree::names() const {
  std::vector<std::string> out;
  for (const Entry& e : entries()) out.push_back(e.name);
  return out;
}

std::optional<std::size_t> Tree::find(std::string_view name) const {
  if (!layout_) return {};
  const auto it = layout_->place.find(name);
  if (it == layout_->place.end()) return {};
  return it->second;
}

const Array& Tree::operator[](std::string_view name) const {
  const std::optional<std::size_t> i = find(name);
  if (!i) no_such("tree::Tree", name, entries());
  return values_[*i];
}

void Tree::set(std::string_view name, Array value) {
  const std::optional<std::size_t> i = find(name);
  if (!i) no_such("tree::Tree::set", name, entries());
  values_[*i] = std::move(value);
}

Tree Tree::subtree(std::string_view prefix) const {
  const KeyPath above = parse_path(prefix);
  std::vector<Entry> entries;
  std::vector<Array> values;
  for (std::size_t i = 0; i < size(); ++i) {
    const KeyPath& path = entry(i).path;
    const bool below = path.size() >= above.size() &&
                       std::equal(above.begin(), above.end(), path.begin(),
                                  [](auto& a, auto& b) { return key_text(a) == key_text(b); });
    if (!below) continue;
    const auto from = path.begin() + static_cast<std::ptrdiff_t>(above.size());
    entries.emplace_back(KeyPath(from, path.end()), *entry(i).kind, entry(i).metadata);
    values.push_back(value(i));
  }
  return Tree(std::move(entries), std::move(values));
}

Tree Tree::below(std::string_view prefix) const {
  const KeyPath above = parse_path(prefix);
  std::vector<Entry> entries;
  for (const Entry& e : this->entries()) {
    KeyPath path = above;
    path.insert(path.end(), e.path.begin(), e.path.end());
    entries.emplace_back(std::move(path), *e.kind, e.metadata);
  }
  return Tree(std::move(entries), std::vector<Array>(values_.begin(), values_.end()));
}

Tree Tree::with_values(std::vector<Array> values) const {
  if (values.size() != size())
    throw Error("tree::Tree::with_values", "the tree has {} leaves, got {}", size(), values.size());
  Tree out;
  out.layout_ = layout_;
  out.values_.assign(std::make_move_iterator(values.begin()),
                     std::make_move_iterator(values.end()));
  return out;
}

Tree Tree::with_metadata(const std::function<MetadataPtr(const Entry&)>& f) const {
  std::vector<Entry> entries(this->entries().begin(), this->entries().end());
  for (Entry& e : entries) e.metadata = f(e);
  return Tree(std::move(entries), std::vector<Array>(values_.begin(), values_.end()));
}

Tree Tree::map(const std::function<Array(const Entry&, const Array&)>& f) const {
  std::vector<Array> values;
  values.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) values.push_back(f(entry(i), value(i)));
  return with_values(std::move(values));
}
Tree Tree::map(const std::function<Array(const Array&)>& f) const {
  return map([&](const Entry&, const Array& x) { return f(x); });
}
Tree Tree::map(const Tree& other, const std::function<Array(const Array&, const Array&)>& f) const {
  std::vector<Array> values;
  values.reserve(size());
  const bool shared = layout_ == other.layout_;
  if (!shared)
    if (const std::string differ = differences(*this, other); !differ.empty())
      throw Error("tree::Tree::map", "the trees have other paths: {}", differ);
  for (std::size_t i = 0; i < size(); ++i) {
    const bool aligned = shared || other.entry(i).name == entry(i).name;
    values.push_back(f(value(i), aligned ? other.value(i) : other[entry(i).name]));
  }
  return with_values(std::move(values));
}

Tree Tree::filter(const Filter& filter) const {
  std::vector<Entry> entries;
  std::vector<Array> values;
  for (std::size_t i = 0; i < size(); ++i)
    if (filter(entry(i), value(i))) {
      entries.push_back(entry(i));
      values.push_back(value(i));
    }
  return Tree(std::move(entries), std::move(values));
}

std::vector<Tree> Tree::split(std::span<const Filter> filters) const {
  for (std::size_t f = 0; f + 1 < filters.size(); ++f)
    if (filters[f].takes_everything())
      throw Error("split",
                  "filter {} of {} takes everything, so that none is left for {}; it may "
                  "only be the last",
                  f, filters.size(), filters[f + 1].text());
  std::vector<std::vector<Entry>> entries(filters.size());
  std::vector<std::vector<Array>> values(filters.size());
  std::vector<std::string> left;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto it = std::find_if(filters.begin(), filters.end(),
                                 [&](const Filter& f) { return f(entry(i), value(i)); });
    if (it == filters.end()) {
      left.push_back(fmt::format("{} ({})", entry(i).name, entry(i).kind->name()));
      continue;
    }
    const auto which = static_cast<std::size_t>(it - filters.begin());
    entries[which].push_back(entry(i));
    values[which].push_back(value(i));
  }
  if (!left.empty()) {
    std::string given;
    for (const Filter& f : filters) given += (given.empty() ? "" : ", ") + f.text();
    throw Error("split", "no filter of [{}] takes {}; end with everything()", given, some(left));
  }
  std::vector<Tree> out;
  for (std::size_t f = 0; f < filters.size(); ++f)
    out.emplace_back(std::move(entries[f]), std::move(values[f]));
  return out;
}

Tree Tree::sorted() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return path_less(entry(a).path, entry(b).path);
  });
  std::vector<Entry> entries;
  std::vector<Array> values;
  for (std::size_t i : order) {
    entries.push_back(entry(i));
    values.push_back(value(i));
  }
  return Tree(std::move(entries), std::move(values));
}

std::string Tree::to_string() const {
  std::string out;
  for (std::size_t i = 0; i < size(); ++i) out += line(entry(i), value(i)) + "\n";
  return out;
}

bool same_structure(const Tree& a, const Tree& b) {
  if (a.layout_ == b.layout_) return true;
  return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                    [](const Entry& x, const Entry& y) {
                      return x.name == y.name && x.kind == y.kind && equal(x.metadata, y.metadata);
                    });
}

std::string differences(const Tree& a, const Tree& b) {
  const auto missing = [](const Tree& from, const Tree& in) {
    std::map<std::string_view, bool> has;
    for (const Entry& e : in.entries()) has[e.name] = true;
    std::vector<std::string> out;
    for (const Entry& e : from.entries())
      if (!has.contains(e.name)) out.push_back(e.name);
    return out;
  };
  const std::vector<std::string> first = missing(a, b), second = missing(b, a);
  std::string out;
  if (!first.empty()) out += "only the first has " + some(first);
  if (!second.empty())
    out += (out.empty() ? "only the second has " : ", only the second has ") + some(second);
  return out;
}

void Tree::accept(Visitor& visitor) {
  // Kinds and metadata are those of the entries: what a visitor would write of them is not kept.
  for (std::size_t i = 0; i < size(); ++i) {
    MetadataPtr metadata = entry(i).metadata;
    for (const KeyEntry& key : entry(i).path)
      if (const auto* element = std::get_if<SequenceKey>(&key))
        visitor.enter(Step::element(element->idx));
      else if (const auto* field = std::get_if<GetAttrKey>(&key))
        visitor.enter(Step::field(field->name));
      else
        visitor.enter(Step::key(std::get<DictKey>(key).key));
    visitor.leaf(values_[i], *entry(i).kind, &metadata);
    for (std::size_t k = 0; k < entry(i).path.size(); ++k) visitor.leave();
  }
}

void Node<Tree>::append_to(std::string& text, const Tree& t) { text += t.kinds_text(); }

Tree merge(std::span<const Tree> trees) {
  std::vector<Entry> entries;
  std::vector<Array> values;
  std::map<std::string, std::size_t> place;
  for (const Tree& t : trees)
    for (std::size_t i = 0; i < t.size(); ++i) {
      const auto [it, fresh] = place.emplace(t.entry(i).name, entries.size());
      if (fresh) {
        entries.push_back(t.entry(i));
        values.push_back(t.value(i));
      } else {
        values[it->second] = t.value(i);
      }
    }
  return Tree(std::move(entries), std::move(values));
}

bool equal(const Tree& a, const Tree& b) {
  if (!differences(a, b).empty() || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Array& x = a.value(i);
    const Array& y = b[a.entry(i).name];
    if (x.type() != y.type()) return false;
    if (!x.literal().same_bits(y.literal())) return false;
  }
  return true;
}

namespace internal {

namespace {
/// Keeps the path of where the visit is.
class PathVisitor : public Visitor {
 public:
  void enter(const Step& step) override { path_.push_back(key_of(step)); }
  void leave() override { path_.pop_back(); }

 protected:
  KeyPath path_;
};

class Collector : public PathVisitor {
 public:
  void leaf(Array& value, const Kind& kind, MetadataPtr* metadata) override {
    entries.emplace_back(path_, kind, metadata ? *metadata : nullptr);
    values.push_back(value);
  }
  std::vector<Entry> entries;
  std::vector<Array> values;
};

class Assigner : public PathVisitor {
 public:
  explicit Assigner(const Tree& from) : from_(from) {
    for (std::size_t i = 0; i < from.size(); ++i) place_.emplace(from.entry(i).name, i);
  }
  void leaf(Array& value, const Kind& kind, MetadataPtr* metadata) override {
    Entry entry(path_, kind);
    const auto it = place_.find(entry.name);
    if (it == place_.end()) {
      lacking.push_back(entry.name);
    } else {
      writes_.push_back({&value, metadata, it->second});
      place_.erase(it);
    }
    met.push_back(std::move(entry));
  }
  /// Writes what was found; before, nothing is changed.
  void write() {
    for (const Write& w : writes_) {
      *w.value = from_.value(w.place);
      if (w.metadata && from_.entry(w.place).metadata) *w.metadata = from_.entry(w.place).metadata;
    }
  }
  /// Paths of `from` that were not met.
  std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& [name, place] : place_) out.emplace_back(name);
    return out;
  }
  std::vector<std::string> lacking;
  std::vector<Entry> met;

 private:
  struct Write {
    Array* value;
    MetadataPtr* metadata;
    std::size_t place;
  };
  const Tree& from_;
  std::map<std::string_view, std::size_t, std::less<>> place_;
  std::vector<Write> writes_;
};
}  // namespace

Tree collect(const std::function<void(Visitor&)>& accept) {
  Collector collector;
  accept(collector);
  return Tree(std::move(collector.entries), std::move(collector.values));
}

void assign(const std::function<void(Visitor&)>& accept, const Tree& from, bool all) {
  Assigner assigner(from);
  accept(assigner);
  if (const std::vector<std::string> left = assigner.left(); !left.empty())
    throw Error("tree::assign", "the tree that is written has no leaf at {}{}", some(left),
                hint(left[0], assigner.met));
  if (all && !assigner.lacking.empty())
    throw Error("tree::as", "there is no value for {}; give the trees of all parts",
                some(assigner.lacking));
  assigner.write();
}

}  // namespace internal

}  // namespace strata::tree
