// What an adapter tells of its GPU at the end of a block.
#include <string>
#include <utility>

#include "support/adapter_json.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/remote/messages.hpp"

using namespace cachebisect;
using nlohmann::json;

namespace {

json answer_with(const json& device) {
  json block = test::to_json(BlockResult{});
  block["device"] = device;
  const json answer{{"id", 1}, {"type", "run"}, {"block", block}};
  return json::parse(answer.dump());  // as it comes from the socket
}

DeviceReading read(const json& device) { return read_block(answer_with(device), {}).device; }

}  // namespace

TEST_CASE("the reading of a block is what the adapter sends") {
  DeviceReading sent;
  sent.sm_clock_mhz = 1755;
  sent.memory_clock_mhz = 2619;
  sent.power_watts = 412.5;
  sent.utilization = 0.87;
  sent.pcie_generation = 5;
  sent.pcie_width = 16;
  sent.throttling = Throttling{.thermal = false, .power = true};
  const DeviceReading got = read(test::to_json(sent));
  CHECK(got.sm_clock_mhz == 1755);
  CHECK(got.memory_clock_mhz == 2619);
  CHECK(got.power_watts == 412.5);
  CHECK(got.utilization == 0.87);
  CHECK(got.pcie_generation == 5);
  CHECK(got.pcie_width == 16);
  REQUIRE(got.throttling);
  CHECK(got.throttling->power);
  CHECK_FALSE(got.throttling->thermal);
  CHECK(got.throttled());
}

TEST_CASE("what an adapter does not know of its GPU is unknown") {
  for (const json& device : {json(), json::object(), json{{"sm_clock_mhz", nullptr}}}) {
    CHECK_FALSE(read(device).sm_clock_mhz);
    CHECK_FALSE(read(device).throttling);
  }
}

TEST_CASE("a reading of another form is refused by the name of its field") {
  for (const auto& [device, field] :
       {std::pair{json(5), std::string("device")},
        std::pair{json{{"sm_clock_mhz", "fast"}}, std::string("sm_clock_mhz")},
        std::pair{json{{"pcie_width", -1}}, std::string("pcie_width")},
        std::pair{json{{"throttling", json::object()}}, std::string("thermal")}}) {
    CAPTURE(field);
    const std::string message =
        test::error_message([&, &sent = device] { (void)read(sent); }, ErrorKind::internal);
    CHECK(test::has(message, field));
  }
}
