// Several processes on this machine: this test program starts itself again, once for each process,
// which then plays the part that the environment names, and says on stdout what it saw.
#include "strata/api/sharding/distributed.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "strata/api/lax/parallel.h"
#include "strata/api/numpy.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/base/error.h"
#include "strata/runtime/distributed/wire.h"

namespace strata {
namespace {

using namespace std::chrono_literals;
using mesh::P;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// ---- the parts ---------------------------------------------------------------------------------

constexpr int kDevices = 8;

Array numbers(const Sizes& shape) {
  std::int64_t n = 1;
  for (std::int64_t s : shape.get()) n *= s;
  // Not sums that are the same in any order.
  return numpy::reshape(numpy::sin(numpy::arange(n).astype(DType::f32) * 0.37f), shape);
}
/// A number that tells any two different bits.
std::string bits(const Array& x) {
  const Literal whole = distributed::process_allgather(x).literal();
  std::uint64_t h = 1469598103934665603u;
  for (std::size_t i = 0; i < whole.bytes(); ++i)
    h = (h ^ static_cast<std::uint64_t>(whole.data()[i])) * 1099511628211u;
  std::ostringstream out;
  out << std::hex << h;
  return out.str();
}

/// Sums, products whose contraction is cut, each collective, and a few steps of a small network:
/// what they give, as bits. The same lines in whatever processes the eight devices are.
std::string computed() {
  std::ostringstream out;
  const Mesh m = make_mesh({{"data", 2}, {"model", 4}});
  const NamedSharding rows(m, {"data"}), columns(m, {nullptr, "model"}), both(m, {"data", "model"}),
      inner(m, {"model"}), whole(m, P());
  const Array x = device_put(numbers({64, 96}), both);
  out << "sum " << bits(jit([](const Array& a) { return numpy::sum(a); })(x)) << "\n";
  out << "columns " << bits(jit([](const Array& a) { return numpy::sum(a, 0); })(x)) << "\n";
  auto product = jit([](const Array& a, const Array& b) { return numpy::matmul(a, b); });
  const Array a = device_put(numbers({64, 96}), columns), w = device_put(numbers({96, 32}), inner);
  out << "product " << bits(product(a, w)) << "\n";
  out << "half product " << bits(product(a.astype(DType::bf16), w.astype(DType::bf16))) << "\n";
  for (const NamedSharding& to : {rows, columns, whole, NamedSharding(m, {{"model", "data"}})})
    out << "moved " << bits(device_put(x, to)) << "\n";
  auto mixed = jit([](const Array& v) {
    return std::pair(numpy::sort(v, 0), numpy::concatenate({v, numpy::roll(v, 3, 0)}, 0));
  });
  const auto [sorted, rolled] = mixed(x);
  out << "sorted " << bits(sorted) << " rolled " << bits(rolled) << "\n";
  // Tensor and data parallel: gradients, and steps in a loop.
  auto loss = [](const std::pair<Array, Array>& p, const Array& in, const Array& target) {
    const Array h = numpy::tanh(numpy::matmul(in, p.first));
    return numpy::mean(numpy::square(numpy::matmul(h, p.second) - target));
  };
  auto step = jit([&](std::pair<Array, Array> p, const Array& in, const Array& target) {
    auto [l, g] = value_and_grad(loss)(p, in, target);
    return std::pair(l, std::pair(p.first - 0.1f * g.first, p.second - 0.1f * g.second));
  });
  std::pair<Array, Array> p(device_put(numbers({96, 256}) * 0.1f, columns),
                            device_put(numbers({256, 16}) * 0.1f, inner));
  const Array target = device_put(numbers({64, 16}), rows);
  const Array in = device_put(numbers({64, 96}), rows);
  for (int i = 0; i < 3; ++i) {
    auto [l, next] = step(p, in, target);
    p = next;
    out << "loss " << bits(l) << " weights " << bits(p.first) << "\n";
  }
  return out.str();
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& e) {
    return e.what();
  }
}

/// What each process says of arrays whose parts are not all its own.
std::string arrays() {
  std::ostringstream out;
  const int self = distributed::process_index(), n = distributed::process_count();
  if (!distributed::was_launched()) return "it was not launched";
  out << self << " of " << n << ", " << devices().size() << " devices of which "
      << distributed::local_devices().size() << " from " << distributed::local_devices()[0].id()
      << ", device 5 of process " << distributed::process_index(devices()[5]) << "\n";
  const Mesh m = make_mesh({{"x", kDevices}});
  int asked = 0;
  const Array x =
      make_array_from_callback({16, 3}, NamedSharding(m, {"x"}), [&](const ShardIndex& i) {
        ++asked;
        return numpy::full({2, 3}, static_cast<float>(i[0].begin));
      });
  out << "asked " << asked << ", shards " << addressable_shards(x).size() << " from row "
      << addressable_shards(x)[0].index[0].begin << ", addressable " << is_fully_addressable(x)
      << "\n";
  out << message_of([&] { (void)x.to_vector<float>(); }) << "\n";
  out << "all " << numpy::sum(distributed::process_allgather(x)).item<float>() << "\n";
  // Copies are here, whichever device holds them.
  const Array copies = device_put(numbers({4}), NamedSharding(m, P()));
  out << "copies " << (copies.to_vector<float>() == numbers({4}).to_vector<float>()) << "\n";
  const Array local = numpy::full({16 / n, 2}, static_cast<float>(self));
  const Array joined =
      distributed::make_array_from_process_local_data(NamedSharding(m, {"x"}), local, {16, 2});
  out << "joined " << distributed::process_allgather(joined)[-1].to_string() << "\n";
  out << "of process 0: "
      << distributed::broadcast_one_to_all(numpy::full({2}, static_cast<float>(self + 7)))
             .to_string()
      << "\n";
  if (self == 1) distributed::key_value_set("word", "given by 1");
  out << distributed::key_value_get("word", 5s) << "\n";
  distributed::sync_global_devices("end", 20s);
  out << message_of([&] { make_mesh({{"x", 2 * kDevices}}); }) << "\n";
  out << message_of([] { distributed::initialize(); }) << "\n";
  return out.str();
}

/// pmap over the devices of all processes: each gives rows for its own devices; and a function of
/// one device over the mesh of all, with exchanges that are no rotation.
std::string mapped() {
  std::ostringstream out;
  const int self = distributed::process_index(), n = distributed::process_count();
  const std::int64_t own = kDevices / n;
  const Array rows = numbers({kDevices, 3}), w = numbers({3, 2});
  const Array mine = n == 1 ? rows : rows[slice(self * own, (self + 1) * own)];
  const auto f = pmap(
      [](const Array& x, const Array& v) {
        const Array y = numpy::matmul(x, v);
        return std::pair(y - lax::pmean(y, "i"), lax::axis_index("i") * lax::axis_size("i"));
      },
      {.axis_name = "i", .in_axes = {0, std::nullopt}});
  const auto [y, places] = f(mine, w);
  out << "rows " << y.shape().to_string() << " from place " << places[0].to_string() << "\n";
  const Array all = numpy::matmul(rows, w), want = all - numpy::mean(all, 0);
  const Array part = n == 1 ? want : want[slice(self * own, (self + 1) * own)];
  out << "mapped " << numpy::allclose(device_get(y), part, {.rtol = 1e-5, .atol = 1e-6}) << "\n";
  // The same rows from every process.
  const auto g = pmap([](const Array& x) { return lax::psum(x, "i") + x; }, {.axis_name = "i"});
  out << "given by all " << bits(g(numbers({kDevices / 2 + 1, 3}))) << "\n";
  const Mesh m = make_mesh({{"x", kDevices}});
  const std::vector<std::pair<std::int64_t, std::int64_t>> swaps = {{0, 5}, {5, 0}, {1, 2},
                                                                    {2, 7}, {7, 1}, {3, 4}};
  const auto h = shard_map([&](const Array& x) { return lax::ppermute(x, "x", swaps); },
                           {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}});
  out << "permuted " << bits(h(numbers({2 * kDevices, 3}))) << "\n";
  const auto exchanged =
      shard_map([](const Array& x) { return lax::all_to_all(x, "x", 1, 0, {.tiled = true}); },
                {.mesh = m, .in_specs = P{"x"}, .out_specs = P{nullptr, "x"}});
  out << "exchanged " << bits(exchanged(numbers({kDevices, 2 * kDevices}))) << "\n";
  // Place i sends k + 1 rows to place k, where they follow those of lower places.
  const auto ragged = shard_map(
      [](const Array& x) {
        const Array k = numpy::arange(kDevices), i = lax::axis_index("x");
        const Array sizes = k + 1;
        return lax::ragged_all_to_all(x, numpy::zeros({kDevices * kDevices, 2}),
                                      numpy::cumsum(sizes) - sizes, sizes, (k + 1) * i,
                                      numpy::zeros_like(k) + i + 1, {.axis_name = "x"});
      },
      {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}});
  out << "ragged " << bits(ragged(numbers({kDevices * 36, 2}))) << "\n";
  out << message_of([&] { (void)g(numbers({2 * kDevices, 3})); }) << "\n";
  return out.str();
}

