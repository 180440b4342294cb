#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "strata/api/trace/trace.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/cli/command.h"
#include "strata/cli/compile_target.h"
#include "strata/embed/c_names.h"
#include "strata/embed/object.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/partition/addends/exact_sums.h"
#include "strata/partition/program.h"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string program, object, header, name, cpu = "x86-64-v3", platform = "cpu";
  std::vector<std::string> sizes;
  TargetOptions target;
  bool explain_sharding = false;
};

/// What C calls the program: as asked for, else its own name where it has one, else its file's.
std::string name_of(const Program& program, const Options& o) {
  if (!o.name.empty()) return o.name;
  std::string own = embed::identifier_of(program.name());
  if (own.empty() || program.name().starts_with("<"))
    own = embed::identifier_of(fs::path(o.program).stem().string());
  if (own.empty())
    throw Error("compile", "{} gives no name that C takes: say --name NAME", o.program);
  return own;
}

/// Sizes of open dimensions by their names.
std::map<std::string, std::int64_t> sizes_of(const Options& o) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& text : o.sizes) {
    const std::size_t equals = text.rfind('=');
    const std::string number = equals == text.npos ? "" : text.substr(equals + 1);
    if (number.empty() || number.size() > 15 ||
        number.find_first_not_of("0123456789") != number.npos)
      throw Error("compile", "--dim {}: say a dimension and its size, as in --dim b=8", text);
    out[text.substr(0, equals)] = std::stoll(number);
  }
  return out;
}

/// Inputs with the sizes that were given. Throws where a dimension stays open, or a size is for
/// none.
std::vector<Type> input_types(const Program& program, const Options& o) {
  std::map<std::string, std::int64_t> sizes = sizes_of(o), unused = sizes;
  std::vector<Type> out;
  for (const Program::Port& p : program.inputs()) {
    std::vector<Dim> dims = p.type.shape().dims();
    for (Dim& d : dims) {
      if (d.is_static()) continue;
      auto it = sizes.find(d.symbol());
      if (it == sizes.end())
        throw Error("compile",
                    "{} has an open dimension in {}: {}: an object file is for fixed shapes; {}",
                    o.program, p.name, internal::describe(p.type),
                    d.is_symbolic()
                        ? fmt::format("say its size, as in --dim '{}=8', or export it with that",
                                      d.symbol())
                        : "write the program with that dimension's size");
      unused.erase(it->first);
      d = it->second;
    }
    out.push_back(p.type.is_tensor() ? p.type.with(Shape(dims)) : p.type);
  }
  if (!unused.empty())
    throw Error("compile", "--dim {}: no input of {} has that dimension", unused.begin()->first,
                program.signature());
  return out;
}

std::string beside(const std::string& object) {
  return fs::path(object).replace_extension(".h").string();
}

/// Whether two names are one file's, by way of links or not.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || fs::equivalent(a, b, none);
}

/// Prints how the values of a program over several devices are sharded, and what its collectives
/// cost.
int explain_sharding(const Options& o) {
  Result<std::string> bytes = ir::read_program_file(o.program);
  if (!bytes) return fail(bytes.status());
  Result<std::unique_ptr<ir::Module>> module = ir::read(*bytes, o.program);
  if (!module) return fail(module.status());
  ir::inline_calls(**module);
  spmd::normalize(**module);
  const ir::Function* entry = (*module)->entry();
  if (entry == nullptr) throw Error("compile", "{} has no function to enter by", o.program);
  std::cout << spmd::partition_program(*entry, **module, {.exact = spmd::exact_sums()}).explanation;
  return kDone;
}

int run(const Options& o) {
  if (o.explain_sharding) return explain_sharding(o);
  if (!o.target.target.empty()) {
    TargetOptions target = o.target;
    target.program = o.program;
    return compile_for_target(target);
  }
  if (!o.name.empty() && !embed::is_identifier(o.name))
    throw Error("compile", "--name {}: C takes letters, digits and underscores, and no keyword",
                o.name);
  Result<Program> program = Program::load(o.program, {.platform = o.platform});
  if (!program) return fail(program.status());
  const std::string name = name_of(*program, o), object = o.object.empty() ? name + ".o" : o.object,
                    header = o.header.empty() ? beside(object) : o.header;
  if (same_file(object, header) || same_file(object, o.program) || same_file(header, o.program))
    throw Error("compile", "{}, {} and {} must be different files", o.program, object, header);
  const auto file_name = [](const std::string& path) { return fs::path(path).filename().string(); };
  const embed::Object made = embed::compile_object(
      *program, {name, o.cpu, input_types(*program, o), file_name(o.program), file_name(object)});
  for (const auto& [path, bytes] : {std::pair(object, made.object), std::pair(header, made.header)})
    if (Status s = write_file_atomic(path, bytes); !s.ok()) return fail(s);
  std::cout << fmt::format("{}\n{}: {} bytes for {}, {}: {}_run\n", program->signature(), object,
                           made.object.size(), o.cpu, header, name);
  return kDone;
}

}  // namespace

void add_compile(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand(
      "compile", "makes an object file and a C header of a StableHLO program or an export of JAX");
  command.description(
      "Compiles a program (StableHLO as text or bytecode, or what jax.export serialises) to an "
      "object file that C and C++ programs link\n"
      "with libstrata_rt.a, and writes the header that they include. Shapes are fixed; neither "
      "LLVM nor the rest of Strata is needed there.\n\n"
      "With --target it compiles for chips that are not here, by the compiler of their plugin (for "
      "TPUs the Python package libtpu),\n"
      "and prints what the program takes of each chip: memory, arithmetic, collectives.\n\n"
      "Example:\n  strata compile digits.jax -o digits.o --header digits.h\n  c++ -std=c++20 "
      "main.cc digits.o -lstrata_rt -lm -o main\n  strata compile --target=tpu:v5e:4x4 step.mlir "
      "--json\n");
  auto o = std::make_shared<Options>();
  command
      .add_option("program", o->program, "a file of StableHLO (text, bytecode) or an export of JAX")
      .required();
  command.add_option("-o,--output", o->object, "the object file (default: NAME.o)")
      .type_name("FILE");
  command
      .add_option("--header", o->header,
                  "the header (default: beside the object file, ending in .h)")
      .type_name("FILE");
  command.add_option(
      "--name", o->name,
      "what C calls it: NAME_run (default: the program's own name, else its file's)");
  command.add_option("--cpu", o->cpu, "the least processor that it runs on")
      .one_of({"x86-64-v3", "x86-64-v4", "native"})
      .show_default();
  command
      .add_option("--platform", o->platform, "of an export of JAX, the program for this platform")
      .show_default();
  command
      .add_option("--dim", o->sizes, "the size of an open dimension, as in b=8; may be said often")
      .one_at_a_time();
  command
      .add_option("--target", o->target.target,
                  "instead of an object file: a platform and a topology, as in tpu:v5e:4x4")
      .type_name("PLATFORM:TOPOLOGY");
  command
      .add_option("--partitions", o->target.partitions,
                  "with --target, parts into which shardings cut the program (default: its "
                  "mhlo.num_partitions)")
      .in_range(1, 1 << 20);
  command.add_flag("--explain-sharding", o->explain_sharding,
                   "instead of an object file: where each value of a program over several devices "
                   "lies, by whose annotation, and the bytes of each collective");
  command.add_flag("--json", o->target.json, "with --target, print one JSON object");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
