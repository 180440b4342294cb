/* A C program that runs what JAX exported, and tells what it makes of files that are no such thing.

       model layer.jax open.jax

   (strata/ir/export/testdata; tools/goldens/exports.py says what they compute). */
#include <stdio.h>
#include <stdlib.h>
#include <strata.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("not so: %s\n", what);
}

/* Whether an error has this code and these words; frees it. */
static int says(strata_error* error, strata_code code, const char* words) {
  int good = strata_error_code(error) == code && strstr(strata_error_message(error), words) != NULL;
  if (!good) printf("said %d: %s\n", (int)strata_error_code(error), strata_error_message(error));
  strata_error_free(error);
  return good;
}

static void print_port(const char* kind, const strata_port* port) {
  int d;
  printf("%s %s: %s[", kind, port->name, strata_dtype_name(port->dtype));
  for (d = 0; d < port->rank; ++d) printf("%s%ld", d ? "," : "", (long)port->dims[d]);
  printf("]\n");
}

static void print_signature(const strata_program* program) {
  size_t i;
  printf("%s\n", strata_program_name(program));
  for (i = 0; i < strata_program_num_inputs(program); ++i)
    print_port("in", strata_program_input(program, i));
  for (i = 0; i < strata_program_num_outputs(program); ++i)
    print_port("out", strata_program_output(program, i));
}

/* Every size of `x` by one program; results come as arrays. */
static void run_open(const char* file) {
  strata_program* program;
  int64_t n;
  expect(says(strata_program_load(file, &program), STRATA_OK, ""), "the program loads");
  print_signature(program);
  for (n = 1; n <= 3; ++n) {
    float x[] = {1, 2, 3, 4, 5, 6};
    int32_t ids[] = {10, 20, 30};
    int64_t dims[2];
    strata_tensor inputs[2];
    strata_array* outputs[3];
    const float* sums;
    dims[0] = n;
    dims[1] = 2;
    inputs[0].data = x, inputs[0].dtype = STRATA_F32, inputs[0].rank = 2, inputs[0].dims = dims;
    inputs[1].data = ids, inputs[1].dtype = STRATA_I32, inputs[1].rank = 1, inputs[1].dims = dims;
    expect(says(strata_program_compile(program, inputs, 2), STRATA_OK, ""), "it compiles ahead");
    expect(says(strata_program_run(program, inputs, 2, outputs, 3), STRATA_OK, ""), "it runs");
    sums = (const float*)strata_array_view(outputs[2]).data;
    printf("%ld rows: %ld doubled, sums %g %g\n", (long)n,
           (long)strata_array_view(outputs[0]).dims[0], sums[0], sums[1]);
    strata_array_free(outputs[0]);
    strata_array_free(outputs[1]);
    strata_array_free(outputs[2]);
    inputs[1].dtype = STRATA_F32;
    expect(says(strata_program_run(program, inputs, 2, outputs, 3), STRATA_BAD_ARGUMENT,
                "input 1 ([1]) is f32["),
           "a wrong dtype is refused");
    expect(outputs[0] == NULL, "nothing comes of it");
  }
  strata_program_free(program);
}

/* Results go to memory of one's own. */
static void run_layer(const char* file) {
  static const int64_t three[] = {3}, two[] = {2}, w_dims[] = {2, 3}, x_dims[] = {4, 2},
                       y_dims[] = {4, 3};
  float b[] = {0, 0, 1}, w[] = {1, 0, 0, 0, 1, 0}, x[] = {1, 2, 3, 4, 5, 6, 7, 8}, scale = 10,
        sums[3], sum, y[12];
  signed char unused[] = {0, 0};
  strata_tensor in[5], out[3];
  strata_program* program;
  in[0].data = b, in[0].dtype = STRATA_F32, in[0].rank = 1, in[0].dims = three;
  in[1].data = w, in[1].dtype = STRATA_F32, in[1].rank = 2, in[1].dims = w_dims;
  in[2].data = x, in[2].dtype = STRATA_F32, in[2].rank = 2, in[2].dims = x_dims;
  in[3].data = unused, in[3].dtype = STRATA_I8, in[3].rank = 1, in[3].dims = two;
  in[4].data = &scale, in[4].dtype = STRATA_F32, in[4].rank = 0, in[4].dims = NULL;
  out[0].data = sums, out[0].dtype = STRATA_F32, out[0].rank = 1, out[0].dims = three;
  out[1].data = &sum, out[1].dtype = STRATA_F32, out[1].rank = 0, out[1].dims = NULL;
  out[2].data = y, out[2].dtype = STRATA_F32, out[2].rank = 2, out[2].dims = y_dims;
  expect(says(strata_program_load(file, &program), STRATA_OK, ""), "the program loads");
  expect(says(strata_program_compile(program, NULL, 0), STRATA_OK, ""), "it compiles ahead");
  expect(says(strata_program_run_into(program, in, 5, out, 3), STRATA_OK, ""), "it runs");
  printf("%s\nlast row %g %g %g, sums %g %g %g, sum %g\n", strata_program_signature(program), y[9],
         y[10], y[11], sums[0], sums[1], sums[2], sum);
  strata_program_free(program);
}

/* A file cut short at every length is refused or read, and never ends the process. */
static void damage(const char* file) {
  char bytes[65536];
  size_t size, length, programs = 0;
  FILE* f = fopen(file, "rb");
  if (!f) exit(2);
  size = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  for (length = 0; length < size; length += 7) {
    strata_program* program;
    strata_error* error = strata_program_read(bytes, length, "cut", &program);
    programs += error == NULL;
    expect((error == NULL) == (program != NULL), "an error or a program");
    strata_error_free(error);
    strata_program_free(program);
  }
  expect(programs == 0, "half a program is none");
}

int main(int argc, char** argv) {
  strata_program* program;
  if (argc != 3) return 2;
  run_layer(argv[1]);
  run_open(argv[2]);
  damage(argv[1]);
  expect(says(strata_program_load("absent.jax", &program), STRATA_NOT_FOUND, "absent.jax"),
         "no such file");
  expect(says(strata_program_read("nonsense", 8, "mine", &program), STRATA_BAD_PROGRAM, "mine"),
         "no program");
  expect(program == NULL, "nothing comes of it");
  printf("%d failures\n", failures);
  return failures != 0;
}
