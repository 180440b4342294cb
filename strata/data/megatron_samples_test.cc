// Beside megatron-core: testdata/megatron, written by tools/goldens/megatron_samples.py.
#include "strata/data/megatron_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;

const fs::path kData = fs::path(__FILE__).parent_path() / "testdata/megatron";

const json& golden() {
  static const json all = json::parse(std::ifstream(kData / "samples.json"));
  return all;
}

/// sum x[i] p^(n-1-i) mod 2^64, as the script has it.
template <class T>
void expect_shown(const json& want, const std::vector<T>& got) {
  ASSERT_EQ(want["count"].get<std::size_t>(), got.size());
  std::uint64_t hash = 0;
  for (T x : got) hash = hash * 1099511628211u + static_cast<std::uint64_t>(std::int64_t{x});
  EXPECT_EQ(want["hash"].get<std::string>(), std::to_string(hash));
  if (want.contains("values")) EXPECT_EQ(want["values"].get<std::vector<T>>(), got);
}

std::vector<std::int32_t> lengths_of(const json& c) {
  if (c["lengths"].is_array()) return c["lengths"].get<std::vector<std::int32_t>>();
  std::vector<std::int32_t> out;
  auto x = c["seed"].get<std::uint64_t>();
  for (int i = 0; i < c["documents_drawn"].get<int>(); ++i) {
    x = 6364136223846793005u * x + 1442695040888963407u;
    out.push_back(static_cast<std::int32_t>(1 + (x >> 33) % 997));
  }
  return out;
}

TEST(MegatronSamples, IndicesAreMegatrons) {
  std::int64_t most = 0;
  for (const json& c : golden()["indices"]) {
    SCOPED_TRACE(c.dump().substr(0, 100));
    const MegatronIndices got = megatron_indices(
        lengths_of(c), {.length = c["length"], .samples = c["samples"], .seed = c["seed"]});
    expect_shown(c["document"], got.documents);
    std::vector<std::int64_t> flat;
    for (const auto& [document, offset] : got.samples)
      flat.push_back(document), flat.push_back(offset);
    expect_shown(c["sample"], flat);
    expect_shown(c["shuffle"], got.shuffle);
    most = std::max(most, std::ssize(got.shuffle));
  }
  EXPECT_GE(most, 1000000);
}

TEST(MegatronSamples, BlendsAreMegatrons) {
  for (const json& c : golden()["blends"]) {
    SCOPED_TRACE(c["weights"].dump());
    const auto got = megatron_blend(c["weights"].get<std::vector<double>>(), c["size"]);
    expect_shown(c["source"], got.source);
    expect_shown(c["sample"], got.sample);
  }
  for (const json& c : golden()["exhaustive"]) {
    SCOPED_TRACE(c["sizes"].dump());
    const auto got = megatron_exhaustive_blend(c["sizes"].get<std::vector<std::int64_t>>());
    expect_shown(c["source"], got.source);
    expect_shown(c["sample"], got.sample);
  }
}

TEST(MegatronSamples, WindowsAreMegatrons) {
  constexpr std::int64_t kLength = 16;
  const auto open = [](const std::string& name, std::int64_t samples) {
    return MegatronSamples::open((kData / name).string(),
                                 {.length = kLength, .samples = samples, .seed = 1234})
        .value();
  };
  const auto window = [](const MegatronSamples& s, std::int64_t j, std::vector<std::int64_t>& out) {
    std::vector<std::int64_t> row(kLength + 1);
    s.window(j, row);
    out.insert(out.end(), row.begin(), row.end());
  };
  const json& cases = golden()["windows"];
  for (int i = 0; i < 2; ++i) {
    const MegatronSamples s = open(cases[i]["files"][0], cases[i]["samples"]);
    ASSERT_EQ(s.size(), cases[i]["size"].get<std::int64_t>());
    std::vector<std::int64_t> rows;
    for (std::int64_t j = 0; j < s.size(); ++j) window(s, j, rows);
    expect_shown(cases[i]["rows"], rows);
  }
  const auto blend = megatron_blend(cases[2]["weights"].get<std::vector<double>>(), 120);
  const MegatronSamples both[] = {open("a", cases[0]["samples"]), open("b", cases[1]["samples"])};
  std::vector<std::int64_t> rows;
  for (std::size_t k = 0; k < 120; ++k)
    window(both[static_cast<std::size_t>(blend.source[k])], blend.sample[k], rows);
  expect_shown(cases[2]["rows"], rows);
}

TEST(MegatronSamples, EveryTokenButTheFirstIsATargetOnceAnEpoch) {
  const auto s = MegatronSamples::open((kData / "a").string(), {.length = 16}).value();
  std::vector<std::pair<std::int64_t, std::int64_t>> targets;
  for (std::int64_t j = 0; j < s.size(); ++j) {
    std::int64_t place = 0;
    for (const auto& piece : s.pieces(j))
      for (std::int64_t i = 0; i < piece.count; ++i)
        if (place++ > 0) targets.emplace_back(piece.document, piece.begin + i);
  }
  EXPECT_EQ(std::ssize(targets), 16 * s.size());
  std::sort(targets.begin(), targets.end());
  EXPECT_EQ(std::unique(targets.begin(), targets.end()), targets.end());
}

TEST(MegatronSamples, NumpysShuffle) {
  NumpyRandomState random(1234);
  std::vector<std::int32_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
  random.shuffle(values);
  EXPECT_THAT(values, ElementsAre(2, 1, 6, 0, 4, 5, 3, 7));
}

TEST(MegatronSamples, SaysWhatDoesNotFit) {
  EXPECT_THROW((void)megatron_indices(std::vector<std::int32_t>{3}, {.length = 4}), Error);
  EXPECT_THROW((void)megatron_indices(std::vector<std::int32_t>{0}, {.length = 4}), Error);
  EXPECT_THROW((void)megatron_indices(std::vector<std::int32_t>{9}, {.length = 0}), Error);
  EXPECT_THROW((void)megatron_blend(std::vector<double>{0, 0}, 3), Error);
  EXPECT_THROW((void)megatron_blend(std::vector<double>{-1, 2}, 3), Error);
  EXPECT_EQ(MegatronSamples::open((kData / "a").string(), {.length = 5000}).status().code(),
            Code::invalid);
  EXPECT_EQ(megatron_blend_samples(120, 0.65), 79);
}

}  // namespace
}  // namespace strata::data
