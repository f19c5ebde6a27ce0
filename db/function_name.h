// Short names of functions, where the whole one has no room.
#pragma once

#include <string>
#include <string_view>

namespace pitwall {

// Of a C++ function the name without namespaces, arguments and parameters, with what its instances differ in: the first class or
// function of its arguments that is no wrapper of others ("vectorized_elementwise_kernel<FillFunctor>"). Of kernels of NVIDIA's
// libraries what follows the tile size is left out. Other names as they are.
std::string shortName(std::string_view name);

}  // namespace pitwall
