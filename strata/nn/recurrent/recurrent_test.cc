// Recurrent layers: laws of cells and of loops over time, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/recurrent/gru.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/recurrent/simple_cell.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RecurrentTest : public testing::Test {
 protected:
  RecurrentTest() { compile::register_cpu(); }
  static Array normals(int seed, const Sizes& shape) {
    return random::normal(random::key(seed), shape, DType::f32);
  }
  static double farthest(const Array& a, const Array& b) {
    return numpy::max(numpy::abs(a - b)).item<double>();
  }
  template <class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  Rngs rngs{0};
};

TEST_F(RecurrentTest, ConcatenatedWeightsAreTheSameLSTM) {
  LSTMCell cell(3, 4, rngs, {.bias_init = initializers::normal(0.5)});
  const OptimizedLSTMCell optimized(cell);
  const LSTMCell::Carry carry{normals(1, {2, 4}), normals(2, {2, 4})};
  const Array x = normals(3, {2, 3});
  const auto [want, y] = cell(carry, x);
  const auto [got, z] = optimized(carry, x);
  EXPECT_LT(farthest(got.first, want.first), 1e-6);
  EXPECT_LT(farthest(got.second, want.second), 1e-6);
  EXPECT_LT(farthest(z, y), 1e-6);
}

TEST_F(RecurrentTest, ALoopOverTimeIsItsStepsOneByOne) {
  RNN<GRUCell> rnn(GRUCell(3, 4, rngs));
  const Array x = normals(1, {2, 5, 3});
  Array h = numpy::zeros({2, 4});
  std::vector<Array> want;
  for (int t = 0; t < 5; ++t) {
    auto [next, y] = rnn.cell(h, x[{slice(), t}]);
    h = next;
    want.push_back(y);
  }
  const auto [carry, y] = rnn.with_carry(x);
  EXPECT_LT(farthest(y, numpy::stack(want, 1)), 1e-6);
  EXPECT_LT(farthest(carry, h), 1e-6);
}

TEST_F(RecurrentTest, UnrollingChangesNothing) {
  const Array x = normals(1, {2, 7, 3});
  const Array lengths = array({4, 7});
  RNN<LSTMCell> plain(LSTMCell(3, 4, rngs));
  const auto [want, y] = plain.with_carry(x, {.seq_lengths = lengths});
  for (const std::int64_t unroll : {2, 3, 7, 9}) {
    RNN<LSTMCell> unrolled(plain.cell, {.unroll = unroll});
    const auto [got, z] = unrolled.with_carry(x, {.seq_lengths = lengths});
    EXPECT_LT(farthest(z, y), 1e-6) << unroll;
    EXPECT_LT(farthest(got.first, want.first), 1e-6) << unroll;
    EXPECT_LT(farthest(got.second, want.second), 1e-6) << unroll;
  }
}

TEST_F(RecurrentTest, SequencesOfABatchAreAsAlone) {
  const Array x = normals(1, {3, 6, 3});
  const std::vector<std::int64_t> lengths = {2, 6, 5};
  RNN<GRUCell> rnn(GRUCell(3, 4, rngs));
  for (const bool reverse : {false, true}) {
    const auto [carry, y] = rnn.with_carry(
        x,
        {.seq_lengths = array(lengths).astype(DType::i32), .reverse = reverse, .keep_order = true});
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const auto row = static_cast<std::int64_t>(b);
      const Array alone = x[{row, slice(lengths[b])}];
      const auto [h, out] = rnn.with_carry(alone, {.reverse = reverse, .keep_order = true});
      EXPECT_LT(farthest(y[{row, slice(lengths[b])}], out), 1e-6) << b << reverse;
      EXPECT_LT(farthest(carry[row], h), 1e-6) << b << reverse;
    }
  }
}

TEST_F(RecurrentTest, TwoBatchAxesHaveLengthsToo) {
  const Array x = normals(1, {2, 3, 5, 3});
  const Array lengths = array({{1, 5, 3}, {2, 4, 5}});
  RNN<GRUCell> rnn(GRUCell(3, 4, rngs));
  const auto [carry, y] = rnn.with_carry(x, {.seq_lengths = lengths, .reverse = true});
  const auto [flat_carry, flat] =
      rnn.with_carry(x.reshape({6, 5, 3}), {.seq_lengths = lengths.reshape({6}), .reverse = true});
  EXPECT_LT(farthest(y, flat.reshape(y.shape())), 1e-6);
  EXPECT_LT(farthest(carry, flat_carry.reshape(carry.shape())), 1e-6);
}

