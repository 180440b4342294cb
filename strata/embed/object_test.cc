// Object files linked and run: bit for bit what the same program gives in memory.
#include "strata/embed/object.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <thread>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/runtime_symbols.h"
#include "strata/compile/llvm/target.h"
#include "strata/core.h"
#include "strata/embed/c_header.h"
#include "strata/loop/tiles.h"

namespace strata::embed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

using RunFn = const char* (*)(const void* const* inputs, void* const* outputs);

fs::path build_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

/// A folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "strata_object_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char part[4096];
  while (std::size_t n = fread(part, 1, sizeof part, pipe)) out.append(part, n);
  const int status = pclose(pipe);
  return status == 0 ? out : out + fmt::format("(status {})", status);
}

/// The object as a shared library: its function.
RunFn linked(const Folder& folder, const Object& object, const std::string& name) {
  EXPECT_TRUE(write_file_atomic((folder / (name + ".o")).string(), object.object).ok());
  const std::string library = (folder / (name + ".so")).string();
  const std::string said = output_of(
      fmt::format("cc -shared -Wl,-z,defs -o {} {} -L{} -lstrata_rt -lstdc++ -lm", library,
                  (folder / (name + ".o")).string(), (build_folder() / "lib").string()));
  EXPECT_EQ(said, "");
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle ? reinterpret_cast<RunFn>(dlsym(handle, (name + "_run").c_str())) : nullptr;
}

Program read(const std::string& text) {
  Result<Program> p = Program::read(text, "test.mlir");
  EXPECT_TRUE(p.ok()) << p.status().message();
  return std::move(*p);
}

Literal random_literal(const Type& type, unsigned seed) {
  Literal out(type);
  std::mt19937 random(seed);
  if (is_complex(type.dtype())) {
    for (float& x : std::span(reinterpret_cast<float*>(out.mutable_data()),
                              static_cast<std::size_t>(2 * out.count())))
      x = std::uniform_real_distribution<float>(-2, 2)(random);
    return out;
  }
  for (std::int64_t i = 0; i < out.count(); ++i) {
    if (is_float(type.dtype()))
      out.set_number(i, std::uniform_real_distribution<double>(-2, 2)(random));
    else
      out.set_integer(i, static_cast<std::int64_t>(random() % (is_bool(type.dtype()) ? 2 : 100)));
  }
  return out;
}

std::vector<Literal> inputs_of(const Program& program) {
  std::vector<Literal> out;
  for (const Program::Port& p : program.inputs())
    out.push_back(random_literal(p.type, static_cast<unsigned>(out.size() + 7)));
  return out;
}

std::vector<Literal> in_memory(const Program& program, const std::vector<Literal>& inputs) {
  std::vector<Array> arrays(inputs.begin(), inputs.end());
  std::vector<Literal> out;
  for (const Array& a : program(arrays)) out.push_back(a.literal());
  return out;
}

/// Memory at an address that is a multiple of an element's size and of nothing more.
class Unaligned {
 public:
  explicit Unaligned(const Literal& l)
      : offset_(std::min<std::size_t>(8, byte_width(l.dtype()))),
        memory_(l.bytes() + 64 + offset_) {
    std::memcpy(data(), l.data(), l.bytes());
  }
  std::byte* data() {
    return memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64) % 64 +
           offset_;
  }

 private:
  std::size_t offset_;
  std::vector<std::byte> memory_;
};

std::vector<Literal> by_object(RunFn run, const std::vector<Literal>& inputs,
                               const std::vector<Literal>& like) {
  std::vector<Unaligned> in(inputs.begin(), inputs.end()), out;
  for (const Literal& l : like) out.emplace_back(Literal(l.type()));
  std::vector<const void*> from;
  std::vector<void*> to;
  for (Unaligned& m : in) from.push_back(m.data());
  for (Unaligned& m : out) to.push_back(m.data());
  const char* error = run(from.data(), to.data());
  EXPECT_EQ(error, nullptr) << error;
  std::vector<Literal> results;
  for (std::size_t i = 0; i < like.size(); ++i)
    std::memcpy(results.emplace_back(like[i].type()).mutable_data(), out[i].data(),
                like[i].bytes());
  return results;
}

