// Orbax checkpoints on a disk: saved and loaded, in turn with plain files of the same bytes.
//
//   ninja -C build bin/checkpoint-speed
//   build/bin/checkpoint-speed FOLDER [MIB] [ROUNDS]
//
// One line of JSON: of each round the MB/s of every kind, the one after the other, so that all meet
// the same disk; the seconds of processors that a round of each kind used; the microseconds that a
// save blocks its caller, of few arrays and of many; and the peak of memory above the state's own.
// bench/checkpoint_speed.py adds orbax-checkpoint.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "strata/base/file.h"
#include "strata/checkpoint/manager/manager.h"
#include "strata/checkpoint/orbax/directory.h"

using namespace strata;
namespace orbax = checkpoint::orbax;

namespace {

constexpr int kArrays = 32;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

template <class T>
T need(T result) {
  if (result.ok()) return result;
  if constexpr (requires { result.message(); })
    std::fprintf(stderr, "%s\n", result.message().c_str());
  else
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

/// Seconds of processors that this process used, of all threads and of the system for it.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

template <class F>
double time_of(F&& f) {
  const double begin = seconds();
  f();
  return seconds() - begin;
}

/// What the file system can do: the system's own calls, a sync at the end.
void write_plainly(const std::string& path, const orbax::Contents& contents) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (const orbax::Leaf& leaf : contents.items.at("state")) {
    const char* at = reinterpret_cast<const char*>(leaf.value->data());
    for (std::size_t left = leaf.value->bytes(); left > 0;) {
      const ssize_t n = ::write(fd, at, std::min<std::size_t>(left, 8 << 20));
      if (n <= 0) std::exit(1);
      at += n;
      left -= static_cast<std::size_t>(n);
    }
  }
  if (::fsync(fd) != 0 || ::close(fd) != 0) std::exit(1);
}

/// Into arrays that are made for it, as a load makes them.
void read_plainly(const std::string& path, const orbax::Contents& contents) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<Literal> out;
  for (const orbax::Leaf& leaf : contents.items.at("state")) {
    out.emplace_back(leaf.value->type());
    char* at = reinterpret_cast<char*>(out.back().mutable_data());
    for (std::size_t left = out.back().bytes(); left > 0;) {
      const ssize_t n = ::read(fd, at, left);
      if (n <= 0) std::exit(1);
      at += n;
      left -= static_cast<std::size_t>(n);
    }
  }
  ::close(fd);
}

/// Arrays of random numbers: no compression finds much in weights.
orbax::Contents arrays_of(int arrays, std::int64_t rows) {
  orbax::Contents out;
  std::uint64_t random = 88172645463325252u;
  for (int n = 0; n < arrays; ++n) {
    orbax::Leaf leaf;
    leaf.path = {{"w" + std::to_string(n)}};
    leaf.kind = orbax::Kind::numpy_array;
    leaf.value = Literal(Type(DType::f32, {rows, 1024}));
    for (float& x : leaf.value->mutable_span<float>()) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      x = static_cast<float>(static_cast<std::int32_t>(random >> 32)) * 1e-9f;
    }
    out.items["state"].push_back(std::move(leaf));
  }
  return out;
}

/// Microseconds that a save keeps its caller.
double blocked(const std::string& folder, const orbax::Contents& contents) {
  auto manager = need(checkpoint::Manager::open(folder));
  orbax::Contents given = contents;  // shares the arrays
  const double took = time_of([&] { need(manager->save(1, std::move(given))); });
  need(manager->wait());
  return took * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = std::string(argc > 1 ? argv[1] : ".") + "/checkpoint_speed";
  const std::int64_t mib = argc > 2 ? std::atoll(argv[2]) : 512;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  need(remove_all(folder));
  need(make_folders(folder));
  const orbax::Contents contents = arrays_of(kArrays, mib * (1 << 20) / kArrays / 4096);
  const double mb = static_cast<double>(mib) * 1.048576;
  std::map<std::string, std::vector<double>> rates;
  std::map<std::string, double> used;
  const auto measure = [&](const std::string& name, const auto& f) {
    const double before = processor_seconds();
    rates[name].push_back(mb / time_of(f));
    used[name] += (processor_seconds() - before) / rounds;
  };
  std::map<std::string, double> above;
  const std::string plain = folder + "/plain";
  for (int round = 0; round < rounds; ++round) {
    measure("file_write", [&] { write_plainly(plain, contents); });
    for (const bool compressed : {false, true}) {
      const std::string as = compressed ? "zstd" : "raw", path = folder + "/" + as;
      const std::int64_t before = peak_kib();
      measure(as + "_save",
              [&] { need(orbax::save(path, contents, {.tree = {.compressed = compressed}})); });
      above[as] = std::max(above[as], static_cast<double>(peak_kib() - before) / 1024);
    }
    measure("file_read", [&] { read_plainly(plain, contents); });
    for (const char* as : {"raw", "zstd"})
      measure(std::string(as) + "_load", [&] { need(orbax::load(folder + "/" + as)); });
  }
  std::printf("{\"mb\":%.0f", mb);
  for (const auto& [name, all] : rates) {
    std::printf(",\"%s\":[", name.c_str());
    for (std::size_t i = 0; i < all.size(); ++i) std::printf("%s%.0f", i ? "," : "", all[i]);
    std::printf("]");
  }
  std::printf(",\"processor_seconds\":{");
  for (auto it = used.begin(); it != used.end(); ++it)
    std::printf("%s\"%s\":%.3f", it == used.begin() ? "" : ",", it->first.c_str(), it->second);
  std::printf("}");
  for (const auto& [as, peak] : above) std::printf(",\"%s_save_above_mib\":%.0f", as.c_str(), peak);
  const orbax::Contents many = arrays_of(2000, 1);
  std::printf(",\"blocked_us\":{\"%d\":%.0f,\"2000\":%.0f}}\n", kArrays,
              blocked(folder + "/few", contents), blocked(folder + "/many", many));
  need(remove_all(folder));
}
