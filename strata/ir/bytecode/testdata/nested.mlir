// Modules in modules, and functions without a body or a name that is a word.
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
  module @inner attributes {a.b = 1 : i64} {
    func.func @main() {
      return
    }
  }
  func.func private @declared(tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
}
