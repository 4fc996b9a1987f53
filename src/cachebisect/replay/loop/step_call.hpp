// Runs the training step, and tells its errors apart.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// step.step(), once more if the device was out of memory and could make room. All errors name the
/// step. Out of memory says what the tool itself holds and what to lower. Whatever is thrown is
/// Error(device) if the device has failed, and says how to find the operation; else an Error stays
/// what it is, and everything else is Error(data).
CACHEBISECT_INTERNAL_API void call_step(TrainStep& step, const DeviceBatch& batch,
                                        const StepContext& context);

/// step.loss(), with the same errors.
CACHEBISECT_INTERNAL_API void wait_for_loss(TrainStep& step, Device& device);

/// step.snapshot(), called once more and with the same errors as step.step().
[[nodiscard]] CACHEBISECT_INTERNAL_API bool keep_weights(TrainStep& step, Device& device);
/// step.restore(), with the same errors.
CACHEBISECT_INTERNAL_API void restore_weights(TrainStep& step, Device& device);

}  // namespace cachebisect
