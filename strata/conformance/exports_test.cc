// Programs that JAX exported (conformance/exports), on every road into Strata: Program, compiled
// and by reference as strata-run takes them. Each gives what JAX computes, and all the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "strata/api/program.h"
#include "strata/api/trace/trace.h"
#include "strata/base/file.h"
#include "strata/conformance/execute.h"
#include "strata/conformance/program.h"
#include "strata/ir/pass/pass.h"

namespace strata::conformance {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path kExports =
    fs::path(__FILE__).parent_path().parent_path().parent_path() / "conformance" / "exports";

/// The programs below a folder, by their paths from kExports.
std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(kExports))
    if (entry.path().extension() == ".jax" || entry.path().extension() == ".mlirbc")
      out.push_back(fs::relative(entry.path(), kExports).string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Real and imaginary parts side by side as complex numbers, which safetensors has not of f64.
Literal as(const Type& type, const Literal& stored) {
  if (!type.is_tensor() || type.dtype() != DType::c128 || stored.dtype() != DType::f64)
    return stored;
  std::vector<std::int64_t> sizes = stored.shape().sizes();
  sizes.pop_back();
  Literal out(Type(DType::c128, Shape::of(sizes)));
  std::memcpy(out.mutable_data(), stored.data(), stored.bytes());
  return out;
}

/// Arguments of the entry, and the expected results that the file states.
struct Case {
  std::unique_ptr<ir::Module> module;
  std::vector<Literal> arguments;
  checkpoint::TensorFile expected;
};

Case read(const std::string& name) {
  Case out;
  const fs::path path = kExports / name;
  const std::string bytes = *read_file(path.string());
  auto module = load({bytes, 1}, name);
  EXPECT_TRUE(module.ok()) << module.status().message();
  out.module = std::move(*module);
  ir::use_chlo(*out.module);
  ir::inline_calls(*out.module);
  auto file = checkpoint::read_safetensors(fs::path(path).replace_extension(".safetensors"));
  EXPECT_TRUE(file.ok()) << file.status().message();
  const ir::Block& body = out.module->entry()->body;
  out.expected.metadata = file->metadata;
  for (auto& [key, literal] : file->tensors) {
    const int i = std::stoi(key.substr(key.find('.') + 1));
    if (key.starts_with("out."))
      out.expected.tensors.emplace(
          key, as(body.results.at(static_cast<std::size_t>(i))->type(), literal));
  }
  for (int i = 0; i < body.num_arguments(); ++i)
    out.arguments.push_back(
        as(body.argument(i)->type(), file->tensors.at("in." + std::to_string(i))));
  return out;
}

/// What differs from the stated results: those of no single answer are not stated.
std::vector<std::string> wrong(const Case& c, const std::vector<Literal>& got) {
  op::Demand demand = tolerance_of(c.expected);
  if (c.expected.metadata.count("rtol") == 0) demand.rtol = demand.atol = 1e-5;
  EXPECT_FALSE(c.expected.tensors.empty());
  std::vector<std::string> out;
  for (std::size_t r = 0; r < got.size(); ++r) {
    const std::string key = "out." + std::to_string(r);
    auto it = c.expected.tensors.find(key);
    if (it == c.expected.tensors.end()) continue;
    if (!(it->second.type() == got[r].type()))
      out.push_back(key + " is " + got[r].type().to_string());
    else if (auto difference = op::compare(demand, got[r], it->second))
      out.push_back(key + " differs " + op::to_string(*difference));
  }
  return out;
}

class Exports : public ::testing::TestWithParam<std::string> {};

TEST_P(Exports, give_what_jax_computes_on_every_road) {
  const Case compiled = read(GetParam()), reference = read(GetParam());
  const Callable fast(*compiled.module->entry(), Mode::compiled, /*fold=*/true),
      plain(*reference.module->entry(), Mode::reference, /*fold=*/true);
  const std::vector<Literal> results = literals(fast.run(compiled.arguments)),
                             twins = literals(plain.run(reference.arguments));
  EXPECT_THAT(wrong(compiled, results), IsEmpty());

  Result<Program> p = Program::load((kExports / GetParam()).string());
  ASSERT_TRUE(p.ok()) << p.status().message();
  std::vector<Array> inputs;
  for (const Literal& l : compiled.arguments)
    inputs.push_back(internal::concrete(runtime::Buffer(l), false));
  const std::vector<Array> loaded = (*p)(inputs);
  ASSERT_EQ(loaded.size(), results.size());
  ASSERT_EQ(twins.size(), results.size());
  const op::Demand same{.kind = op::Demand::Kind::within};  // NaN for NaN
  for (std::size_t r = 0; r < results.size(); ++r) {
    EXPECT_FALSE(op::compare(same, twins[r], results[r])) << "by reference, result " << r;
    EXPECT_FALSE(op::compare(same, loaded[r].literal(), results[r])) << "by Program, " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(OfJax, Exports, ::testing::ValuesIn(programs()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.rfind('.'));
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

/// The custom calls of a program.
std::set<std::string> targets_of(const std::string& name) {
  const std::string bytes = *read_file((kExports / "stable" / (name + ".mlirbc")).string());
  auto module = load({bytes, 1}, name);
  EXPECT_TRUE(module.ok()) << module.status().message();
  std::set<std::string> out;
  for (const auto& f : (*module)->functions)
    ir::walk(f->body, [&](const ir::Op& op) {
      if (op.name() == "stablehlo.custom_call")
        out.insert(op.attr<std::string>("call_target_name"));
    });
  return out;
}

/// Each target that JAX promises to keep stable is called by a program of the tests above, or is
/// refused by its name.
TEST(StableCalls, are_done_or_refused) {
  std::ifstream table(kExports / "stable" / "targets.txt");
  int lines = 0;
  for (std::string line; std::getline(table, line); ++lines) {
    const std::size_t colon = line.find(": ");
    ASSERT_NE(colon, std::string::npos) << line;
    const std::string target = line.substr(0, colon), rest = line.substr(colon + 2);
    if (!rest.starts_with("not applicable, ")) {
      std::istringstream names(rest);
      int found = 0;
      for (std::string name; names >> name; ++found)
        EXPECT_TRUE(targets_of(name).count(target) == 1) << line;
      EXPECT_GT(found, 0) << line;
      continue;
    }
    auto p = Program::read(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.custom_call @" +
        target +
        "(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : "
        "tensor<2xf32>\n}\n");
    ASSERT_TRUE(p.ok()) << p.status().message();
    try {
      p->compile();
      FAIL() << target << " compiles";
    } catch (const Error& e) {
      EXPECT_TRUE(e.is_unsupported()) << e.what();
      EXPECT_THAT(e.what(), HasSubstr(target));
    }
  }
  EXPECT_GT(lines, 80);
}

}  // namespace
}  // namespace strata::conformance