TEST_F(RecurrentTest, FlippingTwiceIsNothing) {
  const Array x = normals(1, {2, 5, 3}), lengths = array({2, 5});
  const Array once = flip_sequences(x, lengths, 1, false);
  EXPECT_EQ(farthest(once[{0, 0}], x[{0, 1}]), 0);
  EXPECT_EQ(farthest(flip_sequences(once, lengths, 1, false), x), 0);
  EXPECT_EQ(farthest(flip_sequences(numpy::swapaxes(x, 0, 1), lengths, 1, true),
                     numpy::swapaxes(once, 0, 1)),
            0);
}

TEST_F(RecurrentTest, GradientsGoThroughTime) {
  RNN<SimpleCell> rnn(SimpleCell(3, 4, rngs, {.residual = true}));
  const Array x = normals(1, {2, 5, 3});
  const auto loss = [](RNN<SimpleCell>& m, const Array& in) {
    return numpy::sum(numpy::square(m(in)));
  };
  const tree::Tree grads = nn::grad(loss)(rnn, x);
  const float step = 1e-2f;
  const Array direction = normals(2, {4, 4});
  const auto moved = [&](float by) {
    RNN<SimpleCell> other = rnn;
    other.cell.dense_h.kernel = rnn.cell.dense_h.kernel + by * direction;
    return loss(other, x).item<double>();
  };
  const double slope = (moved(step) - moved(-step)) / (2 * step);
  const double said = numpy::sum(grads["cell/dense_h/kernel"] * direction).item<double>();
  EXPECT_NEAR(said, slope, 2e-3 * std::abs(slope));
}

TEST_F(RecurrentTest, StreamsOfFirstCarriesCountUnderJit) {
  RNN<LSTMCell> rnn(LSTMCell(3, 4, rngs));
  const Array x = normals(1, {2, 5, 3});
  const Array want = RNN<LSTMCell>(rnn)(x);
  const auto run = nn::jit([](RNN<LSTMCell>& m, const Array& in) { return m(in); });
  EXPECT_LT(farthest(run(rnn, x), want), 1e-6);
  EXPECT_EQ(rnn.rngs->count.item<int>(), 2);  // a call each for c and h
}

/// A cell whose output is noise.
struct NoiseCell {
  RngStream noise = RngStream(1, "dropout").fork();
  STRATA_FIELDS(noise)
  using Carry = Array;
  static constexpr std::int64_t num_feature_axes = 1;
  std::pair<Array, Array> operator()(const Array& carry, const Array& x) {
    return {carry, random::bernoulli(noise(), 0.5, x.shape()).astype(DType::f32) * 2.0f};
  }
  Array initialize_carry(const Sizes& shape, RngStream&, const Initializer&) const {
    return numpy::zeros(shape);
  }
};

static_assert(RNNCellBase<NoiseCell> && RNNCellBase<GRUCell> && RNNCellBase<LSTMCell>);
static_assert(!RNNCellBase<Linear>);

TEST_F(RecurrentTest, StreamsGoOnFromStepToStepOrAreBroadcast) {
  RecordProperty("api",
                 "nnx.RNNCellBase nnx.RNNCellBase.__call__ nnx.RNNCellBase.initialize_carry");
  // What flax.nnx 0.12.8 gives for nnx.Dropout(0.5) of ones in a cell, with Rngs(dropout=1).
  RNN<NoiseCell> going{NoiseCell()};
  EXPECT_EQ(going(numpy::ones({3, 6})).to_vector<int>(),
            (std::vector<int>{2, 2, 0, 0, 0, 0, 0, 2, 2, 2, 2, 0, 2, 2, 2, 0, 0, 2}));
  EXPECT_EQ(going.cell.noise.count.item<int>(), 3);
  for (const std::int64_t unroll : {1, 2}) {
    RNN<NoiseCell> same(NoiseCell(), {.unroll = unroll, .broadcast_rngs = {"dropout"}});
    EXPECT_EQ(same(numpy::ones({3, 6})).to_vector<int>(),
              (std::vector<int>{2, 2, 0, 2, 2, 0, 2, 2, 0, 2, 2, 0, 2, 2, 0, 2, 2, 0}));
    EXPECT_EQ(same.cell.noise.count.item<int>(), 1);
    EXPECT_EQ(same.cell.noise.key.to_vector<std::uint32_t>(),
              NoiseCell().noise.key.to_vector<std::uint32_t>());
  }
}

