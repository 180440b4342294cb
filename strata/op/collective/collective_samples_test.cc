// Samples of operations between processes, as one process runs them, and of those that talk to the
// host.
#include "strata/op/build.h"
#include "strata/op/collective/world.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;

const Type kMatrix(DType::f64, {2, 4});

Literal random(const Type& type, std::uint64_t seed) { return random_literal(type, seed, -1, 1); }
Literal ids(const std::vector<std::int64_t>& row) {
  return Literal::of<std::int64_t>({1, static_cast<std::int64_t>(row.size())}, row);
}
/// Groups of which process 0 is one alone; all processes in one.
const Literal kAlone = ids({0}), kAll(Type(DType::i64, {0, 0}));
Literal token() { return Literal(Type::token()); }

std::vector<std::unique_ptr<Block>> region(const Type& scalar) {
  std::vector<std::unique_ptr<Block>> out;
  out.push_back(build({scalar, scalar}, [](Builder& b, const Values& v) {
    return Values{add(b, v[0], mul(b, v[1], v[0]))};
  }));
  return out;
}

const bool gathers = add_samples("stablehlo.all_gather", [](std::vector<Sample>& out) {
  Attrs attrs{{"all_gather_dim", std::int64_t{1}}, {"replica_groups", kAlone}};
  out.push_back(
      {.what = "alone", .operands = {random(kMatrix, 1)}, .attrs = attrs, .results = {kMatrix}});
  for (DType t : {DType::bf16, DType::i8, DType::i1, DType::c64})
    out.push_back({.what = "other dtypes",
                   .operands = {random(Type(t, {2, 3}), 2)},
                   .attrs = attrs,
                   .results = {Type(t, {2, 3})}});
  Attrs all{{"all_gather_dim", std::int64_t{0}},
            {"replica_groups", kAll},
            {"channel_id", std::int64_t{1}},
            {"use_global_device_ids", true}};
  out.push_back({.what = "all, two operands",
                 .operands = {random(kMatrix, 3), random(Type(DType::f64, {3}), 4)},
                 .attrs = all,
                 .results = {kMatrix, Type(DType::f64, {3})}});
  out.push_back({.what = "empty",
                 .operands = {Literal(Type(DType::f32, {0, 2}))},
                 .attrs = all,
                 .results = {Type(DType::f32, {0, 2})}});
});

const bool reductions = add_samples("stablehlo.all_reduce", [](std::vector<Sample>& out) {
  for (const char* combiner : {"add", "max", "mul"})
    out.push_back({.what = combiner,
                   .operands = {random(kMatrix, 1)},
                   .attrs = {{"combiner", std::string(combiner)}, {"replica_groups", kAlone}},
                   .smooth = std::string(combiner) == "add"});
  out.push_back({.what = "bits",
                 .operands = {random_literal(Type(DType::i32, {5}), 2, -100, 100)},
                 .attrs = {{"combiner", std::string("xor")}, {"replica_groups", kAll}}});
  out.push_back({.what = "a scalar, and an empty array",
                 .operands = {Literal::scalar(2.5), Literal(Type(DType::f64, {0}))},
                 .attrs = {{"combiner", std::string("add")},
                           {"replica_groups", kAlone},
                           {"channel_id", std::int64_t{3}}}});
  out.push_back({.what = "a region",
                 .operands = {random(Type(DType::f32, {3}), 3)},
                 .attrs = {{"combiner", std::string("region")}, {"replica_groups", kAlone}},
                 .regions = [] { return region(Type::scalar(DType::f32)); },
                 .smooth = false});
  out.push_back({.what = "promoted",
                 .operands = {random(Type(DType::f16, {3}), 3)},
                 .attrs = {{"combiner", std::string("region")}, {"replica_groups", kAlone}},
                 .regions = [] { return region(Type::scalar(DType::f32)); },
                 .smooth = false});
});

