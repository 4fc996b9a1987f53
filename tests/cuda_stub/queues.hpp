// The streams of the virtual devices: queues whose work runs as late as CUDA's rules allow, or in
// any order that they allow.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <random>

#include <cuda_runtime_api.h>

namespace cuda_stub {

/// A recorded event: a place in a stream.
struct Mark {
  CUstream_st* stream = nullptr;
  bool done = false;
  double seconds = 0;  ///< on the device's clock, when done
};

/// One entry of a stream: work, the place of a recorded event, or a wait for one.
struct Entry {
  std::function<void()> work{};
  double seconds = 0;    ///< that work takes at least
  double submitted = 0;  ///< on the device's clock
  std::shared_ptr<Mark> records{};
  std::shared_ptr<Mark> waits_for{};
  const void* reads = nullptr;  ///< host memory
  std::size_t read_bytes = 0;
};

}  // namespace cuda_stub

/// Neither an event nor a stream is destroyed while its machine lives, so that a use after its
/// destruction is found.
struct CUevent_st {
  int device = 0;
  bool spins = false;  ///< a thread that waits for it
  bool destroyed = false;
  std::shared_ptr<cuda_stub::Mark> mark{};  ///< null: never recorded, counts as done
};

struct CUstream_st {
  int device = 0;
  bool destroyed = false;
  bool is_default = false;
  double end = 0;  ///< of what ran, on the device's clock
  std::uint32_t weight = 1;
  std::deque<cuda_stub::Entry> entries{};
};

namespace cuda_stub {

/// All streams and events. Not thread safe.
class Queues {
 public:
  /// Executes the work of an entry: seconds that it took, empty if the device was lost by it.
  using Run = std::function<std::optional<double>(const Entry&, int device)>;
  Queues(std::uint64_t schedule, Run run)
      : random_(schedule), eager_(schedule != 0), run_(std::move(run)) {}

  CUstream_st* make_stream(int device);
  CUevent_st* make_event(int device, bool spins);
  /// The legacy default stream, made at the first call.
  CUstream_st* default_stream(int device);
  /// With a schedule other than the laziest, some work of any stream may run after it.
  void push(CUstream_st& stream, Entry entry);
  /// Runs what must run until the event has happened, and perhaps more; false if the device is
  /// lost.
  bool finish(const Mark& mark);
  /// Runs what is queued on the stream; false if the device is lost.
  bool finish(CUstream_st& stream);
  /// Runs at most one entry that the mark waits for.
  void advance_towards(const Mark& mark);
  /// Runs everything on the device; false if the device is lost.
  bool finish_device(int device);
  /// When what ran on the device ended, on its clock.
  [[nodiscard]] double device_end(int device) const;

  [[nodiscard]] std::size_t queued(int device) const;
  /// True if queued work reads a byte of this host memory.
  [[nodiscard]] bool reads(const void* data, std::size_t bytes) const;
  [[nodiscard]] std::size_t streams() const;
  [[nodiscard]] std::size_t events() const;

 private:
  /// The stream whose next entry can run before this one's can.
  static CUstream_st& runnable(CUstream_st& stream);
  /// Runs the next entry, which must not wait.
  bool step(CUstream_st& stream);
  void run_any();

  std::mt19937_64 random_;
  bool eager_;
  Run run_;
  std::list<CUstream_st> streams_;
  std::list<CUevent_st> events_;
  bool lost_ = false;
};

}  // namespace cuda_stub
