#include "strata/engine/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/check.h"
#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/nn/attention/page_format.h"

namespace strata::engine {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// The class of the processor: products of narrow floats differ between these.
std::string processor() {
  if (const char* named = std::getenv("STRATA_CPU")) return named;
  std::string out = "cpu";
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) out += "+avx2";
  if (__builtin_cpu_supports("avx512f")) out += "+avx512f";
  if (__builtin_cpu_supports("avx512vnni")) out += "+avx512vnni";
  if (__builtin_cpu_supports("avx512bf16")) out += "+avx512bf16";
#endif
  return out;
}

/// What the rows of guessed tokens have seen when each token is drawn: (B, S, V) as (B S, V).
/// Behind token s the guesses up to it count as output.
Seen seen_with_guesses(const Seen& seen_BV, const Array& tokens_BS) {
  const std::int64_t batch = tokens_BS.shape(0), steps = tokens_BS.shape(1),
                     vocabulary = seen_BV.prompt.shape(1);
  const Array guess = arange(steps) > 0;  // (S): the first token counts already
  const Array here = logical_and(expand_dims(tokens_BS, 2) == arange(vocabulary),
                                 expand_dims(guess, 1));  // (B, S, V)
  const Array counts = cumsum(here.astype(DType::i32), 1) + expand_dims(seen_BV.output, 1);
  const Array prompt = broadcast_to(expand_dims(seen_BV.prompt, 1), {batch, steps, vocabulary});
  return {reshape(prompt, {batch * steps, vocabulary}),
          reshape(counts, {batch * steps, vocabulary})};
}

/// Which drawn tokens (B, S) count: those of a row's tokens before which all guesses are right.
Array counting(const Array& drawn_BS, const Array& tokens_BS, const Array& count_B) {
  const std::int64_t batch = tokens_BS.shape(0), steps = tokens_BS.shape(1);
  const Array inside = arange(steps) < expand_dims(count_B, 1);
  if (steps == 1) return inside;
  const Array wrong =
      drawn_BS[{slice(), slice(0, steps - 1)}] != tokens_BS[{slice(), slice(1, steps)}];
  const Array wrong_before =
      concatenate({zeros({batch, 1}, DType::i32), cumsum(wrong.astype(DType::i32), 1)}, 1);
  return logical_and(inside, wrong_before == 0);
}

}  // namespace

tree::Tree Program::cast(const tree::Tree& params) const {
  // Weights that have the dtype already are not copied.
  const std::span<const Array> all = params.values();
  if (std::all_of(all.begin(), all.end(),
                  [&](const Array& w) { return w.dtype() == model_->dtype(); }))
    return params;
  return jit([m = model_](const tree::Tree& p) { return m->cast(p, m->dtype()); },
             {.name = "cast"})(params);
}

Program::Program(model::ModelPtr model, const tree::Tree& params, const Shape& shape)
    : model_(std::move(model)), shape_(shape) {
  clear();
  params_ = cast(params);
  for (const Draws draws : {Draws::last, Draws::all, Draws::last_with_scores})
    for (const bool table : {false, true})
      steps_[static_cast<std::size_t>(draws) * 2 + table] =
          [run = jit(
               [m = model_, known = shape_.vocabulary, draws, table](
                   const tree::Tree& p, const model::Batch& batch, const Rows& rows,
                   const Array& slots, const tree::Tree& pages, const Seen& seen) {
                 return body(*m, known, draws, table, p, batch, rows, slots, pages, seen);
               },
               {.donate_argnums = {4, 5}, .name = "engine_step"})](
              const tree::Tree& p, const model::Batch& batch, const Rows& rows, const Array& slots,
              tree::Tree pages,
              Seen seen) { return run(p, batch, rows, slots, std::move(pages), std::move(seen)); };
  begin_ = [run = jit(
                [](const Seen& seen, const Array& slot, const Array& prompt, const Array& output) {
                  return Seen{lax::dynamic_update_index_in_dim(seen.prompt, prompt, slot, 0),
                              lax::dynamic_update_index_in_dim(seen.output, output, slot, 0)};
                },
                {.donate_argnums = {0}, .name = "engine_begin"})](
               Seen seen, const Array& slot, const Array& prompt, const Array& output) {
    return run(std::move(seen), slot, prompt, output);
  };
  // Of all layers: page p of layer l is row l N + p.
  const auto rows_of = [pages = shape_.pages](const Array& leaf, const Array& numbers) {
    const std::int64_t layers = leaf.shape(0) / pages;
    return expand_dims(arange(layers) * static_cast<std::int32_t>(pages), 1) + numbers;  // (L, n)
  };
  take_pages_ = jit(
      [rows_of](const tree::Tree& pages, const Array& numbers) {
        return pages.map([&](const Array& leaf) {
          return leaf.at(rows_of(leaf, numbers)).get({.mode = "clip"});
        });
      },
      {.name = "take_pages"});
  put_pages_ =
      [run = jit(
           [rows_of](const tree::Tree& pages, const tree::Tree& from, const Array& numbers) {
             return pages.map(from, [&](const Array& leaf, const Array& x) {
               return leaf.at(rows_of(leaf, numbers)).set(x);
             });
           },
           {.donate_argnums = {0}, .name = "put_pages"})](tree::Tree pages, const tree::Tree& from,
                                                          const Array& numbers) {
        return run(std::move(pages), from, numbers);
      };
  copy_page_ = [run = jit(
                    [rows_of](const tree::Tree& pages, const Array& from, const Array& to) {
                      return pages.map([&](const Array& leaf) {
                        return leaf.at(rows_of(leaf, to))
                            .set(leaf.at(rows_of(leaf, from)).get({.mode = "clip"}));
                      });
                    },
                    {.donate_argnums = {0}, .name = "copy_page"})](
                   tree::Tree pages, const Array& from, const Array& to) {
    return run(std::move(pages), from, to);
  };
}

