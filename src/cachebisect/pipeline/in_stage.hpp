// Runs a stage's own code.
#pragma once

#include <utility>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/pipeline/chain.hpp"

namespace cachebisect {

/// Returns work(). Whatever it throws becomes an Error that names the stage: Error(data), unless it
/// is an Error already.
template <class Work>
auto in_stage(const ChainStage& stage, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    throw current_error(ErrorKind::data).with_context(describe(stage));
  }
}

}  // namespace cachebisect
