// strata-conformance DIR...: runs every program below the folders and says which keep what they
// promise. See --help.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "strata/base/command_line.h"
#include "strata/base/file.h"
#include "strata/base/standard_output.h"
#include "strata/base/thread_pool.h"
#include "strata/conformance/case.h"
#include "strata/conformance/workers.h"

namespace {

using namespace strata;
using conformance::Case;
using conformance::Mode;
using conformance::Outcome;
using conformance::Verdict;

struct Options {
  std::vector<std::string> folders;
  std::string mode = "compiled", exceptions;
  int jobs = 0, threads = 1;
  double limit_s = 60;
  std::size_t memory_mb = 4096;
  bool list_failed = false, each = false, alone = false;
};

const char* name(Mode mode) { return mode == Mode::reference ? "reference" : "compiled"; }

std::string pack(const Outcome& o) {
  return nlohmann::json{{"verdict", static_cast<int>(o.verdict)},
                        {"reason", o.reason},
                        {"compile_s", o.compile_s},
                        {"seconds", o.seconds}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
Outcome unpack(const std::string& text) {
  nlohmann::json j = nlohmann::json::parse(text);
  return {.verdict = static_cast<Verdict>(j["verdict"].get<int>()),
          .reason = j["reason"],
          .compile_s = j["compile_s"],
          .seconds = j["seconds"]};
}

std::vector<Outcome> run_all(const std::vector<Case>& cases, Mode mode, const Options& o) {
  std::vector<Outcome> outcomes(cases.size());
  int jobs =
      o.jobs > 0 ? o.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  auto work = [&](std::size_t i) {
    set_num_threads(o.threads);
    return pack(conformance::run_case(cases[i], mode, o.alone));
  };
  auto done = [&](std::size_t i, const std::string& text) { outcomes[i] = unpack(text); };
  auto ended = [&](std::size_t i, const std::string& why) {
    outcomes[i] = {.verdict = Verdict::internal, .reason = why};
  };
  conformance::run_in_workers(cases.size(),
                              {.jobs = jobs, .seconds = o.limit_s, .bytes = o.memory_mb << 20},
                              work, done, ended);
  return outcomes;
}

/// Lines `MODE NAME reason`: programs that are expected to fail. MODE is `both` or one mode, NAME
/// is counted from the file's folder.
struct Exceptions {
  std::map<std::string, std::string> reasons;  // by name
  std::filesystem::path folder;

  static Result<Exceptions> read(const std::string& path, Mode mode) {
    auto text = read_file(path);
    if (!text) return text.status();
    Exceptions out{.folder = std::filesystem::absolute(path).parent_path()};
    std::istringstream lines(*text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::istringstream words(line);
      std::string which, program, reason;
      if (!(words >> which) || which[0] == '#') continue;
      if (!(words >> program) || !std::getline(words >> std::ws, reason) ||
          (which != "both" && which != "reference" && which != "compiled"))
        return Status(Code::invalid, "{}:{}: expected 'both|reference|compiled NAME reason'", path,
                      number);
      if (which == "both" || which == name(mode)) out.reasons.emplace(program, reason);
    }
    return out;
  }
  bool lists(const Case& c) const {
    return reasons.count(std::filesystem::absolute(c.name)
                             .lexically_normal()
                             .lexically_proximate(folder.lexically_normal())
                             .string()) != 0;
  }
};

struct Row {
  int passed = 0, failed = 0, unsupported = 0;
  double compile_s = 0, seconds = 0;
};

const char* word(Verdict v) {
  switch (v) {
    case Verdict::equal: return "passed";
    case Verdict::differs: return "values differ";
    case Verdict::malformed: return "malformed";
    case Verdict::unsupported: return "unsupported";
    case Verdict::world: return "file or memory";
    case Verdict::internal: return "our own failure";
  }
  return "";
}

void print_rows(const std::map<std::string, Row>& rows, Mode mode) {
  std::cout << fmt::format("{:<44} {:<10} {:>7} {:>7} {:>12} {:>11} {:>9}\n", "folder", "mode",
                           "passed", "failed", "unsupported", "compile ms", "seconds");
  for (const auto& [folder, row] : rows)
    std::cout << fmt::format("{:<44} {:<10} {:>7} {:>7} {:>12} {:>11.2f} {:>9.1f}\n", folder,
                             name(mode), row.passed, row.failed, row.unsupported,
                             row.passed > 0 ? 1e3 * row.compile_s / row.passed : 0.0, row.seconds);
}

/// What a case counts as, given the exceptions: passing though listed is a failure, failing though
/// listed is none.
struct Judged {
  bool passed;
  std::string reason;
};
Judged judge(const Case& c, const Outcome& o, const Exceptions& exceptions) {
  bool passed = o.verdict == Verdict::equal;
  if (!exceptions.lists(c))
    return {passed, passed ? "" : fmt::format("{}: {}", word(o.verdict), o.reason)};
  return {!passed, passed ? "passes, though the file of exceptions lists it" : ""};
}

/// The reason on one line, of bounded length.
std::string line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= 400 ? text : text.substr(0, 400) + "...";
}

int run(const Options& o) {
  std::vector<Case> cases;
  for (const std::string& folder : o.folders) {
    auto found = conformance::find_cases(folder);
    if (!found) {
      std::cerr << "strata-conformance: " << found.status().message() << "\n";
      return 4;
    }
    cases.insert(cases.end(), found->begin(), found->end());
  }
  int passed = 0, failed = 0;
  std::vector<Mode> modes;
  if (o.mode != "compiled") modes.push_back(Mode::reference);
  if (o.mode != "reference") modes.push_back(Mode::compiled);
  for (Mode mode : modes) {
    Exceptions exceptions;
    if (!o.exceptions.empty()) {
      auto read = Exceptions::read(o.exceptions, mode);
      if (!read) {
        std::cerr << "strata-conformance: " << read.status().message() << "\n";
        return 2;
      }
      exceptions = std::move(*read);
    }
    std::vector<Outcome> outcomes = run_all(cases, mode, o);
    std::map<std::string, Row> rows;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Outcome& outcome = outcomes[i];
      Row& row = rows[cases[i].folder];
      row.seconds += outcome.seconds;
      if (outcome.verdict == Verdict::equal) {
        ++row.passed;
        row.compile_s += outcome.compile_s;
      } else {
        ++(outcome.verdict == Verdict::unsupported ? row.unsupported : row.failed);
      }
    }
    print_rows(rows, mode);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Judged judged = judge(cases[i], outcomes[i], exceptions);
      ++(judged.passed ? passed : failed);
      if (o.each)
        std::cout << fmt::format("{} {} {}{}{}\n", judged.passed ? "ok" : "FAIL", name(mode),
                                 cases[i].name, judged.passed ? "" : ": ", line(judged.reason));
      else if (!judged.passed && o.list_failed)
        std::cout << cases[i].name << "\n";
      else if (!judged.passed)
        std::cout << fmt::format("  {}: {}\n", cases[i].name, line(judged.reason));
    }
  }
  std::cout << fmt::format("{} passed, {} failed\n", passed, failed);
  return failed > 0 || passed == 0 ? 1 : 0;
}

