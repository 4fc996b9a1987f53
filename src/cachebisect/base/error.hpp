// The one error type of the library. Its kind decides the exit code of the command.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What went wrong, by what can fix it.
enum class ErrorKind {
  internal,     ///< a bug in this library
  usage,        ///< options, pipeline file, plugin or module
  data,         ///< a stage or the training step failed: bad data, missing file
  device,       ///< the device is missing or failed
  gate,         ///< a gate that the user set was not met
  output,       ///< an output could not be written
  interrupted,  ///< stopped by the user
};

/// The exit code of the command for an error of this kind (docs/use/report.md, "Exit codes").
CACHEBISECT_API int exit_code(ErrorKind kind) noexcept;

/// Every message says what is wrong, where, and what would be right.
class CACHEBISECT_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);
  ~Error() override;

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  /// The same error with "context: " before its message.
  [[nodiscard]] Error with_context(std::string_view context) const;
  /// The same error with lines that explain it, such as the end of a traceback.
  [[nodiscard]] Error with_details(std::vector<std::string> lines) const;
  [[nodiscard]] std::vector<std::string> details() const;

 private:
  ErrorKind kind_;
  std::shared_ptr<const std::vector<std::string>> details_;  ///< shared: copies must not throw
};

/// Error(device) of code that found no room in a device's memory. A training step that throws it is
/// tried once more if the device can make room; else the message is completed with what holds the
/// memory and what to lower.
class CACHEBISECT_API OutOfMemory final : public Error {
 public:
  explicit OutOfMemory(const std::string& message);
  ~OutOfMemory() override;
};

}  // namespace cachebisect
