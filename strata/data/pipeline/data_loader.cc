#include "strata/data/pipeline/data_loader.h"

#include <algorithm>
#include <tuple>

#include "strata/data/pipeline/node.h"
#include "strata/data/pipeline/shuffle.h"

namespace strata::data {

using namespace pipeline;

namespace {

/// NoSharding() is what nobody gave.
std::string shard_repr(const std::optional<ShardOptions>& shard) {
  const ShardOptions s = shard.value_or(ShardOptions{});
  return fmt::format("{}(shard_index={}, shard_count={}, drop_remainder={})",
                     shard ? "ShardOptions" : "NoSharding", s.shard_index, s.shard_count,
                     python_bool(s.drop_remainder));
}

void check_records(std::int64_t n, const std::optional<ShardOptions>& shard) {
  if (n <= 0) throw Error("Sampler", "num_records is {}; allowed is 1 or more", n);
  if (shard) even_split(n, *shard);
}

[[noreturn]] void outside(std::int64_t index, std::int64_t size) {
  throw Error("Sampler", "index {}; allowed are 0 to {}", index, size - 1);
}

/// Records as a sampler orders them, of one shard: {"data", "key"} where random numbers are used.
class SamplerNode : public MapNode {
 public:
  SamplerNode(std::shared_ptr<const MapNode> source, std::shared_ptr<const Sampler> sampler,
              ShardOptions shard)
      : MapNode(Parents{source}),
        source_(std::move(source)),
        sampler_(std::move(sampler)),
        shard_(shard) {}
  std::string name() const override { return sampler_->repr(); }
  std::int64_t size() const override { return sampler_->size() / shard_.shard_count; }

 protected:
  Element do_get(std::int64_t index) const override {
    const RecordMetadata m = sampler_->at(index * shard_.shard_count + shard_.shard_index);
    Element data = source_->get(m.record_key);
    return Element::tuple(
        {std::move(data), m.rng_key ? Element(static_cast<std::int64_t>(*m.rng_key)) : Element()});
  }

