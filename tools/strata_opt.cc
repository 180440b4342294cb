// strata-opt: reads a program, verifies it, applies passes, prints it. What it prints, it reads.
//
//   strata-opt --passes=inline-calls,cse,dce program.mlir
//   strata-opt --emit-bytecode program.mlir > program.mlirbc
//   strata-opt --passes=cpu-pipeline --print-after=licm --time-passes program.mlir
//   strata-opt --partition --explain-sharding program.mlir
//
// Programs are text, bytecode or exports of JAX, told apart by their first bytes; `--emit-bytecode`
// writes a portable artifact (of the release of StableHLO that it names) instead of text. A file of
// text may hold several programs between lines `// -----`; each is done by itself, what is wrong
// with one is said on stderr and the others follow, with such lines between them again.
//
// Exit status (of the first program that fails): 0 printed; 2 the program or the command line is
// wrong; 3 not supported; 4 the file cannot be read; 70 our own check failed.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <utility>

#include "strata/base/command_line.h"
#include "strata/base/error.h"
#include "strata/base/memory/out_of_memory.h"
#include "strata/base/standard_output.h"
#include "strata/base/text.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/catalog.h"
#include "strata/partition/gspmd.h"
#include "strata/partition/program.h"
#include "strata/pass/pass.h"
#include "strata/transform/export.h"

