// Streams beside Flax's: calls, forks, splits, broadcasts, of Rngs and of whole modules; stacks.
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/random/sampler.h"
#include "strata/nn/random/streams.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

template <class T>
void expect_streams(T& node, const json& want, const std::string& what) {
  const std::vector<StreamAt> got = streams_of(node);
  ASSERT_EQ(got.size(), want.size()) << what;
  std::size_t i = 0;
  for (const auto& [path, stream] : want.items()) {
    EXPECT_EQ(got[i].name(), path) << what;
    EXPECT_EQ(got[i].stream->tag(), stream["tag"].get<std::string>()) << what << ", " << path;
    expect_near(got[i].stream->key, stream["key"], {}, what + ", key of " + path);
    expect_near(got[i].stream->count, stream["count"], {}, what + ", count of " + path);
    ++i;
  }
}

tree::Filter filter_of(const json& f) {
  if (f == "...") return everything();
  if (f.is_string()) return tag(f);
  if (f["of"] == "RngKey") return of<RngKey>();
  if (f["of"] == "RngState") return of<RngState>();
  throw std::runtime_error("no such filter");
}
Sizes sizes_of(const json& k) {
  return k.is_array() ? Sizes(k.get<std::vector<std::int64_t>>()) : Sizes(k.get<std::int64_t>());
}
std::vector<StreamRule> rules_of(const json& step, const char* name = "splits") {
  std::vector<StreamRule> out;
  if (!step.contains(name)) return out;
  for (const json& rule : step[name])
    out.push_back(
        {filter_of(rule[0]), rule[1].is_null() ? std::optional<Sizes>() : sizes_of(rule[1])});
  return out;
}

/// The streams that a case begins with.
Rngs rngs_of(const json& made) {
  std::vector<std::pair<std::string, RngStream>> streams;
  for (const auto& [name, seed] : made["rngs"].items()) {
    if (seed.is_number())
      streams.emplace_back(name, RngStream(seed.get<std::int64_t>(), name));
    else if (seed.contains("key"))
      streams.emplace_back(name,
                           RngStream(random::key(Array(seed["key"].get<std::int64_t>())), name));
    else
      streams.emplace_back(
          name, RngStream(random::PRNGKey(Array(seed["words of key"].get<std::int64_t>())), name));
  }
  return Rngs(std::move(streams));
}

/// Nearness of a sampler's results: bits where they are uniform or integers.
Nearness nearness(const std::string& done) {
  if (done.find("normal") != std::string::npos) return {.relative_l2 = 1e-6};
  return {.ulp = 0};
}

/// A step on streams. `made` are the streams of earlier steps by number.
void step_on_rngs(Rngs& rngs, const json& step, std::map<std::size_t, RngStream>& made,
                  std::size_t number) {
  const std::string done = step["do"];
  const std::string name = step.value("stream", "");
  const std::string from = name.empty() ? "default" : name;
  const auto sample = [&] { return rngs.sample(from); };
  const auto shape = [&] { return sizes_of(step["shape"]); };
  Array result;
  if (done == "call") {
    const random::Key key = name.empty() ? rngs() : rngs(name);
    result = key;
  } else if (done == "call_made") {
    result = made.at(step["of"])();
  } else if (done == "normal") {
    result = sample().normal(shape());
  } else if (done == "uniform") {
    result = sample().uniform(shape());
  } else if (done == "randint") {
    result = sample().randint(shape(), step["low"].get<int>(), step["high"].get<int>());
  } else if (done == "bernoulli") {
    result = sample().bernoulli(step["p"].get<float>(), shape());
  } else if (done == "lecun_normal") {
    result = sample().lecun_normal()(shape());
  } else if (done == "he_uniform") {
    result = sample().he_uniform()(shape());
  } else if (done == "permutation") {
    result = sample().permutation(step["n"].get<int>());
  } else if (!name.empty()) {  // of one stream
    RngStream& stream = rngs[name];
    RngStream out = done == "fork"        ? stream.fork()
                    : done == "broadcast" ? stream.broadcast(sizes_of(step["k"]))
                                          : stream.split(sizes_of(step["k"]));
    expect_streams(out, step["made"], "made");
    made[number] = out;
  } else {  // of all
    const std::vector<StreamRule> rules = rules_of(step);
    Rngs out = done == "fork" || done == "fork_split" ? rngs.fork(rules)
               : done == "split"                      ? rngs.split(rules)
                                                      : rngs.broadcast(rules);
    expect_streams(out, step["made"], "made");
  }
  if (step.contains("result")) {
    ASSERT_TRUE(result.has_value()) << done;
    expect_near(result, step["result"], nearness(done), done);
  }
}