int work(int argc, char** argv) {
  ::setenv("STRATA_CACHE_DIR", "",
           /*overwrite=*/0);  // machine code is made, not found: times are those of compiling
  Options o;
  CommandLine app(
      "Runs every .mlir program below the folders, each part between `// -----` by itself, and "
      "compares with what it expects: its own "
      "checks, or NAME.safetensors beside it.\n\nExample:\n  strata-conformance --mode=both "
      "conformance\n\nExit status: 0 all passed, 1 some "
      "failed, 2 wrong options, 4 a folder cannot be read.");
  app.add_option("folders", o.folders, "folders of programs").required();
  app.add_option("--mode", o.mode, "compiled (default), reference or both")
      .one_of({"compiled", "reference", "both"});
  app.add_option("--jobs", o.jobs, "processes at a time (default: all cores)").in_range(0, 4096);
  app.add_option("--threads", o.threads, "threads of each process").in_range(1, 4096);
  app.add_option("--limit", o.limit_s, "seconds that one program may take");
  app.add_option("--memory", o.memory_mb, "megabytes that one process may hold");
  app.add_option("--exceptions", o.exceptions,
                 "file of programs that are expected to fail: one that passes is a failure");
  app.add_flag("--list-failed", o.list_failed, "only the names of programs that failed");
  app.add_flag(
      "--alone", o.alone,
      "compiled programs that expect nothing are not compared with the reference evaluator");
  app.add_flag("--each", o.each,
               "a line `ok MODE NAME` or `FAIL MODE NAME: reason` for every program");
  if (auto status = app.parse(argc, argv)) return *status;
  return run(o);
}

}  // namespace

int main(int argc, char** argv) {
  strata::StandardOutput output;
  return output.finish("strata-conformance", work(argc, argv), /*lost=*/4);
}
