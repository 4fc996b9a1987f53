// The law that predicts seconds a sample from costs: the prior, the what-if predictor and a sanity
// check, never the proof. Exact for constant costs with one server clearly slower than the next.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What a sample passes; the slowest of them sets the pace.
enum class Server { workers, training_thread, step, copy, cpu, lock, memory };
inline constexpr std::size_t kServers = 7;
/// "workers", "training thread", "step", ...
CACHEBISECT_API const char* to_string(Server server) noexcept;

/// Seconds are per sample, of one worker or thread, unless said otherwise.
struct LawInput {
  int workers = 0;                   ///< W; 0: inside the training thread
  double cores = 1;                  ///< C, usable
  double serve_seconds = 0;          ///< rho_k
  std::vector<double> live_seconds;  ///< c_s of the stages after boundary k
  double trainer_seconds = 0;        ///< p, the training thread is busy
  double step_seconds = 0;           ///< g, of the device
  double copy_seconds = 0;           ///< h; 0 where the batch is on the device already
  bool copy_blocks = false;          ///< the training thread waits for the copy
  bool copy_overlaps = true;         ///< copy and step run side by side
  double cpu_seconds = 0;            ///< D_k, of all that runs
  double serial_seconds = 0;         ///< l_k, the longest serial section
  double memory_seconds = 0;         ///< b_k over the bandwidth that all share
};

/// Seconds that a sample takes of each server, by Server. Without workers the training thread does
/// their work; where copy and step take turns, the longer of them holds the time of both.
[[nodiscard]] CACHEBISECT_API std::array<double, kServers> server_seconds(
    const LawInput& input) noexcept;
/// The slowest.
[[nodiscard]] CACHEBISECT_API Server limiting_server(const LawInput& input) noexcept;
/// tau_k, seconds a sample.
[[nodiscard]] CACHEBISECT_API double predicted_seconds_per_sample(const LawInput& input) noexcept;
/// The slowest server over the next slower one, at least 1; the law is to be trusted from 1.1 on.
[[nodiscard]] CACHEBISECT_API double law_margin(const LawInput& input) noexcept;

}  // namespace cachebisect
