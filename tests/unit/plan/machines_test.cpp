// Lists of machines: what is read, and where what is wrong is said to be.
#include "cachebisect/plan/machines.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;
using plan::parse_machines;

TEST_CASE("machines are read from a list, or from an object with one; comments are allowed") {
  const auto machines = parse_machines(R"([  // two
      {"name": "a", "cores": 8},
      {"name": "b", "cores": 6.5, "auxiliary_cores": 12, "accelerators": 2, "core_speed": 1.2,
       "accelerator_speed": 2, "storage_mb_per_s": 400, "price_per_hour": 3.5}])",
                                       "m.json");
  REQUIRE(machines.size() == 2);
  CHECK(machines[0].accelerators == 1);
  CHECK(machines[0].cores_each() == 8);
  CHECK_FALSE(machines[0].price_per_hour.has_value());
  CHECK(machines[1].cores_each() == 9.25);
  CHECK(machines[1].storage_bytes_per_second == 4e8);
  CHECK(parse_machines(R"({"machines": [{"name": "a", "cores": 1}]})", "m.json").size() == 1);
}

TEST_CASE("what is wrong in a list is named by its place") {
  const auto refused = [](const std::string& text) {
    return usage_error([&] { static_cast<void>(parse_machines(text, "m.json")); });
  };
  CHECK(has(refused("[]"), "must have a machine"));
  CHECK(has(refused("{}"), "/machines: must have a machine"));
  CHECK(has(refused("3"), "m.json"));
  CHECK(has(refused(R"([{"cores": 8}])"), "/0/name"));
  CHECK(has(refused(R"([{"name": "a"}])"), "/0/cores: must be the number of physical cores"));
  CHECK(has(refused(R"([{"name": "a", "cores": 0}])"), "/0/cores"));
  CHECK(has(refused(R"([{"name": "a", "cores": -2}])"), "/0/cores"));
  CHECK(has(refused(R"([{"name": "a", "cores": 1e300}])"), "/0/cores"));
  CHECK(has(refused(R"([{"name": "a", "cores": 8, "accelerators": 0}])"), "/0/accelerators"));
  CHECK(has(refused(R"([{"name": "a", "cores": 8, "core_speed": 0}])"), "/0/core_speed"));
  CHECK(has(refused(R"([{"name": "a", "cores": 8, "price_per_hour": -1}])"), "/0/price_per_hour"));
  CHECK(has(refused(R"([{"name": "a", "cores": 8, "gpus": 2}])"), "/0/gpus: is not known"));
  CHECK(has(refused(R"([{"name": "a", "cores": 8)"), "m.json:1"));
}
