// Strata from C: programs made elsewhere, loaded, compiled and run. Link with libstrata.
//
//   strata_program* model = NULL;
//   float image[784] = {0}, scores[10];
//   const int64_t image_dims[] = {1, 784}, scores_dims[] = {1, 10};
//   const strata_tensor in = {image, STRATA_F32, 2, image_dims}, out = {scores, STRATA_F32, 2,
//   scores_dims}; strata_error* error = strata_program_load("model.jax", &model); if (!error) error
//   = strata_program_run_into(model, &in, 1, &out, 1); if (error) fprintf(stderr, "%s\n",
//   strata_error_message(error)); strata_error_free(error); strata_program_free(model);
//
// A function that can fail returns an error that the caller frees, or NULL when all went well; what
// it would have made is NULL then. No function ends the process or lets an exception out. All are
// thread-safe: a program may run on many threads at once; whoever frees something sees to it that
// nobody uses it any more.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Errors

// Why a call failed; NULL where it did not. Whoever is given one frees it.
typedef struct strata_error strata_error;

// What kind of failure it was.
typedef enum strata_code {
  STRATA_OK = 0,            // of no error
  STRATA_BAD_ARGUMENT = 1,  // number, dtype or shape do not fit; a pointer is NULL
  STRATA_NOT_FOUND = 2,     // no such file
  STRATA_DENIED = 3,        // the file may not be read
  STRATA_BAD_PROGRAM = 4,   // the bytes are damaged, or no program
  STRATA_UNSUPPORTED = 5,   // a sound program beyond what Strata has
  STRATA_NO_MEMORY = 6,
  STRATA_IO = 7,       // another failure of the system
  STRATA_INTERNAL = 8  // Strata's own mistake
} strata_code;

// The code of an error, STRATA_OK for NULL.
strata_code strata_error_code(const strata_error* error);
// What happened, in words that name file, input, shapes: text of UTF-8 that lives as long as the
// error; "" for NULL.
const char* strata_error_message(const strata_error* error);
// NULL may be freed.
void strata_error_free(strata_error* error);

// ---- Tensors

// Element types, by StableHLO's names. I1 is the boolean, a byte of 0 or 1; elements below 8 bits
// take a byte each; BF16 and F16 are their 16 bits; C64 and C128 are two floats or doubles, the
// real part first.
typedef enum strata_dtype {
  STRATA_NO_DTYPE = 0,  // of what is no tensor
  STRATA_I1 = 1,
  STRATA_I2 = 2,
  STRATA_I4 = 3,
  STRATA_I8 = 4,
  STRATA_I16 = 5,
  STRATA_I32 = 6,
  STRATA_I64 = 7,
  STRATA_UI2 = 8,
  STRATA_UI4 = 9,
  STRATA_UI8 = 10,
  STRATA_UI16 = 11,
  STRATA_UI32 = 12,
  STRATA_UI64 = 13,
  STRATA_F4E2M1FN = 14,
  STRATA_F6E2M3FN = 15,
  STRATA_F6E3M2FN = 16,
  STRATA_F8E3M4 = 17,
  STRATA_F8E4M3 = 18,
  STRATA_F8E4M3B11FNUZ = 19,
  STRATA_F8E4M3FN = 20,
  STRATA_F8E4M3FNUZ = 21,
  STRATA_F8E5M2 = 22,
  STRATA_F8E5M2FNUZ = 23,
  STRATA_F8E8M0FNU = 24,
  STRATA_BF16 = 25,
  STRATA_F16 = 26,
  STRATA_F32 = 27,
  STRATA_F64 = 28,
  STRATA_C64 = 29,
  STRATA_C128 = 30
} strata_dtype;

// "f32", "ui8", "i1", "complex<f32>"; "" for what is none.
const char* strata_dtype_name(strata_dtype dtype);
// Bytes of one element; 0 for what is none.
size_t strata_dtype_size(strata_dtype dtype);

