#include "strata/nn/recurrent/rnn.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace strata::nn {

namespace {

/// Lengths beside x: an axis of 1 for time, and for each axis of features.
Array beside(const Array& seq_lengths, std::int64_t time_axis, int rank) {
  std::vector<std::int64_t> shape = seq_lengths.shape().sizes();
  shape.insert(shape.begin() + time_axis, 1);
  shape.resize(static_cast<std::size_t>(rank), 1);
  return seq_lengths.reshape(shape);
}

void check_lengths(const char* function, const Array& x, const Array& seq_lengths,
                   std::vector<std::int64_t> batch) {
  if (seq_lengths.shape().sizes() == batch) return;
  strata::internal::fail(function, "seq_lengths is {}, the batch of the input {} is ({})",
                         strata::internal::describe(seq_lengths.type()),
                         strata::internal::describe(x.type()), fmt::join(batch, ", "));
}

}  // namespace

Array flip_sequences(const Array& x, const std::optional<Array>& seq_lengths,
                     std::int64_t num_batch_dims, bool time_major) {
  const std::int64_t axis = time_major ? 0 : num_batch_dims;
  if (axis >= x.ndim() || num_batch_dims >= x.ndim())
    strata::internal::fail("flip_sequences",
                           "the input {} has no {} axes of a batch and one of time",
                           strata::internal::describe(x.type()), num_batch_dims);
  if (!seq_lengths) return numpy::flip(x, axis);
  std::vector<std::int64_t> batch = x.shape().sizes();
  batch.erase(batch.begin() + axis);
  batch.resize(static_cast<std::size_t>(num_batch_dims));
  check_lengths("flip_sequences", x, *seq_lengths, batch);
  const std::int64_t steps = x.shape(static_cast<int>(axis));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[static_cast<std::size_t>(axis)] = steps;
  const Array from_end = steps - 1 - numpy::arange(steps).reshape(shape);
  const Array from = (from_end + beside(*seq_lengths, axis, x.ndim())) % steps;
  return numpy::take_along_axis(x, from, axis);
}

MergeFunction concatenated_features() {
  return {"concatenate",
          [](const Array& a, const Array& b) { return numpy::concatenate({a, b}, -1); }};
}

namespace detail {

Sequence sequence(const Array& x, bool time_major, std::int64_t feature_axes,
                  const std::optional<Array>& seq_lengths) {
  if (x.ndim() < feature_axes + 1)
    strata::internal::fail("RNN", "the input {} has no axis of time beside {} of features",
                           strata::internal::describe(x.type()), feature_axes);
  Sequence out;
  out.batch_dims = x.ndim() - feature_axes - 1;
  out.time_axis = time_major ? 0 : static_cast<int>(out.batch_dims);
  out.step_shape = x.shape().sizes();
  out.step_shape.erase(out.step_shape.begin() + out.time_axis);
  if (seq_lengths)
    check_lengths("RNN", x, *seq_lengths,
                  {out.step_shape.begin(), out.step_shape.begin() + out.batch_dims});
  return out;
}

Array last_of_each(const Array& stacked, const Array& seq_lengths) {
  const std::int64_t steps = stacked.shape(0);
  // As upstream, a sequence without steps has the carry of the last one.
  const Array last = (seq_lengths + (steps - 1)) % steps;
  return numpy::take_along_axis(stacked, beside(last, 0, stacked.ndim()), 0)[0];
}

namespace {
class StreamFinder : public tree::Visitor {
 public:
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void node(const void* object, const std::type_info& type) override {
    if (type == typeid(RngStream))
      found.push_back(static_cast<RngStream*>(const_cast<void*>(object)));
  }
  std::vector<RngStream*> found;
};
}  // namespace

std::vector<RngStream*> streams_of(const std::function<void(tree::Visitor&)>& accept,
                                   const std::vector<std::string>& tags) {
  if (tags.empty()) return {};
  StreamFinder finder;
  accept(finder);
  std::erase_if(finder.found, [&](const RngStream* stream) {
    return std::find(tags.begin(), tags.end(), stream->tag()) == tags.end();
  });
  return std::move(finder.found);
}

namespace {
StepResult together(const std::vector<StepResult>& parts,
                    const std::function<Array(const std::vector<Array>&)>& join) {
  StepResult out;
  std::vector<Array> column;
  for (std::size_t leaf = 0; leaf < parts.front().carry.size(); ++leaf) {
    column.clear();
    for (const StepResult& part : parts) column.push_back(part.carry[leaf]);
    out.carry.push_back(join(column));
  }
  column.clear();
  for (const StepResult& part : parts) column.push_back(part.output);
  out.output = join(column);
  return out;
}
}  // namespace

StepResult stacked(const std::vector<StepResult>& steps) {
  return together(steps, [](const std::vector<Array>& column) { return numpy::stack(column); });
}

StepResult joined(const std::vector<StepResult>& parts) {
  if (parts.size() == 1) return parts.front();
  return together(parts,
                  [](const std::vector<Array>& column) { return numpy::concatenate(column); });
}

}  // namespace detail

template struct RNN<LSTMCell>;
template struct RNN<OptimizedLSTMCell>;
template struct RNN<GRUCell>;
template struct RNN<SimpleCell>;

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::RNN<strata::nn::LSTMCell>)
STRATA_COMPILE_VISIT(strata::nn::RNN<strata::nn::OptimizedLSTMCell>)
STRATA_COMPILE_VISIT(strata::nn::RNN<strata::nn::GRUCell>)
STRATA_COMPILE_VISIT(strata::nn::RNN<strata::nn::SimpleCell>)
