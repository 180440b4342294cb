// Rows of batches as batches of another size.
#include <algorithm>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// Arrays and arrays of strings, which have rows.
std::int64_t rows_of(const Element& leaf) {
  const Shape shape = leaf.shape();
  if (shape.rank() == 0)
    throw Error("rebatch", "every leaf needs a first dimension; got {}", leaf.to_string());
  return shape[0];
}

Shape with_rows(const Shape& shape, std::int64_t rows) {
  std::vector<std::int64_t> sizes = shape.sizes();
  sizes[0] = rows;
  return Shape::of(sizes);
}

struct Rows {
  Element leaf;
  std::int64_t begin = 0, end = 0;
};

/// Rows of several leaves, one after the other.
Element join(const std::vector<Rows>& parts) {
  const Element& first = parts[0].leaf;
  if (parts.size() == 1 && parts[0].begin == 0 && parts[0].end == rows_of(first)) return first;
  std::int64_t rows = 0, width = 0;
  for (const Rows& p : parts) {
    rows += p.end - p.begin;
    if (p.leaf.kind() != first.kind())
      throw Error("rebatch", "leaves must be of one kind; got {} and {}", first.to_string(),
                  p.leaf.to_string());
    if (first.kind() == Element::Kind::strings) width = std::max(width, p.leaf.strings().width);
  }
  const Shape shape = with_rows(first.shape(), rows);
  if (first.kind() == Element::Kind::strings) {
    const StringArray& f = first.strings();
    StringArray out{.shape = shape, .width = width, .is_text = f.is_text};
    const std::int64_t each = rows == 0 ? 0 : shape.count() / rows;
    std::string storage;
    for (const Rows& p : parts)
      for (std::int64_t i = p.begin * each; i < p.end * each; ++i) {
        const std::string_view item = p.leaf.strings().at(i);
        storage.append(item);
        storage.append(static_cast<std::size_t>(width) - item.size(), '\0');
      }
    out.storage = std::make_shared<const std::string>(std::move(storage));
    return out;
  }
  Literal out(Type(first.array().dtype(), shape));
  std::byte* to = out.mutable_data();
  for (const Rows& p : parts) {
    const Literal& x = p.leaf.array();
    if (x.dtype() != out.dtype() || !(with_rows(x.shape(), rows) == shape))
      throw Error("rebatch", "leaves must have one dtype and shape of rows; got {} and {}",
                  first.array().type().to_string(), x.type().to_string());
    const std::size_t row =
        x.bytes() / static_cast<std::size_t>(std::max<std::int64_t>(rows_of(p.leaf), 1));
    const auto n = static_cast<std::size_t>(p.end - p.begin) * row;
    if (n > 0) std::memcpy(to, x.data() + static_cast<std::size_t>(p.begin) * row, n);
    to += n;
  }
  return out;
}

class RebatchIterator : public Iterator {
 public:
  RebatchIterator(const Node& node, std::unique_ptr<Iterator> parent, std::int64_t batch, bool drop)
      : Iterator(node),
        parent_(std::move(parent)),
        batch_(batch),
        drop_(drop),
        before_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = before_;
    out["batch_idx"] = row_;
    return out;
  }
  void set_state(const Json& state) override {
    row_ = integer_part(state, "batch_idx");
    parent_->set_state(part(state, "parent"));
    before_ = parent_->state();
    leaves_.reset();
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    std::int64_t missing = batch_;
    std::vector<std::vector<Rows>> parts;
    while (missing > 0) {
      if (!leaves_ || row_ >= rows_of((*leaves_)[0])) {
        const bool first = !leaves_;
        before_ = parent_->state();
        Element element;
        if (!parent_->next(element)) {
          if (drop_) return false;
          break;
        }
        read(element);
        if (!first) row_ = 0;
      }
      const std::int64_t rows = rows_of((*leaves_)[0]), end = std::min(rows, row_ + missing);
      if (rows == 0) throw Error("rebatch", "a batch of {} rows", rows);
      if (parts.empty()) parts.resize(leaves_->size());
      if (parts.size() != leaves_->size())
        throw Error("rebatch", "batches have {} and {} leaves", parts.size(), leaves_->size());
      const std::int64_t begin = std::min(row_, rows);
      for (std::size_t i = 0; i < parts.size(); ++i)
        parts[i].push_back({(*leaves_)[i], std::min(begin, rows_of((*leaves_)[i])),
                            std::min(std::max(begin, end), rows_of((*leaves_)[i]))});
      missing -= std::max<std::int64_t>(end - row_, 0);
      row_ = std::max(end, row_);
    }
    if (parts.empty()) return false;
    std::size_t next = 0;
    out = shape_of_.map_leaves([&](const Element&) { return join(parts[next++]); });
    return true;
  }

 private:
  /// In the order in which map_leaves comes to them.
  void read(const Element& element) {
    leaves_.emplace();
    element.map_leaves([&](const Element& leaf) {
      rows_of(leaf);
      leaves_->push_back(leaf);
      return leaf;
    });
    if (leaves_->empty()) throw Error("rebatch", "{} has no leaves", element.to_string());
    shape_of_ = element;
  }
  std::unique_ptr<Iterator> parent_;
  std::int64_t batch_;
  bool drop_;
  Json before_;
  std::optional<std::vector<Element>> leaves_;
  Element shape_of_;
  std::int64_t row_ = 0;
};

class RebatchNode : public IterOperation {
 public:
  RebatchNode(std::shared_ptr<const IterNode> parent, std::int64_t batch, bool drop)
      : IterOperation(std::move(parent)), batch_(batch), drop_(drop) {
    if (batch <= 0) throw Error("rebatch", "the batch size is {}; allowed is 1 or more", batch);
  }
  std::string name() const override {
    return fmt::format("RebatchIterDataset(batch_size={}, drop_remainder={})", batch_,
                       python_bool(drop_));
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<RebatchIterator>(*this, parent_->iterate(context), batch_, drop_);
  }

 private:
  std::int64_t batch_;
  bool drop_;
};

}  // namespace

IterDataset IterDataset::rebatch(std::int64_t batch_size, bool drop_remainder) const {
  return IterDataset(std::make_shared<RebatchNode>(node_, batch_size, drop_remainder));
}

}  // namespace strata::data
