// The trainer's dataset as a graph of pipeline nodes: beside a plain twin, beside megatron-core
// (testdata/megatron), with weights that change, and audited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "strata/base/error.h"
#include "strata/data/dataset.h"
#include "strata/data/format/megatron.h"
#include "strata/data/mix.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/data/row.h"
#include "strata/data/shuffle.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string bits(const Literal& x) { return {reinterpret_cast<const char*>(x.data()), x.bytes()}; }

class DatasetGraph : public testing::Test {
 protected:
  DatasetGraph() {
    std::string name = testing::TempDir() + "graph_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    for (int f = 0; f < 3; ++f) {
      std::string text;
      for (int i = 0; i < 900 + 350 * f; ++i)
        text.push_back(static_cast<char>('a' + (i * i * (f + 1) + i / 7) % 26));
      std::ofstream(path(f), std::ios::binary) << text;
    }
  }
  ~DatasetGraph() override { fs::remove_all(folder_); }
  std::string path(int f) const { return folder_ + "/" + std::string(1, "abc"[f]) + ".txt"; }
  DatasetOptions options(const std::string& files) const {
    return {.train_files = {files},
            .eval_fraction = 0,
            .batch = 3,
            .length = 10,
            .seed = 5,
            .cache_folder = ""};
  }
  DatasetOptions blend() const {
    return options(path(0) + ",0.7;" + path(1) + ",0.3;" + path(2) + ",0.05");
  }
  std::string folder_;
};

/// What a step reads by the rules alone, one window after the other: the graph's slow twin.
struct Plain {
  std::vector<Row> rows;
  Mix mix;
  DatasetOptions o;

  explicit Plain(const DatasetOptions& options)
      : mix(Mix::make(weights(options)).value()), o(options) {
    for (const Source& s : parse_sources(o.train_files).value())
      rows.push_back(Row::read(s, *o.tokenizer, {.column = o.column, .cache_folder = ""}).value());
  }
  static std::vector<double> weights(const DatasetOptions& o) {
    std::vector<double> out;
    for (const Source& s : parse_sources(o.train_files).value()) out.push_back(s.weight);
    return out;
  }
  void expect_batch(std::int64_t step, const Batch& got) const {
    const bool disjoint = o.window_mode == WindowMode::disjoint;
    for (std::int64_t b = 0; b < o.batch; ++b) {
      const Mix::Pick pick = mix.at(step * o.batch + b);
      const Row& row = rows[pick.source];
      const std::int64_t windows = disjoint ? row.size() / o.length : (row.size() - 1) / o.length;
      const std::uint32_t seed = o.seed + 0x9e3779b9u * static_cast<std::uint32_t>(pick.source) +
                                 static_cast<std::uint32_t>(pick.index / windows);
      const auto window =
          static_cast<std::int64_t>(permute(static_cast<std::uint64_t>(pick.index % windows),
                                            static_cast<std::uint64_t>(windows), seed));
      std::vector<std::int32_t> seen(static_cast<std::size_t>(o.length + (disjoint ? 0 : 1)));
      row.copy(window * o.length, seen);
      seen.resize(static_cast<std::size_t>(o.length + 1));
      for (std::int64_t i = 0; i < o.length; ++i) {
        const auto at = static_cast<std::size_t>(b * o.length + i);
        ASSERT_EQ(got.tokens.span<std::int32_t>()[at], seen[static_cast<std::size_t>(i)]);
        ASSERT_EQ(got.targets.span<std::int32_t>()[at], seen[static_cast<std::size_t>(i + 1)]);
        if (disjoint) {
          ASSERT_EQ(got.weights->span<float>()[at], i + 1 < o.length ? 1 : 0);
        }
      }
    }
    EXPECT_EQ(got.total_weights, o.batch * (o.length - (disjoint ? 1 : 0)));
    EXPECT_EQ(got.weights.has_value(), disjoint);
  }
};

