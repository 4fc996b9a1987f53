#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/protocol/job_setting_text.hpp"

using namespace cachebisect;

namespace {

const JobSettings kTorch = test::torch_settings();
const JobSettings kFile;

std::string line(std::string_view name, std::string_view json) {
  return code_line(*kTorch.find(name), json);
}

}  // namespace

TEST_CASE("every setting has a name, a path of its own and a line with its value") {
  for (const JobSetting& setting : kTorch.all) {
    CAPTURE(setting.name);
    CHECK(kTorch.find(setting.name) == &setting);
    CHECK(kTorch.at(setting.path) == &setting);
    CHECK_FALSE(allowed_values(setting).empty());
  }
}

TEST_CASE("paths of a pipeline file become lines of code") {
  CHECK(setting_text(kTorch, "workers", "4") == "DataLoader(..., num_workers=4)");
  CHECK(setting_text(kFile, "workers", "4") == "--workers 4");
  CHECK(setting_text(kFile, "batch_size", "4") == "--batch-size 4");
  CHECK(kTorch.at("stages.4.pinned")->name == "pin_memory");
  CHECK(kTorch.at("stages.0.non_blocking")->name == "non_blocking");
  CHECK(kTorch.at("stages.4.prefetch") == nullptr);
  CHECK(kTorch.at("io") == nullptr);
  CHECK(line("pin_memory", "true") == "DataLoader(..., pin_memory=True)");
  CHECK(line("sharing_strategy", "\"file_system\"") ==
        "torch.multiprocessing.set_sharing_strategy(\"file_system\")");
  CHECK(line("worker_threads", "2").find("{}") == std::string::npos);
}

TEST_CASE("a setting that the adapter does not name is said in words") {
  const JobSettings unnamed{.of_file = false};
  CHECK(setting_text(unnamed, "worker_threads", "1") == "worker threads 1");
  CHECK_FALSE(override_name(unnamed, "workers").has_value());
  CHECK(unnamed.advice_or("no_sync", "otherwise") == "otherwise");
  CHECK(kTorch.advice_or("no_sync", "").starts_with("total += loss.detach()"));
}

TEST_CASE("values are read as the code writes them") {
  const auto json = [](std::string_view name, std::string_view text) {
    return value_json(*kTorch.find(name), text);
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
  CHECK(override_name(kFile, "stages.4.pinned") == "stages.4.pinned");
  CHECK(override_name(kTorch, "stages.4.pinned") == "pin_memory");
  CHECK_FALSE(override_name(kTorch, "batch_size").has_value());
  CHECK_FALSE(override_name(kTorch, "train.precision").has_value());
}
