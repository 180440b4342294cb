// strata-run PROGRAM: runs a StableHLO program (text, bytecode, an export of JAX), checks it, times
// it. See --help.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "strata/base/command_line.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/memory/out_of_memory.h"
#include "strata/base/stage_times.h"
#include "strata/base/standard_output.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/compile/plan/roofline.h"
#include "strata/conformance/execute.h"
#include "strata/conformance/program.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/text/printer.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/device.h"

namespace {

using namespace strata;

using conformance::Verdict;

struct Options {
  std::string program, args, out, check, entry, platform = "cpu", mode = "compiled", device;
  double rtol = -1, atol = -1;
  int threads = 0, time = 0;
  bool json = false, explain = false, time_passes = false;
  /// The file of arguments.
  const std::string& from() const { return check.empty() ? args : check; }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int exit_of(Verdict v) { return static_cast<int>(v); }

int fail(const Status& status) {
  std::cerr << "strata-run: " << status.message() << "\n";
  return exit_of(conformance::verdict_of(status));
}

/// What runs of one program add up to, for --json.
struct Report {
  int functions = 0;  // that ran
  double compile_s = 0;
  std::size_t temporary_bytes = 0;  // the most that a run takes besides arguments and results
  std::vector<double> seconds;
  op::Distance largest;
};

using Run = std::function<std::vector<runtime::Buffer>(const std::vector<Literal>&)>;

/// After the warm-up `last`: N runs on the same arguments, each after the results of the one before
/// are gone, as in a program that does nothing but call.
std::vector<runtime::Buffer> timed(const Run& run, const std::vector<Literal>& arguments,
                                   std::vector<runtime::Buffer> last, int runs,
                                   std::vector<double>& seconds) {
  for (int i = 0; i < runs; ++i) {
    last.clear();
    double start = now();
    last = run(arguments);
    seconds.push_back(now() - start);
  }
  return last;
}

/// A run on arguments that are on the process's device before, which ends when its results are
/// there.
Run on_device(const conformance::Callable& callable, const std::vector<Literal>& arguments) {
  std::vector<runtime::Buffer> in;
  for (const Literal& l : arguments) {
    const runtime::Buffer host(l);
    in.emplace_back(l.type(), runtime::default_client().device()->put(host));
    in.back().there()->wait();
  }
  return [&callable, in = std::move(in)](const std::vector<Literal>&) {
    std::vector<runtime::Buffer> out = callable.run_buffers(in);
    for (const runtime::Buffer& b : out) b.there()->wait();
    return out;
  };
}

/// A run that adds what its launches took.
Run measuring(const conformance::Callable& callable, compile::Measured& measured) {
  return [&](const std::vector<Literal>& arguments) {
    BusyClock busy;
    runtime::LaunchTimes times;
    double start = now();
    std::vector<runtime::Buffer> results = callable.run_timed(arguments, times);
    measured.add(now() - start, times, static_cast<double>(busy.ns()) * 1e-9);
    return results;
  };
}

void explain(const ir::Function& f) {
  compile::register_cpu();
  compile::Explanation e = compile::explain(f.body);
  std::cerr << e.fusion << e.plan
            << fmt::format("prepare {:.3f} s, plan {:.3f} s, code {:.3f} s\n", e.prepare_s,
                           e.plan_s, e.code_s);
}

op::Demand demand(const Options& o, const checkpoint::TensorFile& file) {
  op::Demand out = conformance::tolerance_of(file);
  if (o.rtol >= 0) out.rtol = o.rtol;
  if (o.atol >= 0) out.atol = o.atol;
  return out;
}

Status write_results(const std::string& path, const std::vector<Literal>& results,
                     std::size_t count) {
  checkpoint::TensorFile written;
  for (std::size_t r = 0; r < count; ++r)
    written.tensors.emplace(fmt::format("out.{}", r), results[r]);
  return checkpoint::write_safetensors(path, written);
}

/// Runs one function; the exit status.
int run_function(ir::Function& f, const checkpoint::TensorFile* file, const Options& o,
                 Report& report) {
  std::vector<Literal> arguments;
  if (file != nullptr) {
    auto read = conformance::arguments_of(f, *file, o.from());
    if (!read) return fail(read.status());
    arguments = std::move(*read);
  } else if (f.body.num_arguments() > 0) {
    return fail(Status(Code::invalid,
                       "@{} takes {} arguments: give them with --args=FILE.safetensors", f.name,
                       f.body.num_arguments()));
  }
  if (o.explain) explain(f);
  double start = now();
  auto mode = o.mode == "reference" ? conformance::Mode::reference : conformance::Mode::compiled;
  conformance::Callable callable(f, mode, /*fold=*/o.time > 0 || file != nullptr,
                                 /*timed=*/o.explain && o.time > 0);
  callable.compile(arguments);
  report.compile_s += now() - start;
  if (callable.executable() != nullptr)
    report.temporary_bytes =
        std::max(report.temporary_bytes, callable.executable()->temporary_bytes());
  std::vector<runtime::Buffer> last = callable.run(arguments);
  Run run = [&](const std::vector<Literal>& in) { return callable.run(in); };
  compile::Measured measured;
  const bool measures = o.explain && o.time > 0 && callable.executable() != nullptr;
  if (measures)
    run = measuring(callable, measured);
  else if (o.time > 0 && callable.executable() != nullptr && callable.executable()->on_device())
    run = on_device(callable, arguments);
  if (o.time > 0) last = timed(run, arguments, std::move(last), o.time, report.seconds);
  if (measures)
    std::cerr << compile::roofline(callable.executable()->launches(), compile::launch_costs(f.body),
                                   measured, compile::measure_peaks());
  std::vector<Literal> results = conformance::literals(last);
  std::vector<std::string> said =
      conformance::failed_checks(callable.checks(), results, &report.largest);
  if (!o.check.empty())
    for (std::string& line : conformance::differences(results, callable.num_results(), *file,
                                                      demand(o, *file), &report.largest))
      said.push_back(std::move(line));
  for (const std::string& line : said)
    std::cout << (f.name == "main" ? "" : "@" + f.name + ": ") << line << "\n";
  if (!o.out.empty())
    if (Status s = write_results(o.out, results, callable.num_results()); !s.ok()) return fail(s);
  return said.empty() ? 0 : exit_of(Verdict::differs);
}

/// Runs one part of the program's file; the first exit status that is not 0.
int run_part(const conformance::Part& part, const checkpoint::TensorFile* file, const Options& o,
             Report& report) {
  double start = now();
  auto module = conformance::load(part, o.program, o.platform);
  if (!module) return fail(module.status());
  ir::use_chlo(**module);
  ir::inline_calls(**module);
  auto functions = conformance::entries(**module, o.entry, o.program);
  if (!functions) return fail(functions.status());
  report.compile_s += now() - start;
  int status = 0;
  for (ir::Function* f : *functions) {
    int s = 0;
    ++report.functions;
    try {
      s = run_function(*f, file, o, report);
    } catch (const InternalError&) {
      std::cerr << ir::print(*f);
      throw;
    }
    if (status == 0) status = s;
  }
  return status;
}

void print_report(const Options& o, Report& report) {
  nlohmann::json json{{"compile_s", report.compile_s}};
  std::vector<double>& seconds = report.seconds;
  if (!seconds.empty()) {
    std::sort(seconds.begin(), seconds.end());
    json["median_s"] = seconds[seconds.size() / 2];
    json["min_s"] = seconds[0];
    if (!o.json)
      std::cout << fmt::format("median {:.6f} s, minimum {:.6f} s of {} runs\n",
                               seconds[seconds.size() / 2], seconds[0], seconds.size());
  }
  json["max_abs"] = report.largest.abs;
  json["max_ulp"] = report.largest.ulp;
  json["temporary_bytes"] = report.temporary_bytes;
  json["peak_bytes"] = runtime::memory_counts().peak;
  if (runtime::Device* device = runtime::default_client().device())
    if (const auto memory = device->memory_stats(); memory && memory->peak)
      json["device_peak_bytes"] = *memory->peak;
  if (o.json) std::cout << json.dump() << "\n";
}

Status nothing_to_run(std::string_view text, const std::string& name) {
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  return Status(Code::invalid,
                "{}: {}: a program has a function, as func.func @main(%x: tensor<2xf32>) -> "
                "tensor<2xf32> {{ return %x : tensor<2xf32> }}",
                name, blank ? "the file is empty" : "no function to run");
}

int run(const Options& o) {
  Result<std::string> text = ir::read_program_file(o.program);
  if (!text) return fail(text.status());
  std::optional<checkpoint::TensorFile> file;
  if (!o.from().empty()) {
    auto read = checkpoint::read_safetensors(o.from());
    if (!read) return fail(read.status());
    file = std::move(*read);
  }
  Report report;
  std::optional<StageTimes> stages;
  if (o.time_passes) stages.emplace();
  int status = 0;
  for (const conformance::Part& part : conformance::split(*text)) {
    int s = run_part(part, file ? &*file : nullptr, o, report);
    if (status == 0) status = s;
  }
  if (status == 0 && report.functions == 0) return fail(nothing_to_run(*text, o.program));
  print_report(o, report);
  if (stages)
    for (const auto& row : stages->rows())
      std::cerr << fmt::format("{:<24} {:9.4f} s {:7}\n", row.name, row.seconds, row.times);
  return status;
}

int work(int argc, char** argv) {
  Options o;
  CommandLine app(
      "Runs a StableHLO/CHLO program: text, bytecode or an export of JAX, told apart by their "
      "first bytes.\n\nExample:\n  strata-run program.mlir --check=program.safetensors\n  "
      "strata-run program.mlir "
      "--args=in.safetensors --time=7 --json\n"
      "\nExit status: 0 equal, 1 values differ, 2 malformed program, 3 not supported, 4 file or "
      "memory failed, 70 internal check failed.");
  app.add_option("program", o.program, "StableHLO text, bytecode, or what jax.export serializes")
      .required();
  app.add_option("--args", o.args, "arguments in.0, in.1, ... (safetensors)");
  app.add_option("--out", o.out, "write results out.0, ... of the last run");
  app.add_option("--check", o.check, "arguments and expected results in one file");
  app.add_option("--rtol", o.rtol, "relative tolerance (default: the file's metadata)");
  app.add_option("--atol", o.atol, "absolute tolerance");
  app.add_option("--entry", o.entry, "function to run (default: main)");
  app.add_option("--platform", o.platform,
                 "of an export of JAX, the program for this platform (default: cpu)");
  app.add_option("--mode", o.mode, "compiled or reference").one_of({"compiled", "reference"});
  app.add_option("--device", o.device,
                 "cpu (default), cuda, tpu, plugin:/path/x.so, or a name that `strata info` lists; "
                 ":N behind it takes the Nth of several");
  app.add_option("--threads", o.threads, "threads (default: all cores)").in_range(0, 4096);
  app.add_option("--time", o.time, "time N runs after one warm-up").in_range(0, 1000000000);
  app.add_flag("--json", o.json, "the last line of stdout is one JSON object");
  app.add_flag("--time-passes", o.time_passes,
               "print to stderr how long each stage of compiling took (the processor's time) and "
               "how often it ran");
  app.add_flag("--explain", o.explain,
               "print groups, plan and compile times to stderr; with --time also what each launch "
               "took beside what the machine could do");
  if (auto status = app.parse(argc, argv, exit_of(Verdict::malformed))) return *status;
  try {
    if (o.threads) set_num_threads(o.threads);
    if (!o.device.empty())
      if (Status s = runtime::use_device(o.device); !s.ok()) return fail(s);
    return run(o);
  } catch (const Error& e) {
    std::cerr << "strata-run: " << o.program << ": " << e.what() << "\n";
    return exit_of(e.is_unsupported() ? Verdict::unsupported : Verdict::malformed);
  } catch (const std::bad_alloc& e) {
    std::cerr << "strata-run: " << message_of(e) << "\n";
    return exit_of(Verdict::world);
  } catch (const std::exception& e) {
    std::cerr << "strata-run: " << e.what() << "\n";
    return exit_of(Verdict::internal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  strata::StandardOutput output;
  return output.finish("strata-run", work(argc, argv), /*lost=*/4);
}
