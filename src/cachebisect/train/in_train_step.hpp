// Runs a training step's own code.
#pragma once

#include <utility>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Returns work(). Whatever it throws becomes an Error that names the step: Error(data), unless it
/// is an Error already.
template <class Work>
auto in_train_step(const TrainStep& step, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    throw current_error(ErrorKind::data).with_context("training step '" + step.name() + "'");
  }
}

}  // namespace cachebisect