const bool scatters = add_samples("stablehlo.reduce_scatter", [](std::vector<Sample>& out) {
  for (const char* combiner : {"add", "min"})
    out.push_back({.what = combiner,
                   .operands = {random(kMatrix, 1)},
                   .attrs = {{"combiner", std::string(combiner)},
                             {"replica_groups", kAlone},
                             {"scatter_dimension", std::int64_t{1}}},
                   .results = {kMatrix},
                   .smooth = std::string(combiner) == "add"});
  Type empty(DType::i32, {0, 3});
  out.push_back({.what = "empty",
                 .operands = {Literal(empty)},
                 .attrs = {{"combiner", std::string("or")},
                           {"replica_groups", kAll},
                           {"scatter_dimension", std::int64_t{0}}},
                 .results = {empty}});
  out.push_back({.what = "a region",
                 .operands = {random(Type(DType::bf16, {3}), 3)},
                 .attrs = {{"combiner", std::string("region")},
                           {"replica_groups", kAlone},
                           {"scatter_dimension", std::int64_t{0}}},
                 .results = {Type(DType::bf16, {3})},
                 .regions = [] { return region(Type::scalar(DType::bf16)); },
                 .smooth = false});
});

const bool exchanges = add_samples("stablehlo.all_to_all", [](std::vector<Sample>& out) {
  auto attrs = [](std::int64_t split, std::int64_t concat) {
    return Attrs{{"split_dimension", split},
                 {"concat_dimension", concat},
                 {"split_count", std::int64_t{1}},
                 {"replica_groups", kAlone}};
  };
  out.push_back({.what = "across", .operands = {random(kMatrix, 1)}, .attrs = attrs(1, 0)});
  out.push_back({.what = "one dimension, two operands",
                 .operands = {random(kMatrix, 1), random(Type(DType::f64, {3, 1}), 2)},
                 .attrs = attrs(0, 0)});
  out.push_back(
      {.what = "empty", .operands = {Literal(Type(DType::ui8, {0, 2}))}, .attrs = attrs(0, 1)});
});

Attrs with_combiner(Attrs attrs, const char* combiner) {
  if (combiner != nullptr) attrs.set("combiner", std::string(combiner));
  return attrs;
}
void one_to_all(std::vector<Sample>& out, const char* combiner) {
  out.push_back({.what = "alone",
                 .operands = {random(kMatrix, 1)},
                 .attrs = with_combiner({{"replica_groups", kAlone}}, combiner)});
  out.push_back({.what = "two operands, one empty",
                 .operands = {random(Type(DType::f64, {3}), 1), Literal(Type(DType::f64, {0}))},
                 .attrs = with_combiner(
                     {{"replica_groups", kAlone}, {"channel_id", std::int64_t{1}}}, combiner)});
  out.push_back(
      {.what = "a root",
       .operands = {random(Type(DType::f64, {}), 1), Literal::of<std::int32_t>({1}, {0})},
       .attrs = with_combiner({{"replica_groups", kAll}, {"has_dynamic_root", true}}, combiner),
       .batchable = false});
}
const bool broadcasts = add_samples("stablehlo.collective_broadcast",
                                    [](std::vector<Sample>& out) { one_to_all(out, nullptr); });
const bool gathered_sums = add_samples("stablehlo.collective_reduce",
                                       [](std::vector<Sample>& out) { one_to_all(out, "add"); });

const bool permutes = add_samples("stablehlo.collective_permute", [](std::vector<Sample>& out) {
  out.push_back({.what = "to itself",
                 .operands = {random(kMatrix, 1)},
                 .attrs = {{"source_target_pairs", ids({0, 0})}}});
  out.push_back({.what = "nobody's target",
                 .operands = {random(kMatrix, 2)},
                 .attrs = {{"source_target_pairs", Literal(Type(DType::i64, {0, 2}))}}});
  out.push_back({.what = "a scalar on a channel",
                 .operands = {Literal::scalar(std::int32_t{7})},
                 .attrs = {{"source_target_pairs", ids({0, 0})}, {"channel_id", std::int64_t{2}}}});
});

