// The Profiler extension driven as a framework drives it; its bytes are read back.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "strata/base/format/protobuf.h"
#include "strata/pjrt/profiler/profiler_abi.h"
#include "strata/pjrt/testing.h"
#include "strata/runtime/client.h"

namespace strata::pjrt::testing {
namespace {

const PLUGIN_Profiler_Api* api() {
  for (PJRT_Extension_Base* e = GetPjrtApi()->extension_start; e != nullptr; e = e->next)
    if (e->type == PJRT_Extension_Type_Profiler)
      return reinterpret_cast<PJRT_Profiler_Extension*>(e)->profiler_api;
  return nullptr;
}

Outcome taken(PLUGIN_Profiler_Error* error) {
  if (error == nullptr) return {};
  auto message = fresh<PLUGIN_Profiler_Error_Message_Args>();
  message.error = error;
  api()->error_message(&message);
  auto code = fresh<PLUGIN_Profiler_Error_GetCode_Args>();
  code.error = error;
  api()->error_get_code(&code);
  Outcome out{static_cast<PJRT_Error_Code>(code.code),
              std::string(message.message, message.message_size)};
  auto destroy = fresh<PLUGIN_Profiler_Error_Destroy_Args>();
  destroy.error = error;
  api()->error_destroy(&destroy);
  return out;
}

class Profiler {
 public:
  explicit Profiler(const std::string& options = "") {
    auto args = fresh<PLUGIN_Profiler_Create_Args>();
    args.options = options.data();
    args.options_size = options.size();
    outcome = taken(api()->create(&args));
    profiler_ = args.profiler;
  }
  ~Profiler() {
    auto args = fresh<PLUGIN_Profiler_Destroy_Args>();
    args.profiler = profiler_;
    EXPECT_TRUE(taken(api()->destroy(&args)).ok());
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  Outcome start() { return call<PLUGIN_Profiler_Start_Args>(api()->start); }
  Outcome stop() { return call<PLUGIN_Profiler_Stop_Args>(api()->stop); }
  /// `spare`: bytes that the second call is given besides those it asked for.
  Outcome collect(std::string& out, std::ptrdiff_t spare = 0) {
    auto args = fresh<PLUGIN_Profiler_CollectData_Args>();
    args.profiler = profiler_;
    if (Outcome o = taken(api()->collect_data(&args)); !o.ok()) return o;
    const std::string own(reinterpret_cast<const char*>(args.buffer), args.buffer_size_in_bytes);
    out.assign(args.buffer_size_in_bytes, '\0');
    args.buffer = reinterpret_cast<std::uint8_t*>(out.data());
    args.buffer_size_in_bytes =
        static_cast<std::size_t>(static_cast<std::ptrdiff_t>(out.size()) + spare);
    Outcome o = taken(api()->collect_data(&args));
    EXPECT_TRUE(!o.ok() || out == own);
    return o;
  }
  Outcome outcome;

 private:
  template <class Args>
  Outcome call(PLUGIN_Profiler_Error* (*f)(Args*)) {
    auto args = fresh<Args>();
    args.profiler = profiler_;
    return taken(f(&args));
  }
  PLUGIN_Profiler* profiler_ = nullptr;
};

// ---- the bytes, as tensorflow.profiler.XSpace numbers its fields -------------------------------

struct SeenEvent {
  std::string name;
  std::int64_t begin = 0, end = 0;  // picoseconds
  std::map<std::string, std::string> stats = {};
};
struct SeenLine {
  std::int64_t timestamp_ns = 0;
  std::vector<SeenEvent> events;
};
struct SeenPlane {
  std::string name;
  std::map<std::string, SeenLine> lines;
};

/// All fields of a message by number.
std::multimap<std::uint64_t, protobuf::Reader::Field> fields(std::string_view message) {
  std::multimap<std::uint64_t, protobuf::Reader::Field> out;
  protobuf::Reader reader(message);
  while (auto field = reader.next()) out.emplace(field->number, *field);
  EXPECT_FALSE(reader.broken());
  return out;
}
using Fields = std::multimap<std::uint64_t, protobuf::Reader::Field>;

template <class F>
void each(const Fields& all, std::uint64_t number, F f) {
  for (auto [at, end] = all.equal_range(number); at != end; ++at) f(at->second);
}
std::int64_t integer(const Fields& all, std::uint64_t number) {
  auto found = all.find(number);
  return found == all.end() ? 0 : static_cast<std::int64_t>(found->second.value);
}
std::string text(const Fields& all, std::uint64_t number) {
  auto found = all.find(number);
  return found == all.end() ? "" : std::string(found->second.bytes);
}

SeenPlane seen_plane(std::string_view bytes) {
  const Fields plane = fields(bytes);
  SeenPlane out{.name = text(plane, 2)};
  std::map<std::int64_t, std::string> texts, names;
  each(plane, 5, [&](const auto& f) {
    texts[integer(fields(f.bytes), 1)] = text(fields(fields(f.bytes).find(2)->second.bytes), 2);
  });
  each(plane, 4, [&](const auto& f) {
    const Fields metadata = fields(fields(f.bytes).find(2)->second.bytes);
    EXPECT_EQ(integer(metadata, 1), integer(fields(f.bytes), 1));
    names[integer(metadata, 1)] = text(metadata, 2);
  });
  each(plane, 3, [&](const auto& f) {
    const Fields line = fields(f.bytes);
    SeenLine& seen = out.lines[text(line, 2)];
    seen.timestamp_ns = integer(line, 3);
    each(line, 4, [&](const auto& e) {
      const Fields event = fields(e.bytes);
      seen.events.push_back(
          {names.at(integer(event, 1)), integer(event, 2), integer(event, 2) + integer(event, 3)});
      each(event, 4, [&](const auto& s) {
        seen.events.back().stats[texts.at(integer(fields(s.bytes), 1))] =
            texts.at(integer(fields(s.bytes), 7));
      });
    });
  });
  return out;
}

std::vector<SeenPlane> seen(std::string_view bytes) {
  std::vector<SeenPlane> out;
  each(fields(bytes), 1, [&](const auto& f) { out.push_back(seen_plane(f.bytes)); });
  return out;
}

std::vector<SeenEvent> named(const std::vector<SeenEvent>& events, std::string_view name) {
  std::vector<SeenEvent> out;
  std::copy_if(events.begin(), events.end(), std::back_inserter(out),
               [&](const SeenEvent& e) { return e.name == name; });
  return out;
}

bool within(const SeenEvent& inner, const SeenEvent& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// ---- programs ----------------------------------------------------------------------------------

/// A product and what follows it: two launches at least.
constexpr const char* kLayer = R"(module @jit_layer {
  func.func public @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
})";

class Profiles : public ::testing::Test {
 protected:
  void SetUp() override {
    STRATA_PJRT_OK(client.compile(kLayer, layer));
    std::vector<float> values(64 * 64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) / 64;
    x = client.buffer(values.data(), {64, 64});
    w = client.buffer(values.data(), {64, 64});
  }
  void TearDown() override {
    destroy(x);
    destroy(w);
    destroy(layer);
  }
  std::vector<float> run() {
    std::vector<PJRT_Buffer*> out(1);
    EXPECT_TRUE(execute(layer, {x, w}, out).ok());
    std::vector<float> values;
    EXPECT_TRUE(read(out[0], values).ok());
    destroy(out[0]);
    return values;
  }
  Client client;
  PJRT_LoadedExecutable* layer = nullptr;
  PJRT_Buffer *x = nullptr, *w = nullptr;
};

TEST(ProfilerTable, SaysItsSize) {
  ASSERT_NE(api(), nullptr);
  EXPECT_EQ(api()->struct_size, sizeof(PLUGIN_Profiler_Api));
}

TEST_F(Profiles, TellProgramsAndTheirLaunches) {
  const std::vector<float> plain = run();
  const std::int64_t before =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  Profiler profiler;
  STRATA_PJRT_OK(profiler.outcome);
  STRATA_PJRT_OK(profiler.start());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), plain) << "a clock changes a bit";
  STRATA_PJRT_OK(profiler.stop());
  const std::int64_t after =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  run();  // after the profile
  std::string bytes;
  STRATA_PJRT_OK(profiler.collect(bytes));

