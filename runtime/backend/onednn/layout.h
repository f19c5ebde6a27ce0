// Layouts described by oneDNN, and conversion between them and row-major arrays.
//
// A layout may describe an array under other extents than its Shape: the weight of a grouped convolution is O
// x I x KH x KW for callers and G x O/G x I x KH x KW for oneDNN. This is valid because both are the same
// elements in the same row-major order; a reorder between two such views goes through row-major.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "runtime/tensor.h"

namespace pitwall::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

class DnnlLayout final : public Layout {
 public:
  explicit DnnlLayout(const Desc& desc) : desc_(desc) {}
  Bytes sizeBytes() const override { return static_cast<Bytes>(desc_.get_size()); }
  std::string toString() const override;  // "ABcd16b16a": outermost first, capitals are blocked
  bool equals(const Layout& other) const override;
  std::int64_t channelsTogether() const override;

  const Desc& desc() const { return desc_; }

 private:
  const Desc desc_;
};

using DataType = dnnl::memory::data_type;

Dims dimsOf(const Shape& shape);
DataType typeOf(DType type);
Desc rowMajor(const Dims& dims, DataType type = DataType::f32);
Desc anyLayout(const Dims& dims, DataType type = DataType::f32);
// The same arrangement of elements of another type.
Desc withType(const Desc& desc, DType type);

// The desc of an array viewed with the extents `dims`. An array in a layout for other extents is treated as
// row-major: the kernel then requires that layout.
Desc descOf(const TensorSpec& spec, const Dims& dims);

// A desc of extents `dims` with the blocks and the order of axes of `like`; row-major when `like` has neither those of an
// image's data nor its rank.
Desc arrangedAs(const Desc& like, const Dims& dims);

// The desc of so many such arrays one after the other along the first axis; none where the first axis is not the outermost.
std::optional<Desc> ofBatch(const Desc& part, std::int64_t extent);

// Null when the desc is dense row-major.
LayoutPtr layoutOf(const Desc& desc);

TensorSpec specOf(const Shape& shape, const Desc& desc);

}  // namespace pitwall::onednn
