"""jax.lax: convolutions, and their shapes."""
import jax

from .calls import *

CASES = {}
N1, K1 = normal(2, 3, 7), normal(4, 3, 3)
N2, K2 = normal(2, 3, 6, 5), normal(4, 3, 3, 2)
IN2, IK2 = ints(2, 3, 6, 5), ints(4, 3, 3, 2)
B2, BK2 = normal(1, 2, 4, 4, dtype=bf16), normal(3, 2, 2, 2, dtype=bf16)
LAST, KLAST = normal(2, 6, 5, 3), normal(3, 2, 3, 4)
NHWC = ("NHWC", "HWIO", "NHWC")
ONE2 = dict(window_strides=(1, 1), padding="VALID")

CASES["lax.conv_general_dilated"] = calls(
    C(N1, K1, window_strides=(1,), padding="SAME"), C(N2, K2, **ONE2), C(N2, K2, window_strides=(2, 1), padding="SAME"), C(N2, K2, window_strides=(2, 3), padding="same_lower"), C(N2, K2, window_strides=(1, 1), padding=((1, 2), (-1, 0))),
    C(N2, K2, window_strides=(1, 1), padding=((2, 2), (1, 1)), lhs_dilation=(2, 1), rhs_dilation=(1, 2)), C(N2, K2, window_strides=(1, 1), padding="SAME", rhs_dilation=(2, 2)), C(IN2, IK2, **ONE2), C(B2, BK2, **ONE2), C(B2, BK2, preferred_element_type=f32, **ONE2),
    C(LAST, KLAST, dimension_numbers=NHWC, **ONE2), C(LAST, KLAST, dimension_numbers=("NHWC", "HWIO", "NCHW"), window_strides=(2, 1), padding="SAME"), C(LAST, KLAST, dimension_numbers=("NHWC", "WHIO", "NHWC"), window_strides=(2, 1), padding="VALID"),
    C(normal(2, 4, 6, 5), normal(6, 2, 3, 2), feature_group_count=2, **ONE2), C(normal(4, 3, 6, 5), normal(4, 3, 3, 2), batch_group_count=2, **ONE2), C(normal(2, 3), normal(4, 3), window_strides=(), padding="VALID"), C(np.zeros((0, 3, 6, 5), f32), K2, **ONE2),
    C(np.zeros((1, 0, 4), f32), np.zeros((2, 0, 2), f32), window_strides=(1,), padding="VALID"), C(complexes(1, 2, 4), complexes(2, 2, 2), window_strides=(1,), padding="VALID"), C(normal(1, 1, 3, 3, 3), normal(2, 1, 2, 2, 2), window_strides=(1, 1, 1), padding="VALID"),
    C(N2, K1, **ONE2), C(N2, normal(4, 2, 3, 2), **ONE2), C(N2, IK2, **ONE2), C(N2, K2, window_strides=(1,), padding="VALID"), C(N2, K2, window_strides=(1, 1), padding="FULL"), C(N2, K2, window_strides=(1, 1), padding="SAME", lhs_dilation=(2, 1)), C(N2, K2, window_strides=(0, 1), padding="VALID"),
    C(N2, K2, feature_group_count=2, **ONE2), C(N2, K2, feature_group_count=0, **ONE2), C(N2, K2, dimension_numbers=("NCHW", "OIHX", "NCHW"), **ONE2), C(N2, K2, dimension_numbers=("NCH", "OIH", "NCH"), **ONE2), C(N2, K2, dimension_numbers=("NNHW", "OIHW", "NCHW"), **ONE2), scaled=True)
CASES["lax.conv"] = calls(C(N2, K2, **ONE2), C(N2, K2, window_strides=(2, 2), padding="SAME"), C(N1, K1, window_strides=(3,), padding="SAME"), C(IN2, IK2, **ONE2), C(B2, BK2, **ONE2), C(B2, BK2, preferred_element_type=f32, **ONE2), C(N2, K1, **ONE2), C(N1, K1, window_strides=(1,), padding="FULL"), scaled=True)
CASES["lax.conv_with_general_padding"] = calls(C(N2, K2, window_strides=(1, 1), padding=((0, 1), (2, 0)), lhs_dilation=None, rhs_dilation=None), C(N2, K2, window_strides=(2, 1), padding=((0, 1), (2, 0)), lhs_dilation=(1, 2), rhs_dilation=(2, 1)), C(IN2, IK2, window_strides=(1, 1), padding="SAME", lhs_dilation=None, rhs_dilation=(1, 1)), C(N1, K1, window_strides=(1,), padding="SAME", lhs_dilation=(2,), rhs_dilation=None), C(B2, BK2, window_strides=(1, 1), padding="VALID", lhs_dilation=None, rhs_dilation=None), scaled=True)
TK = normal(3, 2, 3, 4)
CASES["lax.conv_transpose"] = calls(
    *[C(LAST, TK, strides=s, padding=p) for s in ((1, 1), (2, 3)) for p in ("SAME", "VALID", ((1, 0), (2, 1)))], C(LAST, TK, strides=(2, 1), padding=((1, 0), (1, 1)), use_consistent_padding=True), C(LAST, normal(3, 2, 4, 3), strides=(2, 2), padding="SAME", transpose_kernel=True), C(LAST, TK, strides=(2, 1), padding="VALID", rhs_dilation=(2, 1)),
    C(normal(2, 7, 3), normal(3, 3, 4), strides=(2,), padding="SAME"), C(normal(2, 3), normal(3, 4), strides=(), padding="VALID"), C(N2, normal(3, 4, 3, 2), strides=(2, 2), padding="SAME", dimension_numbers=("NCHW", "IOHW", "NCHW")), C(ints(1, 4, 2), ints(2, 2, 3), strides=(2,), padding="VALID"), C(normal(1, 4, 2, dtype=bf16), normal(2, 2, 3, dtype=bf16), strides=(2,), padding="SAME"),
    C(LAST, TK, strides=(2, 2), padding="FULL"), C(LAST, normal(3, 2, 4, 4), strides=(1, 1), padding="SAME"), scaled=True)
