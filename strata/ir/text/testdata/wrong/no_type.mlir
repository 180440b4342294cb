// no_type.mlir:2:18: expected a type
func.func @f(%a: f32) {
  return
}
