#include "cachebisect/pipeline/plugin.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"

using cachebisect::Error;
using cachebisect::ErrorKind;
using cachebisect::Registry;

namespace {

std::string plugin(const std::string& name) {
  return std::string(CACHEBISECT_BINARY_DIR) + "/tests/plugins/lib" + name + ".so";
}

std::string refusal(const std::string& path) {
  Registry registry;
  try {
    registry.load_plugin(path);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(registry.stages().empty());
    return error.what();
  }
  return "loaded";
}

bool mentions(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a plugin registers its stages and steps, and they live as long as any copy") {
  Registry copy;
  {
    Registry registry;
    registry.load_plugin(plugin("good"));
    CHECK(registry.stage("test.good").doc == "a stage of a plugin");
    CHECK(registry.train_step("test.step").type == "test.step");
    copy = registry;
  }
  CHECK(copy.stage("test.good").make(cachebisect::Params()) == nullptr);
  copy = Registry();
  CHECK(copy.stages().empty());
}

TEST_CASE("the same plugin twice is refused and changes nothing") {
  Registry registry;
  registry.load_plugin(plugin("good"));
  CHECK_THROWS_AS(registry.load_plugin(plugin("good")), Error);
  CHECK(registry.stages().size() == 1);
}

TEST_CASE("a foreign ABI is refused before any C++ call, naming both") {
  const std::string message = refusal(plugin("wrong_abi"));
  CHECK(mentions(message, "gcc 4"));
  CHECK(mentions(message, cachebisect::plugin_abi()));
  CHECK(mentions(message, "rebuild"));
}

TEST_CASE("whatever is no plugin is refused with the remedy") {
  CHECK(mentions(refusal(plugin("no_entry")), "CACHEBISECT_PLUGIN"));
  CHECK(mentions(refusal(plugin("throwing")), "no licence found"));
  CHECK(mentions(refusal("/nonexistent/libmine.so"), "no such file"));
  CHECK(mentions(refusal("libcachebisect-no-such-plugin.so"), "cannot be opened"));
  CHECK(mentions(refusal(""), "empty"));
  CHECK(mentions(refusal("/"), "not a file"));
}

TEST_CASE("text and FIFOs are refused without waiting") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("plugin_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "text.so") << "not a library";
  CHECK(mentions(refusal((folder / "text.so").string()), "cannot be opened"));
  REQUIRE(mkfifo((folder / "fifo.so").c_str(), 0600) == 0);
  CHECK(mentions(refusal((folder / "fifo.so").string()), "not a file"));
  std::filesystem::remove_all(folder);
}
