// Recurrent cells, RNN and Bidirectional beside Flax's.
#include "strata/nn/nnx_golden.h"
#include "strata/nn/recurrent/gru.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/recurrent/simple_cell.h"

namespace strata::nn {
namespace {

Activation activation(const json& described) {
  const std::string name = described["function"];
  if (name == "relu") return {name, [](const Array& x) { return relu(x); }};
  if (name == "hard_sigmoid") return {name, [](const Array& x) { return hard_sigmoid(x); }};
  throw std::runtime_error("no function " + name);
}

CellOptions cell_options(const json& args) {
  CellOptions o;
  if (args.contains("dtype")) o.product.dtype = golden_dtype(args["dtype"]);
  if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
  if (args.contains("gate_fn")) o.gate_fn = activation(args["gate_fn"]);
  if (args.contains("activation_fn")) o.activation_fn = activation(args["activation_fn"]);
  if (args.contains("kernel_init")) o.kernel_init = golden_initializer(args["kernel_init"]);
  if (args.contains("bias_init")) o.bias_init = golden_initializer(args["bias_init"]);
  if (args.contains("recurrent_kernel_init"))
    o.recurrent_kernel_init = golden_initializer(args["recurrent_kernel_init"]);
  return o;
}

template <class Cell>
Cell make_cell(const json& args, Rngs& rngs) {
  const std::int64_t in = args["in_features"], hidden = args["hidden_features"];
  if constexpr (std::same_as<Cell, SimpleCell>)
    return Cell(in, hidden, rngs,
                {.cell = cell_options(args), .residual = args.value("residual", false)});
  else
    return Cell(in, hidden, rngs, cell_options(args));
}

/// A carry of the leaves from `next` on.
template <class Carry>
Carry carry_of(const std::vector<Array>& leaves, std::size_t& next) {
  if constexpr (std::same_as<Carry, Array>) {
    return leaves[next++];
  } else {
    Carry out;
    out.first = carry_of<decltype(out.first)>(leaves, next);
    out.second = carry_of<decltype(out.second)>(leaves, next);
    return out;
  }
}

/// The streams that a call brings.
std::optional<Rngs> streams(const NnxCall& call) {
  if (!call.has("rngs")) return {};
  return golden_rngs(call.kwargs["rngs"]["rngs"]);
}

template <class Cell>
std::vector<Array> call_cell(Cell& cell, const NnxCall& call) {
  if (call.method == "initialize_carry") {
    Rngs rngs = *streams(call);
    const Initializer init = call.has("carry_init") ? golden_initializer(call.kwargs["carry_init"])
                                                    : Initializer(initializers::zeros);
    const std::vector<std::int64_t> shape = (*call.description)["inputs"][0];
    return tree::leaves<Array>(cell.initialize_carry(shape, rngs["carry"], init));
  }
  std::size_t next = 0;
  const auto carry = carry_of<typename Cell::Carry>(call.inputs, next);
  return tree::leaves<Array>(cell(carry, call.inputs[next]));
}

template <class Cell>
void add_cell(NnxGolden& golden, const char* name) {
  golden.on<Cell>(name, make_cell<Cell>, call_cell<Cell>);
}

using AnyRNN = std::variant<RNN<LSTMCell>, RNN<OptimizedLSTMCell>, RNN<GRUCell>, RNN<SimpleCell>>;

/// f(cell) for the cell that is described.
template <class F>
auto with_cell(const json& described, Rngs& rngs, F f) -> decltype(f(GRUCell())) {
  const std::string layer = described["layer"];
  const json& args = described["args"];
  if (layer == "LSTMCell") return f(make_cell<LSTMCell>(args, rngs));
  if (layer == "OptimizedLSTMCell") return f(make_cell<OptimizedLSTMCell>(args, rngs));
  if (layer == "SimpleCell") return f(make_cell<SimpleCell>(args, rngs));
  return f(make_cell<GRUCell>(args, rngs));
}

RNNOptions rnn_options(const json& args) {
  RNNOptions o;
  o.time_major = args.value("time_major", false);
  o.reverse = args.value("reverse", false);
  o.keep_order = args.value("keep_order", false);
  o.unroll = args.value("unroll", 1);
  o.rngs = !args.contains("rngs") || args["rngs"] != json(false);
  return o;
}
bool given(const json& args) { return args.contains("rngs") && args["rngs"] == json("given"); }

AnyRNN make_rnn(const json& args, Rngs& rngs) {
  return with_cell(args["cell"], rngs, [&]<class Cell>(Cell cell) -> AnyRNN {
    if (given(args)) return RNN<Cell>(std::move(cell), rngs, rnn_options(args));
    return RNN<Cell>(std::move(cell), rnn_options(args));
  });
}

/// The result for the options of a call, with the carry where upstream returned it.
template <class L>
std::vector<Array> call_rnn(L& rnn, const NnxCall& call) {
  typename L::Call o;
  std::optional<Rngs> rngs = streams(call);
  if (rngs) o.rngs = &*rngs;
  const auto flag = [&](const char* name, std::optional<bool>& to) {
    if (call.has(name)) to = call.kwargs[name].get<bool>();
  };
  flag("time_major", o.time_major);
  flag("reverse", o.reverse);
  flag("keep_order", o.keep_order);
  if (call.has("seq_lengths")) o.seq_lengths = golden_array(call.kwargs["seq_lengths"]);
  if (call.has("initial_carry")) {
    const json& carry = call.kwargs["initial_carry"];
    std::vector<Array> leaves;
    if (carry.is_array())
      for (const json& leaf : carry) leaves.push_back(golden_array(leaf));
    else
      leaves.push_back(golden_array(carry));
    std::size_t next = 0;
    o.initial_carry = carry_of<typename L::Carry>(leaves, next);
  }
  // More than one output: the carry is among them.
  if ((*call.description)["outputs"].size() > 1)
    return tree::leaves<Array>(rnn.with_carry(call.inputs[0], o));
  return {rnn(call.inputs[0], o)};
}

using Gru = RNN<GRUCell>;
using AnyBidirectional =
    std::variant<Bidirectional<Gru, Gru>, Bidirectional<RNN<LSTMCell>, RNN<SimpleCell>>>;

template <class F, class B>
Bidirectional<F, B> make_both(const json& args, Rngs& rngs) {
  F forward = std::get<F>(make_rnn(args["forward_rnn"]["args"], rngs));
  B backward = std::get<B>(make_rnn(args["backward_rnn"]["args"], rngs));
  BidirectionalOptions o;
  o.time_major = args.value("time_major", false);
  if (args.contains("merge_fn"))
    o.merge_fn = {"add", [](const Array& a, const Array& b) { return a + b; }};
  if (given(args)) return {std::move(forward), std::move(backward), rngs, o};
  return {std::move(forward), std::move(backward), o};
}

TEST(NnxRecurrent, AreFlaxs) {
  NnxGolden golden("recurrent");
  add_cell<LSTMCell>(golden, "LSTMCell");
  add_cell<OptimizedLSTMCell>(golden, "OptimizedLSTMCell");
  add_cell<GRUCell>(golden, "GRUCell");
  add_cell<SimpleCell>(golden, "SimpleCell");
  golden.on<AnyRNN>("RNN", make_rnn, [](AnyRNN& rnn, const NnxCall& call) {
    return std::visit([&](auto& of) { return call_rnn(of, call); }, rnn);
  });
  golden.on<AnyBidirectional>(
      "Bidirectional",
      [](const json& args, Rngs& rngs) -> AnyBidirectional {
        if (args["forward_rnn"]["args"]["cell"]["layer"] == "LSTMCell")
          return make_both<RNN<LSTMCell>, RNN<SimpleCell>>(args, rngs);
        return make_both<Gru, Gru>(args, rngs);
      },
      [](AnyBidirectional& both, const NnxCall& call) {
        return std::visit([&](auto& of) { return call_rnn(of, call); }, both);
      });
  golden.run();
}

}  // namespace
}  // namespace strata::nn