// An operation without operands and attributes is the same in every sample; the laws ask for three.
void plain(std::vector<Sample>& out) {
  for (const char* what : {"the first", "asked again", "and again"})
    out.push_back({.what = what, .operands = {}});
}
const bool partitions = add_samples("stablehlo.partition_id", plain);
const bool replicas = add_samples("stablehlo.replica_id", plain);

const bool tokens = add_samples("stablehlo.after_all", [](std::vector<Sample>& out) {
  out.push_back({.what = "after nothing", .operands = {}});
  out.push_back({.what = "after one", .operands = {token()}});
  out.push_back({.what = "after two", .operands = {token(), token()}});
});

const bool infeeds = add_samples("stablehlo.infeed", [](std::vector<Sample>& out) {
  auto fed = [](const Literals& values) {
    return [values](World& world) { world.infeed.push_back(values); };
  };
  out.push_back({.what = "one",
                 .operands = {token()},
                 .attrs = {{"infeed_config", std::string("")}},
                 .results = {kMatrix, Type::token()},
                 .world = fed({random(kMatrix, 1)})});
  out.push_back({.what = "two, one empty",
                 .operands = {token()},
                 .results = {kMatrix, Type(DType::i1, {0}), Type::token()},
                 .world = fed({random(kMatrix, 1), Literal(Type(DType::i1, {0}))})});
  out.push_back(
      {.what = "nothing", .operands = {token()}, .results = {Type::token()}, .world = fed({})});
});
const bool outfeeds = add_samples("stablehlo.outfeed", [](std::vector<Sample>& out) {
  out.push_back({.what = "one",
                 .operands = {random(kMatrix, 1), token()},
                 .attrs = {{"outfeed_config", std::string("")}}});
  out.push_back({.what = "two, one empty",
                 .operands = {random(kMatrix, 1), Literal(Type(DType::c64, {0})), token()}});
  out.push_back({.what = "nothing", .operands = {token()}});
});

Attrs channel(std::int64_t type) {
  return {{"channel_id", std::int64_t{5}}, {"channel_type", type}, {"is_host_transfer", type != 1}};
}
const bool sends = add_samples("stablehlo.send", [](std::vector<Sample>& out) {
  out.push_back(
      {.what = "to the host", .operands = {random(kMatrix, 1), token()}, .attrs = channel(2)});
  out.push_back({.what = "to a device",
                 .operands = {Literal::scalar(true), token()},
                 .attrs = Attrs(channel(1)).set("source_target_pairs", ids({0, 1}))});
  out.push_back({.what = "nothing", .operands = {token()}, .attrs = channel(2)});
});
const bool recvs = add_samples("stablehlo.recv", [](std::vector<Sample>& out) {
  auto sent = [](const Literals& values) {
    return [values](World& world) { world.channels[5].push_back(values); };
  };
  out.push_back({.what = "from the host",
                 .operands = {token()},
                 .attrs = channel(3),
                 .results = {kMatrix, Type::token()},
                 .world = sent({random(kMatrix, 1)})});
  out.push_back({.what = "from a device",
                 .operands = {token()},
                 .attrs = Attrs(channel(1)).set("source_target_pairs", ids({1, 0})),
                 .results = {Type(DType::f16, {0}), Type::token()},
                 .world = sent({Literal(Type(DType::f16, {0}))})});
  out.push_back({.what = "nothing",
                 .operands = {token()},
                 .attrs = channel(3),
                 .results = {Type::token()},
                 .world = sent({})});
});

