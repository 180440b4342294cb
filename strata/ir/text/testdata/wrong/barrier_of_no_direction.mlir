// barrier_of_no_direction.mlir:3:8: 'SIDEWAYS' is no direction
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = sdy.propagation_barrier %x allowed_direction=SIDEWAYS : tensor<f32>
  return %0 : tensor<f32>
}