template <class T>
void step_on_model(T& model, const json& step) {
  const std::string done = step["do"];
  const auto check = [&](T out) { expect_streams(out, step["made"], "made"); };
  if (done == "split_rngs") {
    check(split_rngs(model, {.splits = sizes_of(step["splits"]),
                             .only = filter_of(step["only"]),
                             .squeeze = step["squeeze"]}));
  } else if (done == "fork_rngs") {
    check(step.contains("splits") ? fork_rngs(model, rules_of(step)) : fork_rngs(model));
  } else if (done == "with_rngs") {
    WithRngsOptions o{.split = rules_of(step, "split"), .broadcast = rules_of(step, "broadcast")};
    for (const json& f : step.value("fork", json::array())) o.fork.push_back(filter_of(f));
    if (step.contains("only")) o.only = filter_of(step["only"]);
    check(with_rngs(model, o));
  } else if (done == "reseed") {
    std::vector<std::pair<std::string, RngStream>> seeds;
    for (const auto& [name, seed] : step["seeds"].items())
      seeds.emplace_back(name, RngStream(seed.template get<std::int64_t>(), name));
    reseed(model, Rngs(std::move(seeds)),
           step.contains("policy") ? ReseedPolicy::match_shape() : ReseedPolicy::scalars_only());
  } else if (done == "call") {
    if constexpr (std::is_invocable_v<T&, const Array&>) (void)model(golden_array(step["input"]));
  } else {
    FAIL() << "no such step: " << done;
  }
}

TEST(NnxStreams, AreFlaxs) {
  testing::shows_names(
      "nnx.Rngs nnx.RngStream nnx.Rngs.__call__ nnx.Rngs.fork nnx.Rngs.split nnx.Rngs.broadcast "
      "nnx.Rngs.items nnx.RngStream.__call__ nnx.RngStream.fork nnx.RngStream.split "
      "nnx.RngStream.broadcast nnx.split_rngs nnx.fork_rngs nnx.with_rngs nnx.reseed");
  NnxGolden golden("rngs");
  for (const json& c : golden.cases()) {
    SCOPED_TRACE(c["name"].get<std::string>());
    if (c.contains("stack")) continue;  // the next test
    if (c["made"].contains("rngs")) {
      Rngs rngs = rngs_of(c["made"]);
      expect_streams(rngs, c["start"], "start");
      std::map<std::size_t, RngStream> made;
      std::size_t number = 0;
      for (const json& step : c["steps"]) {
        SCOPED_TRACE(fmt::format("step {} ({})", number, step["do"].get<std::string>()));
        step_on_rngs(rngs, step, made, number++);
        expect_streams(rngs, step["streams"], "streams");
      }
      continue;
    }
    const std::string text = c["made"]["model"];
    with_golden_model(text, [&](auto& model) {
      if (text.ends_with("by split_rngs in 3"))
        model = split_rngs(model, {.splits = 3, .only = tag("dropout")});
      expect_streams(model, c["start"], "start");
      for (const json& step : c["steps"]) {
        step_on_model(model, step);
        expect_streams(model, step["streams"], "streams behind " + step["do"].get<std::string>());
      }
    });
  }
}

/// A model whose call takes keys and changes state beside them.
struct Noisy {
  Param w = Array(1.0f);
  BatchStat calls = numpy::zeros({}, DType::i32);
  RngStream noise = RngStream(3, "noise"), other = RngStream(4, "other");
  STRATA_FIELDS(w, calls, noise, other)
  Array operator()(const Array& x) {
    calls = calls + 1;
    return w * x + random::uniform(noise(), {}) + 0.0f * random::uniform(other(), {});
  }
};

