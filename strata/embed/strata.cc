#include "strata/embed/strata.h"

#include <cstring>
#include <deque>
#include <limits>
#include <new>

#include "strata/api/program.h"
#include "strata/api/trace/trace.h"
#include "strata/base/error.h"
#include "strata/base/thread_pool.h"

using namespace strata;

struct strata_error {
  strata_code code;
  std::string message;
};

struct strata_array {
  Literal literal;
  std::vector<std::int64_t> dims;
};

namespace {

/// A port in C's words, with what its pointers lead to.
struct PortText {
  std::string name, type;
  std::vector<std::int64_t> dims;
  strata_port port;
};

}  // namespace

struct strata_program {
  explicit strata_program(Program p)
      : program(std::move(p)),
        signature(program.signature()),
        inputs(texts(program.inputs())),
        outputs(texts(program.outputs())) {}

  static std::deque<PortText> texts(const std::vector<Program::Port>& ports);

  Program program;
  std::string signature;
  std::deque<PortText> inputs, outputs;  // in places that stay
};

namespace {

/// Row i stands for code i of strata_dtype.
constexpr DType kDTypes[] = {
    DType::i1,       DType::i1,         DType::i2,     DType::i4,         DType::i8,
    DType::i16,      DType::i32,        DType::i64,    DType::ui2,        DType::ui4,
    DType::ui8,      DType::ui16,       DType::ui32,   DType::ui64,       DType::f4E2M1FN,
    DType::f6E2M3FN, DType::f6E3M2FN,   DType::f8E3M4, DType::f8E4M3,     DType::f8E4M3B11FNUZ,
    DType::f8E4M3FN, DType::f8E4M3FNUZ, DType::f8E5M2, DType::f8E5M2FNUZ, DType::f8E8M0FNU,
    DType::bf16,     DType::f16,        DType::f32,    DType::f64,        DType::c64,
    DType::c128,
};
static_assert(std::size(kDTypes) == kDTypeCount + 1 && STRATA_C128 == kDTypeCount);

bool is_dtype(strata_dtype code) { return code > STRATA_NO_DTYPE && code <= STRATA_C128; }

strata_dtype code_of(const Type& type) {
  if (!type.is_tensor()) return STRATA_NO_DTYPE;
  for (int code = 1; code <= kDTypeCount; ++code)
    if (kDTypes[code] == type.dtype()) return static_cast<strata_dtype>(code);
  return STRATA_NO_DTYPE;
}

// ---- errors

/// Said when there is no memory to say anything else; never freed.
strata_error& no_memory() {
  static strata_error& error = *new strata_error{STRATA_NO_MEMORY, "out of memory"};
  return error;
}
[[maybe_unused]] strata_error& kept_ready = no_memory();

strata_code code_of(Code code) {
  switch (code) {
    case Code::ok: return STRATA_OK;
    case Code::not_found: return STRATA_NOT_FOUND;
    case Code::denied: return STRATA_DENIED;
    case Code::corrupt:
    case Code::invalid: return STRATA_BAD_PROGRAM;
    case Code::unsupported: return STRATA_UNSUPPORTED;
    case Code::exists:
    case Code::no_space:
    case Code::cancelled:
    case Code::io: return STRATA_IO;
  }
  return STRATA_IO;
}

/// The caller's mistake.
template <class... Args>
[[noreturn]] void bad(const char* function, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(function, fmt::format(format, std::forward<Args>(args)...));
}

/// Runs `work`, which returns a Status or throws; nothing passes but an error.
template <class F>
strata_error* guarded(F&& work) noexcept {
  try {
    try {
      const Status s = work();
      return s.ok() ? nullptr : new strata_error{code_of(s.code()), s.message()};
    } catch (const Error& e) {
      return new strata_error{e.is_unsupported() ? STRATA_UNSUPPORTED : STRATA_BAD_ARGUMENT,
                              e.what()};
    } catch (const std::bad_alloc&) {
      return &no_memory();
    } catch (const std::exception& e) {
      return new strata_error{STRATA_INTERNAL, e.what()};
    }
  } catch (...) {
    return &no_memory();
  }
}

// ---- tensors

/// Throws where the description is none, or of more than memory can hold.
Type type_of(const strata_tensor& t, const char* function, const char* what, std::size_t i) {
  if (!is_dtype(t.dtype))
    bad(function, "{} {} has dtype {}, which is none of strata_dtype", what, i,
        static_cast<int>(t.dtype));
  if (t.rank < 0 || (t.rank > 0 && !t.dims))
    bad(function, "{} {} has rank {}{}", what, i, t.rank, t.rank < 0 ? "" : ", but dims is NULL");
  std::vector<Dim> dims;
  auto bytes = static_cast<std::int64_t>(byte_width(kDTypes[t.dtype]));
  for (int d = 0; d < t.rank; ++d) {
    if (t.dims[d] < 0) bad(function, "{} {} has size {} in dimension {}", what, i, t.dims[d], d);
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(1, t.dims[d]), &bytes))
      bad(function, "{} {} is larger than any memory", what, i);
    dims.emplace_back(t.dims[d]);
  }
  return Type(kDTypes[t.dtype], Shape(std::move(dims)));
}

