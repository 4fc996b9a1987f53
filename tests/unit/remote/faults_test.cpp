// What goes wrong between engine and adapter: a clear error, what was measured is kept, and nothing
// hangs.
#include <future>
#include <string>
#include <vector>

#include "support/attached.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// After some complete rounds.
constexpr int kLateBlock = 20;

SimulatedChain chain_with_drop() {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 0.2e-3},
                  {.name = "decode", .category = Category::decode, .seconds = 1e-3},
                  {.name = "crop", .category = Category::augment, .seconds = 0.2e-3}};
  return chain;
}

SimulatedReplayer simulated() {
  return SimulatedReplayer(chain_with_drop(), {.noise = {.white_cv = 0.05}});
}

struct Outcome {
  std::string error;  ///< as error_of() gives it
  int partial_reports = 0;
  bool interrupted = false;
  bool named = false;  ///< the report names the planted stage
};

Outcome bisect_with(const FaultPlan& plan, const AdapterLimits& limits = {}) {
  SimulatedReplayer replayer = simulated();
  ServedReplayer served(replayer, plan);
  Outcome outcome;
  outcome.error = error_of([&] {
    const auto remote = served.attach(limits);
    const Report report =
        bisect(*remote, {.sustain_seconds = 0, .explain = false, .partial = [&](const Report&) {
                           ++outcome.partial_reports;
                         }});
    outcome.interrupted = report.interrupted;
    outcome.named = report.verdict.stage == "decode";
  });
  return outcome;
}

}  // namespace

TEST_CASE("an adapter that keeps to the protocol gets a verdict") {
  const Outcome outcome = bisect_with({});
  CHECK(outcome.error.empty());
  CHECK(outcome.named);
}

TEST_CASE("what the protocol allows changes nothing") {
  for (const Fault fault : {Fault::busy_first, Fault::stale_first, Fault::unknown_field}) {
    CAPTURE(static_cast<int>(fault));
    const Outcome outcome = bisect_with({.fault = fault, .nth = 5});
    CHECK(outcome.error.empty());
    CHECK(outcome.named);
  }
}

TEST_CASE(
    "every broken answer is an error that says what is wrong, and the rounds before it stay") {
  struct Case {
    Fault fault;
    std::string message;
  };
  const std::vector<Case> cases{
      {Fault::truncated,
       "3: the training process ended the connection before it answered 'run', "
       "inside a message"},
      {Fault::closed, "3: the training process ended the connection before it answered 'run'"},
      {Fault::too_long, "1: a message from the adapter is longer than 1048576 bytes"},
      {Fault::no_newline, "1: a message from the adapter is longer than 1048576 bytes"},
      {Fault::not_json, "1: a message while 'run' is open is not JSON"},
      {Fault::too_deep, "1: a message while 'run' is open is nested deeper than 64 levels"},
      {Fault::wrong_type, "field 'type' must be 'run', 'busy' or 'error'"},
      {Fault::wrong_field, "field 'seconds' must be a number of at least 0"},
      {Fault::missing_field, "1: the answer to 'run': field 'block' must be there"},
      {Fault::future_id, "field 'id' must be that of a request that was sent"},
      {Fault::error, "3: stage 'crop', sample 42: ValueError: bad crop"}};
  for (const Case& broken : cases) {
    CAPTURE(broken.message);
    const Outcome outcome = bisect_with({.fault = broken.fault, .nth = kLateBlock});
    CHECK_MESSAGE(has(outcome.error, broken.message), outcome.error);
    CHECK(outcome.partial_reports > 0);
  }
}

TEST_CASE("other answers are checked as blocks are") {
  struct Case {
    std::string type;
    std::string message;
  };
  const std::vector<Case> cases{{"describe", "'describe': field 'chain'"},
                                {"sizes", "'sizes': field 'item_bytes'"},
                                {"prepare", "'prepare': field 'cache'"}};
  for (const Case& broken : cases) {
    CAPTURE(broken.type);
    const Outcome outcome = bisect_with({.fault = Fault::missing_field, .type = broken.type});
    CHECK_MESSAGE(has(outcome.error, broken.message), outcome.error);
  }
}

TEST_CASE("an adapter that is silent for too long ends the run") {
  constexpr double kAnswer = 3;
  const Outcome outcome =
      bisect_with({.fault = Fault::silent, .nth = kLateBlock}, {.answer = kAnswer});
  CHECK_MESSAGE(has(outcome.error, "3: the training process has not answered 'run' for 3"),
                outcome.error);
  CHECK(has(outcome.error, "--answer-timeout"));
  CHECK(outcome.partial_reports > 0);
}

TEST_CASE("a stop reaches the adapter while it runs a block, and gives the report so far") {
  int missed = 0;
  SUBCASE("at once") {}
  SUBCASE("only the fourth interrupts it") { missed = 3; }
  SimulatedReplayer replayer = simulated();
  std::stop_source source;
  int blocks = 0;
  bool stopped = false;
  ServedReplayer served(replayer, {.fault = Fault::silent, .nth = kLateBlock},
                        [&](FakeAdapter& adapter) {
                          adapter.missed_stops = missed;
                          adapter.on_request = [&](const std::string& type) {
                            if (type == "run" && blocks++ == kLateBlock) source.request_stop();
                            stopped = stopped || type == "stop";
                          };
                        });
  auto remote = served.attach({}, source.get_token());
  const Report report =
      bisect(*remote, {.sustain_seconds = 0, .explain = false, .stop = source.get_token()});
  CHECK(remote->finish(true, 130, "interrupted"));
  remote.reset();
  CHECK(report.interrupted);
  CHECK(report.verdict.rounds > 0);
  const nlohmann::json finish = served.ended().finish;
  CHECK(finish.at("then") == "exit");
  CHECK(finish.at("exit_code") == 130);
  CHECK(stopped);
}

TEST_CASE("an adapter whose script is stuck does not hold up a stop") {
  SimulatedReplayer replayer = simulated();
  std::stop_source source;
  std::promise<void> freed;
  std::shared_future<void> free = freed.get_future().share();
  int blocks = 0;
  ServedReplayer served(replayer, {}, [&](FakeAdapter& adapter) {
    adapter.on_request = [&](const std::string& type) {
      if (type != "run" || blocks++ != kLateBlock) return;
      source.request_stop();
      free.wait();
    };
  });
  auto remote = served.attach({.stop = 0.05, .finish = 0.05}, source.get_token());
  const Report report =
      bisect(*remote, {.sustain_seconds = 0, .explain = false, .stop = source.get_token()});
  CHECK_FALSE(remote->finish(true, 130, "interrupted"));
  freed.set_value();
  CHECK(report.interrupted);
}
