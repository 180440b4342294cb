// reference_of_quantised.mlir:2:34: a reference to quantised elements is not supported
func.func private @f(!strata.ref<2x!quant.uniform<i8:f32, 0.5>>)
