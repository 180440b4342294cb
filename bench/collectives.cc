// Sums over processes of this machine, one device in each: ours beside Gloo's own.
//
//   collectives [PROCESSES]
//
// One line for each size: microseconds of an all_reduce of f32 by Gloo's transports, by plain TCP
// and by Gloo's own algorithm (ring or halving, which adds in another order), the median of several
// in turn, and Gloo's over ours.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "strata/op/collective/collective_target.h"
#include "strata/op/collective/lockstep.h"
#include "strata/runtime/distributed/cluster.h"
#ifdef STRATA_HAS_GLOO
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#endif

using namespace strata;
using namespace strata::runtime::distributed;

namespace {

using Seconds = std::chrono::duration<double>;

std::unique_ptr<Cluster> joined(int port, int processes, int process, const char* gloo) {
  if (gloo != nullptr) ::setenv("STRATA_GLOO", gloo, 1);
  auto out = Cluster::join({.coordinator = "127.0.0.1:" + std::to_string(port),
                            .processes = processes,
                            .process = process},
                           {.timeout = Milliseconds(60000)});
  ::unsetenv("STRATA_GLOO");
  return std::move(out).value();
}

/// An all_reduce through the handler of compiled programs.
class Ours {
 public:
  Ours(Cluster& cluster, std::int64_t count) {
    std::vector<int> all;
    ir::Ints group;
    for (int p = 0; p < cluster.processes(); ++p) {
      all.push_back(p);
      group.push_back(p);
    }
    group.push_back(-1);
    const Type type(DType::f32, Shape::of({count}));
    ir::Attrs attrs{{"operation", std::string("all_reduce")},
                    {"channel", std::int64_t{1}},
                    {"groups", group},
                    {"combiner", std::string("add")}};
    bound_ = *op::bind_collective({"strata.collective", attrs, {type}, {type}, {-1}});
    run_ = std::make_unique<op::Lockstep>(1, cluster.processes(),
                                          cluster.launch(all, all, "bench", "bench"));
    here_ = {run_.get(), cluster.process()};
  }
  void operator()(float* in, float* out) {
    op::WithParticipant as(here_);
    void *from[] = {in}, *to[] = {out};
    if (Status s = bound_({from, to}, nullptr); !s.ok())
      std::fprintf(stderr, "%s\n", s.message().c_str()), std::exit(1);
  }

 private:
  op::foreign::Bound bound_;
  std::unique_ptr<op::Lockstep> run_;
  op::Participant here_;
};

#ifdef STRATA_HAS_GLOO
class KeyValues final : public gloo::rendezvous::Store {
 public:
  explicit KeyValues(Member& member) : member_(member) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    (void)member_.set("bench/" + key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = member_.get("bench/" + key, Milliseconds(60000)).value();
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) (void)get(key);
  }

 private:
  Member& member_;
};
#endif

template <class F>
double microseconds(Cluster& c, const char* name, F sum) {
  constexpr int kTimes = 15;
  std::vector<double> all;
  for (int i = 0; i < kTimes; ++i) {
    (void)c.member().barrier(std::string(name) + std::to_string(i), Milliseconds(60000));
    const auto begin = std::chrono::steady_clock::now();
    sum();
    all.push_back(Seconds(std::chrono::steady_clock::now() - begin).count() * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + kTimes / 2, all.end());
  return all[kTimes / 2];
}

int as_process(int port, int processes, int process) {
  const auto with = joined(port, processes, process, nullptr);
  const auto without = joined(port + 1, processes, process, "off");
#ifdef STRATA_HAS_GLOO
  auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
  auto context = std::make_shared<gloo::rendezvous::Context>(process, processes);
  KeyValues store(with->member());
  context->connectFullMesh(store, device);
#endif
  if (process == 0)
    std::printf("%d processes\n%12s %12s %12s %12s %8s\n", processes, "bytes", with->transport(),
                without->transport(), "Gloo's own", "ratio");
  for (std::int64_t count :
       {std::int64_t{256}, std::int64_t{16} << 10, std::int64_t{1} << 18, std::int64_t{1} << 22}) {
    std::vector<float> in(static_cast<std::size_t>(count), 1.f), out(in);
    Ours gloo_bytes(*with, count), tcp_bytes(*without, count);
    const std::string size = std::to_string(count);
    const double a = microseconds(*with, ("gloo" + size).c_str(),
                                  [&] { gloo_bytes(in.data(), out.data()); }),
                 b = microseconds(*with, ("tcp" + size).c_str(),
                                  [&] { tcp_bytes(in.data(), out.data()); });
    double own = 0;
#ifdef STRATA_HAS_GLOO
    own = microseconds(*with, ("own" + size).c_str(), [&] {
      gloo::AllreduceOptions options(context);
      options.setInput(in.data(), in.size());
      options.setOutput(out.data(), out.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
      gloo::allreduce(options);
    });
#endif
    if (process == 0)
      std::printf("%12zu %12.0f %12.0f %12.0f %8.2f\n", in.size() * 4, a, b, own,
                  own / std::min(a, b));
    std::fflush(stdout);
  }
  (void)without->leave();
  (void)with->leave();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const int port = 20000 + static_cast<int>(::getpid() % 20000);
  std::vector<pid_t> children;
  for (int p = 1; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) return as_process(port, processes, p);
    children.push_back(child);
  }
  const int status = as_process(port, processes, 0);
  for (pid_t child : children) ::waitpid(child, nullptr, 0);
  return status;
}
