#include "runtime/backend/onednn/layout.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace pitwall::onednn {
namespace {

// Strides of axes with one element have no meaning; oneDNN compares them, this function does not.
bool sameStrides(const dnnl_memory_desc_t& a, const dnnl_memory_desc_t& b) {
  for (int i = 0; i < a.ndims; ++i) {
    const bool matters = a.padded_dims[i] > 1;
    if (matters && a.format_desc.blocking.strides[i] != b.format_desc.blocking.strides[i]) return false;
  }
  return true;
}

bool sameArrangement(const Desc& x, const Desc& y) {
  if (x == y) return true;
  const dnnl_memory_desc_t &a = x.data, &b = y.data;
  if (a.format_kind != dnnl_blocked || b.format_kind != dnnl_blocked) return false;
  if (a.ndims != b.ndims || a.data_type != b.data_type || a.offset0 != b.offset0) return false;
  if (a.extra.flags != 0 || b.extra.flags != 0) return false;
  const dnnl_blocking_desc_t &p = a.format_desc.blocking, &q = b.format_desc.blocking;
  return std::equal(a.dims, a.dims + a.ndims, b.dims) &&
         std::equal(a.padded_dims, a.padded_dims + a.ndims, b.padded_dims) && sameStrides(a, b) &&
         p.inner_nblks == q.inner_nblks &&
         std::equal(p.inner_blks, p.inner_blks + p.inner_nblks, q.inner_blks) &&
         std::equal(p.inner_idxs, p.inner_idxs + p.inner_nblks, q.inner_idxs);
}

dnnl::memory::format_tag rowMajorTag(std::size_t rank) {
  using Format = dnnl::memory::format_tag;
  static constexpr Format kTags[] = {Format::undef, Format::a,     Format::ab,    Format::abc,
                                     Format::abcd,  Format::abcde, Format::abcdef};
  return kTags[rank];
}

}  // namespace

std::string DnnlLayout::toString() const {
  const dnnl_memory_desc_t& d = desc_.data;
  if (d.format_kind != dnnl_blocked) return "opaque";
  const dnnl_blocking_desc_t& blocking = d.format_desc.blocking;
  std::array<int, DNNL_MAX_NDIMS> axes{};
  std::iota(axes.begin(), axes.begin() + d.ndims, 0);
  std::stable_sort(axes.begin(), axes.begin() + d.ndims,
                   [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string text;
  for (int i = 0; i < d.ndims; ++i) {
    const int axis = axes[static_cast<std::size_t>(i)];
    const auto* blocked = std::find(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, axis);
    const bool is_blocked = blocked != blocking.inner_idxs + blocking.inner_nblks;
    text += static_cast<char>((is_blocked ? 'A' : 'a') + axis);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    text += std::to_string(blocking.inner_blks[i]) + static_cast<char>('a' + blocking.inner_idxs[i]);
  }
  return text;
}

bool DnnlLayout::equals(const Layout& other) const {
  const auto* layout = dynamic_cast<const DnnlLayout*>(&other);
  return layout != nullptr && sameArrangement(desc_, layout->desc_);
}

std::int64_t DnnlLayout::channelsTogether() const {
  const dnnl_memory_desc_t& d = desc_.data;
  if (d.format_kind != dnnl_blocked || d.ndims < 3 || d.offset0 != 0 || d.extra.flags != 0) return 0;
  const dnnl_blocking_desc_t& blocking = d.format_desc.blocking;
  const bool is_blocked = blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1;
  if (blocking.inner_nblks != 0 && !is_blocked) return 0;
  const std::int64_t together = is_blocked ? blocking.inner_blks[0] : d.dims[1];
  dnnl_memory_desc_t expected = d;
  std::int64_t stride = together;
  const auto axis = [&](int i, std::int64_t extent) {
    expected.format_desc.blocking.strides[i] = stride;
    stride *= extent;
  };
  for (int i = d.ndims - 1; i >= 2; --i) {
    if (d.padded_dims[i] != d.dims[i]) return 0;
    axis(i, d.dims[i]);
  }
  expected.format_desc.blocking.strides[1] = is_blocked ? stride : 1;
  if (is_blocked) stride *= d.padded_dims[1] / together;
  axis(0, d.dims[0]);
  return sameStrides(d, expected) && d.padded_dims[0] == d.dims[0] ? together : 0;
}

Dims dimsOf(const Shape& shape) {
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
  if (dims.empty()) dims.push_back(1);
  return dims;
}

DataType typeOf(DType type) {
  switch (type) {
    case DType::float32: return DataType::f32;
    case DType::float16: return DataType::f16;
    case DType::bfloat16: return DataType::bf16;
    case DType::int32: return DataType::s32;
    case DType::int8: return DataType::s8;
    case DType::uint8: return DataType::u8;
  }
  return DataType::undef;
}

Desc rowMajor(const Dims& dims, DataType type) { return {dims, type, rowMajorTag(dims.size())}; }

Desc anyLayout(const Dims& dims, DataType type) { return {dims, type, dnnl::memory::format_tag::any}; }

Desc withType(const Desc& desc, DType type) {
  Desc other = desc;
  other.data.data_type = dnnl::memory::convert_to_c(typeOf(type));
  return other;
}

Desc descOf(const TensorSpec& spec, const Dims& dims) {
  const auto* layout = dynamic_cast<const DnnlLayout*>(spec.layout.get());
  return layout != nullptr && layout->desc().dims() == dims ? layout->desc()
                                                            : rowMajor(dims, typeOf(spec.dtype));
}

Desc arrangedAs(const Desc& like, const Dims& dims) {
  using Format = dnnl::memory::format_tag;
  static constexpr std::array kImages{Format::aBcd16b, Format::aBcd8b, Format::aBcd4b, Format::acdb};
  const bool image = like.dims().size() == 4 && dims.size() == 4 && layoutOf(like) != nullptr;
  for (std::size_t i = 0; image && i < kImages.size(); ++i) {
    if (sameArrangement(like, {like.dims(), dnnl::memory::data_type::f32, kImages[i]}))
      return {dims, dnnl::memory::data_type::f32, kImages[i]};
  }
  return rowMajor(dims);
}

std::optional<Desc> ofBatch(const Desc& part, std::int64_t extent) {
  const dnnl_memory_desc_t& d = part.data;
  if (d.format_kind != dnnl_blocked || d.offset0 != 0 || d.extra.flags != 0) return std::nullopt;
  const dnnl_blocking_desc_t& blocking = d.format_desc.blocking;
  const bool blocks_first =
      std::count(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, 0) != 0;
  const auto size = static_cast<Bytes>(dnnl::memory::data_type_size(part.data_type()));
  const Bytes each = static_cast<Bytes>(part.get_size()) / d.dims[0];
  if (blocks_first || blocking.strides[0] * size != each) return std::nullopt;
  Desc whole = part;
  whole.data.dims[0] = whole.data.padded_dims[0] = extent;
  return whole;
}

LayoutPtr layoutOf(const Desc& desc) {
  if (sameArrangement(desc, rowMajor(desc.dims(), desc.data_type()))) return nullptr;
  return std::make_shared<DnnlLayout>(desc);
}

TensorSpec specOf(const Shape& shape, const Desc& desc) {
  DType type = DType::float32;
  for (const DType each : {DType::float16, DType::bfloat16, DType::int32, DType::int8, DType::uint8})
    if (typeOf(each) == desc.data_type()) type = each;
  return {shape, type, layoutOf(desc)};
}

}  // namespace pitwall::onednn
