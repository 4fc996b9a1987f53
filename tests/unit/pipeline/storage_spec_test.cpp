// `emulate.storage` of a pipeline file.
#include <string>

#include "support/all_stages.hpp"
#include "support/files.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/pipeline.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string with_emulate(const std::string& emulate) {
  return R"({"stages": [{"use": "decode.fake"}], "emulate": )" + emulate + "}";
}

PipelineSpec again(const PipelineSpec& spec) { return parse(to_json(spec)); }

}  // namespace

TEST_CASE("storage alone has the emulator's defaults and emulates no accelerator") {
  const PipelineSpec spec = parse(with_emulate(R"({"storage": {}})"));
  CHECK(spec.emulated_storage == StorageSpec{});
  CHECK(spec.emulated_storage->latency_ms == 20);
  CHECK(spec.emulated_storage->bandwidth_mb_per_s == 100);
  CHECK(spec.emulated_storage->requests_per_second == 500);
  CHECK(spec.emulated_storage->burst == 100);
  CHECK_FALSE(spec.emulate);
  CHECK(spec.device == "auto");
  CHECK(again(spec) == spec);
  CHECK_FALSE(parse(with_emulate("{}")).emulated_storage);
  CHECK(parse(with_emulate("{}")).emulate);
}

TEST_CASE("storage stands next to an accelerator, and both are written") {
  const PipelineSpec spec = parse(with_emulate(
      R"({"step_ms": 5, "storage": {"latency_ms": 8, "latency_p99_ms": 9.5,
          "bandwidth_mb_per_s": 0, "requests_per_second": 0, "burst": 1}})"));
  REQUIRE(spec.emulate);
  CHECK(spec.emulate->step_ms == 5);
  REQUIRE(spec.emulated_storage);
  CHECK(spec.emulated_storage->latency_p99_ms == 9.5);
  CHECK(spec.emulated_storage->bandwidth_mb_per_s == 0);
  CHECK(again(spec) == spec);
}

TEST_CASE("storage is set from the command line, with or without an accelerator in the file") {
  const PipelineSpec spec = parse(kFakePipeline, {{"emulate.storage.latency_ms", "5"}});
  CHECK(spec.emulated_storage->latency_ms == 5);
  CHECK(spec.emulate == parse(kFakePipeline).emulate);
  const PipelineSpec alone = parse(R"({"stages": [{"use": "decode.fake"}]})",
                                   {{"emulate.storage.requests_per_second", "20"}});
  CHECK(alone.emulated_storage->requests_per_second == 20);
  CHECK_FALSE(alone.emulate);
  // The tail follows the median unless it is given, also when an effective spec is changed.
  CHECK(change_pipeline(spec, fake_registry(), {{"emulate.storage.latency_ms", "500"}})
            .emulated_storage->latency_ms == 500);
}

TEST_CASE("storage that is wrong names the place and what is right") {
  const auto bad = [](const std::string& storage) {
    return refusal(with_emulate(R"({"storage": )" + storage + "}"));
  };
  CHECK(bad("3") == "f.json: /emulate/storage must be an object {...}, not 3");
  CHECK(bad(R"({"latency_sm": 3})") ==
        "f.json: /emulate/storage/latency_sm is an unknown key; did you mean \"latency_ms\"?");
  CHECK(bad(R"({"latency_ms": -1})") ==
        "f.json: /emulate/storage/latency_ms must be a number from 0 to 60000, not -1");
  CHECK(has(bad(R"({"latency_ms": "20"})"), "/emulate/storage/latency_ms must be a number"));
  CHECK(has(bad(R"({"bandwidth_mb_per_s": -1})"), "/emulate/storage/bandwidth_mb_per_s"));
  CHECK(has(bad(R"({"requests_per_second": -1})"), "/emulate/storage/requests_per_second"));
  CHECK(has(bad(R"({"burst": 0})"), "/emulate/storage/burst must be a number from 1 to"));
  CHECK(bad(R"({"latency_p99_ms": 5})") ==
        "f.json: /emulate/storage/latency_p99_ms must be at least latency_ms (20), not 5");
  CHECK(bad(R"({"latency_ms": 0, "latency_p99_ms": 5})") ==
        "f.json: /emulate/storage/latency_p99_ms must be 0, as latency_ms is, not 5");
  CHECK(refusal(kFakePipeline, {{"emulate.storage.burst", "0"}})
            .starts_with("--set emulate.storage.burst=0: /emulate/storage/burst must be"));
  CHECK(has(refusal(with_emulate(R"({"storag": {}})")), "did you mean \"storage\"?"));
}
