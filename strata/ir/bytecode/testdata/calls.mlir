// Custom calls, and attributes of every kind.
module @calls attributes {mhlo.num_partitions = 1 : i32, mhlo.other = ["a", "b"], mhlo.strings = "\22quoted\22\0A"} {
  func.func public @main(%arg0: tensor<4x4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}, %arg1: tensor<4x4xf32>) -> (tensor<4x4xf32> {jax.result_info = "result", mhlo.layout_mode = "default"}) attributes {a.list = [1, 2 : i32, "x", true, 1.500000e+00, [f32]], b.none = [], c.dict = {"a b" = 1 : i64, d = {}}, d.numbers = [-3 : i8, 200 : ui8, 1 : i16, 3 : ui64], e.floats = [1.000000e+00 : bf16, 0x7FC00000 : f32, 2.500000e+00 : f16], f.types = [tensor<2x?xf32>, complex<f32>, i1], g.index = dense<[0, 1]> : tensor<2xindex>, h.flag = false, i.unit, j.dense = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>} {
    %0 = stablehlo.custom_call @plain(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.custom_call @"with more"(%0, %arg1) {api_version = 2 : i32, backend_config = "config", called_computations = [@callee], has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2:2 = stablehlo.custom_call @several() : () -> (tensor<4x4xf32>, tensor<?xi32>)
    %3 = stablehlo.add %1, %2#0 {mhlo.frontend_attributes = {key = "value"}} : tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
  func.func private @callee() {
    return
  }
}
