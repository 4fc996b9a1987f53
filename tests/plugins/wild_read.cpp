// A plugin with a device stage that reads an address which is not mapped, once a file exists: on
// CUDA an error that the device does not recover from.
#include <memory>

#include <unistd.h>

#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/pipeline/plugin.hpp"

namespace {

using namespace cachebisect;

class WildRead final : public DeviceStage {
 public:
  explicit WildRead(const Params& params) : file_(params.string("once_exists")) {}
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const DeviceBatch& input, OwnedDeviceBatch& out,
               const DeviceContext& context) const override {
    const BatchField& field = input.fields.front();
    const TensorView to = out.resize_field(0, field.name, field.tensor.dtype, field.tensor.shape);
    const bool wild = access(file_.c_str(), F_OK) == 0;
    const auto* const unmapped = reinterpret_cast<const std::byte*>(std::uintptr_t{64});
    // Another dtype of that size: a copy would be made by the driver, which reads on the host.
    const DType other = to.dtype == DType::int8 ? DType::uint8 : DType::int8;
    context.ops().cast(dense_view(wild ? unmapped : field.tensor.data, other, to.shape), to,
                       context.stream());
  }

 private:
  std::string file_;
};

void register_wild_read(Registry& registry) {
  registry.add(StageType{
      .type = "test.wild_read",
      .doc = "reads an address that is not mapped once a file exists",
      .kind = StageKind::device,
      .params = {{.name = "once_exists", .type = ParamType::string, .doc = "the file to wait for"}},
      .example = R"({"once_exists": "/tmp/now"})",
      .make = [](const Params& params) { return std::make_unique<WildRead>(params); }});
}

}  // namespace

CACHEBISECT_PLUGIN(register_wild_read)