/// Steps without end, of which the process dies: "SECONDS MESSAGE" of the others, since its death.
std::string killed(int victim) {
  const Mesh m = make_mesh({{"x", kDevices}});
  auto step =
      jit([](const Array& a) { return numpy::sin(a) + numpy::sum(a); }, JitOptions{.name = "step"});
  Array x = device_put(numbers({64, 1024}), NamedSharding(m, {"x"}));
  try {
    for (int i = 0;; ++i) {
      x = step(x);
      (void)addressable_shards(x)[0].data.literal();
      if (i != 20 || distributed::process_index() != victim) continue;
      std::ofstream(std::getenv("STRATA_TEST_STAMP"))
          << Clock::now().time_since_epoch().count() << std::flush;
      ::kill(::getpid(),
             std::strcmp(std::getenv("STRATA_TEST_SIGNAL"), "STOP") == 0 ? SIGSTOP : SIGKILL);
    }
  } catch (const Error& e) {
    const auto now = Clock::now().time_since_epoch().count();
    std::int64_t then = 0;
    std::ifstream(std::getenv("STRATA_TEST_STAMP")) >> then;
    std::ostringstream out;
    out << static_cast<double>(now - then) / 1e9 << " " << e.what() << "\n";
    return out.str();
  }
}

std::string other_programs() {
  const Mesh m = make_mesh({{"x", kDevices}});
  const Array x = device_put(numbers({64}), NamedSharding(m, {"x"}));
  auto train = jit([](const Array& a) { return numpy::sum(a); }, JitOptions{.name = "train"});
  auto test = jit([](const Array& a) { return numpy::max(a); }, JitOptions{.name = "evaluate"});
  return message_of([&] {
           (void)(distributed::process_index() == 0 ? train(x) : test(x)).item<float>();
         }) +
         "\n";
}