std::span<const strata_tensor> tensors(const strata_tensor* all, std::size_t count,
                                       const char* function, const char* what) {
  if (count > 0 && !all) bad(function, "{} is NULL, and there are {}", what, count);
  return {all, count};
}

std::vector<Type> types_of(std::span<const strata_tensor> all, const char* function,
                           const char* what) {
  std::vector<Type> out;
  for (std::size_t i = 0; i < all.size(); ++i) out.push_back(type_of(all[i], function, what, i));
  return out;
}

void expect_data(const strata_tensor& t, const Type& type, const char* function, const char* what,
                 std::size_t i) {
  if (!t.data && type.bytes() > 0)
    bad(function, "{} {} ({}) has no data", what, i, internal::describe(type));
}

/// The elements in place, else a copy that is aligned.
Array array_of(const strata_tensor& t, const Type& type) {
  auto* data = static_cast<std::byte*>(t.data);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) %
                           std::min<std::size_t>(16, byte_width(type.dtype())) ==
                       0;
  if (aligned) return Array(Literal(type, std::shared_ptr<std::byte[]>(data, [](std::byte*) {})));
  Literal copy(type);
  if (type.bytes() > 0) std::memcpy(copy.mutable_data(), data, type.bytes());
  return Array(std::move(copy));
}

bool lies_within(const std::byte* at, const strata_tensor& t, const Type& type) {
  const auto* begin = static_cast<const std::byte*>(t.data);
  return begin && at >= begin && at < begin + type.bytes();
}

/// Results in memory of their own.
std::vector<Literal> run(const strata_program* program, const strata_tensor* inputs,
                         std::size_t num_inputs, std::size_t num_outputs, const char* function) {
  if (!program) bad(function, "{} is NULL", "program");
  const std::size_t has = program->outputs.size();
  if (num_outputs != has) bad(function, "{} outputs for {}", num_outputs, program->signature);
  const auto given = tensors(inputs, num_inputs, function, "inputs");
  const std::vector<Type> types = types_of(given, function, "input");
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < given.size(); ++i) {
    expect_data(given[i], types[i], function, "input", i);
    arrays.push_back(array_of(given[i], types[i]));
  }
  std::vector<Literal> out;
  for (const Array& a : program->program(arrays)) {
    Literal result = a.literal();
    for (std::size_t i = 0; i < given.size(); ++i)
      if (lies_within(result.data(), given[i], types[i])) {  // an evaluator may hand an input on
        Literal copy(result.type());
        std::memcpy(copy.mutable_data(), result.data(), result.bytes());
        result = std::move(copy);
        break;
      }
    out.push_back(std::move(result));
  }
  return out;
}

}  // namespace

std::deque<PortText> strata_program::texts(const std::vector<Program::Port>& ports) {
  std::deque<PortText> out;
  for (const Program::Port& p : ports) {
    PortText& t = out.emplace_back();
    t.name = p.name;
    t.type = internal::describe(p.type);
    if (p.type.is_tensor())
      for (const Dim& d : p.type.shape().dims()) t.dims.push_back(d.is_static() ? d.size() : -1);
    t.port = {t.name.c_str(), t.type.c_str(), code_of(p.type), static_cast<int>(t.dims.size()),
              t.dims.data()};
  }
  return out;
}

