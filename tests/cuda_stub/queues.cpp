#include "cuda_stub/queues.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cuda_stub {

CUstream_st* Queues::make_stream(int device) {
  // Uneven weights, so that some seeds let one stream run far ahead of the others.
  const auto weight = std::uint32_t{1} << (random_() % 6);
  return &streams_.emplace_back(CUstream_st{.device = device, .weight = weight});
}

CUstream_st* Queues::default_stream(int device) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const CUstream_st& stream) {
    return stream.is_default && stream.device == device;
  });
  if (found != streams_.end()) return &*found;
  CUstream_st* const made = make_stream(device);
  made->is_default = true;
  return made;
}

CUevent_st* Queues::make_event(int device, bool spins) {
  return &events_.emplace_back(CUevent_st{.device = device, .spins = spins});
}

void Queues::push(CUstream_st& stream, Entry entry) {
  stream.entries.push_back(std::move(entry));
  while (eager_ && random_() % 3 != 0) run_any();
}

bool Queues::finish(const Mark& mark) {
  while (!mark.done && !lost_) {
    if (eager_ && random_() % 2 == 0) {
      run_any();
    } else {
      advance_towards(mark);
    }
  }
  return mark.done;
}

bool Queues::finish(CUstream_st& stream) {
  while (!stream.entries.empty() && !lost_) step(runnable(stream));
  return !lost_;
}

void Queues::advance_towards(const Mark& mark) {
  if (!mark.done && !lost_) step(runnable(*mark.stream));
}

bool Queues::finish_device(int device) {
  for (CUstream_st& stream : streams_) {
    if (stream.device == device) finish(stream);
  }
  return !lost_;
}

double Queues::device_end(int device) const {
  double end = 0;
  for (const CUstream_st& stream : streams_) {
    if (stream.device == device) end = std::max(end, stream.end);
  }
  return end;
}

CUstream_st& Queues::runnable(CUstream_st& stream) {
  CUstream_st* at = &stream;
  while (at->entries.front().waits_for && !at->entries.front().waits_for->done) {
    at = at->entries.front().waits_for->stream;
  }
  return *at;
}

bool Queues::step(CUstream_st& stream) {
  const Entry entry = std::move(stream.entries.front());
  stream.entries.pop_front();
  stream.end = std::max(stream.end, entry.submitted);
  if (entry.waits_for) stream.end = std::max(stream.end, entry.waits_for->seconds);
  if (entry.work) {
    const std::optional<double> seconds = run_(entry, stream.device);
    stream.end += seconds.value_or(0);
    lost_ = !seconds;
  }
  if (entry.records && !lost_) {
    entry.records->seconds = stream.end;
    entry.records->done = true;
  }
  return !lost_;
}

void Queues::run_any() {
  std::uint64_t sum = 0;
  for (const CUstream_st& stream : streams_) sum += stream.entries.empty() ? 0 : stream.weight;
  if (sum == 0 || lost_) return;
  std::uint64_t drawn = random_() % sum;
  for (CUstream_st& stream : streams_) {
    if (stream.entries.empty()) continue;
    if (drawn < stream.weight) {
      step(runnable(stream));
      return;
    }
    drawn -= stream.weight;
  }
}

std::size_t Queues::queued(int device) const {
  std::size_t count = 0;
  for (const CUstream_st& stream : streams_) {
    if (stream.device != device) continue;
    count += static_cast<std::size_t>(
        std::count_if(stream.entries.begin(), stream.entries.end(),
                      [](const Entry& entry) { return entry.work != nullptr; }));
  }
  return count;
}

bool Queues::reads(const void* data, std::size_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(data);
  const auto overlaps = [&](const Entry& entry) {
    const auto* from = static_cast<const std::byte*>(entry.reads);
    return from != nullptr && from < begin + bytes && begin < from + entry.read_bytes;
  };
  return std::any_of(streams_.begin(), streams_.end(), [&](const CUstream_st& stream) {
    return std::any_of(stream.entries.begin(), stream.entries.end(), overlaps);
  });
}

std::size_t Queues::streams() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(),
                    [](const CUstream_st& s) { return !s.destroyed && !s.is_default; }));
}

std::size_t Queues::events() const {
  return static_cast<std::size_t>(std::count_if(events_.begin(), events_.end(),
                                                [](const CUevent_st& e) { return !e.destroyed; }));
}

}  // namespace cuda_stub
