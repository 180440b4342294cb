// Logistic regression by Newton's method: the second derivatives of the loss tell how far to go, so
// that five steps are exact where gradient descent needs hundreds; their inverse tells how certain
// each weight is. Source: Nelder and Wedderburn, Generalized Linear Models (1972), whose scoring
// this is; McCullagh and Nelder (1989) for the errors.
#include <strata/core.h>

#include "require.h"

using namespace strata;
namespace linalg = numpy::linalg;

// -log p(y | x), for labels 0 and 1.
Array loss(const Array& w, const Array& x, const Array& y) {
  Array score = dot(x, w);
  return sum(nn::softplus(score) - y * score);
}

int main() {
  EnableX64 wide;
  const Array truth = array({-0.5, 2.0, -1.0, 0.0});
  auto [place, label] = random::split2(random::key(0));
  Array x = concatenate({ones({1000, 1}, float64), random::normal(place, {1000, 3}, float64)}, 1);
  Array y = random::bernoulli(label, nn::sigmoid(dot(x, truth))).astype(float64);

  auto loss_at = [&](const Array& w) { return loss(w, x, y); };
  auto newton = jit([&](const Array& w) {
    auto [value, slope] = value_and_grad(loss_at)(w);
    return std::tuple(w - linalg::solve(hessian(loss_at)(w), slope), value, max(abs(slope)));
  });
  Array w = zeros({4}, float64), value, steepest;
  for (int i = 0; i < 7; ++i) {
    std::tie(w, value, steepest) = newton(w);
    std::printf("step %d  loss %.6f  largest slope %s\n", i, value.item<double>(),
                steepest.item<double>() < 1e-9 ? "below 1e-9"
                                               : std::to_string(steepest.item<double>()).c_str());
  }
  require(steepest.item<double>() < 1e-9, "Newton's method has arrived");

  Array curvature = hessian(loss_at)(w), error = sqrt(diagonal(linalg::inv(curvature)));
  std::printf("weight   +-     truth\n");
  for (int i = 0; i < 4; ++i) {
    std::printf("%6.3f  %.3f  %6.3f\n", w[i].item<double>(), error[i].item<double>(),
                truth[i].item<double>());
    require(abs(w[i] - truth[i]).item<double>() < 3 * error[i].item<double>(),
            "the truth is within three standard errors");
  }

  Array p = nn::sigmoid(dot(x, w));
  require(max(abs(curvature - dot(x.T() * (p * (1 - p)), x))).item<double>() < 1e-9,
          "the Hessian is X' diag(p (1 - p)) X");
  auto descent = jit([&](const Array& from) {
    return fori_loop(0, 500, [&](Array, Array w) { return w - 0.005 * grad(loss_at)(w); }, from);
  });
  require(max(abs(descent(zeros({4}, float64)) - w)).item<double>() < 1e-6,
          "gradient descent arrives there too, hundreds of steps later");
}