void expect_same_bits(const Program& program, const std::string& cpu = "x86-64-v3") {
  const Folder folder;
  const std::vector<Literal> inputs = inputs_of(program), want = in_memory(program, inputs);
  const RunFn run = linked(folder, compile_object(program, {.name = "f", .cpu = cpu}), "f");
  ASSERT_NE(run, nullptr);
  for (int again = 0; again < 2; ++again) {  // the second run takes the first one's memory
    const std::vector<Literal> got = by_object(run, inputs, want);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(got[i].same_bits(want[i])) << "output " << i << " of " << program.signature();
  }
}

struct Sample {
  const char* name;
  const char* text;
};

const Sample kSamples[] = {
    {"elementwise",
     R"(func.func @main(%x: tensor<70x33xf32>, %y: tensor<33xf32>) -> (tensor<70x33xf32>, tensor<70x33xi1>) {
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<33xf32>) -> tensor<70x33xf32>
  %t = stablehlo.tanh %x : tensor<70x33xf32>
  %e = stablehlo.exponential %b : tensor<70x33xf32>
  %d = stablehlo.divide %t, %e : tensor<70x33xf32>
  %r = stablehlo.remainder %d, %x : tensor<70x33xf32>
  %p = stablehlo.power %e, %r : tensor<70x33xf32>
  %c = stablehlo.compare GT, %p, %x : (tensor<70x33xf32>, tensor<70x33xf32>) -> tensor<70x33xi1>
  return %p, %c : tensor<70x33xf32>, tensor<70x33xi1>
})"},
    {"narrow",
     R"(func.func @main(%x: tensor<500xf64>, %y: tensor<500xbf16>, %z: tensor<500xf16>) -> (tensor<500xbf16>, tensor<500xf16>, tensor<500xbf16>) {
  %a = stablehlo.convert %x : (tensor<500xf64>) -> tensor<500xbf16>
  %b = stablehlo.convert %x : (tensor<500xf64>) -> tensor<500xf16>
  %s = stablehlo.sine %y : tensor<500xbf16>
  %l = stablehlo.logistic %z : tensor<500xf16>
  %m = stablehlo.multiply %b, %l : tensor<500xf16>
  return %a, %m, %s : tensor<500xbf16>, tensor<500xf16>, tensor<500xbf16>
})"},
    {"product",
     R"(func.func @main(%x: tensor<301x170xf32>, %y: tensor<170x259xf32>) -> tensor<301x259xf32> {
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<301x170xf32>, tensor<170x259xf32>) -> tensor<301x259xf32>
  return %p : tensor<301x259xf32>
})"},
    {"product_f64",
     R"(func.func @main(%x: tensor<3x40x900xf64>, %y: tensor<3x31x900xf64>) -> tensor<3x40x31xf64> {
  %p = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x40x900xf64>, tensor<3x31x900xf64>) -> tensor<3x40x31xf64>
  return %p : tensor<3x40x31xf64>
})"},
    {"loop",
     R"(func.func @main(%x: tensor<9xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<9xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<9xf32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<9xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.cosine %v : tensor<9xf32>
    %w = stablehlo.add %s, %half : tensor<9xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<9xf32>
})"},
    {"branch", R"(func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%n) ({
    %a = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %a : tensor<4xf32>
  }, {
    %b = stablehlo.multiply %x, %x : tensor<4xf32>
    stablehlo.return %b : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})"},
    {"sort",
     R"(func.func @main(%k: tensor<11x300xf32>, %v: tensor<11x300xi32>) -> (tensor<11x300xf32>, tensor<11x300xi32>) {
  %r:2 = "stablehlo.sort"(%k, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<11x300xf32>, tensor<11x300xi32>) -> (tensor<11x300xf32>, tensor<11x300xi32>)
  return %r#0, %r#1 : tensor<11x300xf32>, tensor<11x300xi32>
})"},
    {"fft",
     R"(func.func @main(%x: tensor<5x360xcomplex<f32>>, %y: tensor<3x97xf32>) -> (tensor<5x360xcomplex<f32>>, tensor<3x49xcomplex<f32>>) {
  %f = stablehlo.fft %x, type = FFT, length = [360] : (tensor<5x360xcomplex<f32>>) -> tensor<5x360xcomplex<f32>>
  %g = stablehlo.fft %y, type = RFFT, length = [97] : (tensor<3x97xf32>) -> tensor<3x49xcomplex<f32>>
  return %f, %g : tensor<5x360xcomplex<f32>>, tensor<3x49xcomplex<f32>>
})"},
    {"linear_algebra",
     R"(func.func @main(%x: tensor<2x7x7xf32>, %b: tensor<2x7x3xf32>) -> (tensor<2x7x7xf32>, tensor<2x7x3xf32>) {
  %t = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
  %p = stablehlo.dot_general %x, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x7x7xf32>, tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
  %l = "stablehlo.cholesky"(%p) {lower = true} : (tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
  %s = "stablehlo.triangular_solve"(%l, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x7x7xf32>, tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  return %l, %s : tensor<2x7x7xf32>, tensor<2x7x3xf32>
})"},
    {"reduce",
     R"(func.func @main(%x: tensor<57x1000xf32>) -> (tensor<57xf32>, tensor<1000xf32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<57x1000xf32>, tensor<f32>) -> tensor<57xf32>
  %b = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<57x1000xf32>, tensor<f32>) -> tensor<1000xf32>
  %c = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<57x1000xf32>, tensor<f32>) -> tensor<f32>
  return %a, %b, %c : tensor<57xf32>, tensor<1000xf32>, tensor<f32>
})"},
    {"random", R"(func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5000xui32>) {
  %r:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5000xui32>)
  return %r#0, %r#1 : tensor<2xui64>, tensor<5000xui32>
})"},
    {"convolution",
     R"(func.func @main(%x: tensor<2x13x13x5xf32>, %k: tensor<3x3x5x6xf32>) -> tensor<2x11x11x6xf32> {
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x13x13x5xf32>, tensor<3x3x5x6xf32>) -> tensor<2x11x11x6xf32>
  return %c : tensor<2x11x11x6xf32>
})"},
    {"unused_and_passed_on",
     R"(func.func @main(%a: tensor<3xi32>, %b: tensor<2xf32>, %c: tensor<0x4xf32>) -> (tensor<2xf32>, tensor<0x4xf32>, tensor<2xf32>) {
  return %b, %c, %b : tensor<2xf32>, tensor<0x4xf32>, tensor<2xf32>
})"},
    {"nothing_goes_in", R"(func.func @main() -> tensor<3xi32> {
  %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  return %c : tensor<3xi32>
})"},
};