TEST_F(DatasetGraph, EqualsThePlainTwin) {
  for (const WindowMode mode : {WindowMode::overlapping, WindowMode::disjoint}) {
    auto o = blend();
    o.window_mode = mode;
    const Plain plain(o);
    const auto data = Dataset::open(o).value();
    for (std::int64_t step = 0; step < 300; ++step) plain.expect_batch(step, data.batch(step));
    plain.expect_batch(123456789, data.batch(123456789));
  }
}

TEST_F(DatasetGraph, IteratorsGoOnFromAnyStepOnAnyThreads) {
  const auto data = Dataset::open(blend()).value();
  for (const int threads : {0, 1, 3, 8}) {
    const IterDataset batches =
        data.graph().to_iter_dataset({.num_threads = threads, .prefetch_buffer_size = 5});
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{77}, std::int64_t{1} << 40}) {
      DatasetIterator it = batches.iterate();
      it.set_next_index(step);
      DatasetIterator again = batches.iterate();
      ASSERT_TRUE(again.set_state(it.state()).ok());
      for (std::int64_t i = 0; i < 20; ++i) {
        Element e, f;
        ASSERT_TRUE(it.next(e).value() && again.next(f).value());
        EXPECT_TRUE(e.at("tokens").array().same_bits(data.batch(step + i).tokens));
        EXPECT_TRUE(e == f);
      }
    }
  }
}

/// Steps are dealt to hosts, each reads with workers of its own, iterators are lost and restored:
/// in every whole epoch each window of each source comes once.
TEST_F(DatasetGraph, NothingTwiceNothingLost) {
  auto o = blend();
  o.weight_stages = {{.step = 40, .weights = {1, 1, 2}}, {.step = 90, .weights = {0, 3, 1}}};
  const auto data = Dataset::open(o).value();
  constexpr std::int64_t kSteps = 240;
  std::map<std::string, int> want;  // windows by their tokens
  for (std::int64_t step = 0; step < kSteps; ++step) ++want[bits(data.batch(step).tokens)];
  std::map<std::pair<std::size_t, std::int64_t>, std::map<std::int64_t, int>> epochs;
  for (std::int64_t k = 0; k < kSteps * o.batch; ++k) {
    const ElementPlace e = data.element(k);
    const int times = ++epochs[{e.source, e.epoch}][e.window];
    EXPECT_EQ(times, 1);
  }
  for (const auto& [epoch, windows] : epochs)
    if (epochs.contains({epoch.first, epoch.second + 1})) {
      EXPECT_EQ(std::ssize(windows), data.sources()[epoch.first].windows);
    }
  std::mt19937 random(3);
  for (int hosts = 1; hosts <= 4; ++hosts)
    for (int workers = 1; workers <= 8; ++workers) {
      std::map<std::string, int> seen;
      for (int host = 0; host < hosts; ++host) {
        const IterDataset part = data.graph()
                                     .slice(host, kSteps, hosts)
                                     .to_iter_dataset({.num_threads = 2, .prefetch_buffer_size = 4})
                                     .mp_prefetch({.num_workers = workers});
        auto it = std::make_unique<DatasetIterator>(part.iterate());
        std::string saved = it->state();
        std::vector<std::string> since;
        const auto keep = [&] {
          for (const std::string& s : since) ++seen[s];
          since.clear();
        };
        for (Element e;;) {
          if (random() % 9 == 0) {
            it = std::make_unique<DatasetIterator>(part.iterate());
            ASSERT_TRUE(it->set_state(saved).ok());
            since.clear();
          }
          if (!it->next(e).value()) break;
          since.push_back(bits(e.at("tokens").array()));
          if (random() % 3 > 0) continue;
          saved = it->state();
          keep();
        }
        keep();
      }
      EXPECT_TRUE(seen == want) << hosts << " hosts, " << workers << " workers";
    }
}

