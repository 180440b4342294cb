// States and filters beside Flax's: paths, kinds and shapes of whole models, calls on states,
// modules of a model, views.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/nn/conv/conv.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/metrics.h"
#include "strata/nn/modules.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/weight_norm.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/recurrent/simple_cell.h"
#include "strata/nn/sequential.h"
#include "strata/nn/view.h"

namespace strata::nn {
namespace {

using ::testing::ElementsAreArray;
using Strings = std::vector<std::string>;

const tree::Kind& kind_of(const std::string& name) {
  for (const tree::Kind* kind :
       {&tree::kinds::variable, &Param::kind(), &LoRAParam::kind(), &BatchStat::kind(),
        &Cache::kind(), &RngState::kind(), &RngKey::kind(), &RngCount::kind(), &Special::kind(),
        &Scratch::kind()})
    if (kind->name() == name) return *kind;
  throw std::runtime_error("no kind " + name);
}
std::string element_text(const json& key) {
  return key.is_number() ? fmt::format("{}", key.get<int>()) : key.get<std::string>();
}
std::vector<tree::Filter> filters_of(const json& list);
/// A filter as goldens write it.
tree::Filter filter_of(const json& f) {
  if (f.is_string()) {
    if (f == "..." || f == "true") return everything();
    if (f == "nothing" || f == "false") return nothing();
    if (f == "float32 of rank 2")
      return tree::where([](const tree::Entry&, const Array& x) {
        return x.ndim() == 2 && x.dtype() == DType::f32;
      });
    throw std::runtime_error("no such filter: " + f.dump());
  }
  if (f.contains("of")) return tree::of_kind(kind_of(f["of"]));
  if (f.contains("tag")) return tree::with_tag(f["tag"]);
  if (f.contains("path_contains"))
    return tree::path_contains(element_text(f["path_contains"]), f.value("exact", true));
  if (f.contains("path_in")) {
    Strings names;
    for (const json& path : f["path_in"]) {
      std::string name;
      for (const json& key : path) name += (name.empty() ? "" : "/") + element_text(key);
      names.push_back(name);
    }
    return tree::path_in(std::move(names));
  }
  if (f.contains("not")) return !filter_of(f["not"]);
  if (f.contains("all")) return tree::all_of(filters_of(f["all"]));
  return tree::any(filters_of(f.contains("any") ? f["any"] : f["list"]));
}
std::vector<tree::Filter> filters_of(const json& list) {
  std::vector<tree::Filter> out;
  for (const json& f : list) out.push_back(filter_of(f));
  return out;
}

TEST(NnxFilters, AreFlaxs) {
  testing::shows_names(
      "nnx.split nnx.state nnx.All nnx.Any nnx.Not nnx.Everything nnx.Nothing nnx.OfType "
      "nnx.WithTag "
      "nnx.PathContains nnx.filterlib.PathIn nnx.filterlib.to_predicate "
      "nnx.filterlib.filters_to_predicates nnx.All.__call__ nnx.Any.__call__ nnx.Not.__call__ "
      "nnx.Everything.__call__ nnx.Nothing.__call__ nnx.OfType.__call__ nnx.WithTag.__call__ "
      "nnx.PathContains.__call__ nnx.filterlib.PathIn.__call__");
  NnxGolden golden("filters");
  for (const json& c : golden.cases()) {
    SCOPED_TRACE(c["name"].get<std::string>());
    with_golden_model(c["model"], [&](const auto& model) {
      const std::vector<tree::Filter> filters = filters_of(c["filters"]);
      std::vector<tree::Tree> got;
      if (c["call"] == "split") {
        got = tree::of(model).split(filters);
      } else {
        // What none takes is left away.
        std::vector<tree::Filter> all = filters;
        all.push_back(everything());
        got = tree::of(model).split(all);
        got.pop_back();
      }
      ASSERT_EQ(got.size(), c["states"].size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_THAT(got[i].sorted().names(), ElementsAreArray(c["states"][i].get<Strings>())) << i;
    });
  }
}

/// Paths, kinds, tags and types, in upstream's order. A key's own shape and type are upstream's.
void expect_outline(const tree::Tree& model, const json& outline) {
  const tree::Tree got = model.sorted();
  ASSERT_EQ(got.size(), outline.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const tree::Entry& entry = got.entry(i);
    const json& row = outline[i];
    EXPECT_EQ(entry.name, row["text"].get<std::string>());
    const std::string kind = row["kind"];
    EXPECT_EQ(entry.kind->name(), kind == "array" ? "Variable" : kind) << entry.name;
    EXPECT_EQ(entry.metadata ? entry.metadata->tag : "", row.value("tag", "")) << entry.name;
    std::vector<std::int64_t> shape = row["shape"];
    if (kind == "RngKey") shape.push_back(2);
    EXPECT_EQ(got.value(i).shape(), Shape::of(shape)) << entry.name;
    const DType dtype = kind == "RngKey" ? DType::ui32 : golden_dtype(row["dtype"]);
    EXPECT_EQ(got.value(i).dtype(), dtype) << entry.name;
  }
}

TEST(NnxState, OutlinesAreFlaxs) {
  testing::shows_names(
      "nnx.Param nnx.BatchStat nnx.Cache nnx.LoRAParam nnx.RngState nnx.RngKey nnx.RngCount "
      "nnx.metrics.MetricState");
  NnxGolden golden("state");
  std::map<std::string, std::function<tree::Tree(Rngs&)>> others;
  others["rnn"] = [](Rngs& r) { return tree::of(RNN<GRUCell>(GRUCell(2, 3, r))); };
  others["bidirectional"] = [](Rngs& r) {
    using Layer = RNN<GRUCell>;
    return tree::of(Bidirectional<Layer, Layer>(Layer(GRUCell(2, 3, r)), Layer(GRUCell(2, 3, r))));
  };
  others["lstm"] = [](Rngs& r) { return tree::of(LSTMCell(2, 3, r)); };
  others["optimized_lstm"] = [](Rngs& r) { return tree::of(OptimizedLSTMCell(2, 3, r)); };
  others["simple"] = [](Rngs& r) { return tree::of(SimpleCell(2, 3, r)); };
  others["weight_norm"] = [](Rngs& r) { return tree::of(WeightNorm<Linear>(Linear(2, 3, r), r)); };
  others["spectral"] = [](Rngs& r) { return tree::of(SpectralNorm<Conv>(Conv(2, 3, {2}, r), r)); };
  others["lora"] = [](Rngs& r) { return tree::of(LoRA<Linear>(2, 1, 3, Linear(2, 3, r), r)); };
  others["lora_linear"] = [](Rngs& r) { return tree::of(LoRALinear(2, 3, 1, r)); };
  others["attention"] = [](Rngs& r) {
    return tree::of(MultiHeadAttention(2, 4, r, {.dropout_rate = 0.5, .normalize_qk = true}));
  };
  others["eleven"] = [](Rngs& r) {
    std::vector<Linear> many;
    for (int i = 0; i < 11; ++i) many.emplace_back(1, 1, r, LinearOptions{.use_bias = false});
    return tree::of(many);
  };
  others["sequential"] = [](Rngs& r) {
    return tree::of(
        Sequential(Linear(2, 2, r), [](const Array& x) { return relu(x); }, Linear(2, 2, r)));
  };
  others["metrics"] = [](Rngs&) {
    return tree::of(MultiMetric({{"loss", Average()}, {"accuracy", Accuracy()}, {"w", Welford()}}));
  };
  std::size_t seen = 0;
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!name.starts_with("outline_")) continue;
    SCOPED_TRACE(name);
    ++seen;
    const std::string what = name.substr(8);
    if (others.contains(what)) {
      Rngs rngs(0);
      expect_outline(others[what](rngs), c["outline"]);
    } else {
      with_golden_model(c["model"],
                        [&](const auto& model) { expect_outline(tree::of(model), c["outline"]); });
    }
  }
  EXPECT_EQ(seen, others.size() + 4);
}

/// A golden's case by its name.
const json& case_of(const NnxGolden& golden, const std::string& name) {
  for (const json& c : golden.cases())
    if (c["name"] == name) return c;
  throw std::runtime_error("no case " + name);
}
Strings sorted_names(const tree::Tree& state) { return state.sorted().names(); }
/// Nested dictionaries of arrays by path.
void collect(const json& nested, const std::string& path, std::map<std::string, Array>& out) {
  for (const auto& [name, below] : nested.items()) {
    const std::string at = path.empty() ? name : path + "/" + name;
    if (below.contains("dtype"))
      out.emplace(at, golden_array(below));
    else
      collect(below, at, out);
  }
}
/// That exactly these leaves changed, to these values.
void expect_changed(const tree::Tree& before, const tree::Tree& after, const json& want) {
  EXPECT_EQ(before.size(), after.size());
  for (const tree::Entry& entry : before.entries()) {
    const Array& now = after[entry.name];
    if (want.contains(entry.name))
      expect_near(now, want[entry.name], {.ulp = 0}, entry.name);
    else
      EXPECT_TRUE(now.literal().same_bits(before[entry.name].literal())) << entry.name;
  }
}

TEST(NnxState, CallsOnStatesAreFlaxs) {
  testing::shows_names(
      "nnx.to_pure_dict nnx.statelib.diff nnx.merge_state nnx.split_state nnx.filter_state "
      "nnx.map_state nnx.to_flat_state nnx.from_flat_state nnx.FlatState nnx.replace_by_pure_dict "
      "nnx.State nnx.State.filter nnx.State.flat_state nnx.State.map "
      "nnx.State.replace_by_pure_dict "
      "nnx.State.split nnx.State.to_pure_dict nnx.FlatState.filter nnx.FlatState.split "
      "nnx.FlatState.to_nested_state");
  const NnxGolden golden("state");
  const GoldenNet net = golden_net();
  const tree::Tree all = tree::of(net);
  const tree::Tree params = state(net, of<Param>()), stats = state(net, of<BatchStat>());

  std::map<std::string, Array> pure;
  collect(case_of(golden, "to_pure_dict")["pure"], "", pure);
  const std::map<std::string, Array> got = to_pure_dict(stats);
  ASSERT_EQ(got.size(), pure.size());
  for (const auto& [path, value] : pure)
    EXPECT_TRUE(got.at(path).literal().same_bits(value.literal())) << path;

  EXPECT_EQ(sorted_names(diff(all, params)), case_of(golden, "diff")["paths"].get<Strings>());
  EXPECT_EQ(sorted_names(diff(params, all)), Strings());
  EXPECT_EQ(sorted_names(tree::merge({stats, params})),
            case_of(golden, "merge_state")["paths"].get<Strings>());
  const json& split = case_of(golden, "split_state");
  const auto parts = params.split(filters_of(split["filters"]));
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(sorted_names(parts[i]), split["paths"][i].get<Strings>());
  EXPECT_EQ(sorted_names(params.filter(tree::path_contains("bias"))),
            case_of(golden, "filter_state")["paths"][0].get<Strings>());
  const tree::Tree doubled = params.map(
      [](const tree::Entry& e, const Array& x) { return e.name.ends_with("kernel") ? x * 2 : x; });
  expect_leaves(doubled, case_of(golden, "map_state")["state"], {.relative_l2 = 1e-6}, "map_state");
  // From entries and values, which is what a flat state is.
  const tree::Tree back({params.entries().begin(), params.entries().end()},
                        {params.values().begin(), params.values().end()});
  EXPECT_EQ(sorted_names(back), case_of(golden, "from_flat_state")["paths"].get<Strings>());

  const json& replaced = case_of(golden, "replace_by_pure_dict");
  std::map<std::string, Array> values;
  collect(replaced["given"], "", values);
  expect_changed(params, replace_by_pure_dict(params, values), replaced["state"]);
  EXPECT_THROW((void)replace_by_pure_dict(params, {{"head/krnel", Array(1.0f)}}), Error);

  const json& later = case_of(golden, "later_wins");
  Rngs rngs(0);
  const Linear linear(2, 2, rngs);
  const tree::Tree other({{"bias", array(later["other"]["bias"].get<std::vector<float>>())}});
  expect_leaves(tree::merge({tree::of(linear), other}), later["state"], {.relative_l2 = 1e-6},
                "later_wins");
}

TEST(NnxState, IntegersInPathsAreFlaxs) {
  testing::shows_names("nnx.restore_int_paths");
  const NnxGolden golden("state");
  const json& c = case_of(golden, "restore_int_paths");
  const Strings keys = c["keys"];
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    entries.emplace_back(tree::KeyPath{tree::DictKey{keys[0]}, tree::DictKey{keys[i]}});
    values.emplace_back(static_cast<int>(i));
  }
  const tree::Tree restored = restore_int_paths(tree::Tree(std::move(entries), std::move(values)));
  for (std::size_t i = 0; i < restored.size(); ++i) {
    const tree::KeyPath& path = restored.entry(i).path;
    EXPECT_EQ(path[0], tree::KeyEntry(tree::SequenceKey{0}));
    const json& want = c["second"][i];
    if (want.is_number_unsigned()) {
      EXPECT_EQ(path[1], tree::KeyEntry(tree::SequenceKey{want.get<std::size_t>()})) << i;
      EXPECT_EQ(restored.entry(i).name, fmt::format("0/{}", want.get<int>()));
    } else {
      // No element of a list has a negative number: such a text stays.
      EXPECT_EQ(path[1], tree::KeyEntry(tree::DictKey{keys[i + 1]})) << i;
    }
  }
}

