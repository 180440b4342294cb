// Input pipelines as Grain's: graphs of data sets whose order is a function of seeds alone.
//
//   auto batches = data::MapDataset::source(records)      // any RecordSource, or values in memory
//                      .seed(42).shuffle().repeat(2)
//                      .map([](const data::Element& e) { return tokens_of(e); })
//                      .batch(8).to_iter_dataset();
//   auto iterator = batches.iterate();
//   for (data::Element e; *iterator.next(e);) use(e);
//   std::string state = iterator.state();                // JSON for a checkpoint
//
// A MapDataset finds elements by number, so a place in it is a number and going there costs
// nothing. An IterDataset gives them one after the other; its iterators hold all that changes. Both
// are immutable graphs of operations, cheap to copy, and safe to share between threads.
//
// Two modes, set at the sources (`Mode`): `native` for new runs, `compat` for the elements, in the
// order and with the states of Grain 0.2.18. Functions given to operations may run on several
// threads at once, in any order; what comes out is in order. Mistakes of the program throw Error
// when the graph is built or an element is made; what a source cannot read comes back as a Status.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/element.h"
#include "strata/data/pipeline/numpy_random.h"
#include "strata/data/source.h"

namespace strata::data {

namespace pipeline {
class MapNode;
class IterNode;
class Iterator;
}  // namespace pipeline

/// Whose rules a graph follows where Grain's lose or repeat elements (docs: README of this folder).
enum class Mode {
  native,  // every record once an epoch, exact mixing; the default
  compat,  // as Grain 0.2.18, its faults included
};

/// The length of what never ends.
inline constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

using MapFn = std::function<Element(const Element&)>;
using MapWithIndexFn = std::function<Element(std::int64_t index, const Element&)>;
/// The generator is of this element alone; it is reused afterwards.
using RandomMapFn = std::function<Element(const Element&, NumpyGenerator&)>;
using FilterFn = std::function<bool(const Element&)>;
using FlatMapFn = std::function<std::vector<Element>(const Element&)>;
using BatchFn = std::function<Element(std::span<const Element>)>;

/// Stacks leaf by leaf along a new first dimension: numbers and arrays become arrays, texts and
/// bytes a StringArray. Throws Error when the elements differ in structure, dtype or shape. Source:
/// grain make_batch.
Element make_batch(std::span<const Element> elements);
/// The same, filled up to `batch_size` rows with `pad_value`. Throws Error for more elements.
Element batch_and_pad(std::span<const Element> elements, std::int64_t batch_size,
                      double pad_value = 0);

struct BatchOptions {
  /// Leave out a last batch that is not full.
  bool drop_remainder = false;
  /// What makes a batch of elements; `make_batch` where none is given.
  BatchFn batch_fn = {};
};

/// How to_iter_dataset reads ahead. Never changes the order.
struct ReadOptions {
  /// Threads; 0 reads when asked.
  int num_threads = 0;
  /// Elements made ahead; 0 reads when asked.
  std::int64_t prefetch_buffer_size = 500;
};

/// Logical workers of mp_prefetch: their number is part of the order, as in Grain.
struct MultiprocessingOptions {
  int num_workers = 10;
  std::int64_t per_worker_buffer_size = 1;
};

/// What holds for all iterators of a graph.
struct PipelineOptions {
  /// Of 1000 elements, the share that filters may drop before a warning, and before an Error.
  std::optional<double> filter_warn_threshold_ratio = 0.9;
  std::optional<double> filter_raise_threshold_ratio = {};
  /// Told of warnings; stderr where there is none.
  std::function<void(const std::string&)> warn = {};
};

/// Which part of the data a host reads.
struct ShardOptions {
  std::int64_t shard_index = 0, shard_count = 1;
  bool drop_remainder = false;
};
/// First and past-the-end record of a shard when [0, n) is split evenly. Throws Error unless
/// 0 <= shard_index < shard_count.
std::pair<std::int64_t, std::int64_t> even_split(std::int64_t n, const ShardOptions& shard);

/// Weights of a mixture from an element on.
struct MixStage {
  std::int64_t from = 0;
  std::vector<double> weights;
};

/// Maps an element's number to a data set and a number there.
struct SelectionMap {
  std::int64_t size = 0;
  std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t)> at;
};

struct PackOptions {
  /// Feature to its length; the element must have these keys.
  std::vector<std::pair<std::string, std::int64_t>> length_struct;
  std::int64_t num_packing_bins = 1;
  std::uint64_t seed = 0;
  bool shuffle_bins = true;
  std::optional<std::string> shuffle_bins_group_by_feature = {};
  /// Features without segment ids and positions; those without a length become a list per row.
  std::vector<std::string> meta_features = {};
  /// Feature to the multiple that the next sequence begins at.
  std::map<std::string, std::int64_t> pack_alignment = {};
  /// Feature to what fills free places; zero where none is given.
  std::map<std::string, double> padding = {};
  std::optional<std::int64_t> max_sequences_per_bin = {};
};

