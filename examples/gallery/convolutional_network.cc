// A convolutional network with batch normalisation and dropout: disks, squares and crosses in noise
// are told apart. While it learns, features are normalised by the batch and half of the last ones
// fall out; when it is asked, by running means, and none does. What changes besides the weights
// comes out of the loss as a second result. Source: Ioffe and Szegedy, Batch Normalization (2015);
// Srivastava et al., Dropout (2014).
#include <strata/core.h>

#include <optional>

#include "require.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

constexpr std::int64_t kSide = 16, kBatch = 64;

struct Pictures {
  Array x, y;  // (n, kSide, kSide, 1), i32 (n)
  STRATA_FIELDS(x, y)
};

Pictures draw(const random::Key& key, std::int64_t n) {
  random::Key keys = random::split(key, 4);
  Array kind = random::randint(keys[0], {n}, 0, 3);
  Array center = random::uniform(keys[1], {2, n, 1, 1}, float32, 6, 10);
  Array size = random::uniform(keys[2], {n, 1, 1}, float32, 4, 6);
  Array down = abs(arange(kSide).reshape({1, -1, 1}) - center[0]),
        along = abs(arange(kSide).reshape({1, 1, -1}) - center[1]);
  Array disk = square(down) + square(along) < square(size), box = maximum(down, along) < size * 0.9,
        cross = (minimum(down, along) < 1) & (maximum(down, along) < size);
  Array k = kind.reshape({n, 1, 1});
  Array shape = where(k == 0, disk, where(k == 1, box, cross)).astype(float32);
  return {expand_dims(shape + 0.3 * random::normal(keys[3], {n, kSide, kSide}), -1), kind};
}

// Means and variances that were seen, by which features are normalised later.
struct Seen {
  Array mean, variance;
  STRATA_FIELDS(mean, variance)
};

struct Block {
  Array kernel, scale, offset;
  STRATA_FIELDS(kernel, scale, offset)
};

struct Network {
  std::vector<Block> blocks;
  nn::Linear out;
  STRATA_FIELDS(blocks, out)
};

Network make_network(const random::Key& key) {
  random::Key keys = random::split(key, 3);
  const nn::Initializer he = nn::initializers::he_normal();
  auto block = [&](const Array& k, std::int64_t in, std::int64_t out) {
    return Block{he(k, {3, 3, in, out}, float32), ones({out}), zeros({out})};
  };
  return {{block(keys[0], 1, 8), block(keys[1], 8, 16)}, nn::Linear::init(keys[2], 4 * 4 * 16, 3)};
}

// Convolution, normalisation, rectifier, the largest of each 2 x 2. `seen` is renewed in training.
Array apply(const Block& block, const Array& x, Seen& seen, bool training) {
  Array y = lax::conv_general_dilated(x, block.kernel, {1, 1}, "SAME",
                                      {.dimension_numbers = {"NHWC", "HWIO", "NHWC"}});
  Seen by = training ? Seen{mean(y, {0, 1, 2}), var(y, {0, 1, 2})} : seen;
  if (training)
    seen = tree::map([](Array old, Array now) { return 0.9 * old + 0.1 * now; }, seen, by);
  y = nn::relu((y - by.mean) / sqrt(by.variance + 1e-5) * block.scale + block.offset);
  return max(y.reshape({y.shape(0), y.shape(1) / 2, 2, y.shape(2) / 2, 2, -1}), {2, 4});
}

// With a key for training, without one for use; and what has been seen then.
std::pair<Array, std::vector<Seen>> logits(const Network& net, std::vector<Seen> seen,
                                           const Array& pictures,
                                           const std::optional<random::Key>& key) {
  Array x = pictures;
  for (std::size_t i = 0; i < net.blocks.size(); ++i)
    x = apply(net.blocks[i], x, seen[i], key.has_value());
  x = x.reshape({x.shape(0), -1});
  if (key) x = where(random::bernoulli(*key, 0.5, x.shape()), 2 * x, 0);
  return {net.out(x), seen};
}

int main() {
  constexpr std::int64_t kSteps = 500;
  Network net = make_network(random::key(0));
  std::vector<Seen> seen = {{zeros({8}), ones({8})}, {zeros({16}), ones({16})}};
  auto optimizer = optim::adam(optim::cosine_decay_schedule(5e-3, kSteps));
  auto memory = optimizer.init(net);

  auto loss = [](const Network& now, const std::vector<Seen>& before, const Pictures& batch,
                 const random::Key& key) {
    auto [score, after] = logits(now, before, batch.x, key);
    return std::pair(-mean(sum(nn::one_hot(batch.y, 3) * nn::log_softmax(score), -1)), after);
  };
  auto step = jit([&](const Network& now, const decltype(memory)& state,
                      const std::vector<Seen>& before, const random::Key& key) {
    auto [pictures, dropout] = random::split2(key);
    auto [value, slope] = value_and_grad(loss)(now, before, draw(pictures, kBatch), dropout);
    auto [updates, next] = optimizer.update(slope, state, now);
    return std::tuple(value.first, optim::apply_updates(now, updates), next, value.second);
  });
  Array value;
  for (int i = 0; i <= kSteps; ++i) {
    std::tie(value, net, memory, seen) =
        step(net, memory, seen, random::fold_in(random::key(1), i));
    if (i % 100 == 0) std::printf("step %3d  loss %.2f\n", i, value.item<double>());
  }

  const Pictures fresh = draw(random::key(2), 1000);
  Array told = argmax(logits(net, seen, fresh.x, std::nullopt).first, 1);
  const double right = mean((told == fresh.y).astype(float32)).item<double>();
  std::printf("%.1f %% of 1000 pictures not seen are told\n", 100 * right);
  require(right > 0.97, "97 of 100 shapes are told");
}
