// Processes that are threads here: each joins by itself, over real sockets of this machine. What
// real ones do is in api/sharding/distributed_test.cc.
#include "strata/runtime/distributed/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "strata/op/collective/lockstep.h"

namespace strata::runtime::distributed {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A port where nobody listens.
int free_port() {
  const int fd = *listen_at("127.0.0.1", 0);
  const int port = port_of(fd);
  ::close(fd);
  return port;
}

/// Runs f as each of n processes that have joined; what they hear, one line each.
std::string as_processes(int n, const std::function<std::string(Cluster&)>& f,
                         const Cluster::Options& options = {
                             .timeout = 20000ms, .shutdown_timeout = 5000ms, .silence = 10000ms}) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::string> lines(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int p = 0; p < n; ++p)
    threads.emplace_back([&, p] {
      auto c = Cluster::join({.coordinator = address, .processes = n, .process = p}, options);
      std::string& line = lines[static_cast<std::size_t>(p)];
      if (!c) {
        line = c.status().message();
        return;
      }
      line = f(**c);
      (void)(*c)->leave();
    });
  for (std::thread& t : threads) t.join();
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}
std::string text(const Status& s) { return s.ok() ? "ok" : s.message(); }

// ---- the coordinator ---------------------------------------------------------------------------

TEST(Cluster, KeysValuesAndBarriers) {
  const std::string heard = as_processes(3, [](Cluster& c) -> std::string {
    Member& m = c.member();
    const std::string own = "k" + std::to_string(c.process());
    if (Status s = m.set(own, "v" + own); !s.ok()) return text(s);
    if (m.set(own, "other").code() != Code::exists) return "was written over";
    std::string all;
    for (int p = 0; p < 3; ++p) {
      const auto value = m.get("k" + std::to_string(p), 5000ms);
      if (!value) return text(value.status());
      all += *value + " ";
    }
    if (Status s = m.barrier("read", 5000ms); !s.ok()) return text(s);
    if (c.process() == 1) (void)m.erase("k1");
    if (Status s = m.barrier("erased", 5000ms); !s.ok()) return text(s);
    if (m.try_get("k1").status().code() != Code::not_found) return "is there still";
    return all + text(m.set("k0", "new", true));
  });
  EXPECT_EQ(heard, "vk0 vk1 vk2 ok\nvk0 vk1 vk2 ok\nvk0 vk1 vk2 ok\n");
}
TEST(Cluster, WaitsHaveAnEnd) {
  const std::string heard = as_processes(2, [](Cluster& c) {
    if (c.process() == 0) return text(c.member().get("nothing", 100ms).status());
    return text(c.member().barrier("alone", 100ms));
  });
  EXPECT_THAT(heard, HasSubstr("key \"nothing\" has got no value in 0.1 s"));
  EXPECT_THAT(heard, HasSubstr("barrier \"alone\": process 0 of 2 did not come within 0.1 s"));
}
TEST(Cluster, AProcessThatNeverComesIsNamed) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::string> heard(2);
  std::vector<std::thread> threads;
  for (int p = 0; p < 2; ++p)
    threads.emplace_back([&, p] {
      auto c =
          Cluster::join({.coordinator = address, .processes = 4, .process = p}, {.timeout = 300ms});
      heard[static_cast<std::size_t>(p)] = text(c.status());
    });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(heard[0], HasSubstr("processes 2, 3 of 4 did not come within"));
  EXPECT_THAT(heard[1], HasSubstr("processes 2, 3 of 4 did not come within"));
  const auto alone =
      Cluster::join({.coordinator = address, .processes = 4, .process = 1}, {.timeout = 100ms});
  EXPECT_THAT(text(alone.status()), AllOf(HasSubstr("process 1 of 4: no coordinator within 0.1 s"),
                                          HasSubstr("Connection refused")));
  EXPECT_THAT(
      text(Cluster::join({.coordinator = "nowhere", .processes = 1, .process = 0}, {}).status()),
      HasSubstr("\"nowhere\" is no address: host:port is wanted"));
}
TEST(Cluster, WhoDoesNotFitIsRefused) {
  auto coordinator = Coordinator::start({.host = "127.0.0.1", .processes = 2});
  const auto join = [&](int processes, int process) {
    return Member::join({.host = "127.0.0.1",
                         .port = (*coordinator)->port(),
                         .processes = processes,
                         .process = process,
                         .timeout = 2000ms});
  };
  const auto first = join(2, 1);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_THAT(text(join(2, 1).status()), HasSubstr("there is a process 1 already"));
  EXPECT_THAT(text(join(3, 0).status()),
              HasSubstr("process 0 is one of 3, and the coordinator waits for 2 processes"));
  EXPECT_THAT(text(join(2, 2).status()), HasSubstr("process 2 is none of 2 processes"));
}
TEST(Cluster, ASilentProcessIsDead) {
  // It has said which it is, and says nothing more, though its connection stands.
  auto coordinator = Coordinator::start({.host = "127.0.0.1", .processes = 2, .silence = 300ms});
  std::string died;
  std::mutex mutex;
  auto heard = Member::join({.host = "127.0.0.1",
                             .port = (*coordinator)->port(),
                             .processes = 2,
                             .process = 0,
                             .silence = 300ms,
                             .on_death = [&](int p, const std::string& why) {
                               std::lock_guard lock(mutex);
                               died = std::to_string(p) + " " + why;
                             }});
  Wire silent(*connect_to("127.0.0.1", (*coordinator)->port(), Clock::now() + 2s));
  silent.send(1, (Words() << "strata processes 1" << std::uint64_t{2} << std::uint64_t{1}).text());
  EXPECT_THAT(text((*heard)->barrier("both", 10000ms)),
              HasSubstr("process 1 has died: nothing was heard from it for 0.3 s"));
  std::lock_guard lock(mutex);
  EXPECT_EQ(died, "1 nothing was heard from it for 0.3 s");
}
TEST(Cluster, StrangersDoNoHarm) {
  auto coordinator = Coordinator::start({.host = "127.0.0.1", .processes = 1});
  const int port = (*coordinator)->port();
  for (const char* bytes : {"GET / HTTP/1.1\r\n\r\n", "\1\0\0\0\377\377\377\377", ""}) {
    const int fd = *connect_to("127.0.0.1", port, Clock::now() + 2s);
    EXPECT_GE(::write(fd, bytes, std::strlen(bytes)), 0);
    ::close(fd);
  }
  Wire unknown(*connect_to("127.0.0.1", port, Clock::now() + 2s));
  unknown.send(2, "a question before the greeting");
  auto member = Member::join({.host = "127.0.0.1", .port = port});
  ASSERT_TRUE(member.ok()) << member.status().message();
  EXPECT_EQ(text((*member)->barrier("alone", 2000ms)), "ok");
}

