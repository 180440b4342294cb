// Elements stacked to batches.
#include <algorithm>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;
using Kind = Element::Kind;

[[noreturn]] void unlike(const Element& a, const Element& b) {
  throw Error("make_batch",
              "elements must have the same structure, dtypes and shapes; got {} and {}",
              a.to_string(), b.to_string());
}

/// The type of a leaf as numpy sees it; numbers are i64, f64, i1 of rank 0.
Type type_of(const Element& leaf) {
  switch (leaf.kind()) {
    case Kind::boolean: return Type::scalar(DType::i1);
    case Kind::integer: return Type::scalar(DType::i64);
    case Kind::real: return Type::scalar(DType::f64);
    default: return leaf.array().type();
  }
}

/// The bytes of a number or array, in row-major order.
void copy_leaf(const Element& leaf, std::byte* to) {
  switch (leaf.kind()) {
    case Kind::boolean: *to = std::byte{leaf.boolean()}; break;
    case Kind::integer: {
      const std::int64_t v = leaf.integer();
      std::memcpy(to, &v, sizeof v);
      break;
    }
    case Kind::real: {
      const double v = leaf.real();
      std::memcpy(to, &v, sizeof v);
      break;
    }
    default:
      if (leaf.array().bytes() > 0) std::memcpy(to, leaf.array().data(), leaf.array().bytes());
  }
}

Shape with_rows(std::size_t rows, const Shape& shape) {
  std::vector<std::int64_t> dims = {static_cast<std::int64_t>(rows)};
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
  return Shape::of(dims);
}

bool is_string(Kind kind) {
  return kind == Kind::text || kind == Kind::bytes || kind == Kind::strings;
}

/// Texts, bytes or arrays of them, padded to the longest.
template <class At>
Element stack_strings(std::size_t n, const At& at) {
  const Element& first = at(0);
  const auto text = [](const Element& e) {
    return e.kind() == Kind::text || (e.kind() == Kind::strings && e.strings().is_text);
  };
  StringArray out{.shape = with_rows(n, first.shape()), .width = 1, .is_text = text(first)};
  const std::int64_t each = first.shape().count();
  const auto item = [](const Element& e, std::int64_t j) {
    return e.kind() == Kind::strings ? e.strings().at(j) : e.view();
  };
  const bool scalars = first.kind() != Kind::strings;
  for (std::size_t i = 0; i < n; ++i) {
    const Element& e = at(i);
    if (scalars && e.kind() == first.kind()) {
      out.width = std::max(out.width, std::ssize(e.view()));
      continue;
    }
    if (!is_string(e.kind()) || text(e) != out.is_text || !(e.shape() == first.shape()))
      unlike(first, e);
    out.width =
        std::max(out.width, e.kind() == Kind::strings ? e.strings().width : std::ssize(e.view()));
  }
  auto storage =
      std::make_shared<std::string>(static_cast<std::size_t>(out.shape.count() * out.width), '\0');
  char* to = storage->data();
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < each; ++j, to += out.width) {
      const std::string_view v = item(at(i), j);
      std::copy(v.begin(), v.end(), to);
    }
  out.storage = std::move(storage);
  return out;
}

/// Elements 0 .. n-1, found by `at`: a level of the tree of all at once.
template <class At>
Element stack(std::size_t n, const At& at) {
  const Element& first = at(0);
  const Kind kind = first.kind();
  if (kind == Kind::none) throw Error("make_batch", "elements are {}; drop them before", "none");
  if (is_string(kind)) return stack_strings(n, at);
  if (kind == Kind::dict) {
    Element::Fields out;
    for (const auto& [key, value] : first.fields()) {
      for (std::size_t i = 0; i < n; ++i)
        if (at(i).kind() != kind || at(i).fields().size() != first.fields().size() ||
            !at(i).contains(key))
          unlike(first, at(i));
      const std::function<const Element&(std::size_t)> below =
          [&, &k = key](std::size_t i) -> const Element& { return at(i).at(k); };
      out.emplace_back(key, stack(n, below));
    }
    return Element::dict(std::move(out));
  }
  if (kind == Kind::list || kind == Kind::tuple) {
    Element::Items out;
    for (std::size_t i = 0; i < n; ++i)
      if (at(i).kind() != kind || at(i).items().size() != first.items().size())
        unlike(first, at(i));
    for (std::size_t part = 0; part < first.items().size(); ++part) {
      const std::function<const Element&(std::size_t)> below =
          [&](std::size_t i) -> const Element& { return at(i).at(part); };
      out.push_back(stack(n, below));
    }
    return kind == Kind::list ? Element::list(std::move(out)) : Element::tuple(std::move(out));
  }
  const Type each = type_of(first);
  Literal out(Type(each.dtype(), with_rows(n, each.shape())));
  std::byte* to = out.mutable_data();
  for (std::size_t i = 0; i < n; ++i) {
    const Element& e = at(i);
    const bool leaf = e.is_leaf() && !is_string(e.kind());
    if (!leaf || !(type_of(e) == each)) unlike(first, e);
    copy_leaf(e, to + i * each.bytes());
  }
  return out;
}

std::int64_t check_size(std::int64_t batch_size) {
  if (batch_size <= 0)
    throw Error("batch", "the batch size is {}; allowed is 1 or more", batch_size);
  return batch_size;
}