TEST_F(RecurrentTest, BothDirectionsInTheOrderOfTime) {
  Bidirectional both(RNN(GRUCell(3, 2, rngs)), RNN(GRUCell(3, 2, rngs)));
  const Array x = normals(1, {2, 5, 3});
  const Array y = both(x);
  EXPECT_LT(farthest(y[{ellipsis, slice(2)}], both.forward_rnn(x)), 1e-6);
  EXPECT_LT(
      farthest(y[{ellipsis, slice(2, 4)}], numpy::flip(both.backward_rnn(numpy::flip(x, 1)), 1)),
      1e-6);
}

TEST_F(RecurrentTest, AFunctionMergesBothDirections) {
  RecordProperty("api", "nnx.Bidirectional.merge_fn");
  const auto add = [](const Array& forward, const Array& backward) { return forward + backward; };
  Bidirectional joined(RNN(GRUCell(3, 2, rngs)), RNN(GRUCell(3, 2, rngs)));
  Bidirectional summed = joined;
  summed.merge_fn = {"add", add};
  const Array x = normals(1, {2, 5, 3}), y = joined(x);
  EXPECT_LT(farthest(summed(x), y[{ellipsis, slice(0, 2)}] + y[{ellipsis, slice(2, 4)}]), 1e-6);
}

TEST_F(RecurrentTest, CellsHaveTheirPaths) {
  struct Model {
    GRUCell cell;
    STRATA_FIELDS(cell)
    Array operator()(const Array& h, const Array& x) const {
      const ModuleScope scope(*this, "Model");
      return cell(h, x).first;
    }
  };
  std::vector<std::string> where;
  const auto watched = [&](const Array& x) {
    where.push_back(module_context());
    return numpy::tanh(x);
  };
  const Model model{GRUCell(3, 4, rngs, {.activation_fn = {"watched", watched}})};
  model(numpy::zeros({2, 4}), normals(1, {2, 3}));
  EXPECT_THAT(where, testing::ElementsAre("cell (GRUCell)"));
}

TEST_F(RecurrentTest, ErrorsNameLayerAndNumbers) {
  RNN<GRUCell> rnn(GRUCell(3, 4, rngs), {.rngs = false});
  const Array x = normals(1, {2, 5, 3});
  EXPECT_THAT(error_of([&] { rnn(x); }), AllOf(HasSubstr("RNN"), HasSubstr("initial_carry")));
  const Array h = numpy::zeros({2, 4});
  EXPECT_THAT(error_of([&] { rnn(normals(1, {2, 5, 2}), {.initial_carry = h}); }),
              AllOf(HasSubstr("GRUCell"), HasSubstr("2 features"), HasSubstr("takes 3")));
  EXPECT_THAT(error_of([&] { rnn(x, {.initial_carry = numpy::zeros({2, 5})}); }),
              AllOf(HasSubstr("carry"), HasSubstr("5 features"), HasSubstr("the cell 4")));
  EXPECT_THAT(error_of([&] { rnn(normals(1, {3}), {.initial_carry = h}); }),
              HasSubstr("no axis of time"));
  EXPECT_THAT(error_of([&] { rnn(x, {.initial_carry = h, .seq_lengths = array({1, 2, 3})}); }),
              AllOf(HasSubstr("seq_lengths"), HasSubstr("(2)")));
  EXPECT_THAT(error_of([&] { RNN<GRUCell>(GRUCell(3, 4, rngs), {.unroll = 0}); }),
              HasSubstr("unroll is 0"));
}

}  // namespace
}  // namespace strata::nn