/// What a packing does with the token that begins a sequence.
enum class BOSHandling {
  do_nothing,
  /// Each sequence's first token in a row is replaced, the rest of one that was cut too.
  replace_first_token_with_bos,
};

struct ConcatThenSplitOptions {
  std::vector<std::pair<std::string, std::int64_t>> length_struct;
  std::vector<std::string> meta_features = {};
  bool split_full_length_features = true;
  /// Features whose sequences' first token is replaced by bos_token_id in each row.
  std::vector<std::string> bos_features = {};
  std::optional<std::int64_t> bos_token_id = {};
  /// Replaces where there is a bos_token_id and nothing else is given; must fit whether there is.
  std::optional<BOSHandling> bos_handling = {};
};

struct InterleaveOptions {
  /// Data sets read in turn at once.
  std::int64_t cycle_length = 1;
  /// Elements made ahead of each by a thread of its own; 0 for none.
  std::int64_t iter_buffer_size = 1;
};

/// Reads an IterDataset from its beginning or a saved place. One thread at a time.
class DatasetIterator {
 public:
  explicit DatasetIterator(std::shared_ptr<const pipeline::IterNode> node);
  DatasetIterator(DatasetIterator&&) noexcept;
  DatasetIterator& operator=(DatasetIterator&&) noexcept;
  ~DatasetIterator();

  /// Puts the next element into `out`; false at the end. A Status where a source cannot be read;
  /// throws what the graph's functions throw.
  Result<bool> next(Element& out);
  /// All that is left, at most `most` elements. Throws Error where a source cannot be read.
  std::vector<Element> take(std::int64_t most = kInfinite);
  /// The place before the next element, as JSON. compat: byte for byte json.dumps(get_state(),
  /// indent=4) of Grain; native: the same within {"mode": "native", "state": ...}.
  std::string state() const;
  /// Goes to a place. Code::invalid, with what is wrong, for a text that is no state of this graph
  /// or of the other mode; the iterator is then of no use but for another set_state.
  Status set_state(const std::string& state);
  /// The number of the next element, and going to it without reading what is between. Throws
  /// Error behind filters and packings, where a number says nothing.
  std::int64_t next_index() const;
  void set_next_index(std::int64_t index);
  /// Begins to read ahead before the first next().
  void start_prefetch();

 private:
  std::shared_ptr<const pipeline::IterNode> node_;
  std::unique_ptr<pipeline::Iterator> iterator_;
};

class IterDataset;

class MapDataset {
 public:
  static MapDataset source(std::shared_ptr<const RecordSource> source, Mode mode = Mode::native);
  /// Values in memory.
  static MapDataset source(std::vector<Element> values, Mode mode = Mode::native);
  /// start, start + step ... before stop, as Python's range.
  static MapDataset range(std::int64_t stop, Mode mode = Mode::native);
  static MapDataset range(std::int64_t start, std::int64_t stop, std::int64_t step = 1,
                          Mode mode = Mode::native);
  /// Elements of all in turn, by weights (1 each where none are given), until one that is not
  /// repeated would end. Native: shares are the exact ratio of the weights as written; compat:
  /// Grain's whole parts.
  static MapDataset mix(const std::vector<MapDataset>& datasets,
                        const std::vector<double>& weights = {});
  /// Weights that change: stage i counts from its `from` on (the first from 0), every data set
  /// going on where it stood. Native only.
  static MapDataset mix(const std::vector<MapDataset>& datasets,
                        const std::vector<MixStage>& stages);
  static MapDataset select_from_datasets(const std::vector<MapDataset>& datasets,
                                         SelectionMap selection);
  static MapDataset concatenate(const std::vector<MapDataset>& datasets);
  /// Tuples; all must have the same length.
  static MapDataset zip(const std::vector<MapDataset>& datasets);

  /// Elements of one epoch; kInfinite when repeated without end.
  std::int64_t size() const;
  /// Element index >= 0; numbers from size() on are of later epochs. None where a filter dropped
  /// it. Throws Error where the source cannot be read.
  Element operator[](std::int64_t index) const;
  Result<Element> read(std::int64_t index) const;

