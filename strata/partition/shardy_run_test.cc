// Partitioned programs of Shardy's own run tests (testdata/shardy/run_tests.mlir, Apache License
// 2.0; see NOTICE there): what their devices compute together is what the program computes on one.
// Those that are written otherwise than we read them stand in run_differs.txt with why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/law_support.h"
#include "strata/partition/partition_testing.h"
#include "strata/partition/program.h"

namespace strata::spmd {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& name) {
  std::ifstream in(fs::path(__FILE__).parent_path() / "testdata" / "shardy" / name);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Small whole numbers, so that sums are the same in any order.
Literal filled(const Type& type, std::int64_t number) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    std::int64_t n = (i * 7919 + number * 104729) % 11;
    if (is_float(type.dtype()))
      out.set_number(i, static_cast<double>(n) - 5);
    else
      out.set_integer(i, n % 2);
  }
  return out;
}

/// "" where devices and one device agree.
std::string compare(const ir::Module& module, const ir::Function& f) {
  op::Literals at;
  for (const auto& a : f.body.arguments())
    at.push_back(filled(a->type(), static_cast<std::int64_t>(at.size())));
  op::World alone, together;
  op::Literals whole = op::evaluate(f.body, at);
  PartitionedProgram p = partition_program(f, module);
  op::Literals got = run_on_devices(p.function->body, p.grid, p.arguments, p.results,
                                    f.body.result_types(), at, together);
  for (std::size_t r = 0; r < whole.size(); ++r) {
    std::string wrong = op::laws::difference(got[r], whole[r]);
    if (!wrong.empty()) return fmt::format("result {}: {}", r, wrong);
  }
  return "";
}

TEST(ShardyRun, devices_compute_what_one_computes) {
  op::catalog();
  std::map<std::string, std::string> differs;
  std::istringstream list(read("run_differs.txt"));
  for (std::string line; std::getline(list, line);)
    if (!line.empty() && line[0] != '#')
      differs[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
  int alike = 0, all = 0;
  std::string text = read("run_tests.mlir");
  for (const ir::TextPart& part : ir::split_parts(text)) {
    std::size_t at = part.text.find(".mlir");
    std::string name(part.text.substr(0, at));
    name = name.substr(name.rfind(' ') + 1);
    std::string wrong = "no function to run";
    Result<std::unique_ptr<ir::Module>> module = ir::parse(part.text, name);
    if (!module) {
      wrong = module.status().message();
    } else {
      try {
        ir::inline_calls(**module);
        for (const auto& f : (*module)->functions)
          if (f->is_public && f->name.find("sequential") == std::string::npos)
            wrong = compare(**module, *f);
      } catch (const Error& e) {
        wrong = e.what();
      }
    }
    ++all;
    alike += wrong.empty() ? 1 : 0;
    bool listed = differs.count(name) > 0;
    if (wrong.empty() && listed) ADD_FAILURE() << name << " agrees now: strike it off";
    if (!wrong.empty() && !listed) ADD_FAILURE() << name << ": " << wrong;
  }
  std::cout << alike << " of " << all << " programs run as on one device\n";
}

}  // namespace
}  // namespace strata::spmd
