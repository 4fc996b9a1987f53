#include "cachebisect/protocol/python_settings.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

std::string line(std::string_view name, std::string_view json) {
  return python_line(*find_python_setting(name), json);
}

}  // namespace

TEST_CASE("every setting has a name, a path of its own and a line with its value") {
  for (const PythonSetting& setting : python_settings()) {
    CAPTURE(setting.name);
    CHECK(find_python_setting(setting.name) == &setting);
    CHECK(python_setting_at(setting.path) == &setting);
    CHECK(python_line(setting, "7").find('7') != std::string::npos);
    CHECK(allowed_values(setting).size() > 5);
  }
}

TEST_CASE("paths of a pipeline file become lines of Python") {
  CHECK(setting_text(Dialect::python, "workers", "4") == "DataLoader(..., num_workers=4)");
  CHECK(setting_text(Dialect::pipeline_file, "workers", "4") == "--workers 4");
  CHECK(setting_text(Dialect::pipeline_file, "batch_size", "4") == "--batch-size 4");
  CHECK(python_setting_at("stages.4.pinned")->name == "pin_memory");
  CHECK(python_setting_at("stages.0.non_blocking")->name == "non_blocking");
  CHECK(python_setting_at("stages.4.prefetch") == nullptr);
  CHECK(python_setting_at("io") == nullptr);
  CHECK(line("pin_memory", "true") == "DataLoader(..., pin_memory=True)");
  CHECK(line("sharing_strategy", "\"file_system\"") ==
        "torch.multiprocessing.set_sharing_strategy(\"file_system\")");
}

TEST_CASE("values are read as Python writes them") {
  const auto json = [](std::string_view name, std::string_view text) {
    return python_value_json(*find_python_setting(name), text);
  };
  CHECK(json("num_workers", "4") == "4");
  CHECK_FALSE(json("num_workers", "-1").has_value());
  CHECK_FALSE(json("num_workers", "4.5").has_value());
  CHECK_FALSE(json("prefetch_factor", "0").has_value());
  CHECK(json("pin_memory", "True") == "true");
  CHECK(json("pin_memory", "false") == "false");
  CHECK_FALSE(json("pin_memory", "1").has_value());
  CHECK(json("multiprocessing_context", "spawn") == "\"spawn\"");
  CHECK(json("multiprocessing_context", "'fork'") == "\"fork\"");
  CHECK_FALSE(json("multiprocessing_context", "thread").has_value());
  CHECK_FALSE(json("sharing_strategy", "").has_value());
}

TEST_CASE("an arm names a setting as its replayer does, if that can run it") {
  CHECK(override_name(Dialect::pipeline_file, "stages.4.pinned") == "stages.4.pinned");
  CHECK(override_name(Dialect::python, "stages.4.pinned") == "pin_memory");
  CHECK_FALSE(override_name(Dialect::python, "batch_size").has_value());
  CHECK_FALSE(override_name(Dialect::python, "train.precision").has_value());
}
