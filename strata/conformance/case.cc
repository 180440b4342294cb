#include "strata/conformance/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/conformance/check_lines.h"
#include "strata/conformance/dimensions.h"
#include "strata/conformance/program.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/literal_text.h"
#include "strata/op/value_text.h"

namespace strata::conformance {
namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Outcome failed(Verdict verdict, std::string reason) {
  return {.verdict = verdict, .reason = std::move(reason)};
}
Outcome failed(const Status& status) { return failed(verdict_of(status), status.message()); }

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "; "));
}

/// What a program is to be run on, and what is expected of it beside its own checks.
struct Expected {
  std::string path,
      args;  // the program's file; values for its arguments, as its RUN line gives them
  std::optional<checkpoint::TensorFile> file;
  std::vector<CheckLine> lines, dense_lines;

  std::string beside() const { return fs::path(path).replace_extension(".safetensors").string(); }
};

/// "[dense<1> : tensor<2xi32>, ...]".
Result<std::vector<Literal>> parse_arguments(const std::string& text) {
  std::vector<Literal> out;
  ir::Cursor c(text);
  try {
    c.expect("[");
    do {
      c.expect("dense");
      out.push_back(ir::parse_dense(c));
    } while (c.consume(","));
    c.expect("]");
  } catch (const ir::SyntaxError& e) {
    return Status(Code::invalid, "--args of the RUN line: {}", e.message);
  }
  return out;
}

Result<std::vector<Literal>> arguments_for(const ir::Function& f, const Expected& e) {
  if (f.body.num_arguments() == 0) return std::vector<Literal>();
  if (e.file) return arguments_of(f, *e.file, e.beside());
  if (!e.args.empty()) return parse_arguments(e.args);
  auto dimensions = dimensions_of(e.path);
  if (!dimensions) return dimensions.status();
  return made_arguments(f, *dimensions);
}

/// What StableHLO's interpreter would print, as text or as dense attributes.
std::string printed(const std::string& during, const std::vector<Literal>& results,
                    std::size_t count, bool dense) {
  std::string out = during;
  for (std::size_t r = 0; r < count; ++r)
    out += (dense ? ir::dense_text(results[r]) + " : " + results[r].type().to_string()
                  : op::value_text(results[r])) +
           "\n";
  return out;
}

/// Same types, same bits (any NaN equals any other); one line for each result that differs.
std::vector<std::string> against_reference(const std::vector<Literal>& got,
                                           const std::vector<Literal>& want) {
  std::vector<std::string> out;
  for (std::size_t r = 0; r < got.size(); ++r) {
    if (!(got[r].type() == want[r].type()))
      out.push_back(fmt::format("output {} is {}, by reference {}", r, got[r].type().to_string(),
                                want[r].type().to_string()));
    else if (auto d = op::compare({.kind = op::Demand::Kind::bits}, got[r], want[r]))
      out.push_back(fmt::format("output {} differs from the reference {}", r, op::to_string(*d)));
  }
  return out;
}

/// Runs one function; adds to `out.compile_s`, sets the verdict when it fails.
void run_function(ir::Function& f, const Expected& expected, Mode mode, bool alone, Outcome& out) {
  auto arguments = arguments_for(f, expected);
  if (!arguments) {
    out = failed(arguments.status());
    return;
  }
  std::unique_ptr<ir::Function> twin;  // of a program that expects nothing, to compare with
  bool expects_nothing = f.body.num_arguments() > 0 && !expected.file && expected.args.empty();
  if (expects_nothing && mode == Mode::compiled && !alone) {
    twin = std::make_unique<ir::Function>(f.name);
    ir::ValueMap map;
    for (const auto& a : f.body.arguments()) map.set(a.get(), twin->body.add_argument(a->type()));
    ir::Builder b(twin->body);
    twin->body.results = ir::inline_block(b, f.body, twin->body.argument_values());
  }
  double start = now();
  Callable callable(f, mode, /*fold=*/false);
  out.compile_s += now() - start;
  std::string during;
  std::vector<Literal> results = literals(callable.run(*arguments, &during));
  std::vector<std::string> said = failed_checks(callable.checks(), results);
  auto add = [&](std::vector<std::string> lines) {
    said.insert(said.end(), lines.begin(), lines.end());
  };
  if (expected.file)
    add(differences(results, callable.num_results(), *expected.file, tolerance_of(*expected.file)));
  if (twin)
    add(against_reference(results,
                          literals(Callable(*twin, Mode::reference, false).run(*arguments))));
  for (bool dense : {false, true}) {
    std::string missing = first_unmatched(dense ? expected.dense_lines : expected.lines,
                                          printed(during, results, callable.num_results(), dense));
    if (!missing.empty()) said.push_back("not printed: " + missing);
  }
  if (!said.empty())
    out = {.verdict = Verdict::differs, .reason = joined(said), .compile_s = out.compile_s};
}

Outcome run_part(const Part& part, std::string_view text, const std::string& path, Mode mode,
                 bool alone) {
  Expected expected{.path = path, .args = run_option(text, "args")};
  if (text.find("--interpret") != std::string_view::npos &&
      text.find("FileCheck") != std::string_view::npos) {
    expected.lines = check_lines(part.text, "CHECK");
    expected.dense_lines = check_lines(part.text, "CHECK-DENSE");
  }
  if (file_exists(expected.beside())) {
    auto read = checkpoint::read_safetensors(expected.beside());
    if (!read) return failed(read.status());
    expected.file = std::move(*read);
  }
  Outcome out;
  double start = now();
  auto module = load(part, path);
  if (!module) return failed(module.status());
  out.compile_s = now() - start;
  if (Status s = print_is_fixpoint(**module); !s.ok())
    return failed(Verdict::internal, s.message());
  start = now();
  ir::inline_calls(**module);
  auto functions = entries(**module, "", path);
  out.compile_s += now() - start;
  if (!functions) return failed(functions.status());
  for (ir::Function* f : *functions) {
    run_function(*f, expected, mode, alone, out);
    if (out.verdict != Verdict::equal) return out;
  }
  return out;
}

}  // namespace

Result<std::vector<Case>> find_cases(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".mlir") files.push_back(it->path());
  if (error) return Status(Code::not_found, "{}: {}", folder, error.message());
  std::sort(files.begin(), files.end());
  std::vector<Case> out;
  for (const fs::path& file : files) {
    auto text = read_file(file.string());
    if (!text) return text.status();
    std::size_t parts = split(*text).size();
    for (std::size_t i = 0; i < parts; ++i) {
      std::string name = parts == 1 ? file.string() : fmt::format("{}#{}", file.string(), i + 1);
      out.push_back({.name = std::move(name),
                     .folder = file.parent_path().string(),
                     .path = file.string(),
                     .part = i});
    }
  }
  return out;
}

Outcome run_case(const Case& c, Mode mode, bool alone) {
  double start = now();
  Outcome out;
  auto text = read_file(c.path);
  if (!text) return failed(text.status());
  try {
    std::vector<Part> parts = split(*text);
    out = c.part < parts.size() ? run_part(parts[c.part], *text, c.path, mode, alone)
                                : failed(Verdict::world, "the file has fewer parts than before");
  } catch (const Error& e) {
    out = failed(e.is_unsupported() ? Verdict::unsupported : Verdict::malformed, e.what());
  } catch (const InternalError& e) {
    out = failed(Verdict::internal, e.what());
  }
  out.seconds = now() - start;
  return out;
}

}  // namespace strata::conformance
