"""Products: Linear, LinearGeneral, Einsum, Conv, ConvTranspose, Embed, LoRA, LoRALinear."""
import numpy as np

from .describe import Layer, Numbers, initializer
from .record import Call, case, variants


def x(*shape, seed=1):
    return Call(Numbers(seed, shape))


def dense():
    yield from variants("linear", Layer("Linear", in_features=5, out_features=3), x(2, 4, 5))
    yield case("linear_no_bias", Layer("Linear", in_features=5, out_features=3, use_bias=False), x(5))
    yield case("linear_streams", Layer("Linear", in_features=4, out_features=3), x(2, 4),
               rngs={"params": 1, "dropout": 2}, grads=False)
    yield case("linear_preferred", Layer("Linear", in_features=5, out_features=3, dtype="bfloat16",
               preferred_element_type="float32"), x(2, 5), grads=False)
    narrow = Layer("Linear", in_features=5, out_features=3, param_dtype="bfloat16")
    yield case("linear_param_bf16", narrow, x(2, 5), x(2, 5).to("bfloat16"), grads=False)
    yield case("linear_integers", Layer("Linear", in_features=3, out_features=2),
               Call(np.asarray([[1, 2, 3], [-4, 0, 6]], np.int32)), grads=False)
    general = "LinearGeneral"
    yield from variants("general", Layer(general, in_features=4, out_features=(2, 3)), x(2, 4))
    yield case("general_two_axes", Layer(general, in_features=(3, 4), out_features=(2, 5), axis=(-2, -1)),
               x(2, 3, 4))
    yield case("general_first_axis", Layer(general, in_features=3, out_features=2, axis=1), x(2, 3, 4))
    yield case("general_apart", Layer(general, in_features=(2, 4), out_features=3, axis=(0, 2)), x(2, 3, 4))
    yield case("general_batch", Layer(general, in_features=4, out_features=3, batch_axis={0: 2}), x(2, 3, 4))
    yield case("general_two_batches", Layer(general, in_features=4, out_features=3, use_bias=True,
               batch_axis={0: 2, 1: 3}), x(2, 3, 2, 4))
    yield case("general_no_bias", Layer(general, in_features=4, out_features=(2, 2), use_bias=False), x(3, 4))
    yield from variants("einsum", Layer("Einsum", einsum_str="abc,cde->abde", kernel_shape=(4, 2, 3),
                        bias_shape=(2, 3)), x(2, 3, 4))
    yield case("einsum_no_bias", Layer("Einsum", einsum_str="ij,jk->ik", kernel_shape=(3, 2)), x(2, 3))
    yield case("einsum_dots", Layer("Einsum", einsum_str="...i,ij->...j", kernel_shape=(3, 4),
               bias_shape=(4,)), x(2, 2, 3))
    yield case("einsum_batch", Layer("Einsum", einsum_str="nta,nab->tnb", kernel_shape=(2, 3, 4),
               bias_shape=(2, 4)), x(2, 5, 3))
    yield case("einsum_given_in_call", Layer("Einsum", einsum_str="ij,jk->ik", kernel_shape=(3, 2)),
               Call(Numbers(1, (2, 2, 3)), einsum_str="bij,jk->kbi"), grads=False)


def conv(name, shape, grads=True, **args):
    return case("conv_" + name, Layer("Conv", **{"in_features": shape[-1], "out_features": 4} | args),
                x(*shape), grads=grads)


def convolutions():
    plain = Layer("Conv", in_features=2, out_features=3, kernel_size=(3, 2))
    yield from variants("conv", plain, x(2, 5, 4, 2))
    yield conv("same_strides", (1, 6, 5, 2), kernel_size=(3, 3), strides=2)
    yield conv("valid", (2, 5, 2), kernel_size=3, padding="VALID")
    yield conv("int_kernel", (2, 5, 2), kernel_size=4)
    yield conv("no_batch", (6, 2), kernel_size=(3,))
    yield conv("two_batches", (2, 3, 5, 2), kernel_size=(3,), use_bias=False)
    yield conv("number", (1, 5, 4, 2), kernel_size=(3, 2), padding=1)
    yield conv("numbers", (1, 5, 4, 2), kernel_size=(3, 2), padding=(1, 0), strides=(1, 2))
    yield conv("pairs", (1, 5, 4, 2), kernel_size=(3, 2), padding=((2, 0), (0, 1)))
    yield conv("circular", (1, 5, 6, 1), kernel_size=(4, 3), padding="CIRCULAR")
    yield conv("circular_dilated", (1, 7, 2), kernel_size=(3,), kernel_dilation=2, padding="CIRCULAR")
    yield conv("reflect", (1, 6, 5, 1), kernel_size=(4, 3), padding="REFLECT", strides=(2, 1))
    yield conv("causal", (1, 6, 2), kernel_size=(3,), padding="CAUSAL")
    yield conv("causal_dilated", (1, 6, 2), kernel_size=(3,), padding="CAUSAL", kernel_dilation=2)
    yield conv("dilated", (1, 6, 5, 1), kernel_size=(2, 3), kernel_dilation=(2, 1))
    yield conv("input_dilated", (1, 4, 3, 2), kernel_size=(3, 3), input_dilation=(2, 1), padding=1)
    yield conv("groups", (2, 5, 4), kernel_size=(3,), feature_group_count=2, out_features=6)
    yield conv("depthwise", (2, 5, 3), kernel_size=(2,), feature_group_count=3, out_features=6)
    yield conv("three", (1, 3, 4, 3, 2), kernel_size=(2, 2, 2), out_features=2)
    mask = (np.arange(24).reshape(3, 2, 4) % 3 > 0).astype(np.float32)
    yield conv("mask", (2, 5, 2), kernel_size=(3,), mask=mask)
    yield from list(variants("conv_mask", Layer("Conv", in_features=2, out_features=4, kernel_size=(3,),
                             mask=mask), x(2, 5, 2)))[2:]


