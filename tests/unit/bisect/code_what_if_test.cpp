// What-ifs in the terms of a job in code.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/costs/device_changes.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/bisect/costs/worker_changes.hpp"

using namespace cachebisect;
using test::has;

namespace {

ChainDescription chain(int workers = 2) {
  SimulatedChain simulated = test::starved_chain();
  simulated.workers = workers;
  ChainDescription described = SimulatedReplayer(simulated).describe();
  described.settings = test::torch_settings();
  described.stages[2].name = "transforms[0] Crop";
  described.stages[3].name = "transforms[1] Flip";
  return described;
}

WhatIf parsed(std::string_view text) { return parse_what_if(text, chain()); }

std::string refusal(std::string_view text, int workers = 2) {
  return test::usage_error([&] { (void)parse_what_if(text, chain(workers)); });
}

}  // namespace

TEST_CASE("arguments of a DataLoader are what-ifs, and arms of the same name") {
  const auto override_of = [](const std::string& text, const std::string& name) {
    const WhatIfArm wanted = arm_of(parsed(text), chain());
    REQUIRE_MESSAGE(wanted.arm.has_value(), wanted.why);
    return wanted.arm->overrides.at(name);
  };
  CHECK(parsed("num_workers=4").kind == WhatIf::Kind::workers);
  CHECK(override_of("num_workers=4", "num_workers") == "4");
  CHECK(parsed("prefetch_factor=4").kind == WhatIf::Kind::prefetch);
  CHECK(override_of("prefetch_factor=4", "prefetch_factor") == "4");
  CHECK(override_of("pin_memory=True", "pin_memory") == "true");
  CHECK(override_of("non_blocking=True", "non_blocking") == "true");
  CHECK(override_of("in_order=False", "in_order") == "false");
  CHECK(override_of("multiprocessing_context=spawn", "multiprocessing_context") == "\"spawn\"");
  CHECK(override_of("sharing_strategy=file_system", "sharing_strategy") == "\"file_system\"");
  CHECK(override_of("worker_threads=1", "worker_threads") == "1");
  const WhatIfArm batch = arm_of(parsed("batch_size=64"), chain());
  CHECK_FALSE(batch.arm.has_value());
  CHECK(has(batch.why, "in the code"));
}

TEST_CASE("the name of a flag alone switches it on") {
  for (const std::string name : {"amp", "channels_last", "compile", "pin_memory"}) {
    CAPTURE(name);
    const WhatIf what_if = parsed(name);
    CHECK(what_if.text == name);
    CHECK(what_if.value == "true");
    const WhatIfArm wanted = arm_of(what_if, chain());
    REQUIRE_MESSAGE(wanted.arm.has_value(), wanted.why);
    CHECK(wanted.arm == arm_of(parsed(name + "=True"), chain()).arm);
  }
  CHECK(has(refusal("num_workers"), "not understood"));
  CHECK(has(refusal("am"), "not understood"));
  ChainDescription of_file = chain();
  of_file.settings.of_file = true;
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_what_if("amp", of_file)),
                       doctest::Contains("not understood"), Error);
}

TEST_CASE("another way to compute the step is said to change training") {
  const auto note = [](const std::string& text) {
    return predict_what_if(parsed(text), chain(), std::nullopt, std::nullopt).note;
  };
  for (const std::string text : {"amp", "channels_last=True", "compile"}) {
    CHECK(has(note(text), "changes training"));
  }
  CHECK_FALSE(has(note("pin_memory"), "changes training"));
  CHECK(changes_training(parsed("amp"), chain()) == "it rounds otherwise, which changes training");
  CHECK(changes_training(parsed("pin_memory"), chain()).empty());
  CHECK(predict_what_if(parsed("compile"), chain(), std::nullopt, std::nullopt).line ==
        "model = torch.compile(model)");
}

TEST_CASE("a stage goes by the first word of its name") {
  CHECK(parsed("transforms[1]=free").stage == 3);
  CHECK(parsed("transforms[0]/2").factor == 0.5);
  CHECK(parsed("transforms[1] Flip=free").stage == 3);
  CHECK(arm_of(parsed("transforms[1]=free"), chain()).arm ==
        Arm{.kind = ArmKind::bypass, .stage = 4});
  ChainDescription twins = chain();
  twins.stages[2].name = "transforms[1] Crop";
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_what_if("transforms[1]=free", twins)),
                       doctest::Contains("no stage"), Error);
}

