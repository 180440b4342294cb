// Devices of several processes that meet: each collective gives the bits that it gives where all
// devices are of one process. The processes are threads here, and what is between them a table.
#include "strata/op/collective/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "strata/op/collective/collective_target.h"
#include "strata/op/collective/lockstep.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;
using ir::Ints;

/// What processes have sent each other.
struct Post {
  std::mutex mutex;
  std::condition_variable changed;
  struct Key {
    int from, to;
    std::vector<int> group;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<std::pair<std::string, Bytes>>> sent;
  std::string failed;
  std::atomic<std::size_t> bytes = 0;
};

class PostPeers final : public Peers {
 public:
  PostPeers(Post& post, int process, int per_process)
      : post_(post), process_(process), per_process_(per_process) {}
  int process_of(int device) const override { return device / per_process_; }
  int process() const override { return process_; }
  Status exchange(const std::vector<int>& group, const std::string& what,
                  const std::vector<Parcel>& out, std::vector<Parcel>& in) override {
    std::unique_lock lock(post_.mutex);
    for (const Parcel& p : out) {
      post_.sent[{process_, p.process, group}].emplace_back(what, Bytes(p.data, p.data + p.bytes));
      post_.bytes += p.bytes;
    }
    post_.changed.notify_all();
    for (Parcel& p : in) {
      auto& box = post_.sent[{p.process, process_, group}];
      post_.changed.wait(lock, [&] { return !box.empty() || !post_.failed.empty(); });
      if (box.empty()) return Status(Code::cancelled, post_.failed);
      if (box[0].first != what || box[0].second.size() != p.bytes)
        return Status(Code::invalid, "process {} is in {} of {} bytes, not in {} of {}", p.process,
                      box[0].first, box[0].second.size(), what, p.bytes);
      p.owned.reset(new std::byte[p.bytes]);
      p.data = p.owned.get();
      std::copy(box[0].second.begin(), box[0].second.end(), p.data);
      box.erase(box.begin());
    }
    return Status();
  }
  void ended() override {}
  void failed(const Status& why) override {
    std::lock_guard lock(post_.mutex);
    post_.failed = why.message();
    post_.changed.notify_all();
  }

