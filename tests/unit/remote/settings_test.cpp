// An adapter that names its settings is asked, and reported on, in its own terms.
#include <sstream>
#include <string>
#include <utility>

#include "support/attached.hpp"
#include "support/forwarding_replayer.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// A simulated chain whose settings have the names that Python gives them.
class PythonReplayer final : public ForwardingReplayer {
 public:
  explicit PythonReplayer(SimulatedChain chain)
      : ForwardingReplayer(std::move(chain), {.noise = {.white_cv = 0.01}}) {}

  [[nodiscard]] bool supports(const Arm& arm) const override {
    return !arm.overrides.contains("workers") && ForwardingReplayer::supports(renamed(arm));
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockRequest changed = request;
    changed.arm = renamed(request.arm);
    return ForwardingReplayer::run(changed, stop);
  }

 private:
  static Arm renamed(Arm arm) {
    auto workers = arm.overrides.extract("num_workers");
    if (workers) {
      workers.key() = "workers";
      arm.overrides.insert(std::move(workers));
    }
    return arm;
  }
};

Report report_of_python(const BisectOptions& options) {
  PythonReplayer replayer(starved_chain());
  ServedReplayer served(replayer, {},
                        [](FakeAdapter& adapter) { adapter.settings = torch_settings_json(); });
  auto remote = served.attach();
  CHECK_FALSE(remote->describe().settings.of_file);
  Report report = bisect(*remote, options);
  remote->finish(true, 0, "");
  return report;
}

/// A simulated job that can change nothing, and knows why.
class Refusing final : public ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;
  [[nodiscard]] bool supports(const Arm& arm) const override {
    return arm.overrides.empty() && ForwardingReplayer::supports(arm);
  }
  [[nodiscard]] std::string why_unsupported(const Arm& arm) const override {
    return arm.overrides.empty() ? "" : "a file position is shared";
  }
};

}  // namespace

TEST_CASE("what-ifs and remedies of a Python program are run under its own names") {
  const Report report = report_of_python({.budget_seconds = 120,
                                          .sustain_seconds = 0,
                                          .what_ifs = {"num_workers=4", "crop=free"},
                                          .verify = true});
  CHECK(report.verdict.stage == "crop");
  for (const WhatIfResult& what_if : report.what_ifs) {
    CAPTURE(what_if.change);
    CHECK(what_if.predicted.value.has_value());
    REQUIRE_MESSAGE(what_if.measured.value.has_value(), what_if.note);
    CHECK(*what_if.measured.value > 1.5 * *report.live.value);
  }
  REQUIRE_FALSE(report.remedies.empty());
  const Remedy& workers = report.remedies.front();
  CHECK(workers.id == "workers");
  CHECK(workers.lines.front().starts_with("DataLoader(..., num_workers="));
  CHECK(workers.measured.value.has_value());
}

TEST_CASE("what an adapter cannot run is told in its own words") {
  Refusing replayer(starved_chain());
  ServedReplayer served(replayer, {}, [](FakeAdapter&) {});
  const auto remote = served.attach();
  const Report report =
      bisect(*remote, {.sustain_seconds = 0, .what_ifs = {"workers=4"}, .verify = true});
  CHECK(has(report.what_ifs.front().note, "a file position is shared"));
  CHECK(remote->why_unsupported({}).empty());
  remote->finish(true, 0, "");
}

TEST_CASE("an adapter that names none keeps the terms of pipeline files, whatever its language") {
  SimulatedReplayer replayer(starved_chain());
  ServedReplayer served(replayer, {}, [](FakeAdapter& adapter) { adapter.python = "3.11.2"; });
  const auto remote = served.attach();
  CHECK(remote->describe().settings.of_file);
  remote->finish(true, 0, "");
}
