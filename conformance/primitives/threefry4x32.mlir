module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xui32>) -> (tensor<3xui32> {jax.result_info = "result[0]"}, tensor<3xui32> {jax.result_info = "result[1]"}, tensor<3xui32> {jax.result_info = "result[2]"}, tensor<3xui32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg0 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg0 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %10 = stablehlo.add %8, %9 : tensor<3xui32>
    %11 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c_0 = stablehlo.constant dense<1> : tensor<ui32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %13 = stablehlo.add %11, %12 : tensor<3xui32>
    %14 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c_1 = stablehlo.constant dense<2> : tensor<ui32>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %16 = stablehlo.add %14, %15 : tensor<3xui32>
    %17 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c_2 = stablehlo.constant dense<3> : tensor<ui32>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %19 = stablehlo.add %17, %18 : tensor<3xui32>
    %20:4 = call @threefry4x32(%1, %3, %5, %7, %10, %13, %16, %19) : (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>)
    return %20#0, %20#1, %20#2, %20#3 : tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>
  }
  func.func private @threefry4x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<ui32>, %arg3: tensor<ui32>, %arg4: tensor<3xui32>, %arg5: tensor<3xui32>, %arg6: tensor<3xui32>, %arg7: tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %1 = stablehlo.xor %0, %arg2 : tensor<ui32>
    %2 = stablehlo.xor %1, %arg3 : tensor<ui32>
    %c = stablehlo.constant dense<466688986> : tensor<ui32>
    %3 = stablehlo.xor %2, %c : tensor<ui32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %5 = stablehlo.add %arg4, %4 : tensor<3xui32>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %7 = stablehlo.add %arg5, %6 : tensor<3xui32>
    %8 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %9 = stablehlo.add %arg6, %8 : tensor<3xui32>
    %10 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %11 = stablehlo.add %arg7, %10 : tensor<3xui32>
    %12 = stablehlo.add %5, %7 : tensor<3xui32>
    %c_0 = stablehlo.constant dense<10> : tensor<ui32>
    %13 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %14 = stablehlo.shift_left %7, %13 : tensor<3xui32>
    %c_1 = stablehlo.constant dense<22> : tensor<ui32>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %16 = stablehlo.shift_right_logical %7, %15 : tensor<3xui32>
    %17 = stablehlo.or %14, %16 : tensor<3xui32>
    %18 = stablehlo.xor %12, %17 : tensor<3xui32>
    %19 = stablehlo.add %9, %11 : tensor<3xui32>
    %c_2 = stablehlo.constant dense<26> : tensor<ui32>
    %20 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %21 = stablehlo.shift_left %11, %20 : tensor<3xui32>
    %c_3 = stablehlo.constant dense<6> : tensor<ui32>
    %22 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %23 = stablehlo.shift_right_logical %11, %22 : tensor<3xui32>
    %24 = stablehlo.or %21, %23 : tensor<3xui32>
    %25 = stablehlo.xor %19, %24 : tensor<3xui32>
    %26 = stablehlo.add %12, %25 : tensor<3xui32>
    %c_4 = stablehlo.constant dense<11> : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %28 = stablehlo.shift_left %25, %27 : tensor<3xui32>
    %c_5 = stablehlo.constant dense<21> : tensor<ui32>
    %29 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %30 = stablehlo.shift_right_logical %25, %29 : tensor<3xui32>
    %31 = stablehlo.or %28, %30 : tensor<3xui32>
    %32 = stablehlo.xor %26, %31 : tensor<3xui32>
    %33 = stablehlo.add %19, %18 : tensor<3xui32>
    %c_6 = stablehlo.constant dense<21> : tensor<ui32>
    %34 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %35 = stablehlo.shift_left %18, %34 : tensor<3xui32>
    %c_7 = stablehlo.constant dense<11> : tensor<ui32>
    %36 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %37 = stablehlo.shift_right_logical %18, %36 : tensor<3xui32>
    %38 = stablehlo.or %35, %37 : tensor<3xui32>
    %39 = stablehlo.xor %33, %38 : tensor<3xui32>
    %40 = stablehlo.add %26, %39 : tensor<3xui32>
    %c_8 = stablehlo.constant dense<13> : tensor<ui32>
    %41 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %42 = stablehlo.shift_left %39, %41 : tensor<3xui32>
    %c_9 = stablehlo.constant dense<19> : tensor<ui32>
    %43 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %44 = stablehlo.shift_right_logical %39, %43 : tensor<3xui32>
    %45 = stablehlo.or %42, %44 : tensor<3xui32>
    %46 = stablehlo.xor %40, %45 : tensor<3xui32>
    %47 = stablehlo.add %33, %32 : tensor<3xui32>
    %c_10 = stablehlo.constant dense<27> : tensor<ui32>
    %48 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %49 = stablehlo.shift_left %32, %48 : tensor<3xui32>
    %c_11 = stablehlo.constant dense<5> : tensor<ui32>
    %50 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %51 = stablehlo.shift_right_logical %32, %50 : tensor<3xui32>
    %52 = stablehlo.or %49, %51 : tensor<3xui32>
    %53 = stablehlo.xor %47, %52 : tensor<3xui32>
    %54 = stablehlo.add %40, %53 : tensor<3xui32>
    %c_12 = stablehlo.constant dense<23> : tensor<ui32>
    %55 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %56 = stablehlo.shift_left %53, %55 : tensor<3xui32>
    %c_13 = stablehlo.constant dense<9> : tensor<ui32>
    %57 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %58 = stablehlo.shift_right_logical %53, %57 : tensor<3xui32>
    %59 = stablehlo.or %56, %58 : tensor<3xui32>
    %60 = stablehlo.xor %54, %59 : tensor<3xui32>
    %61 = stablehlo.add %47, %46 : tensor<3xui32>
    %c_14 = stablehlo.constant dense<5> : tensor<ui32>
    %62 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %63 = stablehlo.shift_left %46, %62 : tensor<3xui32>
    %c_15 = stablehlo.constant dense<27> : tensor<ui32>
    %64 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %65 = stablehlo.shift_right_logical %46, %64 : tensor<3xui32>
    %66 = stablehlo.or %63, %65 : tensor<3xui32>
    %67 = stablehlo.xor %61, %66 : tensor<3xui32>
    %68 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %69 = stablehlo.add %54, %68 : tensor<3xui32>
    %70 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %71 = stablehlo.add %67, %70 : tensor<3xui32>
    %72 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %73 = stablehlo.add %61, %72 : tensor<3xui32>
    %74 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %75 = stablehlo.add %60, %74 : tensor<3xui32>
    %c_16 = stablehlo.constant dense<1> : tensor<ui32>
    %76 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %77 = stablehlo.add %75, %76 : tensor<3xui32>
    %78 = stablehlo.add %69, %71 : tensor<3xui32>
    %c_17 = stablehlo.constant dense<6> : tensor<ui32>
    %79 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %80 = stablehlo.shift_left %71, %79 : tensor<3xui32>
    %c_18 = stablehlo.constant dense<26> : tensor<ui32>
    %81 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %82 = stablehlo.shift_right_logical %71, %81 : tensor<3xui32>
    %83 = stablehlo.or %80, %82 : tensor<3xui32>
    %84 = stablehlo.xor %78, %83 : tensor<3xui32>
    %85 = stablehlo.add %73, %77 : tensor<3xui32>
    %c_19 = stablehlo.constant dense<20> : tensor<ui32>
    %86 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %87 = stablehlo.shift_left %77, %86 : tensor<3xui32>
    %c_20 = stablehlo.constant dense<12> : tensor<ui32>
    %88 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %89 = stablehlo.shift_right_logical %77, %88 : tensor<3xui32>
    %90 = stablehlo.or %87, %89 : tensor<3xui32>
    %91 = stablehlo.xor %85, %90 : tensor<3xui32>
    %92 = stablehlo.add %78, %91 : tensor<3xui32>
    %c_21 = stablehlo.constant dense<17> : tensor<ui32>
    %93 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %94 = stablehlo.shift_left %91, %93 : tensor<3xui32>
    %c_22 = stablehlo.constant dense<15> : tensor<ui32>
    %95 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %96 = stablehlo.shift_right_logical %91, %95 : tensor<3xui32>
    %97 = stablehlo.or %94, %96 : tensor<3xui32>
    %98 = stablehlo.xor %92, %97 : tensor<3xui32>
    %99 = stablehlo.add %85, %84 : tensor<3xui32>
    %c_23 = stablehlo.constant dense<11> : tensor<ui32>
    %100 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %101 = stablehlo.shift_left %84, %100 : tensor<3xui32>
    %c_24 = stablehlo.constant dense<21> : tensor<ui32>
    %102 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %103 = stablehlo.shift_right_logical %84, %102 : tensor<3xui32>
    %104 = stablehlo.or %101, %103 : tensor<3xui32>
    %105 = stablehlo.xor %99, %104 : tensor<3xui32>
    %106 = stablehlo.add %92, %105 : tensor<3xui32>
    %c_25 = stablehlo.constant dense<25> : tensor<ui32>
    %107 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %108 = stablehlo.shift_left %105, %107 : tensor<3xui32>
    %c_26 = stablehlo.constant dense<7> : tensor<ui32>
    %109 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %110 = stablehlo.shift_right_logical %105, %109 : tensor<3xui32>
    %111 = stablehlo.or %108, %110 : tensor<3xui32>
    %112 = stablehlo.xor %106, %111 : tensor<3xui32>
    %113 = stablehlo.add %99, %98 : tensor<3xui32>
    %c_27 = stablehlo.constant dense<10> : tensor<ui32>
    %114 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %115 = stablehlo.shift_left %98, %114 : tensor<3xui32>
    %c_28 = stablehlo.constant dense<22> : tensor<ui32>
    %116 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %117 = stablehlo.shift_right_logical %98, %116 : tensor<3xui32>
    %118 = stablehlo.or %115, %117 : tensor<3xui32>
    %119 = stablehlo.xor %113, %118 : tensor<3xui32>
    %120 = stablehlo.add %106, %119 : tensor<3xui32>
    %c_29 = stablehlo.constant dense<18> : tensor<ui32>
    %121 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %122 = stablehlo.shift_left %119, %121 : tensor<3xui32>
    %c_30 = stablehlo.constant dense<14> : tensor<ui32>
    %123 = stablehlo.broadcast_in_dim %c_30, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %124 = stablehlo.shift_right_logical %119, %123 : tensor<3xui32>
    %125 = stablehlo.or %122, %124 : tensor<3xui32>
    %126 = stablehlo.xor %120, %125 : tensor<3xui32>
    %127 = stablehlo.add %113, %112 : tensor<3xui32>
    %c_31 = stablehlo.constant dense<20> : tensor<ui32>
    %128 = stablehlo.broadcast_in_dim %c_31, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %129 = stablehlo.shift_left %112, %128 : tensor<3xui32>
    %c_32 = stablehlo.constant dense<12> : tensor<ui32>
    %130 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %131 = stablehlo.shift_right_logical %112, %130 : tensor<3xui32>
    %132 = stablehlo.or %129, %131 : tensor<3xui32>
    %133 = stablehlo.xor %127, %132 : tensor<3xui32>
    %134 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %135 = stablehlo.add %120, %134 : tensor<3xui32>
    %136 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %137 = stablehlo.add %133, %136 : tensor<3xui32>
    %138 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %139 = stablehlo.add %127, %138 : tensor<3xui32>
    %140 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %141 = stablehlo.add %126, %140 : tensor<3xui32>
    %c_33 = stablehlo.constant dense<2> : tensor<ui32>
    %142 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %143 = stablehlo.add %141, %142 : tensor<3xui32>
    %144 = stablehlo.add %135, %137 : tensor<3xui32>
    %c_34 = stablehlo.constant dense<10> : tensor<ui32>
    %145 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %146 = stablehlo.shift_left %137, %145 : tensor<3xui32>
    %c_35 = stablehlo.constant dense<22> : tensor<ui32>
    %147 = stablehlo.broadcast_in_dim %c_35, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %148 = stablehlo.shift_right_logical %137, %147 : tensor<3xui32>
    %149 = stablehlo.or %146, %148 : tensor<3xui32>
    %150 = stablehlo.xor %144, %149 : tensor<3xui32>
    %151 = stablehlo.add %139, %143 : tensor<3xui32>
    %c_36 = stablehlo.constant dense<26> : tensor<ui32>
    %152 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %153 = stablehlo.shift_left %143, %152 : tensor<3xui32>
    %c_37 = stablehlo.constant dense<6> : tensor<ui32>
    %154 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %155 = stablehlo.shift_right_logical %143, %154 : tensor<3xui32>
    %156 = stablehlo.or %153, %155 : tensor<3xui32>
    %157 = stablehlo.xor %151, %156 : tensor<3xui32>
    %158 = stablehlo.add %144, %157 : tensor<3xui32>
    %c_38 = stablehlo.constant dense<11> : tensor<ui32>
    %159 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %160 = stablehlo.shift_left %157, %159 : tensor<3xui32>
    %c_39 = stablehlo.constant dense<21> : tensor<ui32>
    %161 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %162 = stablehlo.shift_right_logical %157, %161 : tensor<3xui32>
    %163 = stablehlo.or %160, %162 : tensor<3xui32>
    %164 = stablehlo.xor %158, %163 : tensor<3xui32>
    %165 = stablehlo.add %151, %150 : tensor<3xui32>
    %c_40 = stablehlo.constant dense<21> : tensor<ui32>
    %166 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %167 = stablehlo.shift_left %150, %166 : tensor<3xui32>
    %c_41 = stablehlo.constant dense<11> : tensor<ui32>
    %168 = stablehlo.broadcast_in_dim %c_41, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %169 = stablehlo.shift_right_logical %150, %168 : tensor<3xui32>
    %170 = stablehlo.or %167, %169 : tensor<3xui32>
    %171 = stablehlo.xor %165, %170 : tensor<3xui32>
    %172 = stablehlo.add %158, %171 : tensor<3xui32>
    %c_42 = stablehlo.constant dense<13> : tensor<ui32>
    %173 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %174 = stablehlo.shift_left %171, %173 : tensor<3xui32>
    %c_43 = stablehlo.constant dense<19> : tensor<ui32>
    %175 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %176 = stablehlo.shift_right_logical %171, %175 : tensor<3xui32>
    %177 = stablehlo.or %174, %176 : tensor<3xui32>
    %178 = stablehlo.xor %172, %177 : tensor<3xui32>
    %179 = stablehlo.add %165, %164 : tensor<3xui32>
    %c_44 = stablehlo.constant dense<27> : tensor<ui32>
    %180 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %181 = stablehlo.shift_left %164, %180 : tensor<3xui32>
    %c_45 = stablehlo.constant dense<5> : tensor<ui32>
    %182 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %183 = stablehlo.shift_right_logical %164, %182 : tensor<3xui32>
    %184 = stablehlo.or %181, %183 : tensor<3xui32>
    %185 = stablehlo.xor %179, %184 : tensor<3xui32>
    %186 = stablehlo.add %172, %185 : tensor<3xui32>
    %c_46 = stablehlo.constant dense<23> : tensor<ui32>
    %187 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %188 = stablehlo.shift_left %185, %187 : tensor<3xui32>
    %c_47 = stablehlo.constant dense<9> : tensor<ui32>
    %189 = stablehlo.broadcast_in_dim %c_47, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %190 = stablehlo.shift_right_logical %185, %189 : tensor<3xui32>
    %191 = stablehlo.or %188, %190 : tensor<3xui32>
    %192 = stablehlo.xor %186, %191 : tensor<3xui32>
    %193 = stablehlo.add %179, %178 : tensor<3xui32>
    %c_48 = stablehlo.constant dense<5> : tensor<ui32>
    %194 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %195 = stablehlo.shift_left %178, %194 : tensor<3xui32>
    %c_49 = stablehlo.constant dense<27> : tensor<ui32>
    %196 = stablehlo.broadcast_in_dim %c_49, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %197 = stablehlo.shift_right_logical %178, %196 : tensor<3xui32>
    %198 = stablehlo.or %195, %197 : tensor<3xui32>
    %199 = stablehlo.xor %193, %198 : tensor<3xui32>
    %200 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %201 = stablehlo.add %186, %200 : tensor<3xui32>
    %202 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %203 = stablehlo.add %199, %202 : tensor<3xui32>
    %204 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %205 = stablehlo.add %193, %204 : tensor<3xui32>
    %206 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %207 = stablehlo.add %192, %206 : tensor<3xui32>
    %c_50 = stablehlo.constant dense<3> : tensor<ui32>
    %208 = stablehlo.broadcast_in_dim %c_50, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %209 = stablehlo.add %207, %208 : tensor<3xui32>
    %210 = stablehlo.add %201, %203 : tensor<3xui32>
    %c_51 = stablehlo.constant dense<6> : tensor<ui32>
    %211 = stablehlo.broadcast_in_dim %c_51, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %212 = stablehlo.shift_left %203, %211 : tensor<3xui32>
    %c_52 = stablehlo.constant dense<26> : tensor<ui32>
    %213 = stablehlo.broadcast_in_dim %c_52, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %214 = stablehlo.shift_right_logical %203, %213 : tensor<3xui32>
    %215 = stablehlo.or %212, %214 : tensor<3xui32>
    %216 = stablehlo.xor %210, %215 : tensor<3xui32>
    %217 = stablehlo.add %205, %209 : tensor<3xui32>
    %c_53 = stablehlo.constant dense<20> : tensor<ui32>
    %218 = stablehlo.broadcast_in_dim %c_53, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %219 = stablehlo.shift_left %209, %218 : tensor<3xui32>
    %c_54 = stablehlo.constant dense<12> : tensor<ui32>
    %220 = stablehlo.broadcast_in_dim %c_54, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %221 = stablehlo.shift_right_logical %209, %220 : tensor<3xui32>
    %222 = stablehlo.or %219, %221 : tensor<3xui32>
    %223 = stablehlo.xor %217, %222 : tensor<3xui32>
    %224 = stablehlo.add %210, %223 : tensor<3xui32>
    %c_55 = stablehlo.constant dense<17> : tensor<ui32>
    %225 = stablehlo.broadcast_in_dim %c_55, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %226 = stablehlo.shift_left %223, %225 : tensor<3xui32>
    %c_56 = stablehlo.constant dense<15> : tensor<ui32>
    %227 = stablehlo.broadcast_in_dim %c_56, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %228 = stablehlo.shift_right_logical %223, %227 : tensor<3xui32>
    %229 = stablehlo.or %226, %228 : tensor<3xui32>
    %230 = stablehlo.xor %224, %229 : tensor<3xui32>
    %231 = stablehlo.add %217, %216 : tensor<3xui32>
    %c_57 = stablehlo.constant dense<11> : tensor<ui32>
    %232 = stablehlo.broadcast_in_dim %c_57, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %233 = stablehlo.shift_left %216, %232 : tensor<3xui32>
    %c_58 = stablehlo.constant dense<21> : tensor<ui32>
    %234 = stablehlo.broadcast_in_dim %c_58, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %235 = stablehlo.shift_right_logical %216, %234 : tensor<3xui32>
    %236 = stablehlo.or %233, %235 : tensor<3xui32>
    %237 = stablehlo.xor %231, %236 : tensor<3xui32>
    %238 = stablehlo.add %224, %237 : tensor<3xui32>
    %c_59 = stablehlo.constant dense<25> : tensor<ui32>
    %239 = stablehlo.broadcast_in_dim %c_59, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %240 = stablehlo.shift_left %237, %239 : tensor<3xui32>
    %c_60 = stablehlo.constant dense<7> : tensor<ui32>
    %241 = stablehlo.broadcast_in_dim %c_60, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %242 = stablehlo.shift_right_logical %237, %241 : tensor<3xui32>
    %243 = stablehlo.or %240, %242 : tensor<3xui32>
    %244 = stablehlo.xor %238, %243 : tensor<3xui32>
    %245 = stablehlo.add %231, %230 : tensor<3xui32>
    %c_61 = stablehlo.constant dense<10> : tensor<ui32>
    %246 = stablehlo.broadcast_in_dim %c_61, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %247 = stablehlo.shift_left %230, %246 : tensor<3xui32>
    %c_62 = stablehlo.constant dense<22> : tensor<ui32>
    %248 = stablehlo.broadcast_in_dim %c_62, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %249 = stablehlo.shift_right_logical %230, %248 : tensor<3xui32>
    %250 = stablehlo.or %247, %249 : tensor<3xui32>
    %251 = stablehlo.xor %245, %250 : tensor<3xui32>
    %252 = stablehlo.add %238, %251 : tensor<3xui32>
    %c_63 = stablehlo.constant dense<18> : tensor<ui32>
    %253 = stablehlo.broadcast_in_dim %c_63, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %254 = stablehlo.shift_left %251, %253 : tensor<3xui32>
    %c_64 = stablehlo.constant dense<14> : tensor<ui32>
    %255 = stablehlo.broadcast_in_dim %c_64, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %256 = stablehlo.shift_right_logical %251, %255 : tensor<3xui32>
    %257 = stablehlo.or %254, %256 : tensor<3xui32>
    %258 = stablehlo.xor %252, %257 : tensor<3xui32>
    %259 = stablehlo.add %245, %244 : tensor<3xui32>
    %c_65 = stablehlo.constant dense<20> : tensor<ui32>
    %260 = stablehlo.broadcast_in_dim %c_65, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %261 = stablehlo.shift_left %244, %260 : tensor<3xui32>
    %c_66 = stablehlo.constant dense<12> : tensor<ui32>
    %262 = stablehlo.broadcast_in_dim %c_66, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %263 = stablehlo.shift_right_logical %244, %262 : tensor<3xui32>
    %264 = stablehlo.or %261, %263 : tensor<3xui32>
    %265 = stablehlo.xor %259, %264 : tensor<3xui32>
    %266 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %267 = stablehlo.add %252, %266 : tensor<3xui32>
    %268 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %269 = stablehlo.add %265, %268 : tensor<3xui32>
    %270 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %271 = stablehlo.add %259, %270 : tensor<3xui32>
    %272 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %273 = stablehlo.add %258, %272 : tensor<3xui32>
    %c_67 = stablehlo.constant dense<4> : tensor<ui32>
    %274 = stablehlo.broadcast_in_dim %c_67, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %275 = stablehlo.add %273, %274 : tensor<3xui32>
    %276 = stablehlo.add %267, %269 : tensor<3xui32>
    %c_68 = stablehlo.constant dense<10> : tensor<ui32>
    %277 = stablehlo.broadcast_in_dim %c_68, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %278 = stablehlo.shift_left %269, %277 : tensor<3xui32>
    %c_69 = stablehlo.constant dense<22> : tensor<ui32>
    %279 = stablehlo.broadcast_in_dim %c_69, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %280 = stablehlo.shift_right_logical %269, %279 : tensor<3xui32>
    %281 = stablehlo.or %278, %280 : tensor<3xui32>
    %282 = stablehlo.xor %276, %281 : tensor<3xui32>
    %283 = stablehlo.add %271, %275 : tensor<3xui32>
    %c_70 = stablehlo.constant dense<26> : tensor<ui32>
    %284 = stablehlo.broadcast_in_dim %c_70, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %285 = stablehlo.shift_left %275, %284 : tensor<3xui32>
    %c_71 = stablehlo.constant dense<6> : tensor<ui32>
    %286 = stablehlo.broadcast_in_dim %c_71, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %287 = stablehlo.shift_right_logical %275, %286 : tensor<3xui32>
    %288 = stablehlo.or %285, %287 : tensor<3xui32>
    %289 = stablehlo.xor %283, %288 : tensor<3xui32>
    %290 = stablehlo.add %276, %289 : tensor<3xui32>
    %c_72 = stablehlo.constant dense<11> : tensor<ui32>
    %291 = stablehlo.broadcast_in_dim %c_72, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %292 = stablehlo.shift_left %289, %291 : tensor<3xui32>
    %c_73 = stablehlo.constant dense<21> : tensor<ui32>
    %293 = stablehlo.broadcast_in_dim %c_73, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %294 = stablehlo.shift_right_logical %289, %293 : tensor<3xui32>
    %295 = stablehlo.or %292, %294 : tensor<3xui32>
    %296 = stablehlo.xor %290, %295 : tensor<3xui32>
    %297 = stablehlo.add %283, %282 : tensor<3xui32>
    %c_74 = stablehlo.constant dense<21> : tensor<ui32>
    %298 = stablehlo.broadcast_in_dim %c_74, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %299 = stablehlo.shift_left %282, %298 : tensor<3xui32>
    %c_75 = stablehlo.constant dense<11> : tensor<ui32>
    %300 = stablehlo.broadcast_in_dim %c_75, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %301 = stablehlo.shift_right_logical %282, %300 : tensor<3xui32>
    %302 = stablehlo.or %299, %301 : tensor<3xui32>
    %303 = stablehlo.xor %297, %302 : tensor<3xui32>
    %304 = stablehlo.add %290, %303 : tensor<3xui32>
    %c_76 = stablehlo.constant dense<13> : tensor<ui32>
    %305 = stablehlo.broadcast_in_dim %c_76, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %306 = stablehlo.shift_left %303, %305 : tensor<3xui32>
    %c_77 = stablehlo.constant dense<19> : tensor<ui32>
    %307 = stablehlo.broadcast_in_dim %c_77, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %308 = stablehlo.shift_right_logical %303, %307 : tensor<3xui32>
    %309 = stablehlo.or %306, %308 : tensor<3xui32>
    %310 = stablehlo.xor %304, %309 : tensor<3xui32>
    %311 = stablehlo.add %297, %296 : tensor<3xui32>
    %c_78 = stablehlo.constant dense<27> : tensor<ui32>
    %312 = stablehlo.broadcast_in_dim %c_78, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %313 = stablehlo.shift_left %296, %312 : tensor<3xui32>
    %c_79 = stablehlo.constant dense<5> : tensor<ui32>
    %314 = stablehlo.broadcast_in_dim %c_79, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %315 = stablehlo.shift_right_logical %296, %314 : tensor<3xui32>
    %316 = stablehlo.or %313, %315 : tensor<3xui32>
    %317 = stablehlo.xor %311, %316 : tensor<3xui32>
    %318 = stablehlo.add %304, %317 : tensor<3xui32>
    %c_80 = stablehlo.constant dense<23> : tensor<ui32>
    %319 = stablehlo.broadcast_in_dim %c_80, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %320 = stablehlo.shift_left %317, %319 : tensor<3xui32>
    %c_81 = stablehlo.constant dense<9> : tensor<ui32>
    %321 = stablehlo.broadcast_in_dim %c_81, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %322 = stablehlo.shift_right_logical %317, %321 : tensor<3xui32>
    %323 = stablehlo.or %320, %322 : tensor<3xui32>
    %324 = stablehlo.xor %318, %323 : tensor<3xui32>
    %325 = stablehlo.add %311, %310 : tensor<3xui32>
    %c_82 = stablehlo.constant dense<5> : tensor<ui32>
    %326 = stablehlo.broadcast_in_dim %c_82, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %327 = stablehlo.shift_left %310, %326 : tensor<3xui32>
    %c_83 = stablehlo.constant dense<27> : tensor<ui32>
    %328 = stablehlo.broadcast_in_dim %c_83, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %329 = stablehlo.shift_right_logical %310, %328 : tensor<3xui32>
    %330 = stablehlo.or %327, %329 : tensor<3xui32>
    %331 = stablehlo.xor %325, %330 : tensor<3xui32>
    %332 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %333 = stablehlo.add %318, %332 : tensor<3xui32>
    %334 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %335 = stablehlo.add %331, %334 : tensor<3xui32>
    %336 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %337 = stablehlo.add %325, %336 : tensor<3xui32>
    %338 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %339 = stablehlo.add %324, %338 : tensor<3xui32>
    %c_84 = stablehlo.constant dense<5> : tensor<ui32>
    %340 = stablehlo.broadcast_in_dim %c_84, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %341 = stablehlo.add %339, %340 : tensor<3xui32>
    return %333, %335, %337, %341 : tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>
  }
}
