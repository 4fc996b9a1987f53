#include "cachebisect/remote/described_ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect {

std::size_t DescribedRanks::world() const noexcept {
  return adapters_.empty() ? 0 : static_cast<std::size_t>(adapters_.front().hello.world);
}

bool DescribedRanks::add(AttachedAdapter& described) {
  AdapterHello hello = described.hello;
  hello.rank = described.description.rank.value_or(hello.rank);
  hello.world = std::max(1, described.description.world.value_or(hello.world));
  const bool taken = std::ranges::any_of(
      adapters_, [&](const AttachedAdapter& known) { return known.hello.rank == hello.rank; });
  if (taken || hello.rank >= hello.world) return false;
  if (!adapters_.empty() && adapters_.front().hello.world != hello.world) return false;
  if (adapters_.empty()) first_seconds_ = monotonic_seconds();
  described.hello = std::move(hello);
  adapters_.push_back(std::move(described));
  return true;
}

bool DescribedRanks::is_complete() const noexcept {
  return !adapters_.empty() && adapters_.size() == world();
}

std::optional<double> DescribedRanks::deadline(double limit) const {
  return adapters_.empty() ? std::nullopt : std::optional(first_seconds_ + limit);
}

void DescribedRanks::check(double limit) {
  for (const AttachedAdapter& adapter : adapters_) {
    try {
      static_cast<void>(adapter.connection->poll_answer());
    } catch (const Error&) {
      const std::string place = adapter.node ? "node " + adapter.node->name() + ", " : "";
      throw Error(ErrorKind::data,
                  place + "rank " + std::to_string(adapter.hello.rank) +
                      ": the training process has ended before all ranks had found "
                      "their loaders; see its own messages");
    }
  }
  const auto until = deadline(limit);
  if (!until || monotonic_seconds() < *until) return;
  throw Error(ErrorKind::usage,
              "only " + std::to_string(adapters_.size()) + " of " + std::to_string(world()) +
                  " ranks have found a training loader within " + format_seconds(limit) +
                  " of each other; every rank must train with a DataLoader of its own, or iterate "
                  "cachebisect.steps(...) if it has none. If some need longer to begin, raise "
                  "--answer-timeout");
}

void DescribedRanks::add_descriptors(std::vector<int>& descriptors) const {
  for (const AttachedAdapter& adapter : adapters_) {
    descriptors.push_back(adapter.connection->descriptor());
  }
}

std::vector<AttachedAdapter> DescribedRanks::take() {
  std::ranges::sort(adapters_, {}, [](const AttachedAdapter& one) { return one.hello.rank; });
  return std::exchange(adapters_, {});
}

const AttachedAdapter* first_with_loader(const std::vector<AttachedAdapter>& ranks) {
  const auto found = std::ranges::find_if(
      ranks, [](const AttachedAdapter& rank) { return rank.description.has_loader(); });
  return found == ranks.end() ? nullptr : &*found;
}

}  // namespace cachebisect
