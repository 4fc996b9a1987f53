#include "cachebisect/compare/mismatches.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/compare/compare_reports.hpp"

namespace cachebisect {
namespace {

class Differences {
 public:
  void check(const std::string& what, const std::string& a, const std::string& b) {
    if (a == b) return;
    found_.push_back(what + ": " + printable(a.empty() ? "not known" : a) + " in A, " +
                     printable(b.empty() ? "not known" : b) + " in B");
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

void check_jobs(const ChainDescription& a, const ChainDescription& b, Differences& differences) {
  differences.check("device", std::string(to_string(a.device_kind)),
                    std::string(to_string(b.device_kind)));
  differences.check("device name", a.device_name, b.device_name);
  differences.check("batch size", std::to_string(a.batch_size), std::to_string(b.batch_size));
  differences.check("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
}

}  // namespace

std::vector<std::string> mismatches(const ChainDescription& a, const ChainDescription& b) {
  Differences differences;
  check_jobs(a, b, differences);
  return differences.take();
}

std::vector<std::string> mismatches(const Report& a, const Report& b) {
  Differences differences;
  check_jobs(a.chain, b.chain, differences);
  differences.check("cpu", a.machine.cpu, b.machine.cpu);
  differences.check("usable cpus", format_exact(a.machine.usable_cpus),
                    format_exact(b.machine.usable_cpus));
  differences.check("--io", a.settings.io, b.settings.io);
  differences.check("confidence", format_exact(a.settings.confidence),
                    format_exact(b.settings.confidence));
  return differences.take();
}

void refuse_unless_comparable(const std::vector<std::string>& mismatches, bool force) {
  if (mismatches.empty() || force) return;
  std::string all;
  for (const std::string& mismatch : mismatches) all += (all.empty() ? "" : "; ") + mismatch;
  throw Error(ErrorKind::usage,
              "the two are not comparable: " + all + " (--force compares them all the same)");
}

}  // namespace cachebisect
