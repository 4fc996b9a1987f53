#include "cuda_stub/machine.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "cuda_stub/enqueue.hpp"
#include "cuda_stub/state.hpp"

namespace cuda_stub {
namespace {

std::uint64_t next_number() {
  static std::uint64_t number = 0;  // under the mutex
  return ++number;
}

}  // namespace

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

Machine::State*& present() {
  static Machine::State* machine = nullptr;
  return machine;
}

ThreadState& this_thread() {
  thread_local ThreadState state;
  const std::uint64_t number = present() == nullptr ? 0 : present()->number;
  if (state.machine != number) state = ThreadState{.machine = number};
  return state;
}

Machine::State::State(const MachineOptions& machine)
    : options(machine),
      number(next_number()),
      queues(machine.schedule,
             [this](const Entry& entry, int device) { return run(entry, device); }) {
  for (int i = 0; i < machine.devices; ++i) {
    arenas.push_back(std::make_unique<DeviceArena>(machine.memory_bytes));
  }
}

double Machine::State::host_seconds() const {
  return options.real_time ? std::chrono::duration<double>(Clock::now() - made).count() : host;
}

double Machine::State::device_seconds() const {
  return options.clock_offset + host_seconds() * (1 + options.clock_drift);
}

bool Machine::State::happened(const Mark& mark) const {
  return mark.done && (!options.real_time || mark.seconds <= device_seconds());
}

void Machine::State::hold_until(double device_time) const {
  if (!options.real_time) return;
  const double host_time = (device_time - options.clock_offset) / (1 + options.clock_drift);
  const auto since = std::chrono::duration<double>(std::max(0.0, host_time));
  this_thread().held_until = made + std::chrono::ceil<Clock::duration>(since);
}

std::optional<double> Machine::State::run(const Entry& entry, int device) {
  if (failures.count("work") != cudaSuccess) return std::nullopt;
  const DeviceArena::Access access(*arenas[static_cast<std::size_t>(device)]);
  timer_readings = 0;
  entry.work();
  const auto microseconds = static_cast<double>(std::max<std::int64_t>(timer_readings - 1, 0));
  return std::max(entry.seconds, 1e-6 * microseconds);
}

// The mutex is held by the call that runs the work.
std::int64_t timer_nanoseconds() {
  constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  return kStart + 1000 * present()->timer_readings++;
}

Machine::Machine(const MachineOptions& options) {
  const std::scoped_lock lock(mutex());
  if (present() != nullptr) throw std::logic_error("there is a machine already");
  state_ = std::make_unique<State>(options);
  present() = state_.get();
}

Machine::~Machine() {
  const std::scoped_lock lock(mutex());
  present() = nullptr;
  for (const auto& block : state_->pinned) ::operator delete (block.first, std::align_val_t{4096});
}

void Machine::fail(const Failure& failure) {
  const std::scoped_lock lock(mutex());
  state_->failures.add(failure);
}

void Machine::pass(double seconds) {
  const std::scoped_lock lock(mutex());
  if (state_->options.real_time) throw std::logic_error("real time passes by itself");
  state_->host += seconds;
}

double Machine::host_seconds() const {
  const std::scoped_lock lock(mutex());
  return state_->host_seconds();
}

int Machine::calls(std::string_view function) const {
  const std::scoped_lock lock(mutex());
  return state_->failures.calls(function);
}

std::vector<std::pair<std::string, int>> Machine::all_calls() const {
  const std::scoped_lock lock(mutex());
  const auto& calls = state_->failures.all_calls();
  return {calls.begin(), calls.end()};
}

std::vector<int> Machine::contexts() const {
  const std::scoped_lock lock(mutex());
  return {state_->contexts.begin(), state_->contexts.end()};
}

std::size_t Machine::queued() const {
  const std::scoped_lock lock(mutex());
  std::size_t all = 0;
  for (int i = 0; i < state_->options.devices; ++i) all += state_->queues.queued(i);
  return all;
}

int Machine::stalls() const {
  const std::scoped_lock lock(mutex());
  return state_->stalls;
}

std::optional<int> Machine::pinned_node() const {
  const std::scoped_lock lock(mutex());
  return state_->pinned_node;
}

int Machine::spins() const {
  const std::scoped_lock lock(mutex());
  return state_->spins;
}

int Machine::sleeps() const {
  const std::scoped_lock lock(mutex());
  return state_->sleeps;
}

std::vector<std::string> Machine::violations() const {
  const std::scoped_lock lock(mutex());
  return state_->violations;
}

std::vector<std::string> Machine::leaks() const {
  const std::scoped_lock lock(mutex());
  std::vector<std::string> leaks;
  const auto note = [&leaks](const char* what, std::size_t count) {
    if (count > 0) leaks.push_back(std::string(what) + ": " + std::to_string(count));
  };
  std::size_t blocks = 0;
  for (const auto& arena : state_->arenas) blocks += arena->allocations();
  note("device memory", blocks);
  note("pinned memory", state_->pinned.size());
  note("streams", state_->queues.streams());
  note("events", state_->queues.events());
  return leaks;
}

}  // namespace cuda_stub
