#include "strata/model/decoder/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/tree/tree.h"

namespace strata::model::decoder {

namespace {

using std::numbers::pi;

/// theta^(2 i / width) in f32, as upstream computes it.
std::vector<float> wavelengths(double theta, std::int64_t width) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < width; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(width);
    out.push_back(static_cast<float>(std::pow(theta, static_cast<double>(exponent))));
  }
  return out;
}

std::vector<float> inverse(std::vector<float> x) {
  for (float& v : x) v = 1.0f / v;
  return x;
}

std::vector<float> llama3(const Rope& r) {
  std::vector<float> out = inverse(wavelengths(r.theta, r.width));
  const auto original = static_cast<float>(r.original_length);
  const auto low = static_cast<float>(r.low_freq_factor),
             high = static_cast<float>(r.high_freq_factor), factor = static_cast<float>(r.factor);
  for (float& f : out) {
    const float wavelength = static_cast<float>(2 * pi) / f;
    if (wavelength < original / high) continue;
    if (wavelength > original / low) {
      f = f / factor;
      continue;
    }
    const float smooth = (original / wavelength - low) / (high - low);
    f = (1 - smooth) * f / factor + smooth * f;
  }
  return out;
}

std::vector<float> yarn(const Rope& r) {
  const auto width = static_cast<double>(r.width);
  const auto border = [&](double rotations) {
    return width * std::log(static_cast<double>(r.original_length) / (rotations * 2 * pi)) /
           (2 * std::log(r.theta));
  };
  double low = border(r.beta_fast), high = border(r.beta_slow);
  if (r.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  std::vector<float> out = wavelengths(r.theta, r.width);
  const auto factor = static_cast<float>(r.factor);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float ramp = std::clamp(
        (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0f,
        1.0f);
    const float kept = 1 - ramp;
    out[i] = 1 / (factor * out[i]) * (1 - kept) + 1 / out[i] * kept;
  }
  return out;
}

}  // namespace

Frequencies frequencies(const Rope& r, std::int64_t length) {
  switch (r.type) {
    case Rope::Type::plain: return {inverse(wavelengths(r.theta, r.width)), 1};
    case Rope::Type::linear: {
      std::vector<float> out = inverse(wavelengths(r.theta, r.width));
      for (float& f : out) f /= static_cast<float>(r.factor);
      return {std::move(out), 1};
    }
    case Rope::Type::dynamic: {
      const auto width = static_cast<double>(r.width);
      const auto made_for = static_cast<double>(r.length);
      const double seen = std::max(static_cast<double>(length), made_for);
      const double stretched =
          r.theta * std::pow(r.factor * seen / made_for - (r.factor - 1), width / (width - 2));
      return {inverse(wavelengths(stretched, r.width)), 1};
    }
    case Rope::Type::llama3: return {llama3(r), 1};
    case Rope::Type::yarn: return {yarn(r), r.attention_factor};
    case Rope::Type::proportional: {
      std::vector<float> out = inverse(wavelengths(r.theta, r.width));
      const auto turned = static_cast<std::size_t>(r.proportion * static_cast<double>(r.width) / 2);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = i < turned ? out[i] / static_cast<float>(r.factor) : 0.0f;
      return {std::move(out), 1};
    }
    case Rope::Type::longrope: {
      const std::vector<double>& by = length > r.original_length ? r.long_factor : r.short_factor;
      std::vector<float> out = wavelengths(r.theta, r.width);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = 1.0f / (static_cast<float>(by[i]) * out[i]);
      return {std::move(out), r.attention_factor};
    }
  }
  STRATA_UNREACHABLE("no rotary type {}", static_cast<int>(r.type));
}

RotaryTable rotary_table(const Rope& rope, const Array& positions, std::int64_t length) {
  const Frequencies f = frequencies(rope, length);
  const Array by =
      Array(Literal::of(Shape({static_cast<std::int64_t>(f.values.size())}), f.values));
  const Array angle = expand_dims(astype(positions, DType::f32), -1) * by;
  if (f.factor == 1) return {cos(angle), sin(angle)};
  return {cos(angle) * f.factor, sin(angle) * f.factor};
}

RotaryTable stacked_tables(const std::vector<Rope>& ropes, const Array& positions,
                           std::int64_t length, bool and_none) {
  std::vector<Array> cosines, sines;
  for (const Rope& rope : ropes) {
    const RotaryTable one = rotary_table(rope, positions, length);
    cosines.push_back(expand_dims(one.cos, 0));
    sines.push_back(expand_dims(one.sin, 0));
  }
  if (and_none) {
    cosines.push_back(ones_like(cosines[0]));
    sines.push_back(zeros_like(sines[0]));
  }
  return {concatenate(cosines, 0), concatenate(sines, 0)};
}

Array rotate(const Array& x, const RotaryTable& table, Pairing pairing) {
  const std::int64_t half = table.cos.shape(-1), turned = 2 * half, all = x.shape(-1);
  const Array c = expand_dims(table.cos, 2), s = expand_dims(table.sin, 2);
  std::vector<Array> ends =
      turned == all ? std::vector<Array>{x} : split(x, std::vector<std::int64_t>{turned}, -1);
  Array out;
  if (pairing == Pairing::halves) {
    const std::vector<Array> pair = split(ends[0], std::vector<std::int64_t>{half}, -1);
    out = concatenate({pair[0] * c - pair[1] * s, pair[1] * c + pair[0] * s}, -1);
  } else {
    const Array pairs = reshape(ends[0], {x.shape(0), x.shape(1), x.shape(2), half, 2});
    const Array a = pairs[{ellipsis, 0}], b = pairs[{ellipsis, 1}];
    out = reshape(concatenate({expand_dims(a * c - b * s, -1), expand_dims(b * c + a * s, -1)}, -1),
                  {x.shape(0), x.shape(1), x.shape(2), turned});
  }
  out = astype(out, x.dtype());
  return turned == all ? out : concatenate({out, ends[1]}, -1);
}

}  // namespace strata::model::decoder
