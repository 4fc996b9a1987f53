#include "error_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <c10/util/Exception.h>

namespace cachebisect::torch_module {
namespace {

constexpr std::array<std::string_view, 4> kMemoryErrors{"out of memory", "can't allocate memory",
                                                        "not enough memory", "_ALLOC_FAILED"};
constexpr std::array<std::string_view, 5> kDeviceErrors{"CUDA error", "cuDNN error", "CUDNN_STATUS",
                                                        "CUBLAS_STATUS", "CUDA driver error"};

template <class Names>
bool names_any(std::string_view text, const Names& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

}  // namespace

std::string reason_of(const std::exception& error) {
  std::string_view text(error.what());
  // The interpreter's errors end with the reason: "Traceback of TorchScript ... RuntimeError: why".
  constexpr std::string_view kReason = "Error: ";
  const std::size_t at = text.rfind(kReason);
  if (at != std::string_view::npos && text.find("TorchScript") < at) {
    text.remove_prefix(at + kReason.size());
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  if (text.empty()) return "an assertion or exception of the model without a message";
  return std::string(text.substr(0, text.find('\n')));
}

void throw_meaning_of(const std::exception& error, const std::string& doing) {
  std::string reason = reason_of(error);
  // TorchScript's interpreter keeps the text of an exception, but not its type.
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      names_any(reason, kMemoryErrors)) {
    // What follows is advice on settings of Python.
    throw OutOfMemory(doing + ": " + reason.substr(0, reason.find(" If reserved but")));
  }
  if (names_any(reason, kDeviceErrors)) {
    throw Error(ErrorKind::device,
                doing + ": " + reason +
                    "; run again with CUDA_LAUNCH_BLOCKING=1, else an earlier operation may be "
                    "the one that failed");
  }
  throw Error(ErrorKind::data, doing + ": " + reason);
}

}  // namespace cachebisect::torch_module
