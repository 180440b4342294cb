// no_element_type.mlir:2:27: expected an element type
func.func @f(%a: tensor<2xf33>) {
  return
}