// ---- launches ----------------------------------------------------------------------------------

/// As each of n processes with one device each: f(device's launch).
std::string as_devices(
    int n, const std::function<Status(Cluster&, op::Lockstep&, int)>& f,
    const std::function<std::string(int)>& program = [](int) { return std::string("step"); }) {
  return as_processes(n, [&](Cluster& c) {
    std::vector<int> all;
    for (int p = 0; p < n; ++p) all.push_back(p);
    const std::string name = program(c.process());
    op::Lockstep run(1, n, c.launch(all, all, name, name));
    const Status s = f(c, run, c.process());
    run.end(c.process(), s.ok() ? "" : s.message());
    (void)c.member().barrier("end", 5000ms);  // so that nobody leaves while others wait
    return text(s);
  });
}
/// Each device's number, and what all have.
Status gathered(op::Lockstep& run, int device, const std::vector<int>& group,
                const std::string& what, std::size_t bytes = 8) {
  std::vector<std::byte> own(bytes, static_cast<std::byte>(device + 1));
  const op::Wanted wanted{
      {static_cast<std::int64_t>(bytes)}, [&](std::size_t, std::size_t) {
        return std::vector<op::Rows>{{0, 0, 0, 1, static_cast<std::int64_t>(bytes)}};
      }};
  const auto all = run.meet(device, group, what, {{own.data()}, {}}, wanted);
  if (!all) return all.status();
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto* got = static_cast<const std::byte*>((*all)[i].operands[0]);
    for (std::size_t b : {std::size_t{0}, bytes / 2, bytes - 1})
      if (got[b] != static_cast<std::byte>(group[i] + 1)) return Status(Code::corrupt, "wrong");
  }
  return run.leave(device, group, what);
}

