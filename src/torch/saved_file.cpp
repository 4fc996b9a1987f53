#include "saved_file.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "error_text.hpp"
#include "package_model.hpp"
#include "script_model.hpp"
#include <caffe2/serialize/inline_container.h>
#include <torch/version.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

enum class SavedFile {
  script,  ///< TorchScript
  package  ///< a program of torch.export, compiled by AOTInductor
};

constexpr std::string_view kSave = "torch.jit.script(model).save(\"model.pt\")";
constexpr std::string_view kCompile =
    "torch._inductor.aoti_compile_and_package(program, package_path=\"model.pt2\")";

bool is_zip(const std::string& file) {
  constexpr std::string_view kZip = "PK\x03\x04";
  std::array<char, kZip.size()> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kZip;
}

SavedFile kind_of_archive(const std::string& file) {
  caffe2::serialize::PyTorchStreamReader archive(file);
  if (archive.hasRecord("constants.pkl")) return SavedFile::script;
  if (!archive.hasRecord("archive_format")) {
    refuse_file(file,
                "was written by torch.save(): it has weights, and not the code of the model; save "
                "it with " +
                    std::string(kSave));
  }
  const std::vector<std::string> records = archive.getAllRecords();
  const bool compiled = std::any_of(records.begin(), records.end(), [](const std::string& record) {
    return record.find("data/aotinductor/") != std::string::npos;
  });
  if (compiled) return SavedFile::package;
  refuse_file(file, "is a program of torch.export that is not compiled; compile it with " +
                        std::string(kCompile) + ", or, to train it, save the model with " +
                        std::string(kSave));
}

SavedFile kind_of(const std::string& file) {
  if (!std::filesystem::is_regular_file(file)) {
    refuse_file(file, "is not a file; save one with " + std::string(kSave));
  }
  if (!is_zip(file)) {
    refuse_file(file, "is not a TorchScript archive; save one with " + std::string(kSave));
  }
  try {
    return kind_of_archive(file);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    refuse_file(file, other_version(error));
  }
}

}  // namespace

void refuse_file(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::usage, "train.module: " + file + " " + what);
}

std::string other_version(const std::exception& error) {
  return "cannot be read by LibTorch " TORCH_VERSION ": " + reason_of(error) +
         "; save it with that version of PyTorch, or build cachebisect with the LibTorch of the "
         "PyTorch that wrote it (CACHEBISECT_TORCH_DIR)";
}

std::unique_ptr<Model> load_model(const std::string& file, const std::vector<std::string>& inputs) {
  if (kind_of(file) == SavedFile::package) return std::make_unique<PackageModel>(file);
  return std::make_unique<ScriptModel>(file, inputs);
}

}  // namespace cachebisect::torch_module