const std::map<std::string, std::string (*)()> kParts = {{"computed", computed},
                                                         {"mapped", mapped},
                                                         {"arrays", arrays},
                                                         {"killed", [] { return killed(2); }},
                                                         {"first_killed", [] { return killed(0); }},
                                                         {"other_programs", other_programs}};

/// Plays a part instead of running tests, where one is named.
class Parts : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* name = std::getenv("STRATA_TEST_PART");
    if (name == nullptr) return;
    int status = 0;
    try {
      cpu_devices(std::atoi(std::getenv("STRATA_TEST_DEVICES")));
      const bool comes = kParts.contains(name);
      distributed::initialize({.initialization_timeout = comes ? 60000ms : 300ms,
                               .heartbeat_timeout = std::chrono::milliseconds(
                                   std::atoi(std::getenv("STRATA_TEST_SILENCE_MS"))),
                               .shutdown_timeout = 3s});
      std::cout << "\n>>>\n" << kParts.at(name)() << std::flush;
    } catch (const std::exception& e) {
      std::cout << "\n>>>\nfailed: " << e.what() << "\n" << std::flush;
      status = 1;
    }
    std::exit(status);
  }
};
[[maybe_unused]] ::testing::Environment* const parts =
    ::testing::AddGlobalTestEnvironment(new Parts);

// ---- the processes -----------------------------------------------------------------------------

struct Started {
  std::vector<std::string> said;
  std::vector<int> status;  // as of waitpid
  double seconds = 0;
};