CASES["lax.conv_general_dilated_patches"] = calls(C(N2, filter_shape=(3, 2), **ONE2), C(N2, filter_shape=(2, 2), window_strides=(2, 1), padding="SAME"), C(LAST, filter_shape=(2, 3), dimension_numbers=NHWC, **ONE2), C(N1, filter_shape=(3,), window_strides=(1,), padding=((1, 1),), rhs_dilation=(2,)), C(IN2, filter_shape=(2, 2), **ONE2), C(B2, filter_shape=(2, 2), **ONE2),
                                                  C(LAST, filter_shape=(2, 3), dimension_numbers=("NHWC", "OIWH", "CNHW"), **ONE2), C(N2, filter_shape=(2,), **ONE2), C(np.zeros((0, 2, 4), f32), filter_shape=(2,), window_strides=(1,), padding="VALID"), scaled=True)
CASES["lax.conv_general_dilated_local"] = calls(C(N1, normal(4, 9, 5), window_strides=(1,), padding="VALID", filter_shape=(3,)), C(N2, normal(4, 18, 4, 4), filter_shape=(3, 2), **ONE2), C(LAST, normal(5, 3, 18, 4), filter_shape=(2, 3), dimension_numbers=NHWC, **ONE2), C(N1, normal(4, 9, 4), window_strides=(2,), padding="SAME", filter_shape=(3,)),
                                                C(IN2, ints(4, 18, 4, 4), filter_shape=(3, 2), **ONE2), C(N1, normal(4, 8, 5), window_strides=(1,), padding="VALID", filter_shape=(3,)), C(normal(1, 2, 4, dtype=bf16), normal(3, 4, 3, dtype=bf16), window_strides=(1,), padding="VALID", filter_shape=(2,)), scaled=True)


def as_lists(d):
    return [jnp.asarray(x, jnp.int32) for x in (d.lhs_spec, d.rhs_spec, d.out_spec)]


LETTERS = (NHWC, ("NCHW", "OIHW", "NCHW"), ("NHWC", "WHIO", "CNHW"), ("NHCW", "HWOI", "WNHC"), ("NC", "IO", "CN"), ("NCHW", "OIHX", "NCHW"), ("NNHW", "OIHW", "NCHW"), ("NCHH", "OIHH", "NCHH"), ("NCHW", "OIHW", "NCHX"))
CASES["lax.conv_general_permutations"] = calls(*[C(dimension_numbers=d) for d in LETTERS], call=lambda dimension_numbers: [jnp.asarray(x, jnp.int32) for x in jax.lax.conv_general_permutations(dimension_numbers)])
SHAPES = dict(lhs_shape=(2, 6, 5, 3), rhs_shape=(3, 2, 3, 4))
CASES["lax.conv_dimension_numbers"] = calls(C(dimension_numbers=None, **SHAPES), *[C(dimension_numbers=d, **SHAPES) for d in LETTERS], C(lhs_shape=(2, 3, 4), rhs_shape=(2, 3), dimension_numbers=None), call=lambda **o: as_lists(jax.lax.conv_dimension_numbers(**o)))


def shape_of(name):
    def call(lhs_shape, rhs_shape, **options):
        return jnp.asarray(getattr(jax.lax, name)(lhs_shape, rhs_shape, *options.values()), jnp.int32)

    return call


NCHW = dict(lhs_shape=(4, 3, 6, 5), rhs_shape=(8, 3, 3, 2))
CASES["lax.conv_shape_tuple"] = calls(C(**NCHW, strides=(1, 1), pads="VALID"), C(**NCHW, strides=(2, 3), pads="SAME"), C(**NCHW, strides=(1, 2), pads=((1, 0), (2, 2))), C(**NCHW, strides=(1, 1), pads="VALID", batch_group_count=2), C(**NCHW, strides=(1, 1), pads=((1, 0),)), C(**NCHW, strides=(1, 1), pads=((-4, -4), (0, 0))), C(**NCHW, strides=(1, 1), pads="FULL"), call=shape_of("conv_shape_tuple"))
CASES["lax.conv_general_shape_tuple"] = calls(C(**SHAPES, window_strides=(1, 1), padding="VALID", dimension_numbers=NHWC), C(**SHAPES, window_strides=(2, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NCHW")), C(**NCHW, window_strides=(1, 1), padding=((1, 1), (0, 1)), dimension_numbers=("NCHW", "OIHW", "CNHW")), C(**SHAPES, window_strides=(1, 1), padding="FULL", dimension_numbers=NHWC), call=shape_of("conv_general_shape_tuple"))
CASES["lax.conv_transpose_shape_tuple"] = calls(C(**SHAPES, window_strides=(1, 1), padding="VALID", dimension_numbers=NHWC), C(**SHAPES, window_strides=(2, 3), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NCHW")), C(**SHAPES, window_strides=(2, 3), padding="VALID", dimension_numbers=NHWC), C(**NCHW, window_strides=(1, 2), padding=((1, 1), (0, 1)), dimension_numbers=("NCHW", "OIHW", "CNHW")), C(**SHAPES, window_strides=(1, 1), padding="FULL", dimension_numbers=NHWC), call=shape_of("conv_transpose_shape_tuple"))
