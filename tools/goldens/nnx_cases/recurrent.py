"""Recurrent layers: LSTMCell, OptimizedLSTMCell, GRUCell, SimpleCell, RNN, Bidirectional."""
import numpy as np

from .describe import Layer, Numbers, Seeds, function, initializer
from .record import Call, case, variants

IN, HIDDEN = 3, 4
CELLS = {"LSTMCell": "lstm", "OptimizedLSTMCell": "optimized_lstm", "GRUCell": "gru", "SimpleCell": "simple"}


def cell(kind, hidden=HIDDEN, **args):
    return Layer(kind, in_features=IN, hidden_features=hidden, **args)


def step(kind, seed=1, batch=(2,)):
    h = Numbers(seed + 20, (*batch, HIDDEN))
    carry = (Numbers(seed + 10, (*batch, HIDDEN)), h) if "LSTM" in kind else h
    return Call(carry, Numbers(seed, (*batch, IN)))


def cells():
    for kind, name in CELLS.items():
        yield from variants(name, cell(kind), step(kind))
        yield case(name + "_no_batch", cell(kind), step(kind, batch=()), grads=False)
        yield case(name + "_carry", cell(kind), Call((2, IN), method="initialize_carry", rngs=Seeds(0)),
                   Call((2, 5, IN), method="initialize_carry", rngs=Seeds({"carry": 3}),
                        carry_init=initializer("normal", stddev=0.5)), grads=False, setting=False)
        # Only LSTMCell makes its orthogonal kernels in f32; LAPACK has no QR in bf16.
        half = {} if kind == "LSTMCell" else {"recurrent_kernel_init": initializer("normal", stddev=0.5)}
        yield case(name + "_param_bf16", cell(kind, param_dtype="bfloat16", **half), step(kind).to("bfloat16"),
                   Call((1, IN), method="initialize_carry", rngs=Seeds(0)), grads=False)
        yield case(name + "_other_initializers", cell(kind, kernel_init=initializer("uniform", scale=0.5),
                   recurrent_kernel_init=initializer("normal", stddev=0.5),
                   bias_init=initializer("uniform", scale=1.0)), step(kind), grads=False)
        gates = {} if kind == "SimpleCell" else {"gate_fn": function("hard_sigmoid")}
        yield case(name + "_functions", cell(kind, activation_fn=function("relu"), **gates), step(kind))
    yield case("simple_residual", cell("SimpleCell", residual=True), step("SimpleCell"))


def sequence(*batch_and_time, seed=1, **kwargs):
    return Call(Numbers(seed, (*batch_and_time, IN)), **kwargs)


LENGTHS = np.asarray([3, 5], np.int32)


def rnn(kind="GRUCell", hidden=HIDDEN, **args):
    return Layer("RNN", cell=cell(kind, hidden), **args)


def loops():
    for kind, name in CELLS.items():
        yield case(f"rnn_{name}", rnn(kind, return_carry=True), sequence(2, 5))
        yield case(f"rnn_{name}_lengths", rnn(kind), sequence(2, 5, seq_lengths=LENGTHS, return_carry=True,
                   reverse=True, keep_order=True), grads=False)
    yield from list(variants("rnn", rnn("OptimizedLSTMCell"), sequence(2, 4)))[1:]
    yield case("rnn_no_carry_returned", rnn(), sequence(2, 5), sequence(2, 5, seed=2))
    yield case("rnn_no_batch", rnn(), sequence(5), grads=False)
    yield case("rnn_two_batches", rnn(), sequence(2, 2, 3), grads=False)
    yield case("rnn_reverse", rnn(reverse=True), sequence(2, 4, return_carry=True))
    yield case("rnn_reverse_keep_order", rnn(reverse=True, keep_order=True), sequence(2, 4))
    yield case("rnn_keep_order_alone", rnn(keep_order=True), sequence(2, 4), grads=False)
    yield case("rnn_time_major", rnn(time_major=True), sequence(4, 2, return_carry=True))
    yield case("rnn_time_major_reverse", rnn(time_major=True, reverse=True, keep_order=True), sequence(4, 2),
               grads=False)
    yield case("rnn_time_major_lengths", rnn(time_major=True), sequence(5, 2, seq_lengths=LENGTHS,
               reverse=True, return_carry=True), grads=False)
    yield case("rnn_lengths", rnn(), sequence(2, 5, seq_lengths=LENGTHS, return_carry=True),
               sequence(2, 5, seq_lengths=LENGTHS))
    yield case("rnn_lengths_reverse", rnn(reverse=True), sequence(2, 5, seq_lengths=LENGTHS))
    yield case("rnn_lengths_full_and_one", rnn(reverse=True, keep_order=True, return_carry=True),
               sequence(2, 5, seq_lengths=np.asarray([1, 5], np.int32)), grads=False)
    yield case("rnn_lengths_zero", rnn(reverse=True, return_carry=True),
               sequence(2, 4, seq_lengths=np.asarray([0, 2], np.int32)), grads=False)
    yield case("rnn_unroll", rnn(unroll=2), sequence(2, 5), grads=False)
    yield case("rnn_initial_carry", rnn(), sequence(2, 3, initial_carry=Numbers(9, (2, HIDDEN))), grads=False)
    yield case("rnn_initial_lstm_carry", rnn("LSTMCell"), sequence(2, 3, return_carry=True, initial_carry=(
               Numbers(9, (2, HIDDEN)), Numbers(8, (2, HIDDEN)))), grads=False)
    yield case("rnn_streams_given", rnn(rngs="given"), sequence(2, 3), sequence(2, 3), grads=False,
               rngs={"params": 1, "carry": 3})
    yield case("rnn_streams_in_call", rnn(rngs=False), sequence(2, 3, rngs=Seeds({"carry": 4})), grads=False)


def both(**args):
    return Layer("Bidirectional", forward_rnn=rnn("GRUCell", 2), backward_rnn=rnn("GRUCell", 2), **args)


def pairs():
    yield case("bidirectional", both(), sequence(2, 4))
    yield case("bidirectional_carry", both(return_carry=True), sequence(2, 4), grads=False)
    yield case("bidirectional_lengths", both(return_carry=True), sequence(2, 5, seq_lengths=LENGTHS), grads=False)
    yield case("bidirectional_time_major", both(time_major=True), sequence(4, 2), grads=False)
    yield case("bidirectional_sum", both(merge_fn=function("add")), sequence(2, 3), grads=False)
    yield case("bidirectional_streams", both(rngs="given"), sequence(2, 3), grads=False, rngs=5)
    lstm = Layer("Bidirectional", forward_rnn=rnn("LSTMCell", 2), backward_rnn=rnn("SimpleCell", 3))
    yield case("bidirectional_mixed", lstm, sequence(2, 3), grads=False)
    narrow = both().with_dtype("bfloat16")
    yield case("bidirectional_bf16", narrow, sequence(2, 4), grads=False, reference=both())


def cases():
    yield from cells()
    yield from loops()
    yield from pairs()