TEST(NnxState, CallsOnModulesAreFlaxs) {
  testing::shows_names(
      "nnx.update nnx.pop nnx.find_duplicates nnx.clone nnx.Variable.copy nnx.Variable.get_value "
      "nnx.Variable.set_value");
  const NnxGolden golden("state");
  GoldenNet net = golden_net();
  tree::Tree before = tree::of(net);
  update(net, tree::Tree({{"head/kernel", numpy::ones({3, 2})}}));
  expect_changed(before, tree::of(net), case_of(golden, "update")["changed"]);

  const json& popped = case_of(golden, "pop");
  const tree::Tree taken = pop(net, filter_of(popped["filters"][0]));
  EXPECT_EQ(sorted_names(taken), popped["popped"].get<Strings>());
  const auto valued = [](const tree::Tree& state) {
    return sorted_names(state.filter(
        tree::where([](const tree::Entry&, const Array& x) { return x.has_value(); })));
  };
  EXPECT_EQ(valued(tree::of(net)), popped["left"].get<Strings>());
  // Upstream clones the same model.
  EXPECT_EQ(valued(tree::of(clone(net))), case_of(golden, "clone")["paths"].get<Strings>());

  struct Tied {
    Linear a, b;
    STRATA_FIELDS(a, b)
  };
  Rngs one(0), two(0);
  Tied tied{Linear(2, 2, one), Linear(2, 2, two)};
  tied.b.kernel = tied.a.kernel;
  EXPECT_EQ(find_duplicates(tree::of(tied)),
            case_of(golden, "find_duplicates")["paths"].get<std::vector<Strings>>());

  // A write in place casts to the old dtype by `at`; assignment replaces.
  Linear cast = golden_linear();
  cast.kernel = cast.kernel.at({}).set(numpy::full({2, 3}, 3, DType::i32));
  *cast.bias = cast.bias->at({1}).set(7);
  expect_leaves(tree::of(cast), case_of(golden, "write_casts")["state"], {.ulp = 0}, "write_casts");
}