std::vector<std::unique_ptr<Block>> started(const Type& type,
                                            Values (*f)(Builder&, const Values&)) {
  std::vector<std::unique_ptr<Block>> out;
  out.push_back(build({type}, [f](Builder& b, const Values& v) { return f(b, v); }));
  return out;
}
const bool starts = add_samples("stablehlo.async_start", [](std::vector<Sample>& out) {
  out.push_back({.what = "a slice", .operands = {random(kMatrix, 1)}, .regions = [] {
                   return started(kMatrix, [](Builder& b, const Values& v) {
                     return Values{slice(b, v[0], {0, 1}, {2, 3})};
                   });
                 }});
  out.push_back({.what = "a collective", .operands = {random(kMatrix, 1)}, .regions = [] {
                   return started(kMatrix, [](Builder& b, const Values& v) {
                     return b
                         .create("stablehlo.all_reduce", {v[0]},
                                 {{"combiner", std::string("add")}, {"replica_groups", kAlone}})
                         .results();
                   });
                 }});
  out.push_back(
      {.what = "an empty slice", .operands = {Literal(Type(DType::i8, {3}))}, .regions = [] {
         return started(Type(DType::i8, {3}), [](Builder& b, const Values& v) {
           return Values{slice(b, v[0], {1}, {1})};
         });
       }});
});
const bool dones = add_samples("stablehlo.async_done", [](std::vector<Sample>& out) {
  auto future = [](std::vector<Type> types, const Literal& bytes) {
    return Literal(Type::future(std::move(types)), bytes.storage());
  };
  Literal x = random(Type(DType::f32, {4}), 1);
  out.push_back({.what = "one value", .operands = {future({x.type()}, x)}});
  out.push_back({.what = "two values",
                 .operands = {future({Type(DType::f32, {1}), Type(DType::f32, {3})}, x)}});
  out.push_back({.what = "an empty one", .operands = {future({Type(DType::i32, {0})}, x)}});
});

void silent(World& world) {
  world.print = [](const std::string&) {};
}
const bool prints = add_samples("interpreter.print", [](std::vector<Sample>& out) {
  out.push_back({.what = "a matrix", .operands = {random(kMatrix, 1)}, .world = silent});
  out.push_back({.what = "a scalar", .operands = {Literal::scalar(true)}, .world = silent});
  out.push_back(
      {.what = "empty", .operands = {Literal(Type(DType::c64, {0, 2}))}, .world = silent});
});

const bool grids = add_samples("interpreter.run_parallel", [](std::vector<Sample>& out) {
  auto one = [](std::int64_t replicas, std::int64_t partitions) {
    ir::Strings names(static_cast<std::size_t>(replicas * partitions), "f");
    return Attrs{{"replicas", replicas}, {"partitions", partitions}, {"bodies", names}};
  };
  auto sum = [] {
    return build({kMatrix}, [](Builder& b, const Values& v) {
      return b
          .create("stablehlo.all_reduce", {v[0]},
                  {{"combiner", std::string("add")}, {"replica_groups", kAll}})
          .results();
    });
  };
  out.push_back({.what = "two replicas",
                 .operands = {random(kMatrix, 1), random(kMatrix, 2)},
                 .attrs = one(2, 1),
                 .results = {kMatrix, kMatrix},
                 .regions = [sum] {
                   std::vector<std::unique_ptr<Block>> regions;
                   for (int i = 0; i < 2; ++i) regions.push_back(sum());
                   return regions;
                 }});
  out.push_back({.what = "one process",
                 .operands = {random(kMatrix, 1)},
                 .attrs = one(1, 1),
                 .results = {kMatrix},
                 .regions = [sum] {
                   std::vector<std::unique_ptr<Block>> regions;
                   regions.push_back(sum());
                   return regions;
                 }});
  out.push_back({.what = "partitions by their ids",
                 .operands = {},
                 .attrs = one(1, 3),
                 .results = std::vector<Type>(3, Type::scalar(DType::ui32)),
                 .regions = [] {
                   std::vector<std::unique_ptr<Block>> regions;
                   for (int i = 0; i < 3; ++i)
                     regions.push_back(build({}, [](Builder& b, const Values&) {
                       return b.create("stablehlo.partition_id", {}).results();
                     }));
                   return regions;
                 }});
});

}  // namespace
}  // namespace strata::op
