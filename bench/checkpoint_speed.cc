// Orbax checkpoints on a disk: saved and loaded, beside plain files of the same bytes.
//
//   ninja -C build bin/checkpoint-speed
//   build/bin/checkpoint-speed FOLDER [MIB]          bench/checkpoint_speed.py adds
//   orbax-checkpoint
//
// One line of JSON: MB/s of each, the time that a save blocks its caller, and the peak of memory
// above the state's own.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "strata/base/file.h"
#include "strata/checkpoint/manager/manager.h"
#include "strata/checkpoint/orbax/directory.h"

using namespace strata;
namespace orbax = checkpoint::orbax;

namespace {

constexpr int kArrays = 32, kRounds = 3;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

template <class T>
auto need(T result) {
  if (result.ok()) return result;
  if constexpr (requires { result.message(); })
    std::fprintf(stderr, "%s\n", result.message().c_str());
  else
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

/// The best of some rounds, in seconds.
template <class F>
double best(F&& f) {
  double out = 1e300;
  for (int i = 0; i < kRounds; ++i) {
    const double begin = seconds();
    f();
    out = std::min(out, seconds() - begin);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = std::string(argc > 1 ? argv[1] : ".") + "/checkpoint_speed";
  const std::int64_t mib = argc > 2 ? std::atoll(argv[2]) : 512;
  const std::int64_t count = mib * (1 << 20) / kArrays / 4;
  orbax::Contents contents;
  std::uint64_t random = 88172645463325252u;
  for (int n = 0; n < kArrays; ++n) {
    orbax::Leaf leaf;
    leaf.path = {{"w" + std::to_string(n)}};
    leaf.kind = orbax::Kind::numpy_array;
    leaf.value = Literal(Type(DType::f32, {count / 1024, 1024}));
    auto bits = leaf.value->mutable_span<float>();
    for (float& x : bits) {  // weights: no compression finds much in them
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      x = static_cast<float>(static_cast<std::int32_t>(random >> 32)) * 1e-9f;
    }
    contents.items["state"].push_back(std::move(leaf));
  }
  const double mb = static_cast<double>(mib) * 1.048576;
  need(remove_all(folder));
  need(make_folders(folder));

  for (const bool compressed : {false, true}) {
    const orbax::SaveOptions layout{.tree = {.compressed = compressed}};
    const std::string path = folder + (compressed ? "/zstd" : "/raw");
    const std::int64_t before = peak_kib();
    const double save = best([&] { need(orbax::save(path, contents, layout)); });
    const double above = static_cast<double>(peak_kib() - before) / 1024;
    const double load = best([&] { need(orbax::load(path)); });
    const char* as = compressed ? "zstd" : "raw";
    std::printf("%s\"%s_save\":%.0f,\"%s_load\":%.0f,\"%s_save_above_mib\":%.0f",
                compressed ? "," : "{", as, mb / save, as, mb / load, as, above);
  }

  std::vector<std::string_view> pieces;
  for (const orbax::Leaf& leaf : contents.items["state"])
    pieces.emplace_back(reinterpret_cast<const char*>(leaf.value->data()), leaf.value->bytes());
  const std::string plain = folder + "/plain";
  const double write = best([&] { need(write_file_synced(plain, pieces)); });
  const double read = best([&] { need(read_file(plain)); });
  std::printf(",\"mb\":%.0f,\"file_write\":%.0f,\"file_read\":%.0f", mb, mb / write, mb / read);

  auto manager = need(checkpoint::Manager::open(folder + "/manager"));
  const double begin = seconds();
  need(manager->save(1, contents));
  const double blocked = seconds() - begin;
  need(manager->wait());
  std::printf(",\"blocked_ms\":%.3f,\"arrays\":%d}\n", blocked * 1e3, kArrays);
  need(remove_all(folder));
}
