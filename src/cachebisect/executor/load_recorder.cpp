#include "cachebisect/executor/load_recorder.hpp"

#include <algorithm>

namespace cachebisect {

LoadRecorder::LoadRecorder(int workers, std::size_t capacity) {
  for (int i = 0; i < std::max(workers, 1); ++i) {
    workers_.push_back(std::make_unique<WorkerRecord>(capacity, on_));
  }
}

std::uint64_t LoadRecorder::dropped() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->spans().dropped();
  return sum;
}

void LoadRecorder::clear() noexcept {
  for (const auto& worker : workers_) worker->clear();
}

}  // namespace cachebisect
