// The values of a network's arguments and auxiliary states, in the file NAME-0000.params of MXNet 1.9.1.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/tensor.h"

namespace pitwall {

// Row-major.
struct ParameterArray {
  Shape shape;
  DType dtype = DType::float32;
  std::vector<std::byte> values;
};

// By the names of the file: "arg:conv1_weight", "aux:bn1_moving_mean"; files that Gluon's save_parameters() writes have
// no such prefix. Arrays without names, of nd.save() with a list, have their numbers: "0", "1".
using ParameterArrays = std::map<std::string, ParameterArray>;

// Reads files of MXNet 0.8 to 1.9.1; they are little-endian. No array is allocated before its bytes are known to be in
// the file. Errors: notFound, io; invalidInput naming file, byte and array; unsupported for sparse arrays, for more
// than six axes, and for element types that have no DType.
Result<ParameterArrays> loadParameters(const std::string& path);

// Writes what MXNet 1.9.1 reads; a file at the path is replaced when all is written. Errors: invalidInput for an array
// whose values are not as many as its shape says, or that is a scalar, which MXNet's file cannot store; io.
Status saveParameters(const std::string& path, const ParameterArrays& arrays);

}  // namespace pitwall