/// With Gloo, and with what there is without it.
class Transports : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::strcmp(GetParam(), "TCP") == 0) ::setenv("STRATA_GLOO", "off", 1);
  }
  void TearDown() override { ::unsetenv("STRATA_GLOO"); }
};
INSTANTIATE_TEST_SUITE_P(Cluster, Transports, ::testing::Values("Gloo", "TCP"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(Transports, BytesComeFromEachToEach) {
  const std::string heard = as_devices(4, [&](Cluster& c, op::Lockstep& run, int d) {
    if (std::string(GetParam()) == "TCP" && std::string(c.transport()) != "TCP")
      return Status(Code::invalid, "by {}", c.transport());
    for (int turn = 0; turn < 20; ++turn) {
      if (Status s = gathered(run, d, {3, 0, 2, 1}, "all"); !s.ok()) return s;
      if (Status s = gathered(run, d, d % 2 == 0 ? std::vector<int>{0, 2} : std::vector<int>{1, 3},
                              "pairs", 1000);
          !s.ok())
        return s;
    }
    return gathered(run, d, {0, 1, 2, 3}, "large", std::size_t{3} << 20);
  });
  EXPECT_EQ(heard, "ok\nok\nok\nok\n");
}
TEST_P(Transports, OneThatDiesIsNamedToAll) {
  const auto begin = Clock::now();
  const std::string heard = as_processes(3, [&](Cluster& c) -> std::string {
    op::Lockstep run(1, 3, c.launch({0, 1, 2}, {0, 1, 2}, "step", "x"));
    const int d = c.process();
    if (Status s = gathered(run, d, {0, 1, 2}, "first", 100000); !s.ok()) return text(s);
    if (d == 2) return "gone";  // the Cluster goes without a word: see below
    const Status s = gathered(run, d, {0, 1, 2}, "second", 100000);
    run.end(d, s.ok() ? "" : s.message());
    return text(s);
  });
  // It says goodbye here: a thread cannot die as a process does.
  EXPECT_THAT(heard, HasSubstr("process 2 (pid"));
  EXPECT_THAT(heard, HasSubstr("has left, while process "));
  EXPECT_THAT(heard, HasSubstr("waits for it in second of program \"step\""));
  EXPECT_LT(Clock::now() - begin, 4s);
}

TEST(Cluster, OtherCollectivesOfOneGroupAreNamed) {
  const std::string heard = as_devices(2, [](Cluster&, op::Lockstep& run, int d) {
    return gathered(run, d, {0, 1}, d == 0 ? "all_reduce" : "all_gather");
  });
  EXPECT_THAT(heard,
              AllOf(HasSubstr("process 0"), HasSubstr(" is in all_reduce"), HasSubstr("process 1"),
                    HasSubstr(" is in all_gather"), HasSubstr(", of the same group, ")));
}
TEST(Cluster, OtherProgramsAreNamed) {
  const std::string heard = as_devices(
      2, [](Cluster&, op::Lockstep& run, int d) { return gathered(run, d, {0, 1}, "all_reduce"); },
      [](int p) { return p == 0 ? std::string("train") : std::string("evaluate"); });
  EXPECT_THAT(heard, HasSubstr("processes run different programs together"));
  EXPECT_THAT(heard, HasSubstr("program \"train\""));
  EXPECT_THAT(heard, HasSubstr("program \"evaluate\""));
}
TEST(Cluster, OtherOrdersOfGroupsAreNamed) {
  const std::string heard = as_devices(3, [](Cluster&, op::Lockstep& run, int d) {
    const std::vector<int> all{0, 1, 2}, two{0, 1};
    if (d == 2) return gathered(run, d, all, "all_reduce");
    Status s = gathered(run, d, d == 0 ? two : all, d == 0 ? "permute" : "all_reduce");
    return s.ok() ? gathered(run, d, d == 0 ? all : two, "later") : s;
  });
  EXPECT_THAT(heard, HasSubstr("processes wait for each other for ever"));
  EXPECT_THAT(heard, HasSubstr("in permute of devices 0, 1"));
}
TEST(Cluster, OneThatHasEndedTheProgramIsNamed) {
  const std::string heard = as_devices(2, [](Cluster&, op::Lockstep& run, int d) {
    if (d == 1) return Status();
    return gathered(run, d, {0, 1}, "all_reduce");
  });
  EXPECT_THAT(heard, HasSubstr("process 1 has ended program \"step\", while process 0 is in "
                               "all_reduce of program \"step\""));
}
TEST(Cluster, AFailureElsewhereEndsTheWait) {
  const std::string heard = as_devices(3, [](Cluster&, op::Lockstep& run, int d) {
    if (d == 1) return Status(Code::io, "the disk is gone");
    return gathered(run, d, {0, 1, 2}, "all_reduce");
  });
  EXPECT_EQ(heard,
            "device 1 of process 1 failed: the disk is gone\nthe disk is gone\n"
            "device 1 of process 1 failed: the disk is gone\n");
}

}  // namespace
}  // namespace strata::runtime::distributed
