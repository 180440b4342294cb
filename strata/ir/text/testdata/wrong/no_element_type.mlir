// ?
func.func @f(%a: tensor<2xf33>) {
  return
}