TEST(NnxState, ModulesAreFlaxs) {
  testing::shows_names(
      "nnx.iter_modules nnx.iter_children nnx.iter_module_children nnx.Module "
      "nnx.Module.iter_modules nnx.Module.iter_children");
  const NnxGolden golden("state");
  for (const char* name : {"iter_net", "iter_attentive"}) {
    SCOPED_TRACE(name);
    const json& c = case_of(golden, name);
    // Upstream's lists and dictionaries are modules; here a dictionary is a struct, a list is none.
    const auto expected = [](const json& rows) {
      std::vector<Strings> out;
      for (const json& row : rows)
        if (row[1] != "List") out.push_back(row.get<Strings>());
      return out;
    };
    const auto described = [](const std::vector<ModuleAt>& modules) {
      std::vector<Strings> out;
      for (const ModuleAt& at : modules) {
        std::string type = at.type_name();
        if (type.starts_with("Golden")) type = type.substr(6);
        out.push_back({at.name(), type == "Extra" ? "Dict" : type});
      }
      return out;
    };
    with_golden_model(c["model"], [&](auto& model) {
      EXPECT_EQ(described(iter_modules(model)), expected(c["modules"]));
      std::vector<Strings> children = expected(c["children"]);
      if (name == std::string("iter_net"))  // the list's elements in place of the list
        children.insert(children.begin(), {{"blocks/0", "Block"}, {"blocks/1", "Block"}});
      EXPECT_EQ(described(iter_children(model)), children);
    });
  }
}

