#include "cachebisect/replay/cache/store_sample.hpp"

namespace cachebisect {

void store_sample(const Sample& from, Sample& to, HostArena& arena) {
  to.set_index(from.index());
  to.set_origin(from.origin());
  for (const Sample::NamedField& named : from.fields()) {
    const ConstTensorView view = named.field.view();
    const TensorView place = dense_view(arena.take(view.byte_size()), view.dtype, view.shape);
    copy_tensor(view, place);
    to.field(named.name).share(place);
  }
}

}  // namespace cachebisect
