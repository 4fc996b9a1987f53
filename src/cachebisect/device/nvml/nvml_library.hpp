// NVIDIA's management library (NVML), opened at run time: it comes with the driver.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect::nvml {

inline constexpr const char* kFile = "libnvidia-ml.so.1";

/// As nvml.h declares them; their layout never changes.
using Status = int;
using Handle = void*;
struct Utilization {
  unsigned gpu = 0;     ///< percent
  unsigned memory = 0;  ///< percent
};

inline constexpr Status kSuccess = 0;

/// The functions that this program uses. Those that the driver lacks are null.
struct Functions {
  using Init = Status (*)();
  using GetText = Status (*)(char*, unsigned);
  using GetInt = Status (*)(int*);
  using FindDevice = Status (*)(const char*, Handle*);
  using GetNumber = Status (*)(Handle, unsigned*);
  using GetClock = Status (*)(Handle, int, unsigned*);
  using GetMask = Status (*)(Handle, unsigned long long*);
  using GetUtilization = Status (*)(Handle, Utilization*);
  using GetModes = Status (*)(Handle, unsigned*, unsigned*);

  Init init = nullptr;
  Init shutdown = nullptr;
  const char* (*error_string)(Status) = nullptr;
  GetText driver_version = nullptr;
  GetInt cuda_version = nullptr;
  FindDevice device_by_bus_id = nullptr;
  FindDevice device_by_uuid = nullptr;
  GetClock clock = nullptr;
  GetNumber power = nullptr;
  GetMask throttle_reasons = nullptr;
  GetUtilization utilization = nullptr;
  GetNumber pcie_generation = nullptr;
  GetNumber pcie_width = nullptr;
  GetNumber max_pcie_generation = nullptr;
  GetNumber max_pcie_width = nullptr;
  GetNumber persistence_mode = nullptr;
  GetModes mig_mode = nullptr;
};

/// Open and initialised from construction to destruction. NVML's functions are thread safe.
class CACHEBISECT_INTERNAL_API Library {
 public:
  /// Never throws for a library that is missing, too old or refuses to start; see problem().
  explicit Library(const std::string& file = kFile);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Why the library cannot be used; empty if it can.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] bool usable() const noexcept { return problem_.empty(); }
  [[nodiscard]] const Functions& functions() const noexcept { return functions_; }
  /// "580.65.06"; empty if unknown.
  [[nodiscard]] std::string driver_version() const;
  /// The newest CUDA that the driver serves, "13.0"; empty if unknown.
  [[nodiscard]] std::string cuda_version() const;

 private:
  void load();

  SharedLibrary library_;
  Functions functions_;
  std::string problem_;
};

}  // namespace cachebisect::nvml
