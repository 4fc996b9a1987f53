#include "cachebisect/doctor/url_probe.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/shuffle.hpp"
#include "cachebisect/doctor/read_plan.hpp"
#include "cachebisect/doctor/url_readers.hpp"
#include "cachebisect/http/shown_url.hpp"

namespace cachebisect {
namespace {

constexpr std::array<std::size_t, 4> kPartSizes{4096, std::size_t{128} << 10U,
                                                std::size_t{1} << 20U, std::size_t{8} << 20U};
constexpr std::array<std::size_t, 4> kAtOnce{1, 4, 16, 64};
constexpr std::size_t kMostObjects = 512;
constexpr std::size_t kMostParts = 8192;
/// One for each row of a size.
constexpr std::size_t kLeastParts = kAtOnce.size();
constexpr double kFindSeconds = 10;
constexpr double kLeastWindow = 0.02;
constexpr double kMostWindow = 2;
/// A row has time for some reads one after the other.
constexpr double kReadsInWindow = 5;

/// "http://host:port" of a URL without user and password.
std::string server_of(const std::string& url) {
  const std::string shown = shown_url(url);
  return shown.substr(0, shown.find('/', shown.find("://") + 3));
}

std::string servers_of(const std::vector<std::string>& urls) {
  std::set<std::string> servers;
  for (const std::string& url : urls) servers.insert(server_of(url));
  return servers.size() == 1 ? *servers.begin() : counted(servers.size(), "server");
}

/// The rows of a probe, one size after the other.
class Prober {
 public:
  Prober(const UrlProbe& probe, const std::stop_token& stop)
      : urls_(probe.urls), readers_(kAtOnce.back(), facts_, stop) {
    // Each row has one for the first time and one for the same reads again.
    constexpr double kWindows = 2 * (kPartSizes.size() + 1) * kAtOnce.size();
    // Lists are often sorted by kind or size.
    RandomStream random({.seed = 1, .stage = hash_name("doctor of URLs")});
    shuffle(urls_, random);
    urls_.resize(std::min(urls_.size(), kMostObjects));
    window_seconds_ = probe.seconds / kWindows;
    window_bytes_ = static_cast<std::uint64_t>(static_cast<double>(probe.most_bytes) / kWindows);
  }

  UrlFacts run() {
    facts_.server = servers_of(urls_);
    find_objects();
    if (objects_.empty()) {
      facts_.problem = facts_.first_failure.empty()
                           ? "the server refused all requests for now (429 or 503); try again later"
                           : facts_.first_failure;
      return std::move(facts_);
    }
    if (facts_.has_parts) {
      for (const std::size_t size : kPartSizes) add_parts(size);
    }
    add_wholes();
    facts_.connect_seconds = readers_.connect_seconds();
    return std::move(facts_);
  }

 private:
  /// Asks for the first byte of each, which gives its size, over all connections that are used
  /// later: what they cost is then in no row.
  void find_objects() {
    std::vector<std::optional<HttpResult>> found(urls_.size());
    ReadWindow window(kFindSeconds, window_bytes_);
    const std::size_t asked = std::max(urls_.size(), kAtOnce.back());
    const UrlReaders::Made outcome =
        readers_.run({.count = asked,
                      .read =
                          [&](std::size_t i) {
                            return HttpRead{urls_[i % urls_.size()], 0, 1};
                          },
                      .done =
                          [&](std::size_t i, const HttpResult& result) {
                            auto& of_url = found[i % urls_.size()];
                            if (!of_url || result.object_bytes) of_url = result;
                          }},
                     kAtOnce.back(), window);
    std::vector<double> sizes;
    for (std::size_t i = 0; i < urls_.size(); ++i) {
      const bool is_object = found[i] && found[i]->object_bytes.value_or(0) > 0;
      if (found[i] && !is_object && found[i]->outcome != HttpResult::Outcome::throttled) {
        ++facts_.unreadable;
      }
      if (!is_object) continue;
      if (found[i]->is_part) facts_.has_parts = true;
      objects_.push_back({urls_[i], *found[i]->object_bytes});
      sizes.push_back(static_cast<double>(*found[i]->object_bytes));
    }
    facts_.objects = objects_.size();
    facts_.median_bytes = sizes.empty() ? 0 : median(sizes);
    window_seconds_ =
        std::clamp(std::max(window_seconds_, kReadsInWindow * outcome.rate.median_seconds),
                   kLeastWindow, kMostWindow);
  }

  void add_parts(std::size_t size) {
    const std::vector<PlannedRead> reads = plan_reads(objects_, size, kMostParts, kLeastParts);
    add_rows(size, reads.size(), [&](std::size_t i) {
      return HttpRead{objects_[reads[i].file].path, reads[i].offset, reads[i].bytes};
    });
  }

  void add_wholes() {
    std::vector<DataFile> small;
    std::ranges::copy_if(objects_, std::back_inserter(small),
                         [](const DataFile& object) { return object.bytes <= kMostObjectBytes; });
    add_rows(0, small.size(), [&](std::size_t i) {
      return HttpRead{small[i].path, std::nullopt, small[i].bytes};
    });
  }

  /// Each row reads parts of its own, so that none finds what the server keeps of another one. If
  /// they are too few for that, only the first row reads any for the first time.
  void add_rows(std::size_t size, std::size_t count,
                const std::function<HttpRead(std::size_t)>& read) {
    if (count == 0) return;
    const std::size_t share = count / kAtOnce.size();
    for (std::size_t row = 0; row < kAtOnce.size(); ++row) {
      const std::size_t begin = share > 0 ? row * share : 0;
      UrlReaders::Plan plan{.count = share > 0 ? share : count,
                            .read = [&](std::size_t i) { return read(begin + i); }};
      StorageRow made{.read_bytes = size,
                      .in_flight = static_cast<int>(kAtOnce[row]),
                      .disk = {},
                      .memory = {}};
      if (share > 0 || row == 0) {
        const UrlReaders::Made first = run(plan, kAtOnce[row]);
        made.disk = first.rate;
        plan.count = std::max<std::size_t>(first.begun, 1);
      }
      plan.again = true;
      made.memory = run(plan, kAtOnce[row]).rate;
      facts_.rows.push_back(made);
    }
  }

  UrlReaders::Made run(const UrlReaders::Plan& plan, std::size_t threads) {
    ReadWindow window(window_seconds_, window_bytes_);
    return readers_.run(plan, threads, window);
  }

  std::vector<std::string> urls_;
  std::vector<DataFile> objects_;  ///< by URL
  UrlFacts facts_;
  UrlReaders readers_;
  double window_seconds_ = 0;
  std::uint64_t window_bytes_ = 0;
};

}  // namespace

UrlFacts probe_urls(const UrlProbe& probe, const std::stop_token& stop) {
  return Prober(probe, stop).run();
}

}  // namespace cachebisect
