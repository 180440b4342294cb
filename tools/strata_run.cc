// strata-run PROGRAM.mlir: runs a StableHLO program, checks it, times it. See --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu_client.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"
#include "strata/runtime/allocator.h"

namespace {

using namespace strata;

enum Exit { kEqual = 0, kDiffers = 1, kMalformed = 2, kUnsupported = 3, kWorld = 4, kInternal = 70 };

struct Options {
  std::string program, args, out, check, entry, mode = "compiled";
  double rtol = -1, atol = -1;
  int threads = 0, time = 0;
  bool json = false, explain = false;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int fail(const Status& status) {
  std::cerr << "strata-run: " << status.message() << "\n";
  switch (status.code()) {
    case Code::invalid:
    case Code::corrupt: return kMalformed;
    case Code::unsupported: return kUnsupported;
    default: return kWorld;
  }
}

/// in.0, in.1, ... of a file, converted to nothing: types must be the function's.
Result<std::vector<Literal>> arguments(const ir::Function& f, const checkpoint::TensorFile& file, const std::string& name) {
  std::vector<Literal> out;
  for (int i = 0; i < f.body.num_arguments(); ++i) {
    auto it = file.tensors.find(fmt::format("in.{}", i));
    if (it == file.tensors.end()) return Status(Code::invalid, "{}: no tensor in.{} for argument {} of @{}", name, i, i, f.name);
    const Type& want = f.body.argument(i)->type();
    if (!(it->second.type() == want))
      return Status(Code::invalid, "{}: in.{} is {}, argument {} of @{} is {}", name, i, it->second.type().to_string(), i, f.name,
                    want.to_string());
    out.push_back(it->second);
  }
  return out;
}

/// Units in the last place of the result's dtype between two floats.
double ulps(double got, double want, DType dtype) {
  if (got == want) return 0;
  int digits = dtype == DType::f64 ? 53 : dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : 24;
  double unit = std::ldexp(1.0, std::ilogb(want == 0 ? 1e-38 : want) - digits + 1);
  return std::abs(got - want) / unit;
}

struct Comparison {
  bool equal = true;
  double max_abs = 0, max_ulp = 0;
};

Comparison compare(const std::vector<Literal>& got, const checkpoint::TensorFile& file, double rtol, double atol) {
  Comparison out;
  for (std::size_t r = 0; r < got.size(); ++r) {
    auto it = file.tensors.find(fmt::format("out.{}", r));
    if (it == file.tensors.end()) continue;
    const Literal& want = it->second;
    if (!(want.type() == got[r].type())) {
      std::cout << fmt::format("output {} is {}, expected {}\n", r, got[r].type().to_string(), want.type().to_string());
      out.equal = false;
      continue;
    }
    bool told = false;
    for (std::int64_t i = 0; i < want.count(); ++i) {
      double g = got[r].number(i), w = want.number(i);
      if ((std::isnan(g) && std::isnan(w)) || g == w) continue;
      double distance = std::abs(g - w), u = is_float(want.dtype()) ? ulps(g, w, want.dtype()) : distance;
      out.max_abs = std::max(out.max_abs, distance);
      out.max_ulp = std::max(out.max_ulp, u);
      bool fine = is_inexact(want.dtype()) && distance <= atol + rtol * std::abs(w);
      if (fine) continue;
      out.equal = false;
      if (!told)
        std::cout << fmt::format("output {} differs at element {}: got {}, want {} (abs {:.3g}, ulp {:.3g})\n", r, i, g, w, distance, u);
      told = true;
    }
  }
  return out;
}

/// The same values in other memory with other low bits nowhere kept: arguments are written again before each run.
void rewrite(std::vector<Literal>& fresh, const std::vector<Literal>& original) {
  for (std::size_t i = 0; i < fresh.size(); ++i) std::memcpy(fresh[i].mutable_data(), original[i].data(), original[i].bytes());
}

int run(const Options& o) {
  Result<std::string> text = read_file(o.program);
  if (!text) return fail(text.status());
  double start = now();
  op::catalog();
  auto parsed = ir::parse(*text, o.program);
  if (!parsed) return fail(parsed.status());
  ir::Module& module = **parsed;
  if (Status s = ir::verify(module); !s.ok()) return fail(s);
  ir::inline_calls(module);
  ir::Function* f = !o.entry.empty()          ? module.find(o.entry)
                    : module.find("main")     ? module.find("main")
                    : module.find("jit_main") ? module.find("jit_main")
                                              : module.entry();
  if (!f) return fail(Status(Code::invalid, "{}: no function @{}", o.program, o.entry.empty() ? "main" : o.entry));
  checkpoint::TensorFile file;
  std::string from = !o.check.empty() ? o.check : o.args;
  std::vector<Literal> in;
  double reading = now();
  if (!from.empty()) {
    auto read = checkpoint::read_safetensors(from);
    if (!read) return fail(read.status());
    file = std::move(*read);
    auto got = arguments(*f, file, from);
    if (!got) return fail(got.status());
    in = *got;
  } else if (f->body.num_arguments() > 0) {
    return fail(Status(Code::invalid, "@{} takes {} arguments: give them with --args=FILE.safetensors", f->name, f->body.num_arguments()));
  }
  start += now() - reading;
  std::vector<Literal> results;
  nlohmann::json report;
  if (o.mode == "reference") {
    double compiled = now();
    results = op::evaluate(f->body, in);
    report["compile_s"] = compiled - start;
  } else {
    compile::register_cpu();
    if (o.explain) {
      compile::Explanation e = compile::explain(f->body);
      std::cerr << e.fusion << e.plan << fmt::format("prepare {:.3f} s, plan {:.3f} s, code {:.3f} s\n", e.prepare_s, e.plan_s, e.code_s);
    }
    auto executable = runtime::default_client().compile(f->body);
    report["compile_s"] = now() - start;
    auto once = [&](const std::vector<Literal>& arguments) {
      return executable->run(std::vector<runtime::Buffer>(arguments.begin(), arguments.end()));
    };
    std::vector<runtime::Buffer> last = once(in);
    if (o.time > 0) {
      std::vector<Literal> fresh;
      for (const Literal& a : in) fresh.emplace_back(a.type());
      std::vector<double> seconds;
      for (int i = 0; i < o.time; ++i) {
        rewrite(fresh, in);
        double t = now();
        std::vector<runtime::Buffer> next = once(fresh);
        seconds.push_back(now() - t);
        last = std::move(next);
      }
      std::sort(seconds.begin(), seconds.end());
      report["median_s"] = seconds[seconds.size() / 2];
      report["min_s"] = seconds[0];
      if (!o.json)
        std::cout << fmt::format("median {:.6f} s, minimum {:.6f} s of {} runs\n", seconds[seconds.size() / 2], seconds[0], o.time);
    }
    for (runtime::Buffer& b : last) results.push_back(b.literal());
    report["peak_bytes"] = runtime::memory_counts().peak;
  }
  int status = kEqual;
  if (!o.check.empty()) {
    auto tolerance = [&](double given, const char* key) {
      return given >= 0 ? given : file.metadata.count(key) ? std::stod(file.metadata.at(key)) : 0.0;
    };
    Comparison c = compare(results, file, tolerance(o.rtol, "rtol"), tolerance(o.atol, "atol"));
    report["max_abs"] = c.max_abs;
    report["max_ulp"] = c.max_ulp;
    if (!c.equal) status = kDiffers;
  }
  if (!o.out.empty()) {
    checkpoint::TensorFile written;
    for (std::size_t r = 0; r < results.size(); ++r) written.tensors.emplace(fmt::format("out.{}", r), results[r]);
    if (Status s = checkpoint::write_safetensors(o.out, written); !s.ok()) return fail(s);
  }
  if (o.json) std::cout << report.dump() << "\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{
      "Runs a StableHLO/CHLO text program.\n\nExample:\n  strata-run program.mlir --check=program.safetensors\n  strata-run program.mlir "
      "--args=in.safetensors --time=7 --json\n"
      "\nExit status: 0 equal, 1 values differ, 2 malformed program, 3 not supported, 4 file or memory failed, 70 internal check failed."};
  app.add_option("program", o.program, "StableHLO text")->required();
  app.add_option("--args", o.args, "arguments in.0, in.1, ... (safetensors)");
  app.add_option("--out", o.out, "write results out.0, ... of the last run");
  app.add_option("--check", o.check, "arguments and expected results in one file");
  app.add_option("--rtol", o.rtol, "relative tolerance (default: the file's metadata)");
  app.add_option("--atol", o.atol, "absolute tolerance");
  app.add_option("--entry", o.entry, "function to run (default: main)");
  app.add_option("--mode", o.mode, "compiled or reference")->check(CLI::IsMember({"compiled", "reference"}));
  app.add_option("--threads", o.threads, "threads (default: all cores)")->check(CLI::NonNegativeNumber);
  app.add_option("--time", o.time, "time N runs after one warm-up")->check(CLI::NonNegativeNumber);
  app.add_flag("--json", o.json, "the last line of stdout is one JSON object");
  app.add_flag("--explain", o.explain, "print groups, plan and compile times to stderr");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    int code = app.exit(e);
    return code == 0 ? 0 : kMalformed;
  }
  try {
    if (o.threads) set_num_threads(o.threads);
    return run(o);
  } catch (const Error& e) {
    std::cerr << "strata-run: " << o.program << ": " << e.what() << "\n";
    return e.is_unsupported() ? kUnsupported : kMalformed;
  } catch (const std::bad_alloc&) {
    std::cerr << "strata-run: out of memory\n";
    return kWorld;
  } catch (const std::exception& e) {
    std::cerr << "strata-run: " << e.what() << "\n";
    return kInternal;
  }
}
