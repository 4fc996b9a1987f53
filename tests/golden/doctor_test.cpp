#include "cachebisect/doctor/doctor.hpp"

#include "support/golden.hpp"
#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/warnings.hpp"

using namespace cachebisect;
using test::check_golden;
using test::has;
using test::widest_line;
using test::without_colors;

namespace {

Diagnosis quiet_machine() {
  Diagnosis d;
  d.machine.cpu = "Test CPU 9000";
  d.machine.cores = 8;
  d.machine.usable_cpus = 8;
  d.machine.memory_bytes = 64e9;
  d.machine.os = "Test OS 1, Linux 6.1";
  d.machine.virtualized = false;
  d.machine.noise.block_cv = 0.008;
  d.machine.noise.steal_share = 0;
  d.machine.noise.other_load = 0.03;
  d.machine.noise.frequency_change = 0.01;
  d.machine.noise.memory_stall_share = 0;
  d.machine.floor = {.ns_per_sample = 60, .us_per_batch = 8};
  d.pairs = 70;
  d.neighbour_difference = 0.006;
  d.trust_options.block_seconds = 0.05;
  d.trust = {.smallest_drop = 0.008, .seconds_for_a_fifth = 4.6};
  d.memory_gb_per_s = 14.25;
  d.memory_threads = 8;
  d.memory_all_gb_per_s = 61.5;
  d.device.name = "CPU";
  d.timers = {.median_seconds = 4e-6, .p99_seconds = 19e-6};
  d.page_cache = PageCacheFacts{.folder = "/data",
                                .file_system = "ext4",
                                .resident_after_write = 1,
                                .resident_after_eviction = 0,
                                .problem = ""};
  return d;
}

/// A container with 1.5 CPUs next to a busy process, with its data in memory.
Diagnosis unsteady_container() {
  Diagnosis d = quiet_machine();
  d.machine.usable_cpus = 1.5;
  d.machine.virtualized = true;
  d.machine.noise.block_cv = 0.21;
  d.neighbour_difference = 0.09;
  d.machine.noise.null_drop = {0.02, Interval{0.012, 0.04}};
  d.machine.noise.steal_share = 0.12;
  d.machine.noise.other_load = 0.8;
  d.machine.noise.frequency_change.reset();
  d.machine.noise.throttled_share = 0.4;
  d.machine.noise.memory_stall_share = 0.05;
  d.memory_threads = 2;
  d.trust = {.smallest_drop = 0.17, .seconds_for_a_fifth = 410};
  d.page_cache->file_system = "tmpfs";
  d.page_cache->resident_after_eviction = 1;
  d.warnings = find_machine_warnings(d.machine, 2);
  return d;
}

}  // namespace

TEST_CASE("the text for a quiet machine is the golden one") {
  check_golden("doctor_quiet.txt", to_text(quiet_machine()));
}

TEST_CASE("the text for an unsteady container is the golden one") {
  check_golden("doctor_unsteady.txt", to_text(unsteady_container()));
}

TEST_CASE("the diagnosis fits the terminal, and says the same with colours") {
  const Diagnosis d = unsteady_container();
  for (const int columns : {60, 80, 100, 120}) {
    CAPTURE(columns);
    const std::size_t widest = widest_line(to_text(d, {.columns = columns}));
    CHECK(widest <= static_cast<std::size_t>(columns));
    CHECK(widest + 20 > static_cast<std::size_t>(columns));
  }
  const std::string colored = to_text(d, {.color = true});
  CHECK(has(colored, "\x1b["));
  CHECK(without_colors(colored) == to_text(d));
}

TEST_CASE("doctor reports what it cannot determine") {
  Diagnosis d = quiet_machine();
  d.pairs = 3;
  CHECK(has(to_text(d), "Too little was measured"));
  d.pairs = 70;
  d.trust = {};
  CHECK(has(to_text(d), "not even a drop of 60%"));
  d.page_cache->resident_after_eviction.reset();
  CHECK(has(to_text(d), "does not report"));
}
