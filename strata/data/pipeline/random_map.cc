// A function of each element and a generator of random numbers of its own.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class RandomMapMapNode : public MapNode {
 public:
  RandomMapMapNode(std::shared_ptr<const MapNode> parent, RandomMapFn f,
                   std::optional<std::uint64_t> seed)
      : MapNode(Parents{parent}),
        parent_(std::move(parent)),
        f_(std::move(f)),
        generator_(NumpyGenerator::philox(seed_or_default(seed, parents(), "random_map"))) {}
  std::string name() const override { return "RandomMapMapDataset"; }
  std::int64_t size() const override { return parent_->size(); }

 protected:
  Element do_get(std::int64_t index) const override {
    Element e = parent_->get(index);
    if (e.is_none()) return e;
    NumpyGenerator generator = generator_;
    generator.set_counter({0, 0, 0, static_cast<std::uint64_t>(index)});
    return f_(e, generator);
  }

 private:
  std::shared_ptr<const MapNode> parent_;
  RandomMapFn f_;
  NumpyGenerator generator_;
};

class RandomMapIterator : public Iterator {
 public:
  RandomMapIterator(const Node& node, std::unique_ptr<Iterator> parent, const RandomMapFn& f,
                    const NumpyGenerator& generator, const Context& context)
      : Iterator(node),
        parent_(std::move(parent)),
        f_(f),
        generator_(generator),
        worker_(context.worker),
        workers_(context.workers) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = parent_->state();
    out["index_for_rng"] = index_;
    return out;
  }
  void set_state(const Json& state) override {
    parent_->set_state(part(state, "parent"));
    index_ = integer_part(state, "index_for_rng");
  }
  std::int64_t next_index() override { return index_; }
  void set_next_index(std::int64_t index) override {
    parent_->set_next_index(index);
    index_ = index;
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (!parent_->next(out)) return false;
    if (!out.is_none()) {
      generator_.set_counter(
          {0, 0, 0,
           static_cast<std::uint64_t>(worker_) +
               static_cast<std::uint64_t>(index_) * static_cast<std::uint64_t>(workers_)});
      out = f_(out, generator_);
    }
    ++index_;
    return true;
  }

 private:
  std::unique_ptr<Iterator> parent_;
  const RandomMapFn& f_;
  NumpyGenerator generator_;
  std::int64_t worker_, workers_, index_ = 0;
};

class RandomMapIterNode : public IterOperation {
 public:
  RandomMapIterNode(std::shared_ptr<const IterNode> parent, RandomMapFn f,
                    std::optional<std::uint64_t> seed)
      : IterOperation(std::move(parent)),
        f_(std::move(f)),
        generator_(NumpyGenerator::philox(seed_or_default(seed, parents(), "random_map"))) {}
  std::string name() const override { return "RandomMapIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<RandomMapIterator>(*this, parent_->iterate(context), f_, generator_,
                                               context);
  }

 private:
  RandomMapFn f_;
  NumpyGenerator generator_;
};

}  // namespace

MapDataset MapDataset::random_map(RandomMapFn f, std::optional<std::uint64_t> seed) const {
  return MapDataset(std::make_shared<RandomMapMapNode>(node_, std::move(f), seed));
}
IterDataset IterDataset::random_map(RandomMapFn f, std::optional<std::uint64_t> seed) const {
  return IterDataset(std::make_shared<RandomMapIterNode>(node_, std::move(f), seed));
}

}  // namespace strata::data
