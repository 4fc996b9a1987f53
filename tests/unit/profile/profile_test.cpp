// Profiles of a loop on the emulated device, whose times are planted.
#include "cachebisect/profile/profile.hpp"

#include <algorithm>
#include <string>

#include "support/errors.hpp"
#include "support/starved_job.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/profile/profile_text.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using test::has;
using test::starved_job;

namespace {

constexpr double kStepSeconds = 2e-3;
constexpr int kBatch = 16;

const Options kShort{.active = 20, .repeat = 3};

const Action& action(const ActionGroup& group, const std::string& name) {
  const auto found = std::find_if(group.actions.begin(), group.actions.end(),
                                  [&](const Action& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != group.actions.end(), name);
  return *found;
}

double mean_of(const Action& one) { return one.seconds / static_cast<double>(one.calls); }

double sum_of(const ActionGroup& group) {
  double sum = 0;
  for (const Action& one : group.actions) sum += one.seconds;
  return sum;
}

}  // namespace

TEST_CASE("each action has its calls, and the training thread's actions add up to its time") {
  const Profile profile = run(starved_job(1), kShort);
  CHECK(profile.cycles == 3);
  CHECK(profile.steps == 60);
  CHECK(profile.samples == 60 * kBatch);
  REQUIRE(profile.groups.size() == 3);
  const ActionGroup& thread = profile.groups[0];
  // Batches that are copied ahead are not waited for.
  CHECK(action(thread, "load (wait for a batch)").calls <= 60);
  CHECK(action(thread, "copy").calls > 30);
  CHECK(action(thread, "step").calls == 60);
  CHECK(sum_of(thread) == doctest::Approx(profile.seconds));
  REQUIRE(profile.cost);
  CHECK(profile.cost->pairs <= 5);
  CHECK(profile.dropped == 0);
}

TEST_CASE("planted costs are found where they were planted") {
  const Profile profile = run(starved_job(1), kShort);
  const ActionGroup& worker = profile.groups[1];
  const Action& slow = action(worker, "slow");
  CHECK(slow.calls == 60 * kBatch);
  CHECK(slow.seconds > 0);
  // By arithmetic, whatever the machine does.
  const Action& step = action(profile.groups[2], "step");
  CHECK(step.calls == 60);
  CHECK(mean_of(step) == doctest::Approx(kStepSeconds));
}

TEST_CASE("without workers the stages are part of load") {
  const Profile profile = run(starved_job(0), kShort);
  CHECK(profile.groups[1].title == "within load");
  CHECK(profile.groups[1].seconds == action(profile.groups[0], "load").seconds);
  CHECK(action(profile.groups[1], "slow").seconds > 0);
}

TEST_CASE("the text has a row per action, and names cannot break a line") {
  Profile profile = run(starved_job(1), kShort);
  profile.groups[1].actions[0].name = "a\nb\x1b[31m\xff" + std::string(40, 'x');
  profile.chain.name = "n\rame";
  const std::string text = to_text(profile);
  for (const char* const part : {"training thread", "load (wait for a batch)", "worker", "slow",
                                 "slot write", "emulated device", "Cost of profiling"}) {
    CHECK(has(text, part));
  }
  CHECK(has(text, "a\\nb\\x1b[31m\\xff"));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("options out of range are refused by name") {
  const Job job = starved_job(1);
  const auto message = [&](const Options& options) {
    return test::usage_error([&] { (void)run(job, options); });
  };
  CHECK(has(message({.wait = -1}), "--wait -1"));
  CHECK(has(message({.warmup = -1}), "--warmup"));
  CHECK(has(message({.active = 0}), "--active"));
  CHECK(has(message({.repeat = 0}), "--repeat"));
}

TEST_CASE("a stop before the first cycle is an interruption, a later one ends the profile") {
  const Job job = starved_job(1);
  std::stop_source stopped;
  stopped.request_stop();
  Options options = kShort;
  options.stop = stopped.get_token();
  CHECK_THROWS_AS((void)run(job, options), Error);

  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](const std::string& line) {
    if (has(line, "cycle 3")) source.request_stop();
  };
  const Profile profile = run(job, options);
  CHECK(profile.interrupted);
  CHECK(profile.cycles == 2);
}
