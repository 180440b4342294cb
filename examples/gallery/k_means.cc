// k-means: points are given to the nearest of k centres, centres move to the mean of their points,
// until nothing changes hands. All of it, the careful choice of the first centres too, is one
// compiled program. Source: Lloyd, Least squares quantization in PCM (1982); Arthur and
// Vassilvitskii, k-means++ (2007) for the first centres.
#include <strata/core.h>

#include "require.h"

using namespace strata;

constexpr std::int64_t kClusters = 5;

// Squared distances of points (n, d) to centres (k, d): (n, k).
Array distances(const Array& points, const Array& centres) {
  return sum(square(points[{slice(), newaxis}] - centres[{newaxis}]), -1);
}

// Each next centre is a point drawn with probability proportional to its squared distance to those
// there are.
Array first_centres(const Array& key, const Array& points) {
  const std::int64_t n = points.shape(0);
  Array keys = random::split(key, kClusters);
  Array centres = tile(points[random::randint(keys[0], {}, 0, n)], {kClusters, 1});
  for (std::int64_t i = 1; i < kClusters; ++i) {
    Array nearest = min(distances(points, centres), 1);
    centres = centres.at(i).set(points[random::categorical(keys[i], log(nearest))]);
  }
  return centres;
}

struct Clusters {
  Array centres, labels, rounds;
  STRATA_FIELDS(centres, labels, rounds)
};

Clusters k_means(const Array& key, const Array& points) {
  auto nearest = [&](const Array& centres) { return argmin(distances(points, centres), 1); };
  using State = std::pair<Clusters, Array>;  // and whether a point changed hands
  auto round = [&](const State& s) {
    Array member = nn::one_hot(s.first.labels, kClusters), count = sum(member, 0);
    Array means = dot(member.T(), points) / maximum(count, 1)[{slice(), newaxis}];
    Array centres = where(count[{slice(), newaxis}] > 0, means, s.first.centres),
          labels = nearest(centres);
    return State({centres, labels, s.first.rounds + 1}, any(labels != s.first.labels));
  };
  Array centres = first_centres(key, points);
  return while_loop([](const State& s) { return s.second; }, round,
                    State({centres, nearest(centres), 0}, true))
      .first;
}

int main() {
  // Five round clouds of 400 points, the corners and the middle of a square.
  Array truth = array({{-3, -3}, {-3, 3}, {0, 0}, {3, -3}, {3, 3}}).astype(float32);
  Array cloud = tile(arange(kClusters), {400});
  Array points = truth[cloud] + 0.7 * random::normal(random::key(1), {cloud.shape(0), 2});

  auto [centres, labels, rounds] = jit(k_means)(random::key(7), points);
  Array sizes = sum(nn::one_hot(labels, kClusters), 0);
  std::printf("%d rounds\n      x      y  points\n", rounds.item<int>());
  for (std::int64_t i = 0; i < kClusters; ++i)
    std::printf("%7.3f%7.3f%8.0f\n", centres[{i, 0}].item<double>(), centres[{i, 1}].item<double>(),
                sizes[i].item<double>());

  Array which = argmin(distances(truth, centres), 1);  // the cluster that found each cloud
  require(array_equal(numpy::sort(which), arange(kClusters)).item<bool>(),
          "each cloud has a cluster of its own");
  const double right = mean((which[cloud] == labels).astype(float32)).item<double>();
  std::printf("%.2f %% of the points are back in their cloud\n", 100 * right);
  require(right > 0.99, "clouds that hardly touch are told apart");
  require(max(abs(centres[which] - truth)).item<double>() < 5 * 0.7 / 20,
          "centres stand within five standard errors");
  Array means = dot(nn::one_hot(labels, kClusters).T(), points) / sizes[{slice(), newaxis}];
  require(max(abs(means - centres)).item<double>() < 1e-5, "centres are the means of their points");
}
