// Checks that a step gets what it expects: from the chain, where every message names the stage to
// add, and the device that it runs on.
#include <algorithm>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

template <class Range, class Text>
std::string join(const Range& items, const std::string& separator, Text text) {
  std::string joined;
  for (const auto& item : items) {
    joined += (joined.empty() ? "" : separator) + std::string(text(item));
  }
  return joined;
}

/// Checks one field; every message says what the step needs and what the chain gives.
class FieldCheck {
 public:
  FieldCheck(const std::string& step, const ExpectedField& expected, const FieldSpec& given)
      : step_(step), expected_(expected), given_(given) {}

  void run() const {
    check_dtype();
    check_rank();
    check_size('C', expected_.channels);
    check_size('H', expected_.height);
    check_size('W', expected_.width);
  }

 private:
  [[noreturn]] void refuse(const std::string& needs, const std::string& remedy) const {
    throw Error(ErrorKind::usage, "field '" + expected_.name + "': the training step '" + step_ +
                                      "' needs " + needs + ", the chain gives " +
                                      std::string(to_string(given_.dtype)) + " " +
                                      given_.shape.to_string() + "; " + remedy);
  }

  void check_dtype() const {
    const auto& dtypes = expected_.dtypes;
    if (dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), given_.dtype) != dtypes.end()) {
      return;
    }
    const std::string wanted = join(dtypes, " or ", [](DType d) { return to_string(d); });
    const std::string first(to_string(dtypes.front()));
    const bool wants_float = std::all_of(dtypes.begin(), dtypes.end(), is_float);
    if (!is_float(given_.dtype) && wants_float) {
      refuse(wanted, "add augment.to_float before collate, or device.to_float after the copy");
    }
    if (!wants_float) refuse(wanted, "use a source or stage that outputs it as " + first);
    refuse(wanted,
           R"(add augment.cast before collate, or device.cast after the copy, with "dtype": ")" +
               first + '"');
  }

  void check_rank() const {
    if (expected_.layout.empty() || given_.shape.rank() == expected_.layout.size()) return;
    std::string remedy = "change the stages so that the field has " +
                         std::to_string(expected_.layout.size()) + " dimensions, batch first";
    if (expected_.layout == "N" && given_.shape.rank() == 2) {
      remedy = "remove the stage that makes it one_hot";
    } else if (expected_.layout.size() == 4 && given_.shape.rank() == 2) {
      remedy = "add the decode stage that makes an image of these bytes";
    }
    refuse(shape_text(), remedy);
  }

  void check_size(char letter, std::int64_t size) const {
    const std::size_t axis = expected_.layout.find(letter);
    if (size <= 0 || axis == std::string::npos) return;
    const std::int64_t there = given_.shape[axis];
    if (there == size || there == kDynamic) return;
    refuse(shape_text(), size_remedy(letter, size));
  }

  [[nodiscard]] std::string size_remedy(char letter, std::int64_t size) const {
    const std::string& layout = expected_.layout;
    if (letter == 'C' && layout.size() == 4) {
      const bool first = layout.find('C') == 1;
      if (given_.shape[first ? 3 : 1] == size) {
        return std::string(R"(set "layout": ")") + (first ? "NCHW" : "NHWC") +
               R"(" in collate.stack)";
      }
      if (size == 1) return R"(add augment.grayscale with "channels": 1)";
      return "read or decode images of " + std::to_string(size) + " channels";
    }
    if (letter == 'C') return "set train.classes, or the stage's size, so that both agree";
    return R"(add augment.resize or augment.center_crop with "height": )" +
           std::to_string(expected_.height > 0 ? expected_.height : expected_.width) +
           R"(, "width": )" +
           std::to_string(expected_.width > 0 ? expected_.width : expected_.height);
  }

  /// "NCHW [N, 3, 224, 224]", with letters in place of sizes that do not matter.
  [[nodiscard]] std::string shape_text() const {
    const auto size_of_axis = [this](char letter) {
      const std::int64_t size = letter == 'C'   ? expected_.channels
                                : letter == 'H' ? expected_.height
                                : letter == 'W' ? expected_.width
                                                : 0;
      return size > 0 ? std::to_string(size) : std::string(1, letter);
    };
    return expected_.layout + " [" + join(expected_.layout, ", ", size_of_axis) + "]";
  }

  const std::string& step_;
  const ExpectedField& expected_;
  const FieldSpec& given_;
};

std::string text_of(const DeviceInfo& device) {
  std::string text(to_string(device.kind));
  if (device.kind == DeviceKind::cuda) text += ":" + std::to_string(device.ordinal);
  return device.name.empty() ? text : text + " (" + device.name + ")";
}

}  // namespace

void check_expectations(const TrainStep& step, const BatchSpec& given) {
  const std::string name = step.name();
  const auto expects = in_train_step(step, [&] { return step.expects(); });
  for (const ExpectedField& expected : expects) {
    const FieldSpec* field = find_field(given, expected.name);
    if (field == nullptr) {
      const std::string there =
          join(given, ", ", [](const FieldSpec& f) { return "'" + f.name + "'"; });
      throw Error(ErrorKind::usage, "field '" + expected.name + "': the training step '" + name +
                                        "' needs it, the chain gives " +
                                        (there.empty() ? "no field" : there) +
                                        "; use read and decode stages that make it");
    }
    FieldCheck(name, expected, *field).run();
  }
}

void check_device(const TrainStep& step, const DeviceInfo& device) {
  const auto runs_on = in_train_step(step, [&] { return step.devices(); });
  if (std::find(runs_on.begin(), runs_on.end(), device.kind) != runs_on.end()) return;
  std::string known;
  for (const DeviceKind kind : runs_on) {
    known += (known.empty() ? "" : " or ") + std::string(to_string(kind));
  }
  const std::string name(to_string(device.kind));
  throw Error(
      ErrorKind::usage,
      "training step '" + step.name() + "' runs on " + (known.empty() ? "no device" : known) +
          ", and the device is " + text_of(device) + "; " +
          (runs_on.empty() ? ""
                           : "use --device " + std::string(to_string(runs_on.front())) + ", or ") +
          "if the step can run on " + name +
          ", name it in devices() of the step or in "
          "make_callback_step()");
}

}  // namespace cachebisect
