// How fast text is read and printed, and what it takes in memory.
//
//   build/bin/text-speed [FILE.mlir ...]
//
// Without files: a program of many small operations as JAX prints them (100 000 lines), and one
// constant of 4 MB as hexadecimal digits. A row each: megabytes of text, seconds of the processor
// to read and to print (the best of five), MB/s, and how much the process grows at most while the
// program is read, as a multiple of the text.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/command_line.h"
#include "strata/base/testing/peak_memory.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/op/catalog.h"

namespace {

using namespace strata;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds_of(const auto& f) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    double start = processor_seconds();
    f();
    best = std::min(best, processor_seconds() - start);
  }
  return best;
}

/// Bytes of the process that are in memory now.
std::size_t resident() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, here = 0;
  in >> all >> here;
  return here * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string many_operations(int count) {
  std::string out =
      "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} "
      "{\n  func.func public @main(%arg0: tensor<128x256xf32>, %arg1: tensor<256x256xf32>) -> "
      "tensor<128x256xf32> {\n";
  out +=
      "    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n    %0 = stablehlo.add "
      "%arg0, %arg0 : tensor<128x256xf32>\n";
  for (int i = 0; i < count; i += 6) {
    std::string a = "%" + std::to_string(i), r[6];
    for (int k = 0; k < 6; ++k) r[k] = "%" + std::to_string(i + 1 + k);
    out += "    " + r[0] + " = stablehlo.dot_general " + a +
           ", %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : "
           "(tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>\n";
    out += "    " + r[1] +
           " = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x256xf32>\n";
    out +=
        "    " + r[2] + " = stablehlo.maximum " + r[0] + ", " + r[1] + " : tensor<128x256xf32>\n";
    out += "    " + r[3] + " = stablehlo.reduce(" + r[2] +
           " init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<128x256xf32>, "
           "tensor<f32>) -> tensor<128xf32>\n";
    out += "    " + r[4] + " = stablehlo.broadcast_in_dim " + r[3] +
           ", dims = [0] : (tensor<128xf32>) -> tensor<128x256xf32>\n";
    out += "    " + r[5] + " = stablehlo.divide " + r[2] + ", " + r[4] + " : tensor<128x256xf32>\n";
  }
  return out + "    return %0 : tensor<128x256xf32>\n  }\n}\n";
}

std::string one_constant(std::size_t bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string hex;
  for (std::size_t i = 0; i < 2 * bytes; ++i) hex += digits[(i * 7 + i / 16) % 16];
  return "func.func @main() -> tensor<" + std::to_string(bytes / 4) +
         "xf32> {\n  %cst = stablehlo.constant dense<\"0x" + hex + "\"> : tensor<" +
         std::to_string(bytes / 4) + "xf32>\n  return %cst : tensor<" + std::to_string(bytes / 4) +
         "xf32>\n}\n";
}

int measure(const std::string& name, const std::string& text) {
  forget_peak();
  std::size_t before = resident();
  auto module = ir::parse(text, name);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", module.status().message().c_str());
    return 2;
  }
  std::size_t grown = peak_bytes() - before;
  double read = seconds_of([&] { (void)ir::parse(text, name); });
  std::string printed;
  double print = seconds_of([&] { printed = ir::print(**module); });
  double mb = static_cast<double>(text.size()) / 1e6;
  std::printf(
      "%-24s %8.2f MB  read %8.2f ms %7.0f MB/s  print %8.2f ms %7.0f MB/s  memory %5.2fx\n",
      name.c_str(), mb, read * 1e3, mb / read, print * 1e3,
      static_cast<double>(printed.size()) / 1e6 / print,
      static_cast<double>(grown) / static_cast<double>(text.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine app(
      "Measures how fast text is read and printed, and what it takes in memory.\n\nExample:\n  "
      "text-speed conformance/jax/program/*.mlir");
  std::vector<std::string> files;
  app.add_option("files", files, "programs (default: many operations, and one large constant)");
  if (auto status = app.parse(argc, argv)) return *status;
  op::catalog();
  int status = 0;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file)) {
      std::fprintf(stderr, "%s cannot be read\n", file.c_str());
      return 4;
    }
    status |= measure(file, std::string(std::istreambuf_iterator<char>(in), {}));
  }
  if (!files.empty()) return status;
  status |= measure("many operations", many_operations(100'000));
  status |= measure("one constant of 4 MB", one_constant(std::size_t{4} << 20));
  return status;
}