std::string batch_name(const char* kind, std::int64_t size, bool drop) {
  return fmt::format("Batch{}Dataset(batch_size={}, drop_remainder={})", kind, size,
                     python_bool(drop));
}

class BatchMapNode : public MapNode {
 public:
  BatchMapNode(std::shared_ptr<const MapNode> parent, std::int64_t batch, BatchOptions options)
      : MapNode(Parents{parent}),
        parent_(std::move(parent)),
        batch_(check_size(batch)),
        options_(std::move(options)) {
    if (any_above(*parent_, [](const Node& n) { return n.drops_elements(); }))
      throw Error("batch", "elements may be dropped before {}; go through to_iter_dataset first",
                  "it");
    const std::int64_t n = parent_->size();
    size_ = n / batch + (n % batch != 0 && !options_.drop_remainder);
  }
  std::string name() const override { return batch_name("Map", batch_, options_.drop_remainder); }
  std::int64_t size() const override { return size_; }

 protected:
  Element do_get(std::int64_t index) const override {
    check_index(*this, index);
    const auto [epoch, i] = divmod(index, size_);
    const std::int64_t n = parent_->size(), begin = i * batch_, count = std::min(batch_, n - begin);
    // Scratch of the thread, taken out while in use so that batches of batches do not share it.
    thread_local std::vector<std::pair<std::vector<std::int64_t>, std::vector<Element>>> spare;
    std::pair<std::vector<std::int64_t>, std::vector<Element>> scratch;
    if (!spare.empty()) {
      scratch = std::move(spare.back());
      spare.pop_back();
    }
    auto& [indices, elements] = scratch;
    indices.resize(static_cast<std::size_t>(count));
    elements.resize(static_cast<std::size_t>(count));
    for (std::int64_t j = 0; j < count; ++j)
      indices[static_cast<std::size_t>(j)] = epoch * n + begin + j;
    parent_->get_many(indices, elements);
    Element out = options_.batch_fn ? options_.batch_fn(elements) : make_batch(elements);
    for (Element& e : elements) e = {};
    spare.push_back(std::move(scratch));
    return out;
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  std::int64_t batch_;
  BatchOptions options_;
  std::int64_t size_;
};

class BatchIterator : public PassingIterator {
 public:
  BatchIterator(const Node& node, std::unique_ptr<Iterator> parent, std::int64_t batch,
                const BatchOptions& options)
      : PassingIterator(node, std::move(parent)), batch_(batch), options_(options) {}
  std::int64_t next_index() override {
    const std::int64_t i = parent_->next_index();
    return i / batch_ + (i % batch_ != 0);
  }
  void set_next_index(std::int64_t index) override {
    parent_->set_next_index(saturating_product(index, batch_));
  }

 protected:
  bool do_next(Element& out) override {
    elements_.resize(static_cast<std::size_t>(batch_));
    const std::size_t n = parent_->next_many(elements_);
    if (n == 0 || (n < elements_.size() && options_.drop_remainder)) return false;
    const std::span<const Element> got(elements_.data(), n);
    out = options_.batch_fn ? options_.batch_fn(got) : make_batch(got);
    return true;
  }

 private:
  std::int64_t batch_;
  const BatchOptions& options_;
  std::vector<Element> elements_;
};

class BatchIterNode : public IterOperation {
 public:
  BatchIterNode(std::shared_ptr<const IterNode> parent, std::int64_t batch, BatchOptions options)
      : IterOperation(std::move(parent)), batch_(check_size(batch)), options_(std::move(options)) {}
  std::string name() const override { return batch_name("Iter", batch_, options_.drop_remainder); }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<BatchIterator>(*this, parent_->iterate(context), batch_, options_);
  }

 private:
  std::int64_t batch_;
  BatchOptions options_;
};

}  // namespace

Element make_batch(std::span<const Element> elements) {
  if (elements.empty()) throw Error("make_batch", "there are {} elements", 0);
  return stack(elements.size(), [&](std::size_t i) -> const Element& { return elements[i]; });
}

Element batch_and_pad(std::span<const Element> elements, std::int64_t batch_size,
                      double pad_value) {
  const auto n = static_cast<std::int64_t>(elements.size());
  if (n > batch_size)
    throw Error("batch_and_pad", "{} elements do not fit a batch of {}", n, batch_size);
  const Element batch = make_batch(elements);
  if (n == batch_size) return batch;
  return batch.map_leaves([&](const Element& leaf) -> Element {
    if (leaf.kind() != Kind::array)
      throw Error("batch_and_pad", "only numbers and arrays can be padded, not {}",
                  name(leaf.kind()));
    const Literal& x = leaf.array();
    std::vector<std::int64_t> dims = x.shape().sizes();
    dims[0] = batch_size;
    Literal out = Literal::full(Type(x.dtype(), Shape::of(dims)), pad_value);
    if (x.bytes() > 0) std::memcpy(out.mutable_data(), x.data(), x.bytes());
    return out;
  });
}

MapDataset MapDataset::batch(std::int64_t batch_size, BatchOptions options) const {
  return MapDataset(std::make_shared<BatchMapNode>(node_, batch_size, std::move(options)));
}
IterDataset IterDataset::batch(std::int64_t batch_size, BatchOptions options) const {
  return IterDataset(std::make_shared<BatchIterNode>(node_, batch_size, std::move(options)));
}

}  // namespace strata::data