 private:
  std::shared_ptr<const MapNode> source_;
  std::shared_ptr<const Sampler> sampler_;
  ShardOptions shard_;
};

Element with_data(const Element& record, Element data) {
  return Element::tuple({std::move(data), record.at(1)});
}

IterDataset transformed(const IterDataset& ds, const Transformation& t) {
  if (const auto* map = std::get_if<transforms::Map>(&t))
    return ds.map([f = map->map](const Element& r) { return with_data(r, f(r.at(0))); });
  if (const auto* random = std::get_if<transforms::RandomMap>(&t))
    return ds.map([f = random->random_map](const Element& r) {
      if (r.at(1).is_none())
        throw Error("DataLoader", "a random map needs a sampler with a seed, {} given", "none is");
      NumpyGenerator rng =
          NumpyGenerator::philox_key(static_cast<std::uint64_t>(r.at(1).integer()));
      return with_data(r, f(r.at(0), rng));
    });
  if (const auto* filter = std::get_if<transforms::Filter>(&t))
    return ds.filter([f = filter->filter](const Element& r) { return f(r.at(0)); });
  const auto& batch = std::get<transforms::Batch>(t);
  return ds.batch(batch.batch_size,
                  {.drop_remainder = batch.drop_remainder,
                   .batch_fn = [f = batch.batch_fn](std::span<const Element> records) {
                     std::vector<Element> data;
                     for (const Element& r : records) data.push_back(r.at(0));
                     return with_data(records.back(), f ? f(data) : make_batch(data));
                   }});
}

}  // namespace

Sampler::~Sampler() = default;

SequentialSampler::SequentialSampler(std::int64_t num_records, std::optional<ShardOptions> shard,
                                     std::optional<std::uint64_t> seed)
    : records_(num_records), most_(num_records), shard_(shard), seed_(seed) {
  check_records(records_, shard_);
  if (shard_ && shard_->drop_remainder) most_ -= most_ % shard_->shard_count;
}

RecordMetadata SequentialSampler::at(std::int64_t index) const {
  if (index < 0 || index >= most_) outside(index, most_);
  RecordMetadata out{index, index};
  if (seed_) out.rng_key = *seed_ + static_cast<std::uint64_t>(index);
  return out;
}

std::string SequentialSampler::repr() const {
  return fmt::format("SequentialSampler(num_records={}, shard_options={})", records_,
                     shard_repr(shard_));
}

IndexSampler::IndexSampler(std::int64_t num_records, std::optional<ShardOptions> shard,
                           bool shuffle, std::optional<std::int64_t> num_epochs,
                           std::optional<std::uint64_t> seed, Mode mode)
    : records_(num_records),
      shard_(shard),
      shuffle_(shuffle),
      epochs_(num_epochs),
      seed_(seed),
      mode_(mode) {
  check_records(records_, shard_);
  if (epochs_ && *epochs_ <= 0)
    throw Error("IndexSampler", "num_epochs is {}; allowed is 1 or more", *epochs_);
  if (shuffle_ && !seed_)
    throw Error("IndexSampler", "shuffling {} records needs a seed", records_);
  if (seed_ && *seed_ >> 32)
    throw Error("IndexSampler", "the seed is {}; allowed are 0 to 4294967295", *seed_);
  const ShardOptions s = shard_options();
  std::tie(begin_, end_) = even_split(records_, s);
  if (epochs_) {
    most_ = saturating_product(*epochs_, records_);
    if (shard_ && s.drop_remainder)
      most_ = std::min(most_, (end_ - begin_) * s.shard_count * *epochs_);
  }
}

RecordMetadata IndexSampler::at(std::int64_t index) const {
  if (index < 0 || index >= most_ || begin_ == end_) outside(index, most_);
  const std::int64_t n = end_ - begin_;
  const auto [epoch, local] = divmod(index / shard_options().shard_count, n);
  RecordMetadata out{
      index,
      begin_ + (shuffle_ ? shuffled(local, n, *seed_ + static_cast<std::uint64_t>(epoch), mode_)
                         : local)};
  if (seed_) out.rng_key = *seed_ + static_cast<std::uint64_t>(index);
  return out;
}

std::string IndexSampler::repr() const {
  return fmt::format(
      "IndexSampler(num_records={}, shard_options={}, shuffle={}, num_epochs={}, seed={})",
      records_, shard_repr(shard_), python_bool(shuffle_),
      epochs_ ? std::to_string(*epochs_) : "None", seed_ ? std::to_string(*seed_) : "None");
}

DataLoader::DataLoader(DataLoaderOptions options) : options_(std::move(options)) {
  STRATA_CHECK(options_.sampler, "a DataLoader needs a sampler");
  if (options_.worker_count < 0 || options_.worker_buffer_size < 0)
    throw Error("DataLoader", "worker_count is {}, worker_buffer_size is {}: allowed is 0 or more",
                options_.worker_count, options_.worker_buffer_size);
  if (!options_.shard_options) options_.shard_options = options_.sampler->shard_options();
  even_split(0, *options_.shard_options);
  if (options_.source_repr.empty()) options_.source_repr = options_.source.node()->name();
}

DataLoaderIterator DataLoader::iterate() const {
  IterDataset ds =
      MapDataset(std::make_shared<SamplerNode>(options_.source.node(), options_.sampler,
                                               *options_.shard_options))
          .to_iter_dataset(options_.read_options);
  for (const Transformation& t : options_.operations) ds = transformed(ds, t);
  ds = ds.map([](const Element& record) { return record.at(0); });
  if (options_.worker_count > 0)
    ds = ds.mp_prefetch({options_.worker_count, options_.worker_buffer_size});
  return DataLoaderIterator(ds.iterate(), ds.mode(), *options_.shard_options, options_.worker_count,
                            options_.sampler->repr(), options_.source_repr);
}

DataLoaderIterator::DataLoaderIterator(DatasetIterator iterator, Mode mode, ShardOptions shard,
                                       int workers, std::string sampler, std::string source)
    : iterator_(std::move(iterator)),
      mode_(mode),
      shard_(shard),
      workers_(workers),
      sampler_(std::move(sampler)),
      source_(std::move(source)) {}

std::string DataLoaderIterator::state() const {
  Json inner = Json::parse(iterator_.state());
  if (mode_ == Mode::native) inner = inner["state"];
  const bool cycle = inner.contains("iterators_in_use_states");
  const Json workers = cycle ? inner["iterators_in_use_states"] : Json::array({inner});
  const std::int64_t last = cycle ? inner["next_index_in_cycle"].get<std::int64_t>() - 1 : -1,
                     all = static_cast<std::int64_t>(workers.size()) * shard_.shard_count;
  Json seen = Json::object();
  for (std::size_t w = 0; w < workers.size(); ++w)
    seen[std::to_string(w)] = shard_.shard_index - all +
                              static_cast<std::int64_t>(w) * shard_.shard_count +
                              workers[w]["next_index"].get<std::int64_t>() * all;
  Json out = Json::object();
  out["version"] = 2;
  out["last_seen_indices"] = std::move(seen);
  out["last_worker_index"] = last;
  out["worker_count"] = workers_;
  out["sampler"] = sampler_;
  out["data_source"] = source_;
  return out.dump(4, ' ', true, Json::error_handler_t::replace);
}

Status DataLoaderIterator::set_state(const std::string& text) {
  const Json state = Json::parse(text, nullptr, false);
  Json inner = Json::object();
  try {
    if (integer_part(state, "worker_count") != workers_)
      return Status(Code::invalid, "the state is of {} workers, the loader has {}",
                    integer_part(state, "worker_count"), workers_);
    const auto same = [&](const char* key, const std::string& own) -> Status {
      if (part(state, key) == own) return {};
      return Status(Code::invalid, "the state's {} is {}, the loader's is {}", key,
                    part(state, key).dump(-1, ' ', true, Json::error_handler_t::replace), own);
    };
    if (Status s = same("sampler", sampler_); !s.ok()) return s;
    if (Status s = same("data_source", source_); !s.ok()) return s;
    const std::int64_t count = std::max<std::int64_t>(workers_, 1),
                       all = count * shard_.shard_count;
    constexpr std::int64_t kMost = kInfinite / 4;
    Json indices = Json::array(), states = Json::array(), exhausted = Json::array();
    for (std::int64_t w = 0; w < count; ++w) {
      const std::int64_t last =
          integer_part(part(state, "last_seen_indices"), std::to_string(w).c_str(), -kMost, kMost);
      Json one = Json::object();
      one["next_index"] = (last + all - shard_.shard_index - w * shard_.shard_count) / all;
      indices.push_back(w);
      states.push_back(std::move(one));
      exhausted.push_back(0);
    }
    if (workers_ == 0) {
      inner = states[0];
    } else {
      inner["next_index_in_cycle"] =
          (integer_part(state, "last_worker_index", -1, workers_ - 1) + 1) % workers_;
      inner["next_index_in_datasets"] = workers_;
      inner["iterators_in_use_indices"] = std::move(indices);
      inner["iterators_in_use_states"] = std::move(states);
      inner["exhausted"] = std::move(exhausted);
    }
  } catch (const StateError& error) {
    return Status(Code::invalid, "the state does not fit this loader: {}", error.message);
  }
  if (mode_ == Mode::native) {
    Json outer = Json::object();
    outer["mode"] = "native";
    outer["state"] = std::move(inner);
    inner = std::move(outer);
  }
  return iterator_.set_state(inner.dump());
}

DataLoader load(MapDataset source, LoadOptions o) {
  const std::int64_t n = source.size();
  const Mode mode = source.mode();
  if (o.batch_size) o.transformations.push_back(transforms::Batch{*o.batch_size, o.drop_remainder});
  return DataLoader({.source = std::move(source),
                     .sampler = std::make_shared<IndexSampler>(n, o.shard_options, o.shuffle,
                                                               o.num_epochs, o.seed, mode),
                     .operations = std::move(o.transformations),
                     .worker_count = o.worker_count,
                     .read_options = o.read_options,
                     .source_repr = std::move(o.source_repr)});
}

}  // namespace strata::data
