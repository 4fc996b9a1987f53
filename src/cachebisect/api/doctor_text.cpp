#include <cmath>
#include <string>

#include "cachebisect/api/doctor.hpp"
#include "cachebisect/report/number_format.hpp"
#include "cachebisect/report/text_layout.hpp"

namespace cachebisect {
namespace {

constexpr int kColumns = 80;

std::string decimal(double value) {
  std::string text = std::to_string(std::round(value * 10) / 10);
  return text.substr(0, text.find('.') + 2);
}

// "label    text", the lines that follow indented to the text.
std::string labelled(const std::string& label, const std::string& text) {
  constexpr std::size_t kLabelColumns = 9;
  std::string line = label;
  line.resize(kLabelColumns, ' ');
  for (const char c : wrap(text, kColumns - static_cast<int>(kLabelColumns), 0)) {
    line += c;
    if (c == '\n') line.append(kLabelColumns, ' ');
  }
  line.resize(line.size() - kLabelColumns);
  return line;
}

std::string machine_lines(const Diagnosis& d) {
  const MachineInfo& m = d.machine;
  const std::string machine = m.cpu + ", " + std::to_string(m.cores) + " cores, " +
                              decimal(m.usable_cpus) + " usable, " + format_bytes(m.memory_bytes);
  std::string system = m.os;
  if (m.virtualized) system += *m.virtualized ? ", virtual machine" : ", bare metal";
  std::string device = d.device.name;
  if (d.device.memory_bytes)
    device += ", " + format_bytes(static_cast<double>(*d.device.memory_bytes));
  if (d.copy_gb_per_s) device += ", copies " + decimal(*d.copy_gb_per_s) + " GB/s";
  return labelled("machine", machine) + labelled("system", system) + labelled("device", device) +
         labelled("memory", decimal(d.memory_gb_per_s) + " GB/s moved by one core");
}

std::string noise_line(const Diagnosis& d) {
  std::string text = "equal 5 ms pieces of work differ by " +
                     format_percent(d.noise.block_cv.value_or(0)) +
                     " (standard deviation over mean)";
  if (d.noise.steal_share)
    text += "; " + format_percent(*d.noise.steal_share) + " of CPU time stolen";
  return labelled("noise", text);
}

std::string floor_line(const Diagnosis& d) {
  return labelled("floor",
                  "the tool itself: " + format_seconds(d.floor.ns_per_sample.value_or(0) * 1e-9) +
                      " a sample, " + format_seconds(d.floor.us_per_batch.value_or(0) * 1e-6) +
                      " a batch");
}

std::string meaning(const Diagnosis& d) {
  if (!d.detectable_drop) {
    return wrap(
        "This machine is too unsteady now: 15 rounds would not certify even a drop of 60%. Stop "
        "other work on "
        "it, or give a longer --budget.",
        kColumns, 0);
  }
  return wrap("A drop of " + format_percent(*d.detectable_drop) +
                  " or more can be told from noise here within 15 rounds; smaller ones need a "
                  "longer --budget. Stages "
                  "that cost less than " +
                  format_seconds(10 * d.floor.ns_per_sample.value_or(0) * 1e-9) +
                  " a sample are too close to the tool's own cost to be judged.",
              kColumns, 0);
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  return machine_lines(diagnosis) + noise_line(diagnosis) + floor_line(diagnosis) + "\n" +
         meaning(diagnosis);
}

}  // namespace cachebisect