// A view of elements in memory that somebody else owns: dense, row-major, the last dimension
// fastest. `dims` has `rank` sizes and may be NULL for rank 0; `data` may be NULL where there are
// no elements.
typedef struct strata_tensor {
  void* data;
  strata_dtype dtype;
  int rank;
  const int64_t* dims;
} strata_tensor;

// ---- Programs

// A program as it was read; several threads may run it at once.
typedef struct strata_program strata_program;

// An input or output. `name` is its path in the exported function's arguments or results
// ("[0]['w']"), or its number ("0"); `type` says all of it ("f32[b,784]"). An open dimension is -1
// in `dims`. What the pointers lead to lives as long as the program.
typedef struct strata_port {
  const char* name;
  const char* type;
  strata_dtype dtype;
  int rank;
  const int64_t* dims;
} strata_port;

// Reads a program from a file: StableHLO as text or bytecode, or what
// `jax.export.export(jax.jit(f))(...).serialize()` gives. Nothing is compiled yet. The caller frees
// *program. Fails with STRATA_NOT_FOUND, STRATA_DENIED, STRATA_IO, STRATA_BAD_PROGRAM,
// STRATA_UNSUPPORTED.
strata_error* strata_program_load(const char* file, strata_program** program);
// Reads a program from `size` bytes, which may go afterwards; messages call them `name`.
strata_error* strata_program_read(const void* bytes, size_t size, const char* name,
                                  strata_program** program);
// NULL may be freed.
void strata_program_free(strata_program* program);

// The function's name where it comes from; lives as long as the program, as do the others.
const char* strata_program_name(const strata_program* program);
// "f([0]['w']: f32[784,10], ['image']: f32[b,784]) -> ([0]: f32[b,10])"
const char* strata_program_signature(const strata_program* program);
// How many inputs it has.
size_t strata_program_num_inputs(const strata_program* program);
// How many outputs it has.
size_t strata_program_num_outputs(const strata_program* program);
// Input number `i`, from 0; NULL where there is none.
const strata_port* strata_program_input(const strata_program* program, size_t i);
// Output number `i`, from 0; NULL where there is none.
const strata_port* strata_program_output(const strata_program* program, size_t i);

// Compiles ahead of the first run, for inputs of these dtypes and shapes (`data` is not looked at).
// With inputs NULL and num_inputs 0, a program without open dimensions. A run with shapes that were
// not compiled before compiles for them. Fails with STRATA_BAD_ARGUMENT where they do not fit,
// STRATA_UNSUPPORTED where elements of inputs decide shapes.
strata_error* strata_program_compile(const strata_program* program, const strata_tensor* inputs,
                                     size_t num_inputs);

// ---- Runs

// A tensor of Strata's: a result of a run.
typedef struct strata_array strata_array;

// A view of its elements, aligned to 64 bytes, that lives as long as the array; it may be an input.
// Nobody may write there.
strata_tensor strata_array_view(const strata_array* array);
// NULL may be freed.
void strata_array_free(strata_array* array);

// Runs on `num_inputs` inputs in the program's order and puts its results into outputs[0 ..
// num_outputs - 1], which the caller frees, each by strata_array_free. All are NULL after a
// failure. Inputs are read in place if they are aligned to their elements, else copied; they
// must not change before the run returns.
strata_error* strata_program_run(const strata_program* program, const strata_tensor* inputs,
                                 size_t num_inputs, strata_array** outputs, size_t num_outputs);
// Runs, and copies results into the caller's memory: each output says the dtype and shape that it
// has room for. Outputs may be the memory of inputs.
strata_error* strata_program_run_into(const strata_program* program, const strata_tensor* inputs,
                                      size_t num_inputs, const strata_tensor* outputs,
                                      size_t num_outputs);

// From now on runs use n threads together, the caller included; 0 is the default:
// STRATA_NUM_THREADS, else one for each processor.
strata_error* strata_set_num_threads(int n);

#ifdef __cplusplus
}
#endif
