// LibTorch's errors in one line, and told apart.
#pragma once

#include <exception>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {

/// What went wrong, without LibTorch's stack traces.
std::string reason_of(const std::exception& error);

/// Throws what LibTorch's exception means, `doing` before it: OutOfMemory, Error(device) with the
/// remedy if CUDA or one of its libraries failed, else Error(data).
[[noreturn]] void throw_meaning_of(const std::exception& error, const std::string& doing);

/// Returns work(), with LibTorch's exceptions as throw_meaning_of() says.
template <class Work>
auto in_libtorch(const std::string& doing, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw_meaning_of(error, doing);
  }
}

}  // namespace cachebisect::torch_module
