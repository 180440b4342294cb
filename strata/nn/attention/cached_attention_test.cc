// Attention over a cache: near the definition, and the same bits however a sequence is stored and
// is read.
#include "strata/nn/attention/cached_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::nn {
namespace {

constexpr std::int64_t kHeads = 4, kGroups = 2, kDim = 6, kWidth = 5;

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// One sequence: queries, keys and values of T positions.
struct Text {
  Array q, k, v;  // (T, heads, width of a head)
  Text(int seed, std::int64_t length, DType dtype) {
    const auto draw = [&](int which, std::int64_t heads, std::int64_t width) {
      return astype(
          random::normal(random::fold_in(random::key(seed), which), {length, heads, width}) * 2.0f,
          dtype);
    };
    q = draw(0, kHeads, kDim), k = draw(1, kGroups, kDim), v = draw(2, kGroups, kWidth);
  }
  std::int64_t length() const { return q.shape(0); }
};

struct Options {
  int window = 0;
  double soft_cap = 0;
  bool sinks = false;
};
CachedAttention options_of(const Options& o) {
  CachedAttention out{.scale = 0.7, .soft_cap = o.soft_cap};
  if (o.window > 0) out.window = Array(o.window);
  if (o.sinks) out.sinks = array({0.5f, -1.0f, 2.0f, 0.0f});
  return out;
}

/// The definition, in f64: (T, H, e).
std::vector<double> by_definition(const Text& t, const Options& o) {
  const auto q = t.q.to_vector<double>(), k = t.k.to_vector<double>(), v = t.v.to_vector<double>();
  const double sinks[] = {0.5, -1, 2, 0};
  std::vector<double> out;
  for (std::int64_t i = 0; i < t.length(); ++i)
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const std::int64_t g = h / (kHeads / kGroups);
      std::vector<double> weights(static_cast<std::size_t>(kWidth));
      double total = o.sinks ? std::exp(sinks[h]) : 0;
      for (std::int64_t j = o.window > 0 ? std::max<std::int64_t>(0, i - o.window + 1) : 0; j <= i;
           ++j) {
        double s = 0;
        for (std::int64_t d = 0; d < kDim; ++d)
          s += q[static_cast<std::size_t>((i * kHeads + h) * kDim + d)] *
               k[static_cast<std::size_t>((j * kGroups + g) * kDim + d)];
        s *= 0.7;
        if (o.soft_cap != 0) s = o.soft_cap * std::tanh(s / o.soft_cap);
        total += std::exp(s);
        for (std::int64_t e = 0; e < kWidth; ++e)
          weights[static_cast<std::size_t>(e)] +=
              std::exp(s) * v[static_cast<std::size_t>((j * kGroups + g) * kWidth + e)];
      }
      for (double w : weights) out.push_back(w / total);
    }
  return out;
}

/// How sequences are stored and read.
struct Way {
  std::int64_t page_size = 16, spare = 0;  // pages that nobody owns, full of NaN
  std::int64_t piece = 1 << 20;            // tokens that a call reads of a row
  std::uint64_t order = 1;                 // of the pages
  std::vector<std::int64_t> widths = {};   // how many queries calls hold, in turn; none: the piece
};