 private:
  Post& post_;
  const int process_, per_process_;
};

constexpr int kDevices = 8;

/// The results of a call on eight devices in so many processes, one behind the other; with what was
/// moved between processes.
std::pair<std::vector<Bytes>, std::size_t> run(const foreign::Call& call, int processes,
                                               int times = 3) {
  Result<foreign::Bound> bound = bind_collective(call);
  if (!bound) throw Error("test", "{}", bound.status().message());
  Post post;
  std::vector<std::unique_ptr<Lockstep>> runs;
  const int each = kDevices / processes;
  for (int p = 0; p < processes; ++p)
    runs.push_back(std::make_unique<Lockstep>(
        1, kDevices, processes == 1 ? nullptr : std::make_shared<PostPeers>(post, p, each)));
  std::vector<Bytes> out(kDevices);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int d = 0; d < kDevices; ++d)
    threads.emplace_back([&, d] {
      Lockstep& here = *runs[static_cast<std::size_t>(d / each)];
      WithParticipant as({&here, d});
      for (int t = 0; t < times; ++t) {
        std::mt19937 random(static_cast<unsigned>(100 * t + d));
        std::vector<Bytes> memory;
        std::vector<void*> in, to;
        for (const Type& type : call.operands) {
          memory.emplace_back(type.bytes());
          auto* x = reinterpret_cast<float*>(memory.back().data());
          auto* n = reinterpret_cast<std::int64_t*>(memory.back().data());
          for (std::int64_t i = 0; i < type.shape().count(); ++i)
            if (type.dtype() == DType::f32)
              x[i] = static_cast<float>(random() % 1000) / 7.f;
            else
              n[i] = memory.size() == 4 ? 1 : memory.size() == 3 ? i : d;  // of ragged_all_to_all
        }
        for (Bytes& m : memory) in.push_back(m.data());
        std::vector<Bytes> results;
        for (const Type& type : call.results) results.emplace_back(type.bytes());
        for (Bytes& m : results) to.push_back(m.data());
        const Status s = (*bound)({in, to}, nullptr);
        wrong += !s.ok();
        for (const Bytes& r : results)
          out[static_cast<std::size_t>(d)].insert(out[static_cast<std::size_t>(d)].end(), r.begin(),
                                                  r.end());
      }
      here.end(d);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  return {out, post.bytes};
}

Type f32(std::vector<std::int64_t> sizes) { return Type(DType::f32, Shape::of(sizes)); }
Type i64(std::vector<std::int64_t> sizes) { return Type(DType::i64, Shape::of(sizes)); }

foreign::Call call(const std::string& operation, const Ints& groups, Attrs attrs,
                   std::vector<Type> operands, std::vector<Type> results) {
  attrs.set("operation", operation).set("channel", std::int64_t{1}).set("groups", groups);
  std::vector<int> aliases(results.size(), -1);
  return {"strata.collective", std::move(attrs), std::move(operands), std::move(results),
          std::move(aliases)};
}

const Ints kAll{0, 1, 2, 3, 4, 5, 6, 7, -1}, kPairs{0, 4, -1, 1, 5, -1, 2, 6, -1, 3, 7, -1},
    kMixed{7, 0, 3, 4, -1, 1, 2, 5, 6, -1};

struct Case {
  const char* name;
  foreign::Call made;
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Ints& groups : {kAll, kPairs, kMixed}) {
    const std::int64_t n = std::find(groups.begin(), groups.end(), -1) - groups.begin();
    const Attrs add{{"combiner", std::string("add")}};
    out.push_back({"small sum", call("all_reduce", groups, add, {f32({5}), f32({2, 3})},
                                     {f32({5}), f32({2, 3})})});
    out.push_back({"large sum", call("all_reduce", groups, add, {f32({50, 111}), f32({3})},
                                     {f32({50, 111}), f32({3})})});
    out.push_back({"gather", call("all_gather", groups, {{"dim", std::int64_t{1}}},
                                  {f32({3, 2, 5})}, {f32({3, 2 * n, 5})})});
    for (std::int64_t split : {0, 2})
      out.push_back(
          {"all to all",
           call("all_to_all", groups, {{"split", split}, {"concat", std::int64_t{1}}},
                {f32({8, 2, 8})}, {split == 0 ? f32({8 / n, 2 * n, 8}) : f32({8, 2 * n, 8 / n})})});
    out.push_back(
        {"reduce_scatter", call("reduce_scatter", groups,
                                {{"dim", std::int64_t{1}}, {"combiner", std::string("add")}},
                                {f32({3, 16, 4})}, {f32({3, 16 / n, 4})})});
    out.push_back({"stack", call("stack", groups, {}, {f32({3, 4})}, {f32({n, 3, 4})})});
    out.push_back({"scatter_stack", call("scatter_stack", groups, {{"dim", std::int64_t{0}}},
                                         {f32({8, 3})}, {f32({n, 8 / n, 3})})});
    out.push_back({"broadcast", call("collective_broadcast", groups, {}, {f32({7}), f32({2})},
                                     {f32({7}), f32({2})})});
    out.push_back(
        {"ragged",
         call("ragged_all_to_all", groups, {},
              {f32({n, 3}), f32({8, 3}), i64({n}), i64({n}), i64({n}), i64({n})}, {f32({8, 3})})});
  }
  out.push_back({"permute", call("collective_permute", {0, 1, 2, 3, 4, 5, 6, 7, -1},
                                 {{"pairs", Ints{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 0}}}, {f32({9})},
                                 {f32({9})})});
  return out;
}

TEST(Peers, CollectivesGiveTheBitsOfOneProcess) {
  for (const Case& c : cases()) {
    const auto [whole, nothing] = run(c.made, 1);
    EXPECT_EQ(nothing, 0u);
    for (int processes : {2, 4, 8})
      EXPECT_EQ(run(c.made, processes).first, whole)
          << c.name << " in " << processes << " processes";
  }
}
TEST(Peers, OnlyWhatIsWantedIsMoved) {
  const std::size_t row = 16 * 1024 * sizeof(float);
  // Each of four processes adds its quarter and sends it to the three others.
  const auto sum = call("all_reduce", kAll, {{"combiner", std::string("add")}}, {f32({16 * 1024})},
                        {f32({16 * 1024})});
  EXPECT_EQ(run(sum, 4, 1).second, std::size_t{4 * 3} * (2 * row / 4 + row / 4));
  // Two devices' operands to two others', of which each takes an eighth.
  const auto exchange =
      call("all_to_all", kAll, {{"split", std::int64_t{0}}, {"concat", std::int64_t{0}}},
           {f32({16 * 1024})}, {f32({16 * 1024})});
  EXPECT_EQ(run(exchange, 4, 1).second, std::size_t{4 * 3} * 2 * 2 * row / 8);
  const auto permute = call("collective_permute", kAll, {{"pairs", Ints{0, 1, 1, 2, 2, 3}}},
                            {f32({16 * 1024})}, {f32({16 * 1024})});
  EXPECT_EQ(run(permute, 4, 1).second, row);
}

TEST(Peers, AFailureOfTheExchangeEndsTheWaitOfAllHere) {
  Post post;
  Lockstep here(1, 4, std::make_shared<PostPeers>(post, 0, 2));
  const std::vector<int> all{0, 1, 2, 3};
  const Wanted wanted{{}, [](std::size_t, std::size_t) { return std::vector<Rows>(); }};
  std::vector<std::string> heard(2);
  std::vector<std::thread> threads;
  for (int d = 0; d < 2; ++d)
    threads.emplace_back([&, d] {
      const auto met = here.meet(d, all, "all_reduce", {}, wanted);
      heard[static_cast<std::size_t>(d)] = met.status().message();
      here.end(d, met.status().message());
    });
  PostPeers(post, 1, 2).failed(Status(Code::cancelled, "process 1 is gone"));
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(heard, std::vector<std::string>(2, "process 1 is gone"));
  EXPECT_EQ(here.name(2), "device 2 of process 1");
  EXPECT_TRUE(here.is_split(all));
  EXPECT_FALSE(here.is_split({0, 1}));
}

}  // namespace
}  // namespace strata::op
