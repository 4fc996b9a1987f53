#include "cachebisect/profile/cpu_sampler.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect::profile {
namespace {

/// The samples that the signal handler writes.
struct SampleStore {
  explicit SampleStore(std::size_t capacity) : samples(capacity) {}
  std::vector<CpuSample> samples;
  std::atomic<std::uint64_t> next{0};
};

// A signal handler has no argument of ours: the sampler that runs, and the handlers that use it.
std::atomic<SampleStore*> running{nullptr};
std::atomic<int> handlers{0};

/// The address of the instruction that the signal interrupted; 0 where we do not know the machine.
std::uintptr_t interrupted_at(const void* context) noexcept {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine->uc_mcontext.pc;
#else
  (void)machine;
  return 0;
#endif
}

void take_sample(SampleStore& store, const siginfo_t& info, const void* context) noexcept {
  const std::uint64_t number = store.next.fetch_add(1, std::memory_order_relaxed);
  if (number >= store.samples.size()) return;
  constexpr std::size_t kOwnFrames = 8;  // of the handler, at most
  std::array<void*, CpuSample::kMaxFrames + kOwnFrames> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  auto* const end = frames.begin() + std::max(depth, 0);
  auto* begin =
      std::find_if(frames.begin(), end, [at = interrupted_at(context)](const void* frame) {
        return reinterpret_cast<std::uintptr_t>(frame) == at;
      });
  if (begin == end) begin = frames.begin();
  CpuSample& sample = store.samples[number];
  sample.seconds = monotonic_seconds();
  sample.thread = gettid();
  sample.periods = 1 + static_cast<std::uint32_t>(std::max(info.si_overrun, 0));
  sample.depth =
      static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(end - begin, CpuSample::kMaxFrames));
  std::copy_n(begin, sample.depth, sample.frames.begin());
}

void on_tick(int /*signal*/, siginfo_t* info, void* context) {
  const int kept = errno;
  handlers.fetch_add(1);
  if (SampleStore* const store = running.load()) take_sample(*store, *info, context);
  handlers.fetch_sub(1);
  errno = kept;
}

/// The CPU clock of any thread of this process, as the kernel numbers it (CPUCLOCK_SCHED and
/// CPUCLOCK_PERTHREAD_MASK in linux/posix-timers.h); glibc makes it for pthread_t alone.
clockid_t cpu_clock_of(pid_t thread) noexcept {
  constexpr unsigned kPerThread = 4;
  constexpr unsigned kScheduled = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | kPerThread | kScheduled);
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread > 0) threads.push_back(thread);
  }
  return threads;
}

timespec to_timespec(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = std::lround((seconds - std::floor(seconds)) * 1e9);
  return time;
}

}  // namespace

struct CpuSampler::State {
  explicit State(std::size_t capacity) : store(capacity) {}
  SampleStore store;
  std::vector<timer_t> timers;
  struct sigaction before {};
  bool on = false;
};

CpuSampler::CpuSampler(std::size_t capacity, double period_seconds)
    : state_(std::make_unique<State>(capacity)), period_(period_seconds) {
  // The first call loads the unwinder, which allocates.
  std::array<void*, 1> frame{};
  (void)backtrace(frame.data(), 1);
}

CpuSampler::~CpuSampler() { stop(); }

void CpuSampler::start() {
  State& s = *state_;
  s.store.next = 0;
  SampleStore* none = nullptr;
  if (!running.compare_exchange_strong(none, &s.store)) {
    throw Error(ErrorKind::internal, "two samplers run in one process");
  }
  s.on = true;
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPROF, &action, &s.before);
  for (const pid_t thread : threads_of_process()) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = thread;
    timer_t timer{};
    if (timer_create(cpu_clock_of(thread), &event, &timer) != 0) continue;
    s.timers.push_back(timer);
    const itimerspec times{to_timespec(period_), to_timespec(period_)};
    timer_settime(timer, 0, &times, nullptr);
  }
}

void CpuSampler::stop() noexcept {
  State& s = *state_;
  if (!s.on) return;
  s.on = false;
  for (const timer_t timer : s.timers) timer_delete(timer);
  s.timers.clear();
  running = nullptr;
  while (handlers.load() != 0) usleep(10);
  // A signal may still be on its way to a thread: it must not end the process.
  if (s.before.sa_handler == SIG_DFL) s.before.sa_handler = SIG_IGN;
  sigaction(SIGPROF, &s.before, nullptr);
}

std::span<const CpuSample> CpuSampler::samples() const noexcept {
  const SampleStore& store = state_->store;
  return {store.samples.data(), std::min<std::size_t>(store.next.load(), store.samples.size())};
}

std::uint64_t CpuSampler::dropped() const noexcept {
  const std::uint64_t taken = state_->store.next.load();
  const std::uint64_t room = state_->store.samples.size();
  return taken > room ? taken - room : 0;
}

}  // namespace cachebisect::profile
