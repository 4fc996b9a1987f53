// Diagnoses this machine: its cores and memory, how steady it is, and the tool's own cost.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/doctor/page_cache_probe.hpp"
#include "cachebisect/doctor/storage_table.hpp"
#include "cachebisect/doctor/trust.hpp"
#include "cachebisect/doctor/url_probe.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

struct DoctorOptions {
  double seconds = 10;              ///< approximate measuring time
  std::string folder{};             ///< where the data is; empty: files are not checked
  bool storage = false;             ///< what the storage of the folder gives, too
  std::vector<std::string> urls{};  ///< objects: what their server gives, for as long again
  double budget_seconds = 60;       ///< of the runs that the diagnosis is for
};

/// How late sleeps end on this machine.
struct TimerLateness {
  double median_seconds = 0;
  double p99_seconds = 0;  ///< 99th percentile
};

struct Diagnosis {
  MachineReport machine;            ///< noise: of `pairs`; floor: stages that do nothing, inline
  std::size_t pairs = 0;            ///< of equal blocks of a small pipeline with an emulated step
  double neighbour_difference = 0;  ///< median share by which the blocks of a pair differ
  TrustOptions trust_options;       ///< the assumptions of `trust`
  Trust trust;                      ///< the drops that can be certified with that noise
  double memory_gb_per_s = 0;       ///< one core's memcpy, bytes read plus bytes written
  int memory_threads = 1;           ///< the number of usable CPUs
  double memory_all_gb_per_s = 0;   ///< of all those threads together
  DeviceInfo device;
  std::optional<double>
      copy_gb_per_s;  ///< pinned host to device, 64 MiB; empty if the device does not copy
  TimerLateness timers;
  std::optional<PageCacheFacts> page_cache;
  std::optional<StorageFacts> storage;
  std::optional<UrlFacts> server;
  std::vector<Warning> warnings;  ///< as in a report
};

/// Measures for about `seconds`. Throws Error(interrupted) on `stop`, Error(device) if the device
/// fails, and Error(usage) if there are URLs and no HTTP client.
CACHEBISECT_INTERNAL_API Diagnosis diagnose(Device& device, const DoctorOptions& options,
                                            const std::stop_token& stop);
/// The diagnosis in words, as wide as the terminal: which drops can be trusted on this machine, and
/// whether its storage gives what `needs` says.
CACHEBISECT_INTERNAL_API std::string to_text(const Diagnosis& diagnosis,
                                             const TextOptions& options = {},
                                             const std::optional<StorageNeeds>& needs = {});

}  // namespace cachebisect
