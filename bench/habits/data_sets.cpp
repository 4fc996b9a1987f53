#include "bench/habits/data_sets.hpp"

namespace cachebisect::habits {
namespace {

Members files(const std::string& path) {
  return {{"path", "${cache}/" + path}, {"if_missing", std::string("generate")}};
}

StageText normalize(const std::vector<double>& mean, const std::vector<double>& std) {
  return stage_text("augment.normalize", "normalize", {{"mean", mean}, {"std", std}});
}

std::vector<DataSet> make_data_sets() {
  return {
      {.name = "photos",
       .read_and_decode = {stage_text("read.image_folder", "storage", files("photos")),
                           stage_text("decode.image", "jpeg")},
       .augment = {stage_text("augment.random_resized_crop", "crop", {{"size", std::int64_t{224}}}),
                   stage_text("augment.horizontal_flip", "flip", {{"p", 0.5}}),
                   normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})},
       .batches = {4, 7, 8},
       .train = ""},
      {.name = "cifar",
       .read_and_decode = {stage_text("read.cifar10", "storage", files("cifar-10")),
                           stage_text("decode.cifar", "unpack")},
       .augment = {stage_text("augment.random_crop", "crop",
                              {{"size", std::int64_t{32}}, {"padding", std::int64_t{4}}}),
                   stage_text("augment.horizontal_flip", "flip", {{"p", 0.5}}),
                   stage_text("augment.color_jitter", "jitter",
                              {{"brightness", 0.2}, {"contrast", 0.2}, {"saturation", 0.2}}),
                   normalize({0.4914, 0.4822, 0.4465}, {0.247, 0.2435, 0.2616})},
       .batches = {50, 100, 128},
       .train = R"({"model": "lenet", "classes": 10, "loss": "cross_entropy"})"},
      {.name = "mnist",
       .read_and_decode = {stage_text("read.mnist", "storage", files("mnist")),
                           stage_text("decode.mnist", "unpack")},
       .augment = {stage_text("augment.to_float", "to_float")},
       .batches = {100, 200, 256},
       .train = R"({"model": "mlp", "classes": 10, "loss": "cross_entropy"})"}};
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = make_data_sets();
  return sets;
}

}  // namespace cachebisect::habits