TEST(NnxStreams, AreSplitForAFunction) {
  compile::register_cpu();
  Noisy model, beside;
  const auto call = [](Noisy& m, const Array& x) { return m(x); };
  const Array x = numpy::ones({4});
  auto each = split_rngs({.splits = 4, .only = tag("noise")}, [&](Noisy& m, const Array& v) {
    // Streams have an axis, what is not split has none.
    EXPECT_EQ(m.noise.count.shape(), Shape({4}));
    EXPECT_EQ(m.other.count.shape(), Shape({}));
    std::vector<Array> out;
    for (std::int64_t i = 0; i < 4; ++i) {
      Noisy one = m;
      one.noise = RngStream(random::Key(m.noise.key)[{i}], "noise");
      out.push_back(call(one, v[i]));
      m.calls = one.calls;
      m.other = one.other;
    }
    return numpy::stack(out);
  });
  const Array y = each(model, x);
  EXPECT_EQ(model.calls.item<int>(), 4);
  // A split stream advances by the call that split it; another as the function left it.
  EXPECT_EQ(model.noise.count.item<int>(), 1);
  EXPECT_EQ(model.noise.key.to_vector<std::uint32_t>(),
            beside.noise.key.to_vector<std::uint32_t>());
  EXPECT_EQ(model.other.count.item<int>(), 4);
  const RngStream parts = beside.noise.split(4);
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(y[i].item<float>(),
              (1.0f + random::uniform(random::Key(RngStream(random::Key(parts.key)[{i}])()), {}))
                  .item<float>());
  // Constant arguments, and the other decorators.
  const Noisy fixed;
  auto forked = fork_rngs({{tag("noise"), {}}}, [](const Noisy& m) { return Array(m.noise.key); });
  EXPECT_NE(forked(fixed).to_vector<std::uint32_t>(), fixed.noise.key.to_vector<std::uint32_t>());
  EXPECT_EQ(fixed.noise.count.item<int>(), 0);
  auto shared = with_rngs({.broadcast = {{tag("noise"), 3}}},
                          [](Noisy& m) { EXPECT_EQ(m.noise.count.shape(), Shape({3})); });
  shared(model);
  EXPECT_EQ(model.noise.count.item<int>(), 2);
}

TEST(NnxStreams, StacksAreFlaxs) {
  NnxGolden golden("rngs");
  std::size_t stacks = 0;
  for (const json& c : golden.cases()) {
    if (!c.contains("stack")) continue;
    ++stacks;
    SCOPED_TRACE(c["name"].get<std::string>());
    Rngs rngs = rngs_of(c["made"]);
    for (int i = 0; i < c["made"]["calls of params before"].get<int>(); ++i) (void)rngs("params");
    expect_streams(rngs, c["start"], "start");
    Rngs parts = split_rngs(rngs, {.splits = 3});
    expect_streams(parts, c["steps"][0]["made"], "made");
    expect_streams(rngs, c["steps"][0]["streams"], "streams");
    const auto make = [](Rngs& r) { return Linear(2, 3, r); };
    const Linear stack = nn::vmap(make)(parts);
    expect_leaves(tree::of(stack), c["stack"], {.relative_l2 = 1e-6}, "stack");
    expect_streams(parts, c["streams_after"], "streams behind vmap");
    // Layer by layer the same.
    Rngs again = rngs_of(c["made"]);
    for (int i = 0; i < c["made"]["calls of params before"].get<int>(); ++i) (void)again("params");
    again = split_rngs(again, {.splits = 3});
    for (std::int64_t i = 0; i < 3; ++i) {
      std::vector<std::pair<std::string, RngStream>> one;
      for (const auto& [name, stream] : again.streams())
        one.emplace_back(name, RngStream(random::Key(stream.key)[{i}], name));
      Rngs of_one(std::move(one));
      const Linear layer = make(of_one);
      expect_leaves(tree::of(layer), c["loop"][static_cast<std::size_t>(i)], {.relative_l2 = 1e-6},
                    fmt::format("layer {}", i));
      EXPECT_EQ(layer.kernel.to_vector<float>(), stack.kernel[i].to_vector<float>());
    }
  }
  EXPECT_EQ(stacks, 2u);
}

}  // namespace
}  // namespace strata::nn