TEST_F(DatasetGraph, WeightsChangeAtTheirStepAndSourcesGoOn) {
  auto o = options(path(0) + ",3;" + path(1));
  o.batch = 4;
  o.weight_stages = {{.step = 10, .weights = {1, 1}}, {.step = 20, .weights = {0, 1}}};
  const auto data = Dataset::open(o).value();
  std::vector<std::int64_t> read(2);
  for (std::int64_t step = 0; step < 30; ++step) {
    std::vector<std::int64_t> of(2);
    for (std::size_t s : {0, 1}) EXPECT_EQ(data.position(s, step).elements, read[s]);
    for (std::int64_t b = 0; b < 4; ++b) {
      const ElementPlace e = data.element(step * 4 + b);
      EXPECT_EQ(e.epoch, read[e.source] / data.sources()[e.source].windows);
      ++read[e.source], ++of[e.source];
    }
    const std::vector<std::int64_t> want = step < 10   ? std::vector<std::int64_t>{3, 1}
                                           : step < 20 ? std::vector<std::int64_t>{2, 2}
                                                       : std::vector<std::int64_t>{0, 4};
    EXPECT_EQ(of, want) << step;
  }
  // A piece that begins later than the checkpoint is no other data.
  auto before = o;
  before.weight_stages.pop_back();
  const auto then = Dataset::open(before).value();
  EXPECT_EQ(data.check_state(then.state(20)), "");
  EXPECT_THAT(data.check_state(then.state(21)), HasSubstr("train_files_weights is"));
  for (std::int64_t step = 0; step < 20; ++step)
    EXPECT_TRUE(data.batch(step).tokens.same_bits(then.batch(step).tokens));
  o.weight_stages = {{.step = 3, .weights = {1}}};
  EXPECT_THAT(Dataset::open(o).status().message(), HasSubstr("step 3 has 1 weights"));
  o.weight_stages = {{.step = 3, .weights = {0, 0}}};
  EXPECT_THAT(Dataset::open(o).status().message(), HasSubstr("sum to 0"));
}

TEST(WeightStages, AreReadFromText) {
  const auto stages = parse_weight_stages({"0: 0.7, 0.3; 100: 1,1", "2000:0,1"}).value();
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[2].step, 2000);
  EXPECT_THAT(stages[0].weights, ElementsAre(0.7, 0.3));
  for (const char* text : {"0.7", "x: 1", "-1: 1", "1.5: 1", "1: a", "5: 1; 5: 2"})
    EXPECT_EQ(parse_weight_stages({text}).status().code(), Code::invalid) << text;
}

const fs::path kMegatron = fs::path(__FILE__).parent_path() / "testdata/megatron";

/// Tokens that stand for two bytes each.
class Pairs : public tokenizer::ByteTokenizer {
 public:
  std::int64_t vocab_size() const override { return 65536; }
  std::string bytes(std::int32_t) const override { return "ab"; }
};

DatasetOptions megatron(const nlohmann::json& c) {
  DatasetOptions o{.tokenizer = std::make_shared<Pairs>(),
                   .eval_fraction = 0,
                   .batch = 1,
                   .length = 16,
                   .order = DataOrder::megatron,
                   .samples = c["samples"],
                   .seed = 1234,
                   .cache_folder = ""};
  for (std::size_t i = 0; i < c["files"].size(); ++i)
    o.train_files.push_back(
        (kMegatron / (c["files"][i].get<std::string>() + ".bin")).string() +
        (c.contains("weights") ? fmt::format(",{}", c["weights"][i].get<double>()) : ""));
  if (c.contains("split")) {
    const auto split = c["split"].get<std::vector<double>>();
    o.eval_fraction = split[1] / (split[0] + split[1]);
  }
  return o;
}