  const std::vector<SeenPlane> planes = seen(bytes);
  ASSERT_EQ(planes.size(), 1u);
  EXPECT_EQ(planes[0].name, "/device:CUSTOM:Strata:0");
  ASSERT_TRUE(planes[0].lines.contains("XLA Modules") && planes[0].lines.contains("XLA Ops"));
  const SeenLine &programs = planes[0].lines.at("XLA Modules"),
                 &launches = planes[0].lines.at("XLA Ops");
  EXPECT_EQ(named(programs.events, "compile jit_layer with clocks").size(), 1u);
  const std::vector<SeenEvent> runs = named(programs.events, "jit_layer");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(programs.timestamp_ns, launches.timestamp_ns);
  EXPECT_LE(before, programs.timestamp_ns);
  std::int64_t last = 0;
  std::size_t told = 0;
  for (const SeenEvent& run : runs) {
    EXPECT_LE(last, run.begin);
    last = run.end;
    EXPECT_LE(programs.timestamp_ns + run.end / 1000, after);
    std::int64_t sum = 0, launched = 0;
    for (const SeenEvent& e : launches.events)
      if (within(e, run)) {
        ++launched;
        sum += e.end - e.begin;
      }
    EXPECT_GE(launched, 2);
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, run.end - run.begin);
    told += static_cast<std::size_t>(launched);
  }
  EXPECT_EQ(told, launches.events.size()) << "a launch outside of its program";
  for (const SeenEvent& e : launches.events) {
    EXPECT_EQ(e.stats.at("hlo_module"), "jit_layer");
    EXPECT_NE(e.stats.at("long_name").find(e.name), std::string::npos);
  }
}

