// Views and attributes of models, and the cache of attention that begins to decode.
#include "strata/nn/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/golden_models.h"

namespace strata::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct Decoder {
  MultiHeadAttention first, second;
  Dropout drop;
  STRATA_FIELDS(first, second, drop)
};
Decoder decoder() {
  Rngs rngs(0);
  return {MultiHeadAttention(2, 6, rngs, {.num_kv_heads = 1}), MultiHeadAttention(2, 6, rngs),
          Dropout(0.1, rngs)};
}

/// What it is told is none of its fields.
struct Loader {
  Param w;
  std::int64_t length = 0;
  STRATA_SOME_FIELDS(w)
};

class Views : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(Views, ADecoderMakesItsCaches) {
  testing::shows_names("nnx.MultiHeadAttention.set_view");
  const Decoder model = decoder();
  Decoder reads = view(model, {.decode = true, .batch_size = 2, .max_length = 5});
  EXPECT_EQ(reads.first.cached_key->shape(), Shape({2, 5, 1, 3}));
  EXPECT_EQ(reads.second.cached_value->shape(), Shape({2, 5, 2, 3}));
  EXPECT_EQ(reads.second.cache_index->item<int>(), 0);
  EXPECT_FALSE(model.first.cached_key.has_value());
  const Array y = reads.first(numpy::ones({2, 1, 6}));
  EXPECT_EQ(y.shape(), Shape({2, 1, 6}));
  EXPECT_EQ(reads.first.cache_index->item<int>(), 1);
  // What there is stays, and several batch axes are possible.
  const Decoder same = view(reads, {.decode = true, .batch_size = 4, .max_length = 9});
  EXPECT_EQ(same.first.cached_key->shape(), Shape({2, 5, 1, 3}));
  EXPECT_EQ(same.first.cache_index->item<int>(), 1);
  const Decoder only = view(model, {.decode = true,
                                    .batch_size = Sizes{2, 3},
                                    .max_length = 5,
                                    .only = tree::path_contains("second")});
  EXPECT_EQ(only.second.cached_key->shape(), Shape({2, 3, 5, 2, 3}));
  EXPECT_FALSE(only.first.cached_key.has_value());
  EXPECT_THAT(message([&] { (void)view(model, {.decode = true, .batch_size = 2}); }),
              AllOf(HasSubstr("max_length"), HasSubstr("batch_size")));
  EXPECT_THAT(message([&] { (void)view(golden_linear(), {.batch_size = 2}); }),
              HasSubstr("batch_size"));
}

TEST_F(Views, InfoSaysWhatCanBeSet) {
  testing::shows_names("nnx.view_info");
  const Decoder model = decoder();
  EXPECT_EQ(view_info(model),
            "Dropout:\n"
            "  deterministic: bool or none\n"
            "MultiHeadAttention:\n"
            "  broadcast_dropout: bool\n"
            "  deterministic: bool or none\n"
            "  decode: bool or none\n"
            "  batch_size\n"
            "  max_length\n");
  EXPECT_EQ(view_info(model, tree::path_contains("drop")),
            "Dropout:\n  deterministic: bool or none\n");
}

TEST_F(Views, AttributesAreFieldsByName) {
  testing::shows_names("nnx.with_attributes nnx.Module.set_attributes");
  GoldenNet net = golden_net();
  const GoldenNet fixed = with_attributes(net, {{"deterministic", true}});
  EXPECT_TRUE(*fixed.blocks[1].drop.deterministic);
  EXPECT_FALSE(net.blocks[1].drop.deterministic.value_or(false));
  set_attributes(net, {{"deterministic", true}, {"use_running_average", true}},
                 {.only = tree::path_contains("drop"), .raise_if_not_found = false});
  EXPECT_TRUE(*net.blocks[0].drop.deterministic);
  EXPECT_FALSE(net.blocks[0].norm.use_running_average.value_or(false));
  struct Counts {
    Param w;
    std::int64_t groups = 1;
    STRATA_FIELDS(w, groups)
  };
  EXPECT_EQ(with_attributes(Counts{Array(1.0f)}, {{"groups", 4}}).groups, 4);
  EXPECT_THAT(message([&] { set_attributes(net, {{"determinstic", true}}); }),
              AllOf(HasSubstr("set_attributes"), HasSubstr("determinstic")));
}

TEST_F(Views, ModulesOfOnesOwnAreTold) {
  on_view<Loader>({"max_length"}, [](Loader& l, const ViewOptions& o) {
    if (o.max_length) l.length = *o.max_length;
  });
  EXPECT_EQ(view(Loader{Array(1.0f)}, {.max_length = 7}).length, 7);
}

}  // namespace
}  // namespace strata::nn
