// The law that predicts seconds per sample: the slowest server sets the pace. It is the prior, the
// what-if predictor and a sanity check, never the proof. Exact for constant costs with one server
// clearly slower than the next.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What a sample passes through.
enum class Server { workers, training_thread, step, copy, cpu, lock, memory };
inline constexpr std::size_t kServers = 7;
/// "workers", "training thread", "step", ...
CACHEBISECT_INTERNAL_API const char* to_string(Server server) noexcept;

/// What a sample demands of each server. Seconds per sample, of one worker or thread, unless said
/// otherwise.
struct Demands {
  int workers = 0;                   ///< W; 0: loading inside the training thread
  double cores = 1;                  ///< C, usable
  double serve_seconds = 0;          ///< rho_k
  std::vector<double> live_seconds;  ///< c_s of the stages after boundary k
  double trainer_seconds = 0;        ///< p, the training thread is busy
  int trainer_threads = 1;           ///< it computes with so many
  double trainer_cpu_seconds = 0;    ///< of all of these
  double step_seconds = 0;           ///< g, of the device
  double copy_seconds = 0;           ///< h; 0 if the batch is already on the device
  bool copy_blocks = false;          ///< the training thread waits for the copy
  bool copy_overlaps = true;         ///< copy and step run at the same time
  double cpu_seconds = 0;            ///< D_k, of everything that runs
  double serial_seconds = 0;         ///< l_k, the longest serial section
  double memory_seconds = 0;         ///< b_k over the bandwidth that all share
};

/// Seconds per sample of each server, indexed by Server. Without workers the training thread does
/// their work. If copy and step cannot overlap, the longer of them holds the time of both.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::array<double, kServers> server_seconds(
    const Demands& demands) noexcept;
/// The slowest server.
[[nodiscard]] CACHEBISECT_INTERNAL_API Server limiting_server(const Demands& demands) noexcept;
/// tau_k, seconds per sample.
[[nodiscard]] CACHEBISECT_INTERNAL_API double predicted_seconds_per_sample(
    const Demands& demands) noexcept;
/// The slowest server over the next slower one, at least 1; the law can be trusted from 1.1 on.
[[nodiscard]] CACHEBISECT_INTERNAL_API double law_margin(const Demands& demands) noexcept;

}  // namespace cachebisect
