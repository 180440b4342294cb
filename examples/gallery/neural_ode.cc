// A neural differential equation: a small network says how fast a point moves, and learns it from
// where the point was seen along a spiral, through every step of the integration. What it learned
// is a field, so that it goes on beyond the last thing it saw. Source: Chen, Rubanova, Bettencourt
// and Duvenaud, Neural Ordinary Differential Equations (2018), whose spiral this is; Runge and
// Kutta's method of fourth order.
#include <strata/core.h>

#include "require.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

constexpr double kBetween = 0.05;  // in time, from one place to the next

struct Field {
  nn::Linear first, second;
  STRATA_FIELDS(first, second)
  // Cubes are what the spiral is made of; the network has to find out how.
  Array operator()(const Array& y) const { return second(tanh(first(y * y * y))); }
};

// y' = A y^3 for the spiral's A.
Array truth(const Array& y) { return dot(y * y * y, array({{-0.1f, 2.0f}, {-2.0f, -0.1f}})); }

// Places after 0, 1, ... steps from `start` (..., 2): (count, ..., 2).
template <class F>
Array course(const F& f, const Array& start, std::int64_t count) {
  auto step = [&](const Array& y, std::nullptr_t) {
    Array a = f(y), b = f(y + kBetween / 2 * a), c = f(y + kBetween / 2 * b),
          d = f(y + kBetween * c);
    return std::pair(y + kBetween / 6 * (a + 2 * b + 2 * c + d), y);
  };
  return scan(step, start, nullptr, {.length = count}).second;
}

int main() {
  constexpr std::int64_t kSeen = 200, kPiece = 20, kSteps = 8000;
  Array start = array({2.0f, 0.0f});
  Array seen = jit([&](const Array& y) { return course(truth, y, kSeen); })(start);

  auto [first, second] = random::split2(random::key(0));
  Field field{nn::Linear::init(first, 2, 64), nn::Linear::init(second, 64, 2)};
  auto optimizer = optim::adam(optim::cosine_decay_schedule(1e-2, kSteps));
  auto memory = optimizer.init(field);
  // Pieces of the course, each from its own beginning.
  auto loss = [&](const Field& f, const Array& at) {
    Array wanted = seen[expand_dims(arange(kPiece), 1) + at];  // (kPiece, pieces, 2)
    return mean(square(course(f, wanted[0], kPiece) - wanted));
  };
  auto train = jit([&](const Field& begin, const decltype(memory)& state) {
    auto step = [&](const auto& now, const random::Key& key) {
      Array at = random::randint(key, {64}, 0, kSeen - kPiece);
      auto [value, slope] = value_and_grad(loss)(now.first, at);
      auto [updates, next] = optimizer.update(slope, now.second, now.first);
      return std::pair(std::pair(optim::apply_updates(now.first, updates), next), value);
    };
    return scan(step, std::pair(begin, state), random::split(random::key(1), kSteps));
  });
  auto [last, losses] = train(field, memory);
  std::printf("mean square error %.0e at first, below 1e-4 in the end: %s\n",
              losses[0].item<double>(), losses[-1].item<double>() < 1e-4 ? "yes" : "no");

  // One course from the beginning, and on to half as far again as it has ever seen.
  constexpr std::int64_t kFar = kSeen * 3 / 2;
  const Field& learned = last.first;
  Array told = jit([&](const Field& f) { return course(f, start, kFar); })(learned),
        real = jit([&](const Array& y) { return course(truth, y, kFar); })(start);
  for (std::int64_t i : {0, 50, 100, 200, 299})
    std::printf("t = %5.2f  true %5.1f %5.1f  told %5.1f %5.1f\n",
                static_cast<double>(i) * kBetween, real[{i, 0}].item<double>(),
                real[{i, 1}].item<double>(), told[{i, 0}].item<double>(),
                told[{i, 1}].item<double>());
  require(max(abs(told - real)).item<double>() < 0.15, "it foretells what it has not seen");
}
