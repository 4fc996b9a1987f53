// Chains of the published corpus, answered over a socket: the reports are those of the same chains
// without a socket, to the last digit.
#include <sstream>
#include <string>

#include "support/attached.hpp"
#include "support/sanitized.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

selftest::PlantedChain chain_of(std::uint64_t seed) {
  selftest::DrawOptions options = selftest::corpus(true, 2);
  options.max_stages = 10;
  return selftest::draw(seed, options);
}

/// The JSON report without the moment when it was made.
/// Without what this process and machine tell, whatever is measured.
nlohmann::json timeless(const Report& report) {
  std::ostringstream text;
  write_json(report, text);
  nlohmann::json json = nlohmann::json::parse(text.str());
  json.erase("started");
  json["recording"]["machine"].erase("memory_available_bytes");
  return json;
}

void check_equal_reports(const selftest::PlantedChain& planted, const BisectOptions& options) {
  CAPTURE(planted.seed);
  const SimulatedOptions simulated{.seed = planted.seed, .noise = {.white_cv = 0.01}};
  SimulatedReplayer local(planted.chain, simulated);
  const Report expected = bisect(local, options);
  SimulatedReplayer behind_socket(planted.chain, simulated);
  ServedReplayer served(behind_socket);
  const auto remote = served.attach();
  const Report report = bisect(*remote, options);
  CHECK(report.verdict.text == expected.verdict.text);
  CHECK(timeless(report) == timeless(expected));
}

}  // namespace

TEST_CASE("verdicts over a socket are those without one") {
  for (std::uint64_t seed = 1; seed <= (kIsSanitized ? 8 : 40); ++seed) {
    const selftest::PlantedChain planted = chain_of(seed);
    BisectOptions options;
    options.seed = seed;
    options.sustain_seconds = 0;
    options.explain = false;
    check_equal_reports(planted, options);
  }
}

TEST_CASE("so are payoffs, runs in one piece, what-ifs and their verification") {
  for (std::uint64_t seed = 101; seed <= (kIsSanitized ? 102 : 106); ++seed) {
    BisectOptions options;
    options.seed = seed;
    options.sustain_seconds = 1;
    options.what_ifs = {"workers=3", "train=free"};
    options.verify = true;
    check_equal_reports(chain_of(seed), options);
  }
}
