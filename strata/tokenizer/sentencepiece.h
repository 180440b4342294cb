// SentencePiece behind one door: the tokenizer of a model that is in memory, as `train_tokenizer`
// gives it. Of files, `load_tokenizer` is the way in.
#pragma once

#include <memory>
#include <string>

#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

/// The tokenizer of a .model file's bytes; `name` stands for it in messages.
///
/// Tokens are those of the library's `Encode`, with these deviations: bytes outside UTF-8 and the
/// character U+2581 (which the library gives for a space) are encoded as byte tokens where the
/// model has them, so that they come back; and with a model whose tokens span line ends, a text
/// beyond a mebibyte is encoded in parts that end behind line ends.
Result<std::shared_ptr<const Tokenizer>> make_sentencepiece(std::string model,
                                                            const std::string& name);

}  // namespace strata::tokenizer