std::string sample(const std::string& name) {
  return std::find_if(std::begin(kSamples), std::end(kSamples),
                      [&](const Sample& s) { return s.name == name; })
      ->text;
}

class Objects : public ::testing::TestWithParam<Sample> {};

TEST_P(Objects, give_the_bits_of_code_in_memory) { expect_same_bits(read(GetParam().text)); }

INSTANTIATE_TEST_SUITE_P(Of, Objects, ::testing::ValuesIn(kSamples),
                         [](const auto& info) { return info.param.name; });

TEST(Object, of_the_host_and_of_newer_processors_gives_the_same_bits) {
  for (const char* name : {"product", "elementwise"}) {
    const Program p = read(sample(name));
    expect_same_bits(p, "native");
    if (compile::CpuTarget::named("native").avx512) expect_same_bits(p, "x86-64-v4");
  }
}

/// x / sum(|x|) for each of some x, which run side by side.
std::string program_with_leaves(int leaves) {
  std::string arguments, body, results, types;
  for (int i = 0; i < leaves; ++i) {
    const char* comma = i ? ", " : "";
    arguments += fmt::format("{}%x{}: tensor<64x300xf32>", comma, i);
    types += fmt::format("{}tensor<64x300xf32>", comma);
    results += fmt::format("{}%y{}", comma, i);
    body += fmt::format(R"(  %a{0} = stablehlo.abs %x{0} : tensor<64x300xf32>
  %s{0} = stablehlo.reduce(%a{0} init: %z) applies stablehlo.add across dimensions = [0] : (tensor<64x300xf32>, tensor<f32>) -> tensor<300xf32>
  %b{0} = stablehlo.broadcast_in_dim %s{0}, dims = [1] : (tensor<300xf32>) -> tensor<64x300xf32>
  %y{0} = stablehlo.divide %x{0}, %b{0} : tensor<64x300xf32>
)",
                        i);
  }
  return fmt::format(
      "func.func @main({}) -> ({}) {{\n  %z = stablehlo.constant dense<0.0> : tensor<f32>\n{}  "
      "return {} : {}\n}}",
      arguments, types, body, results, types);
}

