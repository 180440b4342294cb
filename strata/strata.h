// All of Strata that programs use: `#include <strata/strata.h>`.
//
//   arrays and transforms   core.h              strata::, numpy, lax, random, ...
//   modules                 nn/nn.h             strata::nn
//   optimizers, losses      optim/optim.h       strata::optim
//   tokenizers              tokenizer/          strata::tokenizer
//   pipelines of data       data/pipeline/      strata::data
//   checkpoints, files      checkpoint/         strata::checkpoint
//   pictures                image/image.h       strata::image
//   published models        model/, engine/     strata::model, strata::engine
//   a step of training      train/step/step.h        strata::train
//
// Runs as `strata train` does them (train/run.h) take the JSON library nlohmann-json besides.
#pragma once

#include "strata/checkpoint/arrays.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/module_state.h"
#include "strata/checkpoint/optimizer_state.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/checkpoint/tree_file.h"
#include "strata/core.h"
#include "strata/data/pipeline/data_loader.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/engine/engine.h"
#include "strata/image/image.h"
#include "strata/model/pretrained.h"
#include "strata/model/registry.h"
#include "strata/nn/nn.h"
#include "strata/optim/optim.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/tokenizer.h"
#include "strata/train/step/step.h"