/// Each text's attention (T, H, e), by calls that hold all of them.
std::vector<Array> by_pages(const std::vector<Text>& texts, const Options& o, const Way& way) {
  const DType dtype = texts[0].q.dtype();
  const auto rows = static_cast<std::int64_t>(texts.size());
  std::int64_t longest = 0;
  for (const Text& t : texts) longest = std::max(longest, t.length());
  const std::int64_t width = (longest + way.page_size - 1) / way.page_size + 1,
                     pages = rows * width + way.spare;
  // Page numbers in an order of their own: step through all of them by a number without a common
  // divisor.
  std::vector<std::int32_t> table;
  auto step = static_cast<std::int64_t>(way.order);
  while (std::gcd(step, pages) != 1) ++step;
  for (std::int64_t i = 0; i < rows * width; ++i)
    table.push_back(static_cast<std::int32_t>((i * step + 3) % pages));
  const Array page_table = array(table, Sizes{rows, width});
  const auto nothing = [&](std::int64_t w) {
    return full({pages, way.page_size, kGroups, w}, std::numeric_limits<float>::quiet_NaN(), dtype);
  };
  Array keys = nothing(kDim), values = nothing(kWidth);
  const auto call = jit([&](const Array& q, const Array& k, const Array& v, const Array& kp,
                            const Array& vp, const Array& first, const Array& count) {
    Array key_pages = write_pages(kp, k, page_table, first, count),
          value_pages = write_pages(vp, v, page_table, first, count);
    Array y = cached_attention(q, key_pages, value_pages, page_table, first, count, options_of(o));
    return std::tuple(y, key_pages, value_pages);
  });
  std::vector<std::vector<Array>> out(texts.size());
  std::vector<std::int64_t> read(texts.size());
  for (std::size_t turn = 0;; ++turn) {
    const std::int64_t piece =
        way.widths.empty() ? std::min(way.piece, longest) : way.widths[turn % way.widths.size()];
    std::vector<std::int32_t> first, count;
    std::vector<Array> q, k, v;
    std::int64_t most = 0;
    for (std::size_t b = 0; b < texts.size(); ++b) {
      const std::int64_t n = std::min(piece, texts[b].length() - read[b]);
      most = std::max(most, n);
      first.push_back(static_cast<std::int32_t>(read[b]));
      count.push_back(static_cast<std::int32_t>(n));
      const auto part = [&](const Array& x) {
        const Array tokens = x[slice(read[b], read[b] + n)];
        return concatenate({tokens, full({piece - n, x.shape(1), x.shape(2)},
                                         std::numeric_limits<float>::quiet_NaN(), dtype)},
                           0);
      };
      q.push_back(part(texts[b].q)), k.push_back(part(texts[b].k)), v.push_back(part(texts[b].v));
    }
    if (most == 0) break;
    auto [y, kp, vp] = call(stack(q), stack(k), stack(v), keys, values, array(first), array(count));
    keys = kp, values = vp;
    for (std::size_t b = 0; b < texts.size(); ++b) {
      if (count[b] > 0) out[b].push_back(y[{static_cast<std::int64_t>(b), slice(0, count[b])}]);
      const Array beyond = y[{static_cast<std::int64_t>(b), slice(count[b], piece)}];
      for (float x : beyond.to_vector<float>()) EXPECT_EQ(x, 0) << "behind the count";
      read[b] += count[b];
    }
  }
  std::vector<Array> whole;
  for (const auto& parts : out) whole.push_back(concatenate(parts, 0));
  return whole;
}

class CachedAttentionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static std::vector<Options> cases() {
    return {{},
            {.window = 7},
            {.window = 150, .soft_cap = 3},
            {.soft_cap = 5, .sinks = true},
            {.window = 20, .sinks = true}};
  }
};

TEST_F(CachedAttentionTest, IsItsDefinition) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Options& o : cases()) {
      const Text text(1, 300, dtype);
      const auto got = by_pages({text}, o, {.piece = 70})[0].to_vector<double>();
      const auto want = by_definition(text, o);
      ASSERT_EQ(got.size(), want.size());
      double worst = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(got[i] - want[i]));
      EXPECT_LE(worst, dtype == DType::f32 ? 1e-5 : 4e-2)
          << name(dtype) << ", window " << o.window << ", cap " << o.soft_cap;
    }
}

/// One query's attention (e) of one head, number by number in the order that the header states:
/// products by chains of fused multiply-adds; exponentials and sums of a chunk are the library's.
std::vector<float> by_chunks(const std::vector<float>& q, const std::vector<float>& k,
                             const std::vector<float>& v, std::size_t keys) {
  constexpr auto kChunk = static_cast<std::size_t>(kCachedAttentionChunk);
  constexpr auto dim = static_cast<std::size_t>(kDim), width = static_cast<std::size_t>(kWidth);
  float most = std::numeric_limits<float>::lowest(), total = 0;
  std::vector<float> values(width);
  const auto exponential = [](float x) { return exp(Array(x)).item<float>(); };
  for (std::size_t from = 0; from < keys; from += kChunk) {
    std::vector<float> scores;
    float now = most;
    for (std::size_t j = from; j < std::min(keys, from + kChunk); ++j) {
      float s = 0;
      for (std::size_t d = 0; d < dim; ++d) s = std::fma(q[d], k[j * dim + d], s);
      scores.push_back(s * 0.7f);
      now = std::max(now, scores.back());
    }
    std::vector<float> exponentials(kChunk);
    for (std::size_t j = 0; j < scores.size(); ++j) exponentials[j] = exponential(scores[j] - now);
    const float shrink = exponential(most - now);
    total = total * shrink + sum(array(exponentials)).item<float>();
    for (std::size_t e = 0; e < width; ++e) {
      float w = 0;
      for (std::size_t j = 0; j < scores.size(); ++j)
        w = std::fma(exponentials[j], v[(from + j) * width + e], w);
      values[e] = values[e] * shrink + w;
    }
    most = now;
  }
  for (float& x : values) x /= total;
  return values;
}