void Program::clear() {
  if (!shape_.pages_dtype) {
    pages_ = model_->init_pages(shape_.pages, shape_.page_size);
  } else {
    const DType dtype = *shape_.pages_dtype;
    pages_ = model_->init_pages(1, shape_.page_size).map([&](const Array& leaf) {
      if (!nn::holds(dtype, leaf.dtype()))
        throw Error("engine", "pages of {} cannot hold the model's {}", name(dtype),
                    name(leaf.dtype()));
      return zeros({leaf.shape(0) * shape_.pages, leaf.shape(1), leaf.shape(2),
                    nn::page_width(dtype, leaf.shape(3))},
                   dtype);
    });
  }
  const Sizes sizes = {shape_.slots, model_->vocab_size()};
  seen_ = {zeros(sizes, DType::i1), zeros(sizes, DType::i32)};
}

void Program::set_params(const tree::Tree& params) {
  const tree::Tree next = cast(params);
  if (next.names() != params_.names())
    throw Error("set_params", "the weights have other names than the engine's");
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next.value(i).type() != params_.value(i).type())
      throw Error("set_params", "{} is {}, but the engine's is {}", next.names()[i],
                  next.value(i).type(), params_.value(i).type());
  params_ = next;
}

Program::Result Program::run(Draws draws, bool with_table, const model::Batch& batch,
                             const Rows& rows, const Array& slots) {
  auto [drawn, logits, table, scores, pages, seen] =
      steps_[static_cast<std::size_t>(draws) * 2 + with_table](params_, batch, rows, slots,
                                                               std::move(pages_), std::move(seen_));
  pages_ = std::move(pages);
  seen_ = std::move(seen);
  return {std::move(drawn), std::move(logits), std::move(table), std::move(scores)};
}

void Program::begin(std::int64_t slot, std::span<const std::int32_t> prompt,
                    std::span<const std::int32_t> output) {
  std::vector<std::int32_t> in_prompt(static_cast<std::size_t>(model_->vocab_size())),
      counts = in_prompt;
  for (std::int32_t t : prompt) in_prompt[static_cast<std::size_t>(t)] = 1;
  for (std::int32_t t : output) ++counts[static_cast<std::size_t>(t)];
  seen_ = begin_(std::move(seen_), Array(static_cast<std::int32_t>(slot)), array(in_prompt) != 0,
                 array(counts));
}