/// The flags of Dropouts and BatchNorms as goldens have them.
template <class M>
json flags_of(M& model) {
  json out = json::object();
  for (const ModuleAt& at : iter_modules(model)) {
    if (const auto* drop = at.as<Dropout>())
      out[at.name()] = {{"deterministic", drop->deterministic.value()}};
    if (const auto* norm = at.as<BatchNorm>())
      out[at.name()] = {{"use_running_average", norm->use_running_average.value()}};
  }
  return out;
}

TEST(NnxState, ViewsAreFlaxs) {
  testing::shows_names(
      "nnx.view nnx.Module.train nnx.Module.eval nnx.BatchNorm.set_view nnx.Dropout.set_view");
  const NnxGolden golden("state");
  GoldenNet net = golden_net();
  EXPECT_EQ(flags_of(net), case_of(golden, "view_start")["flags"]);
  GoldenNet seen = view(net, {.deterministic = true, .use_running_average = true});
  EXPECT_EQ(flags_of(seen), case_of(golden, "view")["flags"]);
  EXPECT_EQ(flags_of(net), case_of(golden, "view")["flags_of_model"]);
  EXPECT_EQ(seen.head.kernel.state(), net.head.kernel.state());
  GoldenNet only = view(net, {.deterministic = true, .only = tree::path_contains("drop")});
  EXPECT_EQ(flags_of(only), case_of(golden, "view_only")["flags"]);
  eval(net);
  EXPECT_EQ(flags_of(net), case_of(golden, "eval")["flags"]);
  train(net);
  EXPECT_EQ(flags_of(net), case_of(golden, "train")["flags"]);
}

TEST(NnxState, AbstractModelsAreFlaxs) {
  testing::shows_names("nnx.eval_shape");
  const NnxGolden golden("state");
  const GoldenNet shapes = abstract(golden_net);
  expect_outline(tree::of(shapes), case_of(golden, "eval_shape")["outline"]);
}

}  // namespace
}  // namespace strata::nn