TEST_F(CachedAttentionTest, GoesFromChunkToChunk) {
  const Text text(5, 270, DType::f32);
  const Array got = by_pages({text}, {}, {.piece = 100})[0];
  for (const std::int64_t query : {0, 127, 128, 269})
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const std::int64_t g = h / (kHeads / kGroups);
      EXPECT_EQ(
          (got[{query, h}].to_vector<float>()),
          by_chunks(text.q[{query, h}].to_vector<float>(), text.k[{slice(), g}].to_vector<float>(),
                    text.v[{slice(), g}].to_vector<float>(), static_cast<std::size_t>(query) + 1))
          << "query " << query << ", head " << h;
    }
}

TEST_F(CachedAttentionTest, NoWayToReadChangesABit) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Options& o : cases()) {
      if (dtype == DType::bf16 && o.soft_cap != 0) continue;  // says nothing that f32 does not
      const std::vector<Text> texts = {Text(1, 131, dtype), Text(2, 275, dtype), Text(3, 9, dtype)};
      std::vector<Array> alone;
      for (const Text& t : texts) alone.push_back(by_pages({t}, o, {})[0]);
      const std::vector<Way> ways = {
          {.page_size = 7, .piece = 64, .order = 5},
          {.page_size = 128, .spare = 9, .piece = 50, .order = 7},
          {.page_size = 1, .piece = 300},
          {.page_size = 200, .order = 3, .widths = {128, 3, 1, 1, 40, 17}},
      };
      for (std::size_t w = 0; w < ways.size(); ++w) {
        const std::vector<Array> together = by_pages(texts, o, ways[w]);
        for (std::size_t b = 0; b < texts.size(); ++b)
          EXPECT_TRUE(same_bits(together[b], alone[b]))
              << name(dtype) << ", window " << o.window << ", way " << w << ", text " << b;
      }
    }
}

TEST_F(CachedAttentionTest, ThreadsChangeNoBit) {
  const std::vector<Text> texts = {Text(1, 131, DType::f32), Text(2, 200, DType::f32)};
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Array> one = by_pages(texts, {}, {});
  set_num_threads(3);
  const std::vector<Array> three = by_pages(texts, {}, {});
  set_num_threads(before);
  for (std::size_t b = 0; b < 2; ++b) EXPECT_TRUE(same_bits(one[b], three[b]));
}

TEST_F(CachedAttentionTest, OneTokenAtATimeGivesTheBitsOfAll) {
  const Text text(4, 140, DType::f32);
  EXPECT_TRUE(same_bits(by_pages({text}, {}, {.piece = 1})[0], by_pages({text}, {}, {})[0]));
}

TEST_F(CachedAttentionTest, SaysWhatDoesNotFit) {
  const Array q = zeros({2, 3, 4, 6}), k = zeros({5, 8, 2, 6}), v = zeros({5, 8, 2, 5}),
              table = zeros({2, 3}, DType::i32), of = zeros({2}, DType::i32);
  const auto message = [&](const Array& a, const Array& b, const Array& c, const Array& d,
                           const Array& e) -> std::string {
    try {
      (void)cached_attention(a, b, c, d, e, of);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(q, k, v, table, of), "");
  EXPECT_THAT(message(zeros({2, 3, 5, 6}), k, v, table, of),
              testing::HasSubstr("5 query heads do not divide into 2 key heads"));
  EXPECT_THAT(message(q, zeros({5, 8, 2, 7}), v, table, of),
              testing::HasSubstr("does not fit keys"));
  EXPECT_THAT(message(q, k, zeros({5, 9, 2, 5}), table, of), testing::HasSubstr("differ"));
  EXPECT_THAT(message(q, k, v, zeros({3, 3}, DType::i32), of), testing::HasSubstr("of 2 rows"));
  EXPECT_THAT(message(q, k, v, table, zeros({2})), testing::HasSubstr("are i32"));
}

}  // namespace
}  // namespace strata::nn