  /// Marks the seed from which operations behind derive theirs.
  MapDataset seed(std::uint64_t seed) const;
  /// Every epoch in an order of its own. Throws Error when there is no seed, and for one of more
  /// than 32 bits.
  MapDataset shuffle(std::optional<std::uint64_t> seed = {}) const;
  /// Shuffles within windows of `window_size`.
  MapDataset window_shuffle(std::int64_t window_size, std::uint64_t seed) const;
  MapDataset map(MapFn f) const;
  MapDataset map_with_index(MapWithIndexFn f) const;
  MapDataset random_map(RandomMapFn f, std::optional<std::uint64_t> seed = {}) const;
  /// Keeps the length: what is dropped reads as none.
  MapDataset filter(FilterFn f) const;
  /// At most max_fan_out parts of each element.
  MapDataset flat_map(FlatMapFn f, std::int64_t max_fan_out) const;
  MapDataset batch(std::int64_t batch_size, BatchOptions options = {}) const;
  /// num_epochs epochs, without end where none is given; each in its own order unless
  /// reseed_each_epoch is false.
  MapDataset repeat(std::optional<std::int64_t> num_epochs = {},
                    bool reseed_each_epoch = true) const;
  /// As Python's [start:stop:step].
  MapDataset slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                   std::int64_t step = 1) const;
  /// f(*this): for operations of one's own within a chain.
  template <class F>
  auto pipe(F&& f) const {
    return std::forward<F>(f)(*this);
  }
  /// Elements in order; none is left out unless allow_nones.
  IterDataset to_iter_dataset(ReadOptions options = {}, bool allow_nones = false) const;

  Mode mode() const;
  /// The graph as a tree of lines, each operation above what it reads from.
  std::string describe() const;
  const std::shared_ptr<const pipeline::MapNode>& node() const { return node_; }
  explicit MapDataset(std::shared_ptr<const pipeline::MapNode> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const pipeline::MapNode> node_;
};

class IterDataset {
 public:
  /// Records that are only found one after the other.
  static IterDataset source(std::shared_ptr<const RecordStream> stream, Mode mode = Mode::native);
  /// Stops when the one whose turn it is has ended.
  static IterDataset mix(const std::vector<IterDataset>& datasets,
                         const std::vector<double>& weights = {});
  /// Named: a state restores those that it knows, so that data sets may join and leave.
  static IterDataset mix(const std::vector<std::pair<std::string, IterDataset>>& datasets,
                         const std::vector<double>& weights = {});
  static IterDataset mix(const std::vector<IterDataset>& datasets,
                         const std::vector<MixStage>& stages);
  /// Tuples. strict: throws Error when one ends before another; else stops at the shortest.
  static IterDataset zip(const std::vector<IterDataset>& datasets, bool strict = true);
  /// cycle_length data sets in turn, an element each; one that has ended is replaced by the next.
  static IterDataset interleave(const std::vector<IterDataset>& datasets,
                                InterleaveOptions options);
  static IterDataset interleave(const std::vector<MapDataset>& datasets, InterleaveOptions options);

  DatasetIterator iterate() const;

  IterDataset seed(std::uint64_t seed) const;
  IterDataset window_shuffle(std::int64_t window_size, std::uint64_t seed) const;
  IterDataset map(MapFn f) const;
  IterDataset map_with_index(MapWithIndexFn f) const;
  IterDataset random_map(RandomMapFn f, std::optional<std::uint64_t> seed = {}) const;
  IterDataset filter(FilterFn f) const;
  IterDataset flat_map(FlatMapFn f) const;
  IterDataset batch(std::int64_t batch_size, BatchOptions options = {}) const;
  /// Rows of batches as batches of another size, by the first leaf's first dimension.
  IterDataset rebatch(std::int64_t batch_size, bool drop_remainder = false) const;
  /// From the beginning again, num_epochs times or without end. Throws Error when an endless
  /// repeat finds nothing.
  IterDataset repeat(std::optional<std::int64_t> num_epochs = {}) const;
  IterDataset limit(std::int64_t count) const;
  /// Keeps elements in memory from the first pass on.
  IterDataset cache() const;
  /// Each into the first row with room; a batch of rows leaves when one fits nowhere.
  IterDataset first_fit_pack(PackOptions options) const;
  /// Each into the fullest row with room.
  IterDataset best_fit_pack(PackOptions options) const;
  /// Sequences end to end, cut at the row's length.
  IterDataset concat_then_split(ConcatThenSplitOptions options) const;
  /// A thread makes elements ahead.
  IterDataset prefetch(std::int64_t buffer_size) const;
  /// The order of Grain's worker processes: worker w of W reads elements w, w + W ... of each
  /// to_iter_dataset, and workers give in turn. Each has a thread here.
  IterDataset mp_prefetch(MultiprocessingOptions options = {}) const;
  IterDataset with_options(PipelineOptions options) const;
  template <class F>
  auto pipe(F&& f) const {
    return std::forward<F>(f)(*this);
  }

  Mode mode() const;
  /// The graph as a tree of lines, each operation above what it reads from. With a sample, that
  /// many elements are read first: each line says how many elements an operation gave, its rate
  /// alone, its share of the time, and which one is the bottleneck.
  std::string describe(std::int64_t sample = 0) const;
  const std::shared_ptr<const pipeline::IterNode>& node() const { return node_; }
  explicit IterDataset(std::shared_ptr<const pipeline::IterNode> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const pipeline::IterNode> node_;
};

}  // namespace strata::data