/// The part in n processes; what each said.
Started play(const std::string& part, int n, std::map<std::string, std::string> variables = {}) {
  const fs::path folder =
      fs::temp_directory_path() / ("strata_processes_" + std::to_string(::getpid()) + "_" + part);
  fs::create_directories(folder);
  const int probe = *runtime::distributed::listen_at("127.0.0.1", 0);
  const int port = runtime::distributed::port_of(probe);
  ::close(probe);
  variables.try_emplace("STRATA_TEST_SILENCE_MS", "10000");
  const auto begin = Clock::now();
  std::vector<pid_t> children;
  for (int p = 0; p < n; ++p) {
    std::map<std::string, std::string> own = variables;
    own["STRATA_TEST_PART"] = part;
    own["STRATA_TEST_DEVICES"] = std::to_string(kDevices / n);
    own["STRATA_TEST_STAMP"] = (folder / "stamp").string();
    own["STRATA_COORDINATOR_ADDRESS"] = "127.0.0.1:" + std::to_string(port);
    own.try_emplace("STRATA_NUM_PROCESSES", std::to_string(n));
    own["STRATA_PROCESS_ID"] = std::to_string(p);
    const std::string output = (folder / std::to_string(p)).string();
    std::vector<std::string> assignments;
    for (char** e = environ; *e != nullptr; ++e) {
      const std::string text = *e;
      if (!own.contains(text.substr(0, text.find('=')))) assignments.push_back(text);
    }
    for (const auto& [name, value] : own) assignments.push_back(name + "=" + value);
    std::vector<char*> environment;
    for (std::string& a : assignments) environment.push_back(a.data());
    environment.push_back(nullptr);
    char self[] = "/proc/self/exe", filter[] = "--gtest_filter=Distributed.*";
    char* arguments[] = {self, filter, nullptr};
    const pid_t child = ::fork();
    if (child == 0) {
      const int fd = ::open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
      ::dup2(fd, 1);
      ::execve(self, arguments, environment.data());
      ::_exit(127);
    }
    children.push_back(child);
  }
  Started out;
  const bool stops =
      variables.contains("STRATA_TEST_SIGNAL") && variables.at("STRATA_TEST_SIGNAL") == "STOP";
  for (int p = 0; p < n; ++p) {
    int status = 0;
    if (!stops || p != 2) ::waitpid(children[static_cast<std::size_t>(p)], &status, 0);
    out.status.push_back(status);
  }
  if (stops) {
    ::kill(children[2], SIGKILL);
    ::waitpid(children[2], nullptr, 0);
  }
  for (int p = 0; p < n; ++p) {
    std::ifstream in(folder / std::to_string(p));
    std::stringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    const std::size_t at = all.find(">>>\n");
    out.said.push_back(at == std::string::npos ? all : all.substr(at + 4));
  }
  fs::remove_all(folder);
  out.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return out;
}

TEST(Distributed, BitsDoNotDependOnProcesses) {
  const std::string whole = play("computed", 1).said[0];
  EXPECT_THAT(whole, AllOf(HasSubstr("sum "), HasSubstr("loss ")));
  // By Gloo where it is, and by what there is without it.
  for (const std::string& said : play("computed", 4).said) EXPECT_EQ(said, whole);
  for (const std::string& said : play("computed", 2, {{"STRATA_GLOO", "off"}}).said)
    EXPECT_EQ(said, whole);
}

TEST(Distributed, FunctionsOfOneDeviceSpanProcesses) {
  const std::string whole = play("mapped", 1).said[0];
  EXPECT_THAT(whole, AllOf(HasSubstr("rows 8x2 from place 0\n"), HasSubstr("ragged ")));
  const std::string same =
      whole.substr(whole.find("mapped "), whole.find("pmap:") - whole.find("mapped "));
  const Started s = play("mapped", 2);
  for (int p = 0; p < 2; ++p) {
    const std::string& said = s.said[static_cast<std::size_t>(p)];
    EXPECT_THAT(said, HasSubstr("rows 4x2 from place " + std::to_string(p * 32) + "\n" + same));
    EXPECT_THAT(said, HasSubstr("the mapped axis has 16 elements, each for a device, and all "
                                "processes have 8"));
  }
}