/// Runs at the same time stand on lines of their own, so that no event of a line overlaps another
/// in part.
TEST_F(Profiles, LinesDoNotOverlap) {
  Profiler profiler;
  STRATA_PJRT_OK(profiler.start());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) run();
    });
  for (std::thread& t : threads) t.join();
  STRATA_PJRT_OK(profiler.stop());
  std::string bytes;
  STRATA_PJRT_OK(profiler.collect(bytes));
  const std::vector<SeenPlane> planes = seen(bytes);
  ASSERT_EQ(planes.size(), 1u);
  std::size_t runs = 0;
  for (const auto& [name, line] : planes[0].lines) {
    runs += named(line.events, "jit_layer").size();
    for (std::size_t i = 1; i < line.events.size(); ++i)
      EXPECT_LE(line.events[i - 1].end, line.events[i].begin) << name;
  }
  EXPECT_EQ(runs, 100u);
}

TEST_F(Profiles, BeginAnew) {
  Profiler profiler;
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    STRATA_PJRT_OK(profiler.start());
    run();
    STRATA_PJRT_OK(profiler.stop());
    STRATA_PJRT_OK(profiler.collect(bytes));
    EXPECT_EQ(named(seen(bytes).at(0).lines.at("XLA Modules").events, "jit_layer").size(), 1u);
  }
  EXPECT_EQ(named(seen(bytes).at(0).lines.at("XLA Modules").events, "compile jit_layer with clocks")
                .size(),
            0u)
      << "compiled twice";
}

TEST_F(Profiles, AreAskedForByOptions) {
  // tensorflow.ProfileOptions {version: 1, device_tracer_level: 0} and {device_tracer_level: 1,
  // version: 1}
  for (const auto& [options, planes] :
       {std::pair(std::string("\x28\x01"), 0u), std::pair(std::string("\x18\x01\x28\x01"), 1u)}) {
    Profiler profiler(options);
    STRATA_PJRT_OK(profiler.start());
    run();
    STRATA_PJRT_OK(profiler.stop());
    std::string bytes;
    STRATA_PJRT_OK(profiler.collect(bytes));
    EXPECT_EQ(seen(bytes).size(), planes);
  }
  EXPECT_EQ(Profiler("\x28").outcome.code, PJRT_Error_Code_INVALID_ARGUMENT);
}

TEST_F(Profiles, MistakesAreTold) {
  Profiler profiler, other;
  std::string bytes;
  EXPECT_EQ(profiler.stop().code, PJRT_Error_Code_FAILED_PRECONDITION);
  EXPECT_EQ(profiler.collect(bytes).code, PJRT_Error_Code_FAILED_PRECONDITION);
  STRATA_PJRT_OK(profiler.start());
  EXPECT_EQ(other.start().code, PJRT_Error_Code_ALREADY_EXISTS);
  run();
  STRATA_PJRT_OK(profiler.stop());
  STRATA_PJRT_OK(other.start());
  STRATA_PJRT_OK(other.stop());
  const Outcome small = profiler.collect(bytes, -1);
  EXPECT_EQ(small.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(small.message.find(std::to_string(bytes.size())), std::string::npos) << small.message;
  STRATA_PJRT_OK(profiler.collect(bytes, 1));  // some frameworks add a byte
}

/// jaxlib leaves them unset.
TEST_F(Profiles, SizesOfArgumentsAreNotLookedAt) {
  PLUGIN_Profiler_Create_Args create{};
  STRATA_PJRT_OK(taken(api()->create(&create)));
  PLUGIN_Profiler_Destroy_Args destroy{1, create.profiler};
  STRATA_PJRT_OK(taken(api()->destroy(&destroy)));
}

/// One that goes while it runs takes its profile along.
TEST_F(Profiles, EndWithTheirProfiler) {
  {
    Profiler profiler;
    STRATA_PJRT_OK(profiler.start());
  }
  Profiler profiler;
  STRATA_PJRT_OK(profiler.start());
  STRATA_PJRT_OK(profiler.stop());
}

}  // namespace
}  // namespace strata::pjrt::testing
