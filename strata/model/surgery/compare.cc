// What two models say of the same prompts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "strata/api/index.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/data/pipeline/numpy_random.h"
#include "strata/model/convert/convert.h"
#include "strata/model/pretrained.h"
#include "strata/model/surgery/surgery.h"

namespace strata::model {

namespace {

/// A model; a checkpoint by way of a folder `beside`, which is removed.
Result<Pretrained> load_any(const std::string& path, const std::string& beside,
                            const std::string& config, std::int64_t scan_axis) {
  auto loaded = load(path);
  if (loaded || loaded.status().code() != Code::not_found) return loaded;
  const auto converted =
      convert(path, beside, {.format = "hugging_face", .config = config, .scan_axis = scan_axis});
  if (!converted) return loaded;  // what it says of the path is what a person needs
  auto out = load(beside);
  std::error_code error;
  std::filesystem::remove_all(beside, error);
  return out;
}

}  // namespace

Result<Comparison> compare(const std::string& first, const std::string& second,
                           const CompareOptions& o) {
  const auto [prompts, length] = std::pair(o.prompts, o.length);
  Result<Literal> both[2] = {Literal(), Literal()};
  Literal tokens(Type(DType::i32, Shape({prompts, length})));
  const std::string* paths[] = {&first, &second};
  std::int64_t vocabulary = 0;
  for (int side = 0; side < 2; ++side) {
    // One after the other, so that memory holds one.
    auto loaded = load_any(*paths[side], second + ".compared",
                           side == 0 ? o.first_config : o.second_config, o.scan_axis);
    if (!loaded) return loaded.status();
    const std::int64_t v = loaded->model->vocab_size();
    if (side == 0) {
      vocabulary = v;
      auto rng = data::NumpyGenerator::philox(0);
      for (std::int32_t& t : tokens.mutable_span<std::int32_t>())
        t = static_cast<std::int32_t>(rng.integers(0, v));
    } else if (v != vocabulary) {
      return Status(Code::invalid, "{} and {} have vocabularies of {} and {} tokens", first, second,
                    vocabulary, v);
    }
    const auto forward = jit([m = loaded->model](const tree::Tree& w, const Array& t) {
      return astype(m->forward(w, t), DType::f32);
    });
    both[side] = forward(loaded->params, Array(tokens)).literal();
  }
  const std::span<const float> a = both[0]->span<float>(), b = both[1]->span<float>();
  const std::span<const std::int32_t> ids = tokens.span<std::int32_t>();
  Comparison out;
  out.same_bits = std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  out.positions = prompts * length;
  const auto v = static_cast<std::size_t>(vocabulary);
  std::int64_t targets = 0;
  const auto [low, high] = std::minmax_element(a.begin(), a.end());
  const double range = std::max(double{*high} - *low, 1e-30);
  for (std::size_t p = 0; p < static_cast<std::size_t>(out.positions); ++p) {
    const std::span<const float> x = a.subspan(p * v, v), y = b.subspan(p * v, v);
    const auto total = [](std::span<const float> z) {
      const double most = *std::max_element(z.begin(), z.end());
      double sum = 0;
      for (float e : z) sum += std::exp(e - most);
      return most + std::log(sum);
    };
    const double of_x = total(x), of_y = total(y);
    for (std::size_t k = 0; k < v; ++k) {
      const double d = std::abs(double{x[k]} - y[k]);
      out.difference = std::isnan(d) ? d : std::max(out.difference, d);
      out.kl += std::exp(x[k] - of_x) * ((x[k] - of_x) - (y[k] - of_y));
    }
    out.agreement += std::max_element(x.begin(), x.end()) - x.begin() ==
                     std::max_element(y.begin(), y.end()) - y.begin();
    if ((p + 1) % static_cast<std::size_t>(length) == 0) continue;
    const auto next = static_cast<std::size_t>(ids[p + 1]);
    out.loss_first += of_x - x[next], out.loss_second += of_y - y[next];
    ++targets;
  }
  out.relative = out.difference / range;
  out.kl /= static_cast<double>(out.positions), out.agreement /= static_cast<double>(out.positions);
  if (targets > 0)
    out.loss_first /= static_cast<double>(targets), out.loss_second /= static_cast<double>(targets);
  return out;
}

}  // namespace strata::model