/// Through the trainer's dataset: what BlendedMegatronDatasetBuilder gives for files, weights,
/// split, seed and number of samples.
TEST(MegatronOrder, IsThatOfMegatronsBuilder) {
  const auto golden = nlohmann::json::parse(std::ifstream(kMegatron / "samples.json"));
  int cases = 0;
  for (const auto& c : golden["windows"]) {
    if (!c.contains("split") && c["files"].size() > 1)
      continue;  // of sizes that no builder asks for
    SCOPED_TRACE(c["files"].dump());
    const auto data = Dataset::open(megatron(c)).value();
    const std::int64_t rows = c["rows"]["count"].get<std::int64_t>() / 17;
    std::uint64_t hash = 0;
    for (std::int64_t k = 0; k < rows; ++k) {
      const Batch b = data.batch(k);
      std::vector<std::int32_t> row(b.tokens.span<std::int32_t>().begin(),
                                    b.tokens.span<std::int32_t>().end());
      row.push_back(b.targets.span<std::int32_t>()[15]);
      for (std::int32_t t : row) hash = hash * 1099511628211u + static_cast<std::uint64_t>(t);
      if (k < 2) {
        EXPECT_EQ(row, c["first"][static_cast<std::size_t>(k)].get<std::vector<std::int32_t>>());
      }
    }
    EXPECT_EQ(c["rows"]["hash"], std::to_string(hash));
    ++cases;
  }
  EXPECT_EQ(cases, 5);
}

TEST(MegatronOrder, SaysWhereEveryTokenIsFrom) {
  auto o = megatron({{"files", {"a", "b"}}, {"weights", {3, 1}}, {"samples", 120}});
  o.batch = 3;
  const auto data = Dataset::open(o).value();
  std::vector<std::int64_t> read(2);
  for (std::int64_t step = 0; step < 40; ++step) {
    const Batch batch = data.batch(step);
    for (std::size_t s : {0, 1}) EXPECT_EQ(data.position(s, step).elements, read[s]);
    for (std::int64_t b = 0; b < 3; ++b) {
      ++read[data.element(step * 3 + b).source];
      std::int64_t at = 0;
      for (const TokenPlace& p : data.where(step * 3 + b)) {
        EXPECT_EQ(p.first, at);
        ASSERT_EQ(std::ssize(p.bytes), p.count + 1);
        const MegatronFile file = MegatronFile::open(p.file).value();
        std::vector<std::int64_t> tokens(static_cast<std::size_t>(p.count));
        file.copy(p.record, p.token, tokens);
        for (std::int64_t i = 0; i < std::min(p.count, 16 - at); ++i)
          EXPECT_EQ(batch.tokens.span<std::int32_t>()[static_cast<std::size_t>(b * 16 + at + i)],
                    tokens[static_cast<std::size_t>(i)]);
        at += p.count;
      }
      EXPECT_EQ(at, 17);
    }
  }
  EXPECT_THROW((void)data.element(120), Error);
  o.samples = 117;
  EXPECT_THAT(Dataset::open(o)->check_state(data.state(3)), HasSubstr("samples is 117"));
}

TEST(MegatronOrder, SaysWhatDoesNotFit) {
  auto o = megatron({{"files", {"a", "b"}}, {"samples", 0}});
  EXPECT_THAT(Dataset::open(o).status().message(), HasSubstr("needs to know"));
  o.samples = 20;
  o.window_mode = WindowMode::disjoint;
  EXPECT_THAT(Dataset::open(o).status().message(), HasSubstr("window_mode=disjoint needs"));
  o.window_mode = WindowMode::overlapping;
  o.weight_stages = {{.step = 1, .weights = {1, 2}}};
  EXPECT_THAT(Dataset::open(o).status().message(), HasSubstr("same weights at all steps"));
  o.weight_stages.clear();
  o.tokenizer = std::make_shared<tokenizer::ByteTokenizer>();
  EXPECT_THAT([&] { (void)Dataset::open(o)->batch(0); },
              testing::ThrowsMessage<Error>(HasSubstr("the tokenizer (byte) has 256")));
}

