// Sources: records found by number, values in memory, streams.
#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

class SourceNode : public MapNode {
 public:
  SourceNode(std::shared_ptr<const RecordSource> source, Mode mode)
      : MapNode(mode), source_(std::move(source)), size_(source_->size()) {}
  std::string name() const override { return "SourceMapDataset(source=" + source_->name() + ")"; }
  std::int64_t size() const override { return size_; }

 protected:
  Element do_get(std::int64_t index) const override {
    check_index(*this, index);
    Result<Element> out = source_->read(index % size_);
    if (!out) throw ReadFailure{out.status()};
    return *std::move(out);
  }
  void do_get_many(std::span<const std::int64_t> indices, std::span<Element> out) const override {
    thread_local std::vector<std::int64_t> wrapped;
    wrapped.assign(indices.begin(), indices.end());
    for (std::int64_t& i : wrapped) {
      check_index(*this, i);
      i %= size_;
    }
    if (Status status = source_->read_many(wrapped, out); !status.ok())
      throw ReadFailure{std::move(status)};
  }

 private:
  std::shared_ptr<const RecordSource> source_;
  std::int64_t size_;
};

class ValuesNode : public MapNode {
 public:
  ValuesNode(std::vector<Element> values, Mode mode) : MapNode(mode), values_(std::move(values)) {}
  std::string name() const override { return "SourceMapDataset(source=list)"; }
  std::int64_t size() const override { return static_cast<std::int64_t>(values_.size()); }

 protected:
  Element do_get(std::int64_t index) const override {
    check_index(*this, index);
    return values_[static_cast<std::size_t>(index) % values_.size()];
  }

 private:
  std::vector<Element> values_;
};

class StreamIterator : public Iterator {
 public:
  StreamIterator(const Node& node, std::unique_ptr<RecordReader> reader)
      : Iterator(node), reader_(std::move(reader)) {}
  Json state() override {
    Json out = Json::parse(reader_->state(), nullptr, false);
    STRATA_CHECK(!out.is_discarded(), "the state of {} is no JSON", node().name());
    return out;
  }
  void set_state(const Json& state) override {
    if (Status s = reader_->set_state(state.dump(-1, ' ', true, Json::error_handler_t::replace));
        !s.ok()) {
      if (s.code() == Code::invalid) throw StateError{s.message()};
      throw ReadFailure{std::move(s)};
    }
  }

 protected:
  bool do_next(Element& out) override {
    Result<bool> more = reader_->next(out);
    if (!more) throw ReadFailure{more.status()};
    return *more;
  }

 private:
  std::unique_ptr<RecordReader> reader_;
};

class StreamNode : public IterNode {
 public:
  StreamNode(std::shared_ptr<const RecordStream> stream, Mode mode)
      : IterNode(mode), stream_(std::move(stream)) {}
  std::string name() const override { return stream_->name(); }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    if (context.workers > 1)
      throw Error("data::mp_prefetch", "{} cannot be cut into parts for {} workers", name(),
                  context.workers);
    auto reader = stream_->open();
    if (!reader) throw ReadFailure{reader.status()};
    return std::make_unique<StreamIterator>(*this, std::move(*reader));
  }

 private:
  std::shared_ptr<const RecordStream> stream_;
};

}  // namespace

MapDataset MapDataset::source(std::shared_ptr<const RecordSource> source, Mode mode) {
  STRATA_CHECK(source, "a data set needs a source");
  return MapDataset(std::make_shared<SourceNode>(std::move(source), mode));
}

MapDataset MapDataset::source(std::vector<Element> values, Mode mode) {
  return MapDataset(std::make_shared<ValuesNode>(std::move(values), mode));
}

IterDataset IterDataset::source(std::shared_ptr<const RecordStream> stream, Mode mode) {
  STRATA_CHECK(stream, "a data set needs a source");
  return IterDataset(std::make_shared<StreamNode>(std::move(stream), mode));
}

}  // namespace strata::data