TEST(Object, of_leaves_side_by_side_gives_the_same_bits) {
  expect_same_bits(read(program_with_leaves(24)));
}

/// A matrix of `rows` x 1000 random floats, as a constant that a vector is multiplied with.
std::string program_with_weights(std::int64_t rows) {
  const Literal weights = random_literal(Type(DType::f32, {rows, 1000}), 3);
  std::string hex;
  for (std::size_t i = 0; i < weights.bytes(); ++i)
    hex += fmt::format("{:02X}", static_cast<unsigned>(weights.data()[i]));
  const std::string type = fmt::format("tensor<{}x1000xf32>", rows);
  return fmt::format(R"(func.func @main(%x: tensor<1000xf32>) -> tensor<{0}xf32> {{
  %w = stablehlo.constant dense<"0x{1}"> : {2}
  %y = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : ({2}, tensor<1000xf32>) -> tensor<{0}xf32>
  return %y : tensor<{0}xf32>
}})",
                     rows, hex, type);
}

TEST(Object, holds_constants_of_megabytes) {
  const Program p = read(program_with_weights(1500));
  EXPECT_GT(compile_object(p, {.name = "f"}).object.size(), 6'000'000u);
  expect_same_bits(p);
}

TEST(Object, of_an_export_takes_its_inputs_by_their_order) {
  for (const char* name : {"layer", "platforms", "pair", "key"}) {
    const fs::path file = fs::path(__FILE__).parent_path().parent_path() / "ir" / "export" /
                          "testdata" / (std::string(name) + ".jax");
    Result<Program> p = Program::load(file.string());
    ASSERT_TRUE(p.ok()) << p.status().message();
    expect_same_bits(*p);
  }
}

TEST(Object, runs_on_many_threads_at_once) {
  const Folder folder;
  const Program p = read(sample("product"));
  const std::vector<Literal> inputs = inputs_of(p), want = in_memory(p, inputs);
  const RunFn run = linked(folder, compile_object(p, {.name = "f"}), "f");
  ASSERT_NE(run, nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(by_object(run, inputs, want)[0].same_bits(want[0]));
    });
  for (std::thread& t : threads) t.join();
}

TEST(Object, shares_a_program_with_others) {
  const Folder folder;
  const Program p = read(sample("elementwise"));
  std::string objects;
  for (const char* name : {"first", "second"}) {
    ASSERT_TRUE(write_file_atomic((folder / (std::string(name) + ".o")).string(),
                                  compile_object(p, {.name = name}).object)
                    .ok());
    objects += " " + (folder / (std::string(name) + ".o")).string();
  }
  EXPECT_EQ(output_of("cc -shared -Wl,-z,defs -o " + (folder / "both.so").string() + objects +
                      " -L" + (build_folder() / "lib").string() + " -lstrata_rt -lstdc++ -lm"),
            "");
}

TEST(Object, shows_others_its_function_and_its_signature_alone) {
  const Folder folder;
  const Program p = read(sample("product"));
  ASSERT_TRUE(
      write_file_atomic((folder / "f.o").string(), compile_object(p, {.name = "f"}).object).ok());
  EXPECT_EQ(output_of("nm --defined-only -g -P " + (folder / "f.o").string() + " | cut -d' ' -f1"),
            "f_run\nf_signature\n");
}

