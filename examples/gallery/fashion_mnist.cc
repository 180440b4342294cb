// A small convolutional network that tells ten kinds of clothing apart in pictures of 28 x 28:
// above 90 % on ten thousand pictures that it has not seen, after a minute or so. Reads the Debian
// package dataset-fashion-mnist (60 000 and 10 000 pictures) unless another folder is given.
// Source: Xiao, Rasul and Vollgraf, Fashion-MNIST (2017); the network is LeCun's of 1998 with
// rectifiers and Adam.
#include <strata/core.h>

#include <string>

#include "fashion_pictures.h"
#include "strata/api/lax/convolution.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

struct Network {
  Array first, second;  // kernels (3, 3, in, out)
  nn::Linear hidden, out;
  STRATA_FIELDS(first, second, hidden, out)
};

Network make_network(const Array& key) {
  Array keys = random::split(key, 4);
  const nn::Initializer he = nn::initializers::he_normal();
  return {he(keys[0], {3, 3, 1, 16}, float32), he(keys[1], {3, 3, 16, 32}, float32),
          nn::Linear::init(keys[2], 7 * 7 * 32, 128), nn::Linear::init(keys[3], 128, 10)};
}

// Convolution, rectifier, and the largest of each 2 x 2.
Array block(const Array& x, const Array& kernel) {
  Array y = nn::relu(lax::conv_general_dilated(x, kernel, {1, 1}, "SAME",
                                               {.dimension_numbers = {"NHWC", "HWIO", "NHWC"}}));
  return max(y.reshape({y.shape(0), y.shape(1) / 2, 2, y.shape(2) / 2, 2, y.shape(3)}), {2, 4});
}

Array logits(const Network& net, const Array& pictures) {
  Array x = block(block(pictures.astype(float32) / 255, net.first), net.second);
  return net.out(nn::relu(net.hidden(x.reshape({x.shape(0), -1}))));
}

Array cross_entropy(const Network& net, const Pictures& batch) {
  return -mean(sum(nn::one_hot(batch.y, 10) * nn::log_softmax(logits(net, batch.x)), -1));
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : kFashionMnist;
  const Pictures train = read_pictures(folder, "train"), test = read_pictures(folder, "t10k");

  constexpr std::int64_t kBatch = 100, kEpochs = 4;
  const std::int64_t count = train.y.size(), steps = count / kBatch;
  Network net = make_network(random::key(0));
  auto optimizer = optim::adam(optim::cosine_decay_schedule(2e-3, kEpochs * steps));
  auto memory = optimizer.init(net);

  // Pictures in a new order each time, one step after another: an epoch is one program.
  auto epoch = jit([&](const Network& net, const decltype(memory)& memory, const Pictures& all,
                       const Array& key) {
    auto step = [&](const auto& at, const Array& which) {
      auto [loss, slope] = value_and_grad(cross_entropy)(at.first, all[which]);
      auto [updates, next] = optimizer.update(slope, at.second, at.first);
      return std::pair(std::pair(optim::apply_updates(at.first, updates), next), loss);
    };
    Array order = numpy::argsort(random::bits(key, {count})).reshape({steps, kBatch});
    return scan(step, std::pair(net, memory), order);
  });
  auto accuracy = jit([](const Network& net, const Pictures& some) {
    auto right = [&](const Pictures& part) {
      return mean((argmax(logits(net, part.x), 1) == part.y).astype(float32));
    };
    return mean(map(right, Pictures{some.x.reshape({10, -1, 28, 28, 1}),
                                    some.y.reshape({10, -1})}));  // in parts, for the memory's sake
  });
  Array seen;
  for (int i = 0; i < kEpochs; ++i) {
    auto [last, losses] = epoch(net, memory, train, random::fold_in(random::key(1), i));
    std::tie(net, memory) = last;
    seen = accuracy(net, test);
    std::printf("epoch %d  loss %.3f  test accuracy %.2f %%\n", i + 1, mean(losses).item<double>(),
                100 * seen.item<double>());
  }
  require(seen.item<double>() >= 0.90, "nine of ten pictures are told");
}
