// Laws of reading through pages: bits of a row depend on its sequence alone, and are near
// forward's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"

namespace strata::llama {
namespace {

Config tiny(DType dtype) {
  return {.vocab_size = 29,
          .base_emb_dim = 16,
          .base_num_decoder_layers = 3,
          .base_num_query_heads = 4,
          .base_num_kv_heads = 2,
          .head_dim = 6,
          .base_mlp_dim = 20,
          .dtype = dtype};
}

class PagesTest : public testing::TestWithParam<DType> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// A cache, and a call that reads into it.
struct Reader {
  model::ModelPtr model;
  tree::Tree params, pages;
  std::function<std::pair<Array, tree::Tree>(const model::Batch&, tree::Tree)> call;
  Reader(const Config& c, std::int64_t count, std::int64_t page_size, bool all = true)
      : model(llama::model(c)),
        params(model->init(random::key(7))),
        pages(model->init_pages(count, page_size)) {
    call = [step =
                jit([m = model, all](const tree::Tree& p, const model::Batch& b,
                                     const tree::Tree& t) { return m->extend_pages(p, b, t, all); },
                    {.donate_argnums = {2}}),
            p = params](const model::Batch& b, tree::Tree t) { return step(p, b, std::move(t)); };
  }
  Array read(const Array& tokens, const std::vector<std::int32_t>& first,
             const std::vector<std::int32_t>& count, const Array& table) {
    auto [logits, next] =
        call(model::Batch{tokens, array(first), array(count), table}, std::move(pages));
    pages = std::move(next);
    return logits;
  }
};

TEST_P(PagesTest, BitsAreThoseOfTheSequenceAlone) {
  const Config c = tiny(GetParam());
  const Array text = random::randint(random::key(1), {2, 140}, 0, 29);
  // Both at once, from position 0.
  Reader whole(c, 20, 16);
  const Array table = reshape(arange(20), {2, 10});
  const Array all = whole.read(text, {0, 0}, {140, 140}, table);
  // The second alone: other pages, of another size, in pieces of which some are filled up.
  Reader alone(c, 60, 5);
  const Array other = reshape(remainder(arange(40) * 7 + 3, 60), {1, 40});
  std::int32_t at = 0;
  std::vector<Array> logits;
  for (const auto& [size, count] : {std::pair(64, 50), {64, 64}, {1, 1}, {1, 1}, {24, 24}}) {
    Array tokens = text[{slice(1, 2), slice(at, at + count)}];
    if (size > count) tokens = concatenate({tokens, zeros({1, size - count}, DType::i32)}, 1);
    logits.push_back(alone.read(tokens, {at}, {count}, other)[{slice(), slice(0, count)}]);
    at += count;
  }
  ASSERT_EQ(at, 140);
  EXPECT_TRUE(same_bits(concatenate(logits, 1), all[{slice(1, 2)}]));
}

TEST_P(PagesTest, RowsOfUnequalLength) {
  const Config c = tiny(GetParam());
  const Array text = random::randint(random::key(2), {3, 12}, 0, 29);
  Reader last(c, 12, 4, false), all(c, 12, 4);
  const Array table = reshape(arange(12), {3, 4});
  const std::vector<std::int32_t> first = {0, 0, 0}, count = {12, 0, 5};
  const Array some = last.read(text, first, count, table),
              each = all.read(text, first, count, table);
  ASSERT_EQ(some.shape(), Shape({3, 29}));
  EXPECT_EQ(some.dtype(), DType::f32);
  EXPECT_TRUE(same_bits(some[0], each[{0, 11}]));
  EXPECT_TRUE(same_bits(some[2], each[{2, 4}]));
  // The row that read nothing left its pages as they were.
  const Array keys = reshape(last.pages["key"].astype(DType::f32), {3, 12, 4 * 2 * 6});
  EXPECT_EQ(sum(abs(keys[{slice(), slice(4, 8)}])).item<float>(), 0);
  EXPECT_EQ(sum(abs(keys[{slice(), slice(10, 12)}])).item<float>(), 0);
  EXPECT_GT(min(sum(abs(keys[{slice(), slice(8, 10)}]), -1)).item<float>(), 0);
}

TEST_P(PagesTest, NearForward) {
  const Config c = tiny(GetParam());
  const Array text = random::randint(random::key(3), {1, 140}, 0, 29);
  Reader reader(c, 10, 16);
  const std::vector<double> got = reader.read(text, {0}, {140}, reshape(arange(10), {1, 10}))
                                      .to_vector<double>(),
                            want = reader.model->forward(reader.params, text).to_vector<double>();
  double worst = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - want[i])), size = std::max(size, std::abs(want[i]));
  EXPECT_LE(worst / size, GetParam() == DType::bf16 ? 5e-2 : 2e-6);
}

TEST_P(PagesTest, CapacityCostsNoTemporaries) {
  // Pages are written in place, and nothing is as large as all of them or as a table's width.
  const Config c = tiny(GetParam());
  const model::ModelPtr m = llama::model(c);
  const tree::Tree params = m->init(random::key(7));
  const auto temporaries = [&](std::int64_t pages) {
    const auto step = jit([&](const tree::Tree& p, const model::Batch& b,
                              const tree::Tree& t) { return m->extend_pages(p, b, t); },
                          {.donate_argnums = {2}});
    const model::Batch batch{zeros({1, 1}, DType::i32), zeros({1}, DType::i32),
                             ones({1}, DType::i32), reshape(arange(pages), {1, pages})};
    return step.lower(params, batch, m->init_pages(pages, 16))
        .compile()
        .memory_analysis()
        .temp_size_in_bytes;
  };
  const std::int64_t small = temporaries(16), large = temporaries(1600);
  // What grows is the layers' table of pages, 4 bytes an entry.
  EXPECT_LE(large - small, 3 * 4 * (1600 - 16));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, PagesTest, testing::Values(float32, bfloat16),
                         [](const auto& i) { return std::string(name(i.param)); });

}  // namespace
}  // namespace strata::llama