TEST(Object, of_open_shapes_is_refused_until_they_are_said) {
  const fs::path file =
      fs::path(__FILE__).parent_path().parent_path() / "ir" / "export" / "testdata" / "open.jax";
  Result<Program> p = Program::load(file.string());
  ASSERT_TRUE(p.ok());
  try {
    compile_object(*p, {.name = "f"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("input 0 ([0]) is f32[b,2]: say its sizes"));
  }
  const Folder folder;
  const std::vector<Type> types = {Type(DType::f32, {3, 2}), Type(DType::i32, {3})};
  const Object object = compile_object(*p, {.name = "f", .inputs = types});
  EXPECT_THAT(object.header, HasSubstr("const float* in0;  // f32[3,2]"));
  EXPECT_THAT(object.header, HasSubstr("float* out0;  // f32[6,2]"));
  const std::vector<Literal> inputs = {random_literal(types[0], 1), random_literal(types[1], 2)},
                             want = in_memory(*p, inputs);
  const RunFn run = linked(folder, object, "f");
  ASSERT_NE(run, nullptr);
  const std::vector<Literal> got = by_object(run, inputs, want);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].same_bits(want[i])) << i;
}

/// A header compiles alone, as strictly as a user may ask, in both languages.
void expect_header_compiles(const std::string& header) {
  const Folder folder;
  ASSERT_TRUE(write_file_atomic((folder / "f.h").string(), header).ok());
  ASSERT_TRUE(write_file_atomic((folder / "f.c").string(), "#include \"f.h\"\nint unused;\n").ok());
  const std::string from =
      " -Wall -Wextra -Werror -pedantic -fsyntax-only " + (folder / "f.c").string();
  EXPECT_EQ(output_of("cc -std=c99" + from), "") << header;
  EXPECT_EQ(output_of("c++ -std=c++20 -x c++" + from), "") << header;
  EXPECT_EQ(output_of("c++ -std=c++11 -x c++" + from), "") << header;
}

TEST(Header, compiles_alone) {
  for (const char* name : {"fft", "nothing_goes_in"})
    expect_header_compiles(compile_object(read(sample(name)), {.name = "f"}).header);
  const std::string text = *read_file((fs::path(__FILE__).parent_path() / "strata.h").string());
  expect_header_compiles(text.substr(0, text.find("#pragma once")) +
                         text.substr(text.find("#pragma once") + 12));
}

/// What stands at its top is C.
TEST(Header, the_example_of_strata_h_compiles) {
  std::istringstream lines(*read_file((fs::path(__FILE__).parent_path() / "strata.h").string()));
  std::string body;
  for (std::string line; std::getline(lines, line) && line.starts_with("//");)
    if (line.starts_with("//   ")) body += line.substr(2) + "\n";
  ASSERT_THAT(body, HasSubstr("strata_program_free(model);"));
  const Folder folder;
  ASSERT_TRUE(write_file_atomic((folder / "f.c").string(),
                                "#include <stdio.h>\n#include \"strata.h\"\nint main(void) {\n" +
                                    body + "  return 0;\n}\n")
                  .ok());
  const std::string source = (folder / "f.c").string();
  EXPECT_EQ(output_of("cc -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only -I" +
                      fs::path(__FILE__).parent_path().string() + " " + source),
            "")
      << body;
}

TEST(Header, takes_any_name_and_dtype) {
  HeaderFacts facts{.name = "f",
                    .source = "a\nint x;\\",
                    .object = "b\\",
                    .cpu = "c",
                    .signature = "\"\\\n*/",
                    .inputs = {},
                    .outputs = {}};
  for (int d = 0; d < kDTypeCount; ++d)
    facts.inputs.push_back({"['\"*/\n\\']", Type(static_cast<DType>(d), {2, 3})});
  for (const char* name : {"class", "1", "", "__", "int*", "\xff"})
    facts.outputs.push_back({name, Type(DType::c64, {0, 3})});
  expect_header_compiles(c_header(facts));
}

TEST(Header, says_sizes_and_element_types) {
  const std::string header =
      compile_object(read(sample("elementwise")),
                     {.name = "wave", .source = "wave.mlir", .object = "wave.o"})
          .header;
  for (const char* line :
       {"typedef float wave_in0_array[70][33];", "const float* in0;  // f32[70,33] (0)",
        "bool* out1;  // i1[70,33], 0 or 1 (1)",
        "const char* wave_run(const wave_inputs* inputs, const wave_outputs* outputs);",
        "std::span<const float, 2310> in0;",
        "inline constexpr std::array<std::int64_t, 2> in0{70, 33};",
        "from wave.mlir, for x86-64-v3: link with wave.o"})
    EXPECT_THAT(header, HasSubstr(line));
}

