// Shapes as ONNX Runtime writes them: [{"float":[2,3]},{"int64":[]}].
#pragma once

#include <string>
#include <string_view>

namespace pitwall::import {

struct OrtShapes {
  std::string shapes;  // "2x3,1"; a scalar is "1"
  std::string types;   // "float,int64"
  std::string first_type;
};
// As much as can be read.
OrtShapes ortShapes(std::string_view array);

}  // namespace pitwall::import
