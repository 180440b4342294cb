#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "strata/op/def.h"
#include "strata/runtime/device.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/compile_options.h"
#include "strata/runtime/plugin/executable_cache.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"
#include "strata/runtime/plugin/types.h"

namespace strata::runtime::plugin {
namespace {

using ::testing::HasSubstr;

const std::string kOdd = "lib/libstrata_odd_plugin.so";  // tests run in the build folder

/// A value of the environment for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Probe, SaysWhatBecameOfAPlugin) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"dies", "it died by signal 6"},
      {"leaves", "it ended the process with status 3"},
      {"fails", "Client_Create: UNAVAILABLE: the device is on fire"},
      {"refuses", "Plugin_Initialize: UNAVAILABLE: the device is on fire"},
      {"major", "speaks PJRT 1.90"},
      {"old", "speaks PJRT 0.20"},
      {"nothing", "GetPjrtApi gives no table"},
      {"short", "has no Client_Create"},
      {"none", "it has no device that this process may use"},
  };
  for (const auto& [manner, words] : cases) {
    const Variable odd("STRATA_ODD_PLUGIN", manner);
    const Probe p = probe(kOdd);
    EXPECT_FALSE(p.usable) << manner;
    EXPECT_THAT(p.trouble, HasSubstr(words)) << manner;
  }
}

TEST(Probe, DoesNotWaitForEver) {
  const Variable odd("STRATA_ODD_PLUGIN", "hangs");
  const Probe p = probe(kOdd, {.seconds = 0.2});
  EXPECT_FALSE(p.usable);
  EXPECT_EQ(p.trouble, "it did not answer within 0.2 s");
}

TEST(Probe, WithoutAClientTakesAPluginWithoutDevices) {
  const Probe p = probe(kOdd, {.client = false});
  EXPECT_TRUE(p.usable) << p.trouble;
  EXPECT_EQ(p.minor_version, 90);
}

TEST(Probe, OfFilesThatAreNoPlugins) {
  EXPECT_THAT(probe("lib/none.so").trouble, HasSubstr("no plugin at lib/none.so"));
  EXPECT_THAT(probe("build.ninja").trouble, HasSubstr("is no library that can be loaded"));
  EXPECT_THAT(probe("lib/libstrata_faults.so").trouble, HasSubstr("it has no GetPjrtApi"));
}

TEST(Devices, AreRefusedByName) {
  const Variable none("STRATA_PLUGIN_FOLDERS", "/nowhere");
  const Variable home("HOME", "/dev/null/nowhere");
  EXPECT_THAT(use_device("gpu").message(),
              HasSubstr("no such device; allowed: cpu, cuda, tpu, plugin:/path/x.so"));
  EXPECT_THAT(use_device("cpu:1").message(),
              HasSubstr("there are 1 CPU devices (STRATA_NUM_CPU_DEVICES makes more)"));
  EXPECT_EQ(use_device("plugin:/nowhere/x.so").code(), Code::not_found);
  const Variable odd("STRATA_ODD_PLUGIN", "dies");
  const Status s = use_device("plugin:" + kOdd);
  EXPECT_THAT(s.message(), HasSubstr("is not usable: it died by signal 6"));
}