/// A program that only links and runs: what it holds besides the program.
TEST(Runtime, is_small_and_free_of_llvm) {
  const Folder folder;
  ASSERT_TRUE(write_file_atomic((folder / "f.o").string(),
                                compile_object(read(sample("fft")), {.name = "f"}).object)
                  .ok());
  ASSERT_TRUE(
      write_file_atomic((folder / "main.c").string(),
                        "const char* f_run(const void* const*, void* const*);\nint main(int n, "
                        "char** v) { return n > 1 ? f_run((void*)v, (void*)v) != 0 : 0; }\n")
          .ok());
  const std::string at = (folder / "main").string();
  EXPECT_EQ(
      output_of("cc -o " + at + " " + at + ".c " + (folder / "f.o").string() +
                " -Wl,--whole-archive " + (build_folder() / "lib" / "libstrata_rt.a").string() +
                " -Wl,--no-whole-archive -lstdc++ -lm"),
      "");
  EXPECT_EQ(output_of(at), "");
  const std::string symbols = output_of("nm -C " + at), libraries = output_of("ldd " + at);
  EXPECT_THAT(symbols, Not(HasSubstr("llvm::")));
  EXPECT_THAT(symbols, HasSubstr("strata_run_object"));
  EXPECT_THAT(symbols, Not(HasSubstr("fmt::v9::vformat")));
  for (const char* other : {"LLVM", "fmt", "strata"})
    EXPECT_THAT(libraries.substr(0, libraries.rfind(at)), Not(HasSubstr(other)));
  const std::string size = output_of("size " + at + " | tail -1");
  // Most of it are products with packed blocks and of groups; a program holds what it calls alone.
  EXPECT_LT(std::stol(size), 25 << 16) << size;
  std::cout << "text of a whole program with the runtime: " << std::stol(size) << " bytes\n";
}

TEST(Runtime, has_every_function_that_code_in_memory_may_call) {
  const std::string defined =
      output_of("nm --defined-only " + (build_folder() / "lib" / "libstrata_rt.a").string());
  for (const auto& [name, address] : compile::runtime_symbols()) {
    if (name.starts_with("strata_profile_")) continue;  // the clock of timed drivers
    if (loop::takes_places(name)) continue;             // nor is their code made for tiles
    if (name == "strata_foreign_call")
      continue;                              // programs that call handlers have no object files
    if (name == "strata_product") continue;  // nor have operations outside of jit
    EXPECT_THAT(defined, HasSubstr(" T " + name + "\n"));
  }
}

TEST(Runtime, knows_what_processors_add) {
  const std::uint64_t v3 = compile::CpuTarget::named("x86-64-v3").feature_bits(),
                      v4 = compile::CpuTarget::named("x86-64-v4").feature_bits();
  EXPECT_EQ(v3 & v4, v3);
  EXPECT_NE(v3, v4);
  EXPECT_EQ(compile::CpuTarget::named("x86-64").feature_bits(), 0u);
  EXPECT_EQ(compile::CpuTarget::named("native").feature_bits() & v3,
            v3);  // or these tests could not run
}

/// What the runtime says of a program whose ObjectProgram begins with other bytes.
std::string said_of(std::size_t byte, char value) {
  const Folder folder;
  Object object = compile_object(
      read("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"),
      {.name = "f"});
  const std::uint64_t begins[] = {
      1, compile::CpuTarget::named("x86-64-v3").feature_bits()};  // version, features
  const std::size_t at =
      object.object.find(std::string(reinterpret_cast<const char*>(begins), sizeof begins));
  EXPECT_NE(at, std::string::npos);
  object.object[at + byte] = value;
  float x[2] = {};
  const void* inputs[] = {x};
  void* outputs[] = {x};
  const RunFn run = linked(folder, object, "f");
  const char* error = run ? run(inputs, outputs) : nullptr;
  return error ? error : "";
}

TEST(Runtime, refuses_what_it_cannot_run) {
  EXPECT_EQ(said_of(0, 1), "");
  EXPECT_THAT(said_of(0, 2), HasSubstr("different releases: compile the program again"));
  EXPECT_THAT(said_of(15, '\x80'), HasSubstr("features that this runtime does not know"));
}

}  // namespace
}  // namespace strata::embed