def transposed(name, shape, **args):
    return case("conv_transpose_" + name, Layer("ConvTranspose", in_features=shape[-1], out_features=3,
                                                **args), x(*shape))


def transposed_convolutions():
    plain = Layer("ConvTranspose", in_features=2, out_features=3, kernel_size=(3, 2), strides=(2, 1))
    yield from variants("conv_transpose", plain, x(2, 3, 4, 2))
    yield transposed("no_strides", (2, 4, 2), kernel_size=(3,))
    yield transposed("int_kernel", (2, 4, 2), kernel_size=4, strides=2)
    yield transposed("long_strides", (1, 3, 2), kernel_size=(2,), strides=(4,))
    yield transposed("valid", (1, 4, 2), kernel_size=(3,), strides=(2,), padding="VALID")
    yield transposed("valid_long", (1, 3, 2), kernel_size=(2,), strides=(3,), padding="VALID")
    yield transposed("number", (1, 4, 3, 1), kernel_size=(3, 3), strides=(2, 1), padding=1)
    yield transposed("pairs", (1, 4, 2), kernel_size=(3,), strides=(2,), padding=((2, 1),))
    yield transposed("dilated", (1, 4, 2), kernel_size=(3,), strides=(2,), kernel_dilation=(2,))
    yield transposed("circular", (1, 4, 2), kernel_size=(3,), strides=(2,), padding="CIRCULAR")
    yield transposed("circular_even", (1, 4, 2), kernel_size=(4,), padding="CIRCULAR")
    yield transposed("circular_two", (1, 3, 4, 2), kernel_size=(4, 3), strides=(2, 1), padding="CIRCULAR")
    yield transposed("transposed_kernel", (1, 4, 3, 2), kernel_size=(3, 2), strides=(2, 2),
                     transpose_kernel=True)
    yield transposed("circular_transposed", (1, 4, 2), kernel_size=(4,), strides=(2,), padding="CIRCULAR",
                     transpose_kernel=True)
    yield transposed("no_batch", (4, 2), kernel_size=(3,), strides=(2,), use_bias=False)
    yield transposed("two_batches", (2, 2, 3, 2), kernel_size=(2,), strides=(2,))
    mask = (np.arange(18).reshape(3, 2, 3) % 4 > 0).astype(np.float32)
    yield transposed("mask", (2, 4, 2), kernel_size=(3,), mask=mask)


def tables():
    tokens = np.asarray([[0, 6, 3], [5, 5, 1]], np.int32)
    table = Layer("Embed", num_embeddings=7, features=3)
    yield case("embed", table, Call(tokens))
    yield case("embed_outside", table, Call(np.asarray([-1, -7, -8, 6, 7, 100], np.int32)), grads=False)
    yield case("embed_bytes", table, Call(np.asarray([0, 6], np.uint8)), grads=False)
    yield case("embed_scalar", table, Call(np.asarray(4, np.int32)), grads=False)
    yield case("embed_one", Layer("Embed", num_embeddings=1, features=3), Call(np.asarray([[0, 5]], np.int32)),
               grads=False)
    yield case("embed_bf16", table.with_dtype("bfloat16"), Call(tokens), grads=False, reference=table)
    yield case("embed_param_bf16", Layer("Embed", num_embeddings=7, features=3, param_dtype="bfloat16"),
               Call(tokens), grads=False)
    attend = Call(Numbers(1, (2, 3)), method="attend")
    yield from variants("attend", table, attend)


def low_rank():
    yield from variants("lora", Layer("LoRA", in_features=5, lora_rank=2, out_features=3), x(2, 5))
    base = Layer("Linear", in_features=5, out_features=3)
    yield case("lora_base", Layer("LoRA", in_features=5, lora_rank=2, out_features=3, base_module=base), x(2, 5))
    narrow = Layer("LoRA", in_features=5, lora_rank=2, out_features=3, base_module=base, dtype="bfloat16")
    yield case("lora_base_bf16", narrow, x(2, 5), grads=False)
    yield from variants("lora_linear", Layer("LoRALinear", in_features=5, out_features=3, lora_rank=2), x(2, 5))
    yield case("lora_linear_no_bias", Layer("LoRALinear", in_features=5, out_features=3, lora_rank=2,
               use_bias=False), x(2, 5), grads=False)
    yield case("linear_other_initializers", Layer("Linear", in_features=5, out_features=3,
               kernel_init=initializer("normal", stddev=0.5), bias_init=initializer("uniform", scale=2.0)),
               x(2, 5), grads=False)


def cases():
    yield from dense()
    yield from convolutions()
    yield from transposed_convolutions()
    yield from tables()
    yield from low_rank()
