#include "strata/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "strata/image/image.h"

namespace strata::image {
namespace {

constexpr int kBits = 32 - 8 - 2;  // of a coefficient behind the point
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

double triangle(double x) { return std::abs(x) < 1.0 ? 1.0 - std::abs(x) : 0.0; }

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

/// What each place of the output is the sum of.
struct Window {
  std::int64_t begin = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Window> windows(std::int64_t from, std::int64_t to, ImageFilter filter) {
  const bool linear = filter == ImageFilter::bilinear;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double wide = std::max(scale, 1.0);
  const double support = (linear ? 1.0 : 2.0) * wide;
  std::vector<Window> out(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale, inverse = 1.0 / wide;
    const auto begin = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
    const auto end =
        std::min<std::int64_t>(static_cast<std::int64_t>(center + support + 0.5), from);
    weights.clear();
    double sum = 0.0;
    for (std::int64_t x = begin; x < end; ++x) {
      const double at = (static_cast<double>(x) - center + 0.5) * inverse;
      weights.push_back(linear ? triangle(at) : cubic(at));
      sum += weights.back();
    }
    Window& w = out[static_cast<std::size_t>(i)];
    w.begin = begin;
    for (double v : weights) {
      if (sum != 0.0) v /= sum;
      w.weights.push_back(static_cast<std::int32_t>((v < 0 ? -0.5 : 0.5) + v * (1 << kBits)));
    }
  }
  return out;
}

std::uint8_t clipped(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kBits, 0, 255));
}

/// Sums `count` lines that are `step` bytes apart into places `step` apart.
void resample(const std::uint8_t* from, std::uint8_t* to, const std::vector<Window>& windows,
              std::int64_t step, std::int64_t width) {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::fill(sums.begin(), sums.end(), 1 << (kBits - 1));
    for (std::size_t k = 0; k < windows[i].weights.size(); ++k) {
      const std::uint8_t* line = from + (windows[i].begin + static_cast<std::int64_t>(k)) * step;
      const std::int32_t weight = windows[i].weights[k];
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += line[c] * weight;
    }
    std::uint8_t* out = to + static_cast<std::int64_t>(i) * step;
    for (std::size_t c = 0; c < sums.size(); ++c) out[c] = clipped(sums[c]);
  }
}

std::vector<std::int64_t> nearest(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<std::int64_t> out;
  double at = scale * 0.5;
  for (std::int64_t i = 0; i < to; ++i, at += scale)
    out.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, from - 1));
  return out;
}

/// Colours times alpha, as Pillow's RGBa, in place.
void multiply(std::uint8_t* pixels, std::int64_t count, std::int64_t channels) {
  for (std::int64_t i = 0; i < count; ++i, pixels += channels)
    for (std::int64_t c = 0; c + 1 < channels; ++c) {
      const int product = pixels[c] * pixels[channels - 1] + 128;
      pixels[c] = static_cast<std::uint8_t>(((product >> 8) + product) >> 8);
    }
}

void divide(std::uint8_t* pixels, std::int64_t count, std::int64_t channels) {
  for (std::int64_t i = 0; i < count; ++i, pixels += channels) {
    const int alpha = pixels[channels - 1];
    if (alpha == 0 || alpha == 255) continue;
    for (std::int64_t c = 0; c + 1 < channels; ++c)
      pixels[c] = static_cast<std::uint8_t>(std::min(255 * pixels[c] / alpha, 255));
  }
}

}  // namespace

Result<Literal> resize_image(const Literal& image, std::int64_t height, std::int64_t width,
                             ImageFilter filter) {
  auto size = size_of_image(image);
  if (!size) return size.status();
  if (image.dtype() != DType::ui8)
    return Status(Code::invalid, "pictures of ui8 are resized, not {}", image.type().to_string());
  const std::int64_t channels = size->channels;
  if (height < 1 || width < 1 || height > kMostBytes / width / channels ||
      width > kMostBytes / size->height / channels)
    return Status(Code::invalid, "a picture of {} by {} pixels: 1 GiB at most", height, width);
  const auto shape = [&](std::int64_t h, std::int64_t w) {
    std::vector<std::int64_t> sizes = {h, w};
    if (image.shape().rank() == 3) sizes.push_back(channels);
    return Type(DType::ui8, Shape::of(sizes));
  };
  if (height == size->height && width == size->width) return image;
  const auto bytes = [](Literal& l) { return reinterpret_cast<std::uint8_t*>(l.mutable_data()); };
  Literal out(shape(height, width));
  if (filter == ImageFilter::nearest) {
    const auto rows = nearest(size->height, height), columns = nearest(size->width, width);
    const auto* from = reinterpret_cast<const std::uint8_t*>(image.data());
    std::uint8_t* to = bytes(out);
    for (std::int64_t row : rows)
      for (std::int64_t column : columns)
        to = std::copy_n(from + (row * size->width + column) * channels, channels, to);
    return out;
  }
  Literal whole = image;
  const bool alpha = channels == 2 || channels == 4;
  if (alpha) multiply(bytes(whole), size->height * size->width, channels);
  if (width != size->width) {
    Literal narrow(shape(size->height, width));
    const auto along = windows(size->width, width, filter);
    for (std::int64_t y = 0; y < size->height; ++y)
      resample(bytes(whole) + y * size->width * channels, bytes(narrow) + y * width * channels,
               along, channels, channels);
    whole = std::move(narrow);
  }
  if (height != size->height) {
    resample(bytes(whole), bytes(out), windows(size->height, height, filter), width * channels,
             width * channels);
    whole = std::move(out);
  }
  if (alpha) divide(bytes(whole), height * width, channels);
  return whole;
}

}  // namespace strata::image