namespace {

using namespace strata;

constexpr std::string_view kPipeline = "cpu-pipeline";

struct Options {
  std::vector<std::string> passes;
  bool generic = false, verify_only = false, time_passes = false, print_after_all = false;
  std::vector<std::string> print_after;
  bool partition = false, explain_sharding = false;
  std::string release;  // of StableHLO, where bytecode is written
  std::string file;
};

int exit_status(const Status& s) {
  switch (s.code()) {
    case Code::ok: return 0;
    case Code::unsupported: return 3;
    case Code::corrupt:
    case Code::invalid: return 2;
    default: return 4;
  }
}

int fail(const Status& s) {
  std::cerr << s.message() << '\n';
  return exit_status(s);
}

Result<std::string> read(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return ir::read_program_file(path);
}

void print(const ir::Module& m, const Options& o) {
  std::cout << ir::print(m, {.generic = o.generic});
}

bool is_printed_after(std::string_view pass, const Options& o) {
  return o.print_after_all ||
         std::find(o.print_after.begin(), o.print_after.end(), pass) != o.print_after.end();
}

Status run_pass(const ir::Pass& pass, ir::Module& m, const Options& o) {
  auto start = std::chrono::steady_clock::now();
  try {
    pass.run(m);
  } catch (const Error& e) {
    return Status(Code::invalid, "{}: {}", o.file, e.what());
  }
  if (o.time_passes)
    std::cerr << fmt::format(
        "{:>10.3f} ms  {}\n",
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count(),
        pass.name);
  Status verified = ir::verify(m);
  STRATA_CHECK(verified.ok(), "pass {} broke the program: {}", pass.name, verified.message());
  if (is_printed_after(pass.name, o)) {
    std::cout << "// after " << pass.name << '\n';
    print(m, o);
  }
  return Status();
}

/// All passes of the CPU compiler on the entry function, which stays alone; with `--time-passes`
/// what each of them did.
Status run_cpu_pipeline(ir::Module& m, const Options& o) {
  try {
    ir::inline_calls(m);
    ir::Function* entry = m.entry();
    if (entry == nullptr) throw Error("cpu-pipeline", "the program has no entry function");
    pass::PipelineOptions options = pass::PipelineOptions::from_environment();
    options.verify = true;
    options.after = [&](const pass::Run& run, const ir::Block& block) {
      if (o.time_passes)
        std::cerr << fmt::format("{:>10.3f} ms  {:<26} {:>6} -> {:>6} operations{}\n",
                                 1e3 * run.seconds, run.pass->name, run.operations_before,
                                 run.operations_after, run.changed ? "" : ", unchanged");
      if (!is_printed_after(run.pass->name, o)) return;
      std::cout << "// after " << run.pass->name << '\n'
                << ir::print(*pass::as_function(entry->name, block), {.generic = o.generic});
    };
    auto done = pass::as_function(entry->name,
                                  *pass::run_pipeline(ir::clone(entry->body), nullptr, options));
    m.functions.clear();
    m.functions.push_back(std::move(done));
  } catch (const Error& e) {
    return Status(e.is_unsupported() ? Code::unsupported : Code::invalid, "{}: {}", o.file,
                  e.what());
  }
  return Status();
}

/// The entry function becomes the program of each device; what was decided goes to stderr.
Status run_partition(ir::Module& m, const Options& o) {
  try {
    ir::inline_calls(m);
    spmd::gspmd_to_shardy(m);
    ir::Function* entry = m.entry();
    if (entry == nullptr) throw Error("partition", "the program has no entry function");
    spmd::PartitionedProgram p = spmd::partition_program(*entry, m);
    if (o.explain_sharding) std::cerr << p.explanation;
    for (auto& f : m.functions)
      if (f.get() == entry && o.partition) {
        f = std::move(p.function);
        break;
      }
  } catch (const Error& e) {
    return Status(e.is_unsupported() ? Code::unsupported : Code::invalid, "{}: {}", o.file,
                  e.what());
  }
  Status verified = ir::verify(m);
  STRATA_CHECK(verified.ok(), "partitioning broke the program: {}", verified.message());
  return Status();
}

Status emit(const ir::Module& m, const Options& o) {
  Result<std::string> bytes = ir::write_bytecode(m, {.release = o.release});
  if (!bytes) return Status(bytes.status().code(), "{}: {}", o.file, bytes.status().message());
  std::cout.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
  return Status();
}

/// One program of the file.
Status run_part(const Result<std::unique_ptr<ir::Module>>& module, const Options& o) {
  if (!module) return module.status();
  if (Status s = ir::verify(**module); !s.ok()) return s;
  for (const std::string& name : o.passes) {
    const Status s = name == kPipeline ? run_cpu_pipeline(**module, o)
                                       : run_pass(*ir::Passes::global().find(name), **module, o);
    if (!s.ok()) return s;
  }
  if (o.partition || o.explain_sharding)
    if (Status s = run_partition(**module, o); !s.ok()) return s;
  if (o.verify_only || o.print_after_all || !o.print_after.empty()) return Status();
  if (!o.release.empty()) return emit(**module, o);
  print(**module, o);
  return Status();
}

int run(const Options& o) {
  Result<std::string> text = read(o.file);
  if (!text) return fail(text.status());
  if (ir::is_binary(*text)) {
    Status s = run_part(ir::read(*text, o.file), o);
    return s.ok() ? 0 : fail(s);
  }
  std::vector<ir::TextPart> parts = ir::split_parts(*text);
  if (parts.size() > 1 && !o.release.empty())
    return fail(
        Status(Code::invalid, "{}: {} programs, and bytecode is of one", o.file, parts.size()));
  int status = 0;
  bool first = true;
  for (const ir::TextPart& part : parts) {
    if (!std::exchange(first, false) && !o.verify_only) std::cout << "// -----\n";
    if (Status s = run_part(ir::read(part.text, o.file, {.first_line = part.first_line}), o);
        !s.ok())
      status = status == 0 ? fail(s) : (fail(s), status);
  }
  return status;
}

std::string pass_list() {
  std::string out = "passes:\n";
  for (const auto& [name, pass] : ir::Passes::global().all())
    out += fmt::format("  {:<26} {}\n", name, pass.summary);
  out +=
      fmt::format("  {:<26} {}\n", kPipeline, "all that the CPU compiler applies, in its order:");
  for (const pass::Step& step : pass::pipeline())
    out += fmt::format("      {:<26} {}{}\n", step.pass, step.if_changed ? "where needed: " : "",
                       step.reason);
  return out +
         "STRATA_DISABLE_PASS=NAME,... leaves passes out of the pipeline.\n"
         "example: strata-opt --passes=inline-calls,cse,dce program.mlir";
}

/// "no pass 'ces'; did you mean 'cse'?"; empty for one that there is.
std::string unknown_pass(const std::string& name) {
  if (ir::Passes::global().find(name) != nullptr || name == kPipeline) return {};
  std::vector<std::string_view> names = {kPipeline};
  for (const auto& [known, pass] : ir::Passes::global().all()) names.push_back(known);
  return fmt::format("no pass '{}'{}", name, did_you_mean(name, names));
}

int work(int argc, char** argv) {
  op::catalog();
  transform::add_export_pass();
  spmd::add_partition_passes();
  pass::add_passes();
  Options o;
  CommandLine app("reads a StableHLO program, verifies it, applies passes, prints it",
                  "strata-opt");
  app.add_option("--passes", o.passes, "passes to apply, in order")
      .delimiter(',')
      .check(unknown_pass);
  app.add_flag("--generic", o.generic, "print every operation in the generic form");
  app.add_flag("--emit-bytecode{" + ir::BytecodeOptions{}.release + "}", o.release,
               "write a portable artifact of this release of StableHLO instead of text");
  app.add_flag("--verify-only", o.verify_only, "print nothing");
  app.add_flag("--partition", o.partition,
               "after the passes, the program of one device of its mesh, by its shardings");
  app.add_flag("--explain-sharding", o.explain_sharding,
               "say on stderr where each value lies and by whose annotation, and each collective");
  app.add_flag("--time-passes", o.time_passes, "say on stderr how long each pass took");
  app.add_option("--print-after", o.print_after,
                 "print the program after these passes alone, inside the pipeline too")
      .delimiter(',')
      .check(unknown_pass);
  app.add_flag("--print-after-all", o.print_after_all, "print the program after each pass");
  app.add_option("FILE", o.file, "the program; - for standard input").required();
  app.footer(pass_list());
  if (auto status = app.parse(argc, argv)) return *status;
  try {
    return run(o);
  } catch (const InternalError& e) {
    std::cerr << "internal error: " << e.what() << '\n';
    return 70;
  } catch (const std::bad_alloc& e) {
    std::cerr << o.file << ": " << message_of(e) << "\n";
    return 4;
  }
}

}  // namespace

int main(int argc, char** argv) {
  strata::StandardOutput output;
  return output.finish("strata-opt", work(argc, argv), /*lost=*/4);
}