Program::Stepped Program::body(const model::Model& model, std::int64_t known, Draws draws,
                               bool with_table, const tree::Tree& params, const model::Batch& batch,
                               const Rows& rows, const Array& slots, const tree::Tree& pages,
                               const Seen& seen) {
  const std::int64_t size = batch.tokens.shape(0), steps = batch.tokens.shape(1),
                     vocabulary = model.vocab_size();
  auto [all, next] = model.extend_pages(params, batch, pages, draws != Draws::last);
  const Array f32 = all.astype(DType::f32);
  const Array may = known == vocabulary
                        ? f32
                        : where(arange(vocabulary) < static_cast<std::int32_t>(known), f32, kNever);
  const AtOptions clip{.mode = "clip"};
  const Array nothing = zeros({1}, DType::f32);
  const auto here = [&] {
    return Seen{seen.prompt.at(slots).get(clip), seen.output.at(slots).get(clip)};
  };

  Array scores = nothing, logits = f32, from = may;
  if (draws == Draws::last_with_scores) {
    scores = may - expand_dims(strata::nn::logsumexp(may, -1), 2);
    const Array last = expand_dims(maximum(batch.count - 1, 0), {1, 2});
    const auto of_last = [&](const Array& x) {
      return squeeze(take_along_axis(x, last, 1, {.mode = "clip"}), {1});
    };
    logits = of_last(f32), from = of_last(may);
  } else if (draws == Draws::all) {
    logits = reshape(f32, {size * steps, vocabulary});
    from = reshape(may, {size * steps, vocabulary});
  }
  auto [drawn, table] = draw_with_all(from, rows, [&] {
    return draws == Draws::all ? seen_with_guesses(here(), batch.tokens) : here();
  });
  Seen after = seen;
  if (draws == Draws::all) {
    const Array tokens = reshape(drawn.token, {size, steps});
    const Array counts = counting(tokens, batch.tokens, batch.count);
    const Array rows_BS = broadcast_to(expand_dims(slots, 1), {size, steps});
    after.output =
        seen.output.at({rows_BS, tokens}).add(counts.astype(DType::i32), {.mode = "drop"});
  } else {
    after.output = seen.output.at({slots, drawn.token}).add(1, {.mode = "drop"});
  }
  return {std::move(drawn),  std::move(logits), with_table ? table : nothing,
          std::move(scores), std::move(next),   std::move(after)};
}

std::vector<Literal> Program::read_pages(std::span<const std::int32_t> pages) {
  const std::vector<std::int32_t> numbers(pages.begin(), pages.end());
  const tree::Tree taken = take_pages_(pages_, array(numbers));
  std::vector<Literal> out;
  for (const Array& leaf : taken.values()) out.push_back(leaf.literal());
  return out;
}

void Program::check_pages(std::int64_t pages, const std::vector<Literal>& contents) const {
  if (contents.size() != pages_.size())
    throw Error("engine", "{} arrays of pages, but the model's cache has {}", contents.size(),
                pages_.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Array& leaf = pages_.value(i);
    std::vector<std::int64_t> sizes = {leaf.shape(0) / shape_.pages, pages};
    for (int d = 1; d < leaf.ndim(); ++d) sizes.push_back(leaf.shape(d));
    const Type wanted(leaf.dtype(), strata::Shape::of(sizes));
    if (contents[i].type() != wanted)
      throw Error("engine", "pages are {}, but the model's cache wants {}", contents[i].type(),
                  wanted);
  }
}

void Program::write_pages(std::span<const std::int32_t> pages, const std::vector<Literal>& contents,
                          std::int64_t first) {
  const auto count = static_cast<std::int64_t>(pages.size());
  check_pages(contents.empty() ? 0 : contents[0].shape()[1], contents);
  std::vector<Array> arrays;
  for (const Literal& whole : contents) {
    std::vector<std::int64_t> sizes = whole.shape().sizes();
    const std::int64_t layers = sizes[0], all = sizes[1];
    STRATA_CHECK(first >= 0 && first + count <= all, "pages {} to {} of {}", first, first + count,
                 all);
    sizes[1] = count;
    Literal part(Type(whole.dtype(), strata::Shape::of(sizes)));
    const std::size_t page = whole.bytes() / static_cast<std::size_t>(layers * all);
    for (std::int64_t layer = 0; layer < layers; ++layer)
      std::memcpy(part.mutable_data() + static_cast<std::size_t>(layer * count) * page,
                  whole.data() + static_cast<std::size_t>(layer * all + first) * page,
                  static_cast<std::size_t>(count) * page);
    arrays.emplace_back(std::move(part));
  }
  const tree::Tree from = pages_.with_values(std::move(arrays));
  pages_ = put_pages_(std::move(pages_), from,
                      array(std::vector<std::int32_t>(pages.begin(), pages.end())));
}

void Program::copy_page(std::int32_t from, std::int32_t to) {
  pages_ = copy_page_(std::move(pages_), array(std::vector<std::int32_t>{from}),
                      array(std::vector<std::int32_t>{to}));
}

std::string Program::identity() const {
  std::uint32_t sum = 0;
  const std::vector<std::string> names = params_.names();
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Literal value = params_.value(i).literal();
    sum = crc32c(names[i] + value.type().to_string(), sum);
    sum = crc32c({reinterpret_cast<const char*>(value.data()), value.bytes()}, sum);
  }
  return fmt::format("{} weights {} in {} pages by {}", model_->family(), hex32(sum),
                     name(pages_.empty() ? model_->dtype() : pages_.value(0).dtype()), processor());
}

}  // namespace strata::engine