TEST_CASE("what is not understood is refused in the same terms") {
  CHECK(has(refusal("workers=4"), "num_workers"));
  CHECK(has(refusal("num_worker=4"), "did you mean \"num_workers\"?"));
  CHECK(has(refusal("num_workers=four"), "a whole number from 0 to 1024"));
  CHECK(has(refusal("pin_memory=2"), "True or False"));
  CHECK(has(refusal("multiprocessing_context=thread"), "fork or spawn or forkserver"));
  CHECK(has(refusal("transforms[0]=3"), "free or cost a part"));
  CHECK_FALSE(has(refusal("stages.crop.size=3"), "--set"));
  CHECK(has(refusal("prefetch_factor=4", 0), "no workers"));
}

TEST_CASE("the answer names the line and the memory of more workers") {
  Measurements run = test::measure_chain(test::starved_chain(), {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.worker_bytes = 210e6;
  const auto answer = [&](const std::string& text) {
    return predict_what_if(parse_what_if(text, run.chain), run.chain, Forecast::of(run));
  };
  const WhatIfResult four = answer("num_workers=4");
  CHECK(four.line == "DataLoader(..., num_workers=4)");
  CHECK(has(four.note, "210 MB of memory, together 420 MB more"));
  CHECK(four.predicted.value.has_value());
  CHECK(answer("num_workers=1").note.empty());
  CHECK(answer("crop=free").line.empty());
  // As many batches in advance as now, in other words.
  run.chain.ring_prefetch = 4;
  CHECK(answer("prefetch_factor=2").predicted.interval->high <
        1.5 * *answer("prefetch_factor=2").predicted.value);
}

TEST_CASE("what a job in code reads is kept where the adapter says that it can") {
  CHECK(has(refusal("read.cache=/scratch"), "what this job reads cannot be kept"));
  CHECK_FALSE(has(refusal("read.cache=/scratch"), "READ.cache=DIR"));
  Measurements run = test::measure_chain(test::starved_chain(), {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.settings.all.push_back({.path = "read_cache",
                                    .name = "read_cache",
                                    .code = R"(cached(dataset, disk={}, disk_limit="LIMIT"))",
                                    .values = JobSetting::Values::word,
                                    .words = {"DIR"}});
  const WhatIf what_if = parse_what_if("read.cache=/scratch", run.chain);
  const WhatIfArm wanted = arm_of(what_if, run.chain);
  REQUIRE(wanted.arm.has_value());
  CHECK(wanted.arm->overrides.at("read_cache") == "\"/scratch\"");
  const WhatIfResult answer = predict_what_if(what_if, run.chain, Forecast::of(run));
  CHECK(answer.line == R"(cached(dataset, disk="/scratch", disk_limit="LIMIT"))");
  run.chain.samples = 1000;
  run.chain.stages[0].output_bytes = 2e5;
  CHECK(predict_what_if(what_if, run.chain, Forecast::of(run)).line ==
        R"(cached(dataset, disk="/scratch", disk_limit="0.25GB"))");
  CHECK(answer.predicted.value.has_value());
  const std::string forms = test::usage_error([&] { (void)parse_what_if("x", run.chain); });
  CHECK(has(forms, "READ.cache=DIR"));
  CHECK_FALSE(has(forms, "read_cache"));
  const std::string by_name =
      test::usage_error([&] { (void)parse_what_if("read_cache=DIR", run.chain); });
  CHECK(has(by_name, "write READ.cache=DIR"));
}

TEST_CASE("a cache in code is predicted: the stages before it run for no sample") {
  Measurements run = test::measure_chain(test::starved_chain(), {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  std::vector<std::string> words;
  for (const StageDescription& stage : run.chain.stages) words.push_back(stage.name);
  words.emplace_back("sample");
  run.chain.settings.all.push_back({.path = "cache",
                                    .name = "cache",
                                    .code = "cached(dataset, after={})",
                                    .values = SettingValues::word,
                                    .words = std::move(words)});
  const auto answer = [&](const std::string& text) {
    return predict_what_if(parse_what_if(text, run.chain), run.chain, Forecast::of(run));
  };
  const double live = *Forecast::of(run)->live().value;
  const WhatIfResult early = answer("cache=" + run.chain.stages[1].name);
  const WhatIfResult whole = answer("cache=sample");
  REQUIRE(early.predicted.value.has_value());
  CHECK(*whole.predicted.value > *early.predicted.value);
  CHECK(*early.predicted.value > 0.9 * live);
  CHECK(has(whole.note, "from the second epoch on"));
  CHECK(whole.line == "cached(dataset, after=\"sample\")");
}

TEST_CASE("a cache in code gains less on a machine where fetching a sample takes longer") {
  SimulatedChain simulated = test::starved_chain();
  simulated.workers = 1;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.settings.all.push_back({.path = "cache",
                                    .name = "cache",
                                    .code = "cached(dataset, after={})",
                                    .values = SettingValues::word,
                                    .words = {"crop"}});
  run.chain.stages[2].output_bytes = 1e5;
  for (const double scale : {1.0, 4.0}) {
    CAPTURE(scale);
    run.chain.cache_hit = CacheHit{scale * 5e-5, scale * 5e-10, 1.3};
    // Read, decode and crop take no time, fetching takes its own.
    SimulatedChain changed = simulated;
    changed.stages[0].seconds = 0;
    changed.stages[1].seconds = 0;
    changed.stages[2].seconds = scale * 1e-4;
    const WhatIf what_if = parse_what_if("cache=crop", run.chain);
    const Estimate predicted = predict_what_if(what_if, run.chain, Forecast::of(run)).predicted;
    REQUIRE(predicted.value);
    CHECK(*predicted.value == doctest::Approx(test::rate_of(changed)).epsilon(0.03));
    changed.stages[2].seconds *= 1.3;
    CHECK(predicted.interval->low < 1.01 * test::rate_of(changed));
    CHECK(predicted.interval->low > 0.9 * test::rate_of(changed));
  }
}

TEST_CASE("threads of a worker make samples side by side: what waits overlaps, what computes not") {
  SimulatedChain simulated = test::starved_chain(100e-6);
  simulated.stages.front().seconds = 2e-3;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  const auto answer = [&](const std::string& text) {
    return predict_what_if(parse_what_if(text, run.chain), run.chain, Forecast::of(run)).predicted;
  };
  // Per sample of a worker: 2 ms of waiting, 140 us on a core.
  const double one = *answer("read_threads=1").value;
  CHECK(one == doctest::Approx(*Forecast::of(run)->live().value).epsilon(0.01));
  CHECK(*answer("read_threads=2").value == doctest::Approx(2.14 / 1.14 * one).epsilon(0.03));
  CHECK(answer("read_threads=2").interval->high > 1.98 * one);
  // At most, a thread computes while the others wait; a batch has 8 samples.
  CHECK(*answer("read_threads=8").value == doctest::Approx(2.14 / 0.39 * one).epsilon(0.03));
  CHECK(answer("read_threads=8").interval->high > 7.9 * one);
  CHECK(answer("read_threads=64").value == answer("read_threads=8").value);
  CHECK(arm_of(parse_what_if("read_threads=4", run.chain), run.chain)
            .arm->overrides.at("read_threads") == "4");
}

TEST_CASE("stages on the device are predicted: they are free, and fewer bytes are carried") {
  SimulatedChain simulated = test::starved_chain();
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  CHECK(has(test::usage_error([&] { (void)parse_what_if("flip=device", run.chain); }),
            "no stage of this job"));
  run.chain.settings.all.push_back({.path = "on_device",
                                    .name = "on_device",
                                    .code = "then {}",
                                    .values = SettingValues::word,
                                    .words = {"crop", "flip"}});
  const auto answer = [&](const std::string& text) {
    return predict_what_if(parse_what_if(text, run.chain), run.chain, Forecast::of(run));
  };
  const WhatIfResult crop = answer("crop=device");
  REQUIRE(crop.predicted.value.has_value());
  CHECK(*crop.predicted.value > *answer("flip=device").predicted.value);
  CHECK(*answer("flip=device").predicted.value >= *answer("flip=free").predicted.value * 0.99);
  CHECK(crop.line == "then \"crop\"");
  CHECK(has(crop.note, "what the device takes"));
  const WhatIfArm arm = arm_of(parse_what_if("crop=device", run.chain), run.chain);
  CHECK(arm.arm->overrides.at("on_device") == "\"crop\"");
  const std::string refused =
      test::usage_error([&] { (void)parse_what_if("decode=device", run.chain); });
  CHECK(has(refused, "only what runs last"));
  CHECK(has(refused, "crop or flip"));
  CHECK(has(refused, "STAGE=device"));
}

TEST_CASE("a batch without what no step reads is predicted: it moves fewer bytes") {
  SimulatedChain simulated = test::starved_chain(10e-6);
  simulated.collate_seconds = 500e-6;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.settings.all.push_back({.path = "unused",
                                    .name = "unused",
                                    .code = "del batch['depth']",
                                    .values = SettingValues::word,
                                    .words = {"drop"}});
  const auto answer = [&] {
    const WhatIf asked = parse_what_if("unused=drop", run.chain);
    return predict_what_if(asked, run.chain, Forecast::of(run));
  };
  CHECK_FALSE(answer().predicted.value.has_value());
  run.chain.batch_contents = BatchContents{0, 3, 3, 8e6, 6e6};
  const WhatIfResult found = answer();
  simulated.collate_seconds *= 0.25;
  REQUIRE(found.predicted.value);
  CHECK(*found.predicted.value == doctest::Approx(test::rate_of(simulated)).epsilon(0.03));
  simulated.collate_seconds *= 2.5;  // As if half of its cost came by the byte.
  CHECK(found.predicted.interval->low < test::rate_of(simulated));
  CHECK(found.line == "del batch['depth']");
}

TEST_CASE("a moved stage that makes floats leaves a quarter of the bytes to carry") {
  ChainDescription described = chain();
  described.stages[2].makes_floats = true;
  const DeviceChanges changes = on_device_from(described, 2);
  const auto factor_of = [](const CostChanges& changed, std::size_t stage) {
    const auto found = std::ranges::find(changed.stages, stage, &CostScale::stage);
    return found == changed.stages.end() ? 1.0 : found->factor;
  };
  CHECK(factor_of(changes.likely, 1) == 1);
  CHECK(factor_of(changes.likely, 2) == 0);
  CHECK(factor_of(changes.likely, 3) == 0);
  CHECK(factor_of(changes.likely, 4) == 0.25);
  CHECK(factor_of(changes.least, 4) == 1);
}

TEST_CASE("the first worker process may cost what nobody knows: sending, and the step's threads") {
  SimulatedChain simulated = test::starved_chain();
  simulated.workers = 0;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  const auto low_end = [&] {
    const WhatIf one = parse_what_if("num_workers=1", run.chain);
    return predict_what_if(one, run.chain, Forecast::of(run)).predicted.interval->low;
  };
  const double threads = low_end();
  run.chain.worker_processes = true;
  const double processes = low_end();
  const double batch = static_cast<double>(run.chain.batch_size);
  CHECK(1 / processes - 1 / threads >= 2e-3 / batch);
  CHECK(processes > 0.2 * threads);
  // No other change of the workers sends what was not sent before.
  CHECK(changed_workers(run.chain, 1).unknown_seconds > 0);
  CHECK(changed_workers(run.chain, 0).unknown_seconds == 0);
  run.chain.workers = 2;
  CHECK(changed_workers(run.chain, 4).unknown_seconds == 0);
}

namespace {

/// A job on the CPU that loads in the training process: 300 us per sample, and a step of 250 us
/// that keeps so many cores busy.
Measurements run_on_cpu(double busy_cores) {
  SimulatedChain simulated = test::starved_chain(240e-6);
  simulated.cores = 2;
  simulated.workers = 0;
  simulated.device_is_host = true;
  simulated.step_seconds = 0;
  simulated.trainer_seconds = 2e-3;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.worker_processes = true;
  run.chain.train_threads = 2;
  run.chain.sending = SendingCost{0, 0};
  run.machine.usable_cpus = 2;
  for (BlockRecord& block : run.blocks) {
    block.result.cpu_seconds +=
        (busy_cores - 1) * 250e-6 * static_cast<double>(block.result.samples);
  }
  return run;
}

double gain_of_workers(const Measurements& run, int workers) {
  const auto forecast = Forecast::of(run);
  const WhatIf asked = parse_what_if("num_workers=" + std::to_string(workers), run.chain);
  const Estimate predicted = predict_what_if(asked, run.chain, forecast).predicted;
  CHECK(predicted.interval->low < *predicted.value);
  // Whatever the value is, the cores may be shared better.
  if (workers == 2) CHECK(predicted.interval->high > 1.2 * *forecast->live().value);
  return *predicted.value / *forecast->live().value;
}

}  // namespace

TEST_CASE("workers next to a step that keeps all cores busy gain nothing") {
  const Measurements run = run_on_cpu(2);
  CHECK(gain_of_workers(run, 1) == doctest::Approx(1).epsilon(0.05));
  CHECK(gain_of_workers(run, 2) == doctest::Approx(1).epsilon(0.05));
  Measurements sending = run;
  const auto batch = static_cast<double>(run.chain.batch_size);
  sending.chain.sending = SendingCost{batch * 40e-6, batch * 10e-6};
  CHECK(gain_of_workers(sending, 1) == doctest::Approx(550.0 / 600).epsilon(0.05));
}

TEST_CASE("workers next to a step in one thread load at the same time as it trains") {
  Measurements run = run_on_cpu(1);
  CHECK(gain_of_workers(run, 1) == doctest::Approx(550.0 / 300).epsilon(0.05));
  // On a machine that others keep busy a step with two threads may look so.
  run.disturbance.other_load = 1;
  CHECK(gain_of_workers(run, 1) == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("what sending batches costs is taken from both sides, where it was measured") {
  SimulatedChain simulated = test::starved_chain();
  simulated.workers = 0;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  run.chain.settings = test::torch_settings();
  run.chain.worker_processes = true;
  const auto batch = static_cast<double>(run.chain.batch_size);
  const auto predicted = [&](int workers) {
    const WhatIf asked = parse_what_if("num_workers=" + std::to_string(workers), run.chain);
    return predict_what_if(asked, run.chain, Forecast::of(run)).predicted;
  };
  // 500 us per sample in the worker, 125 us in the step.
  run.chain.sending = SendingCost{batch * 100e-6, batch * 10e-6};
  simulated.workers = 1;
  simulated.stages[0].seconds += 100e-6;
  CHECK(*predicted(1).value == doctest::Approx(test::rate_of(simulated)).epsilon(0.03));
  simulated.stages[0].seconds += 100e-6;
  CHECK(predicted(1).interval->low < test::rate_of(simulated));
  // Eight workers make enough: the training thread receives, while the device computes.
  run.chain.sending = SendingCost{batch * 100e-6, batch * 200e-6};
  CHECK(*predicted(8).value < 1 / 200e-6);
  CHECK(*predicted(8).value > 1 / 220e-6);
  CHECK(predicted(8).interval->low < 1 / 400e-6);
  CHECK(changed_workers(run.chain, 1).unknown_seconds == 0);
  CHECK(changed_workers(run.chain, 0).received_seconds == 0);
  run.chain.workers = 2;
  CHECK(changed_workers(run.chain, 4).received_seconds == 0);
}

TEST_CASE("a step whose threads are what the workers leave is known within their ratio") {
  SimulatedChain simulated = test::starved_chain();
  simulated.workers = 0;
  Measurements run = test::measure_chain(simulated, {.budget_seconds = 10});
  ChainDescription& described = run.chain;
  described.train_threads = 4;
  described.device_kind = DeviceKind::cpu;
  const auto answer = [&] {
    const WhatIf three = parse_what_if("workers=3", described);
    return predict_what_if(three, described, Forecast::of(run));
  };
  const WhatIfResult other_step = answer();  // Of no pipeline file.
  described.effective_json = R"({"train": {"model": "mlp"}})";
  const WhatIfResult with_fewer = answer();
  CHECK(changed_workers(described, 3).step_within == 4);
  CHECK(changed_workers(described, 9).step_within == 4);
  CHECK(with_fewer.predicted.interval->low < 0.9 * other_step.predicted.interval->low);
  CHECK(with_fewer.predicted.interval->high >= other_step.predicted.interval->high);
  CHECK(with_fewer.predicted.value == other_step.predicted.value);
  CHECK(has(with_fewer.note, "computes with 1 thread instead of 4"));
  described.effective_json = R"({"train": {"model": "mlp", "threads": 4}})";
  CHECK(changed_workers(described, 3).step_within == 1);
}
