// module_twice.mlir:5:10: module @m twice
module {
  module @m {
  }
  module @m {
  }
}