/// Windows that share no token are MaxText's (tools/goldens/maxtext_windows.py); its last one, of
/// what is left over and padding, is none here.
TEST(MaxTextOrder, DisjointWindowsAreMaxTexts) {
  const auto golden =
      nlohmann::json::parse(std::ifstream(kMegatron / "maxtext_windows.json"))["files"];
  for (const auto& [name, rows] : golden.items()) {
    auto o = megatron({{"files", {name}}, {"samples", 0}});
    o.order = DataOrder::native;
    o.window_mode = WindowMode::disjoint;
    const auto data = Dataset::open(o).value();
    const std::int64_t windows = data.sources()[0].windows;
    ASSERT_EQ(windows + 1, std::ssize(rows));
    EXPECT_LT(rows.back()["filled"].get<std::int64_t>(), o.length);
    std::set<std::int64_t> seen;
    for (std::int64_t k = 0; k < windows; ++k) {
      const std::int64_t at = data.element(k).token / o.length;
      seen.insert(at);
      const auto& want = rows[static_cast<std::size_t>(at)];
      const Batch got = data.batch(k);
      const auto tokens = got.tokens.span<std::int32_t>(),
                 targets = got.targets.span<std::int32_t>();
      EXPECT_EQ(std::vector(tokens.begin(), tokens.end()),
                want["inputs"].get<std::vector<std::int32_t>>());
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        EXPECT_EQ(got.weights->span<float>()[i], want["counts"][i].get<float>()) << k << " " << i;
        if (want["counts"][i] == 1) EXPECT_EQ(targets[i], want["targets"][i].get<std::int32_t>());
      }
    }
    EXPECT_EQ(std::ssize(seen), windows);
  }
}

TEST_F(DatasetGraph, WithoutShufflingWindowsComeAsTheyStand) {
  DatasetOptions o = options(path(0));
  o.shuffle = false;
  const Dataset data = *Dataset::open(o);
  const std::int64_t windows = data.sources()[0].windows;
  for (std::int64_t step = 0; step <= windows; ++step) {
    const Batch batch = data.batch(step);
    for (std::int64_t b = 0; b < 3; ++b) {
      const std::int64_t k = 3 * step + b;
      EXPECT_EQ(data.element(k).window, k % windows);
      EXPECT_EQ(data.element(k).epoch, k / windows);
      std::vector<std::int32_t> window(10);
      data.copy(0, 10 * (k % windows), window);
      EXPECT_TRUE(std::equal(window.begin(), window.end(),
                             batch.tokens.span<std::int32_t>().begin() + 10 * b));
    }
  }
  EXPECT_THAT(Dataset::open(options(path(0)))->check_state(data.state(4)),
              HasSubstr("shuffle is null (the checkpoint has false)"));
}

TEST_F(DatasetGraph, AReusedBatchIsTheFirst) {
  DatasetOptions o = blend();
  const std::string first = bits(Dataset::open(o)->batch(0).tokens);
  o.reuse_batch = true;
  const Dataset data = *Dataset::open(o);
  for (std::int64_t step : {0, 1, 77}) EXPECT_EQ(bits(data.batch(step).tokens), first);
}

TEST_F(DatasetGraph, ADatasetOfEvaluationAloneIsReadWhole) {
  DatasetOptions o = options(path(0) + ";" + path(1));
  o.eval_fraction = 1;
  o.eval_batch = 7;
  const Dataset data = *Dataset::open(o);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(data.sources()[s].train_tokens, 0);
    std::int64_t targets = 0;
    for (std::int64_t i = 0; i < data.eval_batches(s); ++i) {
      const Batch batch = data.eval_batch(s, i);
      EXPECT_EQ(batch.tokens.type().shape().sizes()[0], 7);
      targets += batch.total_weights;
    }
    EXPECT_EQ(targets, data.sources()[s].tokens - 1);
  }
}

}  // namespace
}  // namespace strata::data