TEST(Distributed, ArraysHaveTheirPartsInSeveralProcesses) {
  const Started s = play("arrays", 4);
  for (int p = 0; p < 4; ++p) {
    const std::string self = std::to_string(p), first = std::to_string(2 * p);
    const std::string& said = s.said[static_cast<std::size_t>(p)];
    EXPECT_EQ(s.status[static_cast<std::size_t>(p)], 0);
    EXPECT_THAT(said, HasSubstr(self + " of 4, 8 devices of which 2 from " + first +
                                ", device 5 of process 2"));
    EXPECT_THAT(
        said, HasSubstr("asked 2, shards 2 from row " + std::to_string(4 * p) + ", addressable 0"));
    EXPECT_THAT(said, HasSubstr("f32[16,3] lies on devices of 4 processes, and process " + self +
                                " holds a part: distributed::process_allgather(x) brings all"));
    EXPECT_THAT(said, HasSubstr("all 336\ncopies 1\njoined [3. 3.]\nof process 0: [7. 7.]\n"
                                "given by 1\n"));
    EXPECT_THAT(said, HasSubstr("holds device 8, but all processes have 8 CPU devices"));
    EXPECT_THAT(said, HasSubstr("this process is one of several already"));
  }
}

TEST(Distributed, OneThatIsKilledEndsTheWaitOfAll) {
  const Started s = play("killed", 4, {{"STRATA_TEST_SIGNAL", "KILL"}});
  EXPECT_EQ(WTERMSIG(s.status[2]), SIGKILL);
  for (std::size_t p : {0u, 1u, 3u}) {
    EXPECT_LT(std::atof(s.said[p].c_str()), 2) << s.said[p];
    EXPECT_GT(std::atof(s.said[p].c_str()), 0) << s.said[p];
    EXPECT_THAT(s.said[p], AllOf(HasSubstr("process 2 (pid"), HasSubstr("has died: its connection"),
                                 HasSubstr("program \"step\"")));
  }
}
TEST(Distributed, SoDoesTheFirstWhoIsTheCoordinator) {
  const Started s = play("first_killed", 2, {{"STRATA_TEST_SIGNAL", "KILL"}});
  EXPECT_EQ(WTERMSIG(s.status[0]), SIGKILL);
  EXPECT_LT(std::atof(s.said[1].c_str()), 2) << s.said[1];
  EXPECT_THAT(s.said[1], AllOf(HasSubstr("process 0 (pid"), HasSubstr("has died: its connection")));
}
TEST(Distributed, OneThatHangsEndsTheWaitOfAll) {
  const Started s =
      play("killed", 4, {{"STRATA_TEST_SIGNAL", "STOP"}, {"STRATA_TEST_SILENCE_MS", "1000"}});
  for (std::size_t p : {0u, 1u, 3u}) {
    EXPECT_LT(std::atof(s.said[p].c_str()), 2) << s.said[p];
    EXPECT_THAT(s.said[p], AllOf(HasSubstr("process 2 (pid"),
                                 HasSubstr("has died: nothing was heard from it for 1 s")));
  }
}
TEST(Distributed, OtherProgramsAreNamed) {
  const Started s = play("other_programs", 2);
  for (const std::string& said : s.said)
    EXPECT_THAT(said, AllOf(HasSubstr("processes run different programs together"),
                            HasSubstr("program \"train\""), HasSubstr("program \"evaluate\"")));
}
TEST(Distributed, OneThatNeverComesIsNamed) {
  const Started s = play("never_complete", 1, {{"STRATA_NUM_PROCESSES", "3"}});
  EXPECT_THAT(s.said[0], AllOf(HasSubstr("failed: distributed::initialize"),
                               HasSubstr("processes 1, 2 of 3 did not come within")));
  EXPECT_NE(s.status[0], 0);
}
TEST(Distributed, OneProcessIsAlone) {
  EXPECT_FALSE(distributed::was_launched());
  EXPECT_FALSE(distributed::is_initialized());
  EXPECT_EQ(distributed::process_count(), 1);
  EXPECT_EQ(distributed::process_index(), 0);
  EXPECT_EQ(distributed::process_allgather(numbers({3})).to_vector<float>(),
            numbers({3}).to_vector<float>());
  EXPECT_THAT(message_of([] { distributed::key_value_set("a", "b"); }),
              HasSubstr("this process is by itself: distributed::initialize comes first"));
}

}  // namespace
}  // namespace strata
