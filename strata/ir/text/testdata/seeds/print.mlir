
//

func.func @iota_printing_called_inside_run_parallel() -> tensor<2xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  return %0 : tensor<2xi32>
}

func.func @main() {
  // CHECK:      %0 = tensor<2xi32> {
  // CHECK-NEXT:   [0, 1]
  // CHECK-NEXT: }
  // CHECK:      %0 = tensor<2xi32> {
  // CHECK-NEXT:   [0, 1]
  // CHECK-NEXT: }

  %results:2 = "interpreter.run_parallel"() {
    programs = [[@iota_printing_called_inside_run_parallel, @iota_printing_called_inside_run_parallel]]
  } : () -> (tensor<2xi32>, tensor<2xi32>)
  func.return
}