extern "C" {

strata_code strata_error_code(const strata_error* error) { return error ? error->code : STRATA_OK; }
const char* strata_error_message(const strata_error* error) {
  return error ? error->message.c_str() : "";
}
void strata_error_free(strata_error* error) {
  if (error != &no_memory()) delete error;
}

const char* strata_dtype_name(strata_dtype dtype) {
  return is_dtype(dtype) ? name(kDTypes[dtype]).data() : "";
}
size_t strata_dtype_size(strata_dtype dtype) {
  return is_dtype(dtype) ? byte_width(kDTypes[dtype]) : 0;
}

strata_error* strata_program_load(const char* file, strata_program** program) {
  if (program) *program = nullptr;
  return guarded([&] {
    if (!file || !program) bad("strata_program_load", "{} is NULL", file ? "program" : "file");
    Result<Program> read = Program::load(file);
    if (!read) return read.status();
    *program = new strata_program(std::move(*read));
    return Status();
  });
}

strata_error* strata_program_read(const void* bytes, size_t size, const char* name,
                                  strata_program** program) {
  if (program) *program = nullptr;
  return guarded([&] {
    if ((!bytes && size > 0) || !program)
      bad("strata_program_read", "{} is NULL", program ? "bytes" : "program");
    Result<Program> read =
        Program::read({static_cast<const char*>(bytes), size}, name ? name : "program");
    if (!read) return read.status();
    *program = new strata_program(std::move(*read));
    return Status();
  });
}

void strata_program_free(strata_program* program) { delete program; }

const char* strata_program_name(const strata_program* program) {
  return program ? program->program.name().c_str() : "";
}
const char* strata_program_signature(const strata_program* program) {
  return program ? program->signature.c_str() : "";
}
size_t strata_program_num_inputs(const strata_program* program) {
  return program ? program->inputs.size() : 0;
}
size_t strata_program_num_outputs(const strata_program* program) {
  return program ? program->outputs.size() : 0;
}
const strata_port* strata_program_input(const strata_program* program, size_t i) {
  return i < strata_program_num_inputs(program) ? &program->inputs[i].port : nullptr;
}
const strata_port* strata_program_output(const strata_program* program, size_t i) {
  return i < strata_program_num_outputs(program) ? &program->outputs[i].port : nullptr;
}

strata_error* strata_program_compile(const strata_program* program, const strata_tensor* inputs,
                                     size_t num_inputs) {
  return guarded([&] {
    const char* function = "strata_program_compile";
    if (!program) bad(function, "{} is NULL", "program");
    program->program.compile(
        types_of(tensors(inputs, num_inputs, function, "inputs"), function, "input"));
    return Status();
  });
}

strata_tensor strata_array_view(const strata_array* array) {
  if (!array) return {nullptr, STRATA_NO_DTYPE, 0, nullptr};
  return {const_cast<std::byte*>(array->literal.data()), code_of(array->literal.type()),
          array->literal.type().rank(), array->dims.data()};
}
void strata_array_free(strata_array* array) { delete array; }

strata_error* strata_program_run(const strata_program* program, const strata_tensor* inputs,
                                 size_t num_inputs, strata_array** outputs, size_t num_outputs) {
  if (outputs) std::fill_n(outputs, num_outputs, nullptr);
  return guarded([&] {
    const char* function = "strata_program_run";
    if (!outputs && num_outputs > 0) bad(function, "{} is NULL", "outputs");
    std::vector<std::unique_ptr<strata_array>> made;
    for (Literal& l : run(program, inputs, num_inputs, num_outputs, function)) {
      std::vector<std::int64_t> dims = l.shape().sizes();
      made.push_back(std::make_unique<strata_array>(strata_array{std::move(l), std::move(dims)}));
    }
    for (std::size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
    return Status();
  });
}

strata_error* strata_program_run_into(const strata_program* program, const strata_tensor* inputs,
                                      size_t num_inputs, const strata_tensor* outputs,
                                      size_t num_outputs) {
  return guarded([&] {
    const char* function = "strata_program_run_into";
    const auto places = tensors(outputs, num_outputs, function, "outputs");
    const std::vector<Type> types = types_of(places, function, "output");
    for (std::size_t i = 0; i < places.size(); ++i)
      expect_data(places[i], types[i], function, "output", i);
    const std::vector<Literal> results = run(program, inputs, num_inputs, num_outputs, function);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!(results[i].type() == types[i]))
        bad(function, "output {} is {}, and there is room for {}", i,
            internal::describe(results[i].type()), internal::describe(types[i]));
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].bytes() > 0)
        std::memcpy(places[i].data, results[i].data(), results[i].bytes());
    return Status();
  });
}

strata_error* strata_set_num_threads(int n) {
  return guarded([&] {
    if (n < 0) bad("strata_set_num_threads", "{} threads", n);
    set_num_threads(n);
    return Status();
  });
}

}  // extern "C"
