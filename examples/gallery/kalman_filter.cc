// The Kalman filter: where a thing is and how fast it goes, from noisy sights of where it is. Each
// sight corrects a Gaussian belief, the next moves it on; a scan over the sights is the filter, and
// vmap of it follows many things at once. Source: Kalman, A New Approach to Linear Filtering and
// Prediction Problems (1960).
#include <strata/core.h>

#include "require.h"

using namespace strata;
namespace linalg = numpy::linalg;

// x' = F x + N(0, Q), z = H x + N(0, R)
struct System {
  Array F, Q, H, R;
  STRATA_FIELDS(F, Q, H, R)
};

struct Belief {
  Array mean, covariance;
  STRATA_FIELDS(mean, covariance)
};

Belief predict(const System& s, const Belief& b) {
  return {dot(s.F, b.mean), dot(dot(s.F, b.covariance), s.F.T()) + s.Q};
}

Belief correct(const System& s, const Belief& b, const Array& z) {
  Array seen = dot(s.H, b.covariance), gain = linalg::solve(dot(seen, s.H.T()) + s.R, seen).T();
  return {b.mean + dot(gain, z - dot(s.H, b.mean)), b.covariance - dot(gain, seen)};
}

// The belief after each sight; `first` is the one before the first.
Belief filter(const System& s, const Belief& first, const Array& sights) {
  auto step = [&](const Belief& b, const Array& z) {
    Belief now = correct(s, b, z);
    return std::pair(predict(s, now), now);
  };
  return scan(step, first, sights).second;
}

struct Flight {
  Array states, sights;
  STRATA_FIELDS(states, sights)
};

Flight fly(const System& s, const Belief& first, const Array& key, std::int64_t length) {
  Array q = linalg::cholesky(s.Q), r = linalg::cholesky(s.R);
  auto step = [&](Array x, Array key) {
    auto [motion, sight] = random::split2(key);
    Array z = dot(s.H, x) + dot(r, random::normal(sight, {s.R.shape(0)}, float64));
    return std::pair(dot(s.F, x) + dot(q, random::normal(motion, x.shape(), float64)),
                     Flight{x, z});
  };
  auto [start, path] = random::split2(key);
  Array x = first.mean + dot(linalg::cholesky(first.covariance),
                             random::normal(start, first.mean.shape(), float64));
  return scan(step, x, random::split(path, length)).second;
}

// All states at once, as the least squares of every equation divided by the square root of its
// noise: the filter's last mean by another way.
Array by_least_squares(const System& s, const Belief& first, const Array& sights) {
  const std::int64_t n = sights.shape(0), d = first.mean.size(), m = s.H.shape(0);
  auto whiten = [](const Array& covariance, const Array& x) {
    return linalg::solve(linalg::cholesky(covariance), x);
  };
  std::vector<Array> rows, values;
  auto equation = [&](Array row, const Array& value) {
    rows.push_back(std::move(row));
    values.push_back(value);
  };
  auto at = [&](std::int64_t t) { return std::vector<Index>{slice(), slice(t * d, (t + 1) * d)}; };
  equation(
      zeros({d, n * d}, float64).at(at(0)).set(whiten(first.covariance, eye(d, {}, 0, float64))),
      whiten(first.covariance, first.mean));
  for (std::int64_t t = 0; t < n; ++t)
    equation(zeros({m, n * d}, float64).at(at(t)).set(whiten(s.R, s.H)), whiten(s.R, sights[t]));
  for (std::int64_t t = 0; t + 1 < n; ++t)
    equation(zeros({d, n * d}, float64)
                 .at(at(t))
                 .set(-whiten(s.Q, s.F))
                 .at(at(t + 1))
                 .set(whiten(s.Q, eye(d, {}, 0, float64))),
             zeros({d}, float64));
  return linalg::lstsq(concatenate(rows), concatenate(values)).x[slice(-d, none)];
}

int main() {
  EnableX64 wide;
  // A place and a speed, pushed at random; only the place is seen.
  System s{array({{1., 1.}, {0., 1.}}), 0.1 * array({{1. / 3, 0.5}, {0.5, 1.}}), array({{1., 0.}}),
           array({{4.}})};
  Belief first{zeros({2}, float64), array({{25., 0.}, {0., 1.}})};
  Flight flight = fly(s, first, random::key(0), 60);
  Belief belief = jit(filter)(s, first, flight.sights);

  std::printf("time   place    seen  belief\n");
  for (std::int64_t t = 0; t < 60; t += 10)
    std::printf("%4d %7.2f %7.2f %7.2f +- %.2f\n", static_cast<int>(t),
                flight.states[{t, 0}].item<double>(), flight.sights[{t, 0}].item<double>(),
                belief.mean[{t, 0}].item<double>(),
                sqrt(belief.covariance[{t, 0, 0}]).item<double>());
  Array all = by_least_squares(s, first, flight.sights);
  std::printf("the last state: (%.6f, %.6f) filtered, (%.6f, %.6f) by least squares\n",
              belief.mean[{-1, 0}].item<double>(), belief.mean[{-1, 1}].item<double>(),
              all[0].item<double>(), all[1].item<double>());
  require(max(abs(belief.mean[-1] - all)).item<double>() < 1e-8,
          "the filter is least squares, a sight at a time");

  // Are the errors as large as the beliefs say? The mean of e' P^-1 e is the number of
  // dimensions, 2.
  auto surprise = [&](const Array& key) {
    Flight f = fly(s, first, key, 60);
    Belief b = filter(s, first, f.sights);
    Array error = f.states[-1] - b.mean[-1];
    return dot(error, linalg::solve(b.covariance[-1], error));
  };
  const double mean_surprise =
      mean(jit(vmap(surprise))(random::split(random::key(1), 1000))).item<double>();
  std::printf("1000 flights: e' P^-1 e is %.2f in the mean, 2 in theory\n", mean_surprise);
  require(std::abs(mean_surprise - 2) < 4 * 2 / std::sqrt(1000.),
          "beliefs are as uncertain as they should be");
}