/// sin of 1024 numbers.
std::unique_ptr<ir::Block> sine() {
  auto f = std::make_unique<ir::Block>();
  ir::Value* x = f->add_argument(Type(DType::f32, Shape{1024}));
  ir::Builder b(*f);
  f->results = {b.create("stablehlo.sine", {x}).result()};
  return f;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(PluginClient, NamesWhatFails) {
  const Variable nothing_kept("STRATA_CACHE_DIR", "");
  const std::unique_ptr<ir::Block> f = sine();
  {
    const Variable odd("STRATA_ODD_PLUGIN", "compile");
    auto client = make_client({.library = kOdd});
    ASSERT_TRUE(client.ok()) << client.status().message();
    EXPECT_THAT(error_of([&] { (*client)->compile(*f, {.name = "waves"}); }),
                testing::AllOf(HasSubstr("waves"), HasSubstr(kOdd), HasSubstr("Client_Compile"),
                               HasSubstr("this compiler knows no sine")));
  }
  const Variable odd("STRATA_ODD_PLUGIN", "run");
  auto client = make_client({.library = kOdd});
  ASSERT_TRUE(client.ok()) << client.status().message();
  auto executable = (*client)->compile(*f, {.name = "waves"});
  Device& device = *(*client)->device();
  const Buffer large(Literal(Type(DType::f32, Shape{512, 512})));
  const auto first = device.put(large), second = device.put(large);
  const Buffer x{Literal(Type(DType::f32, Shape{1024}))};
  EXPECT_THAT(
      error_of([&] { (void)executable->run({x}); }),
      testing::AllOf(HasSubstr("waves"), HasSubstr("LoadedExecutable_Execute"),
                     HasSubstr("out of memory on the device"),
                     HasSubstr("largest arrays there: 2 x tensor<512x512xf32> (2097152 bytes), "
                               "1 x tensor<1024xf32> (4096 bytes)")));
  EXPECT_THAT(error_of([&] { (void)executable->run({large}); }),
              HasSubstr("argument 0 is tensor<1024xf32>, got tensor<512x512xf32>"));
  EXPECT_THAT(error_of([&] { (void)executable->run({}); }), HasSubstr("takes 1 arguments, got 0"));
  EXPECT_THAT(error_of([&] { first->wait(); }), HasSubstr("Buffer_ReadyEvent"));  // it has none
}

TEST(PluginClient, RefusesEffectsAndSaysWhatToDo) {
  const Variable odd("STRATA_ODD_PLUGIN", "run");
  auto client = make_client({.library = kOdd});
  ASSERT_TRUE(client.ok()) << client.status().message();
  const auto refusal = [&](const ir::Block& f) {
    return error_of([&] { (*client)->compile(f, {.name = "told"}); });
  };
  ir::Block prints;
  {
    ir::Value* x = prints.add_argument(Type(DType::f32, Shape{4}));
    ir::Builder b(prints);
    b.create(op::def("stablehlo.custom_call").info, ir::Values{x},
             ir::Attrs{{"call_target_name", std::string("strata.host_callback")},
                       {"number", std::int64_t{0}}},
             {}, std::vector<Type>{});
    prints.results = {x};
  }
  EXPECT_THAT(refusal(prints),
              testing::AllOf(HasSubstr("told"), HasSubstr("a callback or print"),
                             HasSubstr("run the program on the embedded CPU (--device=cpu")));
  ir::Block tokens;
  tokens.results = {tokens.add_argument(Type::token())};
  EXPECT_THAT(refusal(tokens),
              HasSubstr("argument 0 is !stablehlo.token: programs with effects run on the embedded "
                        "CPU alone (--device=cpu)"));
}

TEST(ExecutableCache, KeepsWholeFilesAlone) {
  const std::string folder = testing::TempDir() + "strata_executables";
  std::filesystem::remove_all(folder);
  const ExecutableCache cache(folder);
  EXPECT_EQ(cache.read("key"), std::nullopt);
  const std::string bytes("executable\0bytes", 16);
  cache.write("key", bytes);
  EXPECT_EQ(cache.read("key"), bytes);
  EXPECT_EQ(cache.read("other"), std::nullopt);
  // Cut short or with any bit changed it is not there, and gone.
  std::ifstream in(cache.path("key"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto put = [&](const std::string& text) {
    std::ofstream(cache.path("key"), std::ios::binary) << text;
  };
  for (std::size_t n = 0; n < whole.size(); ++n) {
    put(whole.substr(0, n));
    EXPECT_EQ(cache.read("key"), std::nullopt) << n;
    EXPECT_FALSE(std::filesystem::exists(cache.path("key")));
    std::string damaged = whole;
    damaged[n] = static_cast<char>(damaged[n] ^ 16);
    put(damaged);
    EXPECT_EQ(cache.read("key"), std::nullopt) << n;
  }
  put(whole);
  EXPECT_EQ(cache.read("key"), bytes);
  cache.remove("key");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  // What was written first goes where they are too many.
  const ExecutableCache small(folder, 100);
  small.write("a", bytes);
  small.write("b", bytes);
  EXPECT_EQ(small.read("b"), bytes);
  EXPECT_EQ(small.read("a"), std::nullopt);
  const ExecutableCache none("");
  none.write("key", bytes);
  EXPECT_EQ(none.read("key"), std::nullopt);
  std::filesystem::remove_all(folder);
}

TEST(ExecutableCache, TellsPluginsApart) {
  EXPECT_NE(plugin_identity(kOdd, "1", "cpu"), plugin_identity(kOdd, "2", "cpu"));
  EXPECT_NE(plugin_identity(kOdd, "1", "cpu"), plugin_identity("build.ninja", "1", "cpu"));
}

TEST(Devices, AreFoundByTheNamesOfTheEnvironment) {
  const Variable names("PJRT_NAMES_AND_LIBRARY_PATHS", "mine:/a/b.so,other:/c.so");
  auto found = find_device("other:2");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->library, "/c.so");
  EXPECT_EQ(found->index, 2);
  EXPECT_EQ(places().at(0).name, "mine");
}

TEST(Devices, EntriesOfTheEnvironmentThatAreNoneAreNamed) {
  const Variable none("STRATA_PLUGIN_FOLDERS", "/nowhere");
  for (const std::string bad : {"junk", ":/x.so", "a:"}) {
    const Variable names("PJRT_NAMES_AND_LIBRARY_PATHS", "mine:/a/b.so," + bad);
    const std::string words = "PJRT_NAMES_AND_LIBRARY_PATHS: '" + bad +
                              "' is no entry NAME:/path/x.so; several have commas between them";
    EXPECT_EQ(places().at(1).trouble, words);
    for (const char* device : {"mine", "cuda", "other"}) {  // any may be the one meant
      const auto found = find_device(device);
      ASSERT_FALSE(found.ok()) << device;
      EXPECT_EQ(found.status().code(), Code::invalid);
      EXPECT_THAT(found.status().message(), HasSubstr(words));
    }
    EXPECT_TRUE(find_device("cpu").ok());
  }
  const Variable taken("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu:/a/b.so");
  EXPECT_THAT(find_device("mine").status().message(),
              HasSubstr("the name of 'cpu:/a/b.so' is taken; choose another"));
}

TEST(CreateOptions, AreThoseOfTheEnvironment) {
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_TRUE((*create_options()).empty());
  {
    const Variable some("STRATA_PLUGIN_OPTIONS", "memory_fraction=0.5,preallocate=false,name=a=b");
    EXPECT_THAT((*create_options()),
                ElementsAre(Pair("memory_fraction", "0.5"), Pair("preallocate", "false"),
                            Pair("name", "a=b")));
  }
  const Variable bad("STRATA_PLUGIN_OPTIONS", "=3");
  EXPECT_EQ(create_options().status().code(), Code::invalid);
  EXPECT_THAT(probe(kOdd).trouble, HasSubstr("STRATA_PLUGIN_OPTIONS: '=3' is no option"));
}

TEST(CompileOptions, AreTheBytesThatFrameworksSend) {
  // executable_build_options {device_ordinal: -1, num_replicas: 1, num_partitions: 1}
  EXPECT_EQ(compile_options({}),
            std::string("\x1a\x0f\x08") + std::string(9, '\xff') + "\x01\x20\x01\x28\x01");
  const std::string many = compile_options({.partitions = 2, .devices = {5, 6}});
  EXPECT_THAT(many, HasSubstr(std::string("\x4a\x0c\x08\x01\x10\x02\x1a\x02\x08\x05"
                                          "\x1a\x02\x08\x06",
                                          14)));
}

TEST(Types, GoOverAndBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_of(buffer_type(dtype)), dtype);
  }
  EXPECT_EQ(dtype_of(PJRT_Buffer_Type_TOKEN), std::nullopt);
}

}  // namespace
}  // namespace strata::runtime::plugin
