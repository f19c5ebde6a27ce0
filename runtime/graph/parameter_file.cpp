// The list of arrays that MXNet's nd.save() writes: a magic number, the arrays, their names.
#include "runtime/parameter_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "db/escaped.h"
#include "db/try.h"
#include "runtime/file/new_file.h"
#include "runtime/graph/model_file.h"

namespace pitwall {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kListMagic = 0x112;
constexpr std::uint32_t kArrayV1 = 0xF993FAC8;  // 64-bit extents
constexpr std::uint32_t kArrayV2 = 0xF993FAC9;  // and a kind of storage
constexpr std::uint32_t kArrayV3 = 0xF993FACA;  // and scalars; with NumPy's shapes
constexpr Bytes kSmallestArray = 8;

struct StoredType {
  std::int32_t flag;
  const char* name;
  bool supported;
  DType dtype;
};

constexpr StoredType kStoredTypes[] = {
    {0, "float32", true, DType::float32},
    {1, "float64", false, {}},
    {2, "float16", true, DType::float16},
    {3, "uint8", true, DType::uint8},
    {4, "int32", true, DType::int32},
    {5, "int8", true, DType::int8},
    {6, "int64", false, {}},
    {7, "bool", false, {}},
    {12, "bfloat16", true, DType::bfloat16},
};

class ParameterReader {
 public:
  explicit ParameterReader(graph::ModelInput& input) : input_(input) {}

  Result<ParameterArrays> read() {
    const auto magic = PITWALL_TRY(number<std::uint64_t>());
    if (magic != kListMagic)
      return input_.wrong(fmt::format(
          "it begins with {:#x} instead of {:#x}, so it is no parameter file of MXNet", magic, kListMagic));
    PITWALL_TRY(number<std::uint64_t>());  // reserved
    const std::size_t count = PITWALL_TRY(countOf("arrays", kSmallestArray));
    std::vector<ParameterArray> arrays;
    for (number_ = 0; number_ < count; ++number_) {
      ParameterArray array = PITWALL_TRY(readArray());
      arrays.push_back(std::move(array));
    }
    const std::size_t names = PITWALL_TRY(countOf("names", sizeof(std::uint64_t)));
    if (names != count && names != 0)
      return input_.wrong(
          fmt::format("there are {} arrays and {} names: all or none have a name", count, names));
    ParameterArrays result;
    for (std::size_t i = 0; names == 0 && i < count; ++i)
      result.emplace(std::to_string(i), std::move(arrays[i]));
    for (ParameterArray& array : names == 0 ? std::span<ParameterArray>() : std::span(arrays)) {
      const std::size_t length = PITWALL_TRY(countOf("characters", 1));
      std::string name(length, '\0');
      PITWALL_TRY(input_.read(std::as_writable_bytes(std::span(name))));
      if (!result.emplace(name, std::move(array)).second)
        return input_.wrong(fmt::format("two arrays have the name {}", escaped(name)));
    }
    if (input_.left() != 0) return input_.wrong(fmt::format("{} bytes follow the last name", input_.left()));
    return result;
  }

 private:
  template <class T>
  Result<T> number() {
    T value{};
    PITWALL_TRY(input_.read(std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  // A number of things of which each takes at least `bytes` bytes.
  Result<std::size_t> countOf(const char* what, Bytes bytes) {
    const auto count = PITWALL_TRY(number<std::uint64_t>());
    if (count > static_cast<std::uint64_t>(input_.left() / bytes))
      return input_.wrong(
          fmt::format("{} {} are announced, but {} bytes are left", count, what, input_.left()));
    return static_cast<std::size_t>(count);
  }

  Failure wrongArray(const std::string& what) const {
    return input_.wrong(fmt::format("array {}: {}", number_, what));
  }
  Failure unsupported(const std::string& what) const {
    return fail(ErrorCode::unsupported, fmt::format("{}: array {}: {}", input_.path(), number_, what));
  }

  template <class Extent>
  Result<Shape> extents(std::int64_t axes) {
    if (axes < 0 || axes > 32)
      return wrongArray(fmt::format("it has {} axes: it is damaged or of another format", axes));
    if (axes > Shape::kMaxRank)
      return unsupported(fmt::format("it has {} axes, at most {} are supported", axes, Shape::kMaxRank));
    Shape shape;
    for (std::int64_t i = 0; i < axes; ++i) {
      const auto extent = PITWALL_TRY(number<Extent>());
      if (static_cast<std::int64_t>(extent) < 0)
        return wrongArray(fmt::format("axis {} has {} elements", i, extent));
      shape.append(static_cast<std::int64_t>(extent));
    }
    return shape;
  }

  // Before version 1 the number of axes stood where the magic number is.
  Result<Shape> shapeOf(std::uint32_t magic) {
    if (magic != kArrayV1 && magic != kArrayV2 && magic != kArrayV3) return extents<std::uint32_t>(magic);
    if (magic != kArrayV1) {
      const auto storage = PITWALL_TRY(number<std::int32_t>());
      if (storage == 1 || storage == 2) return unsupported("it is sparse; save it with tostype('default')");
      if (storage != 0) return wrongArray(fmt::format("kind of storage {}: must be 0", storage));
    }
    const auto axes = PITWALL_TRY(number<std::int32_t>());
    return extents<std::int64_t>(axes);
  }

  Result<ParameterArray> readArray() {
    const auto magic = PITWALL_TRY(number<std::uint32_t>());
    ParameterArray array;
    array.shape = PITWALL_TRY(shapeOf(magic));
    if (array.shape.rank() == 0 && magic != kArrayV3)
      return wrongArray("it has no shape, so it has no values");
    PITWALL_TRY(number<std::int32_t>());  // kind and number of the device that it was on
    PITWALL_TRY(number<std::int32_t>());
    array.dtype = PITWALL_TRY(typeOf());
    Bytes bytes = sizeOf(array.dtype);
    for (int i = 0; i < array.shape.rank(); ++i) {
      if (__builtin_mul_overflow(bytes, array.shape[i], &bytes))
        return wrongArray(fmt::format("a shape of {} is impossibly large", array.shape.toString()));
    }
    if (bytes > input_.left())
      return wrongArray(fmt::format("{} of {} take {} bytes, but {} are left", array.shape.toString(),
                                    toString(array.dtype), bytes, input_.left()));
    array.values.resize(static_cast<std::size_t>(bytes));
    PITWALL_TRY(input_.read(array.values));
    return array;
  }

  Result<DType> typeOf() {
    const auto flag = PITWALL_TRY(number<std::int32_t>());
    for (const StoredType& type : kStoredTypes) {
      if (type.flag != flag) continue;
      if (!type.supported)
        return unsupported(fmt::format("its elements are {}; save it as float32", type.name));
      return type.dtype;
    }
    return wrongArray(fmt::format("there is no element type {}", flag));
  }

  graph::ModelInput& input_;
  std::size_t number_ = 0;  // of the array, for messages
};

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string headerOf(const ParameterArray& array) {
  std::string header;
  append(header, kArrayV2);
  append(header, std::int32_t{0});  // dense
  append(header, static_cast<std::int32_t>(array.shape.rank()));
  for (int i = 0; i < array.shape.rank(); ++i) append(header, array.shape[i]);
  append(header, std::int32_t{1});  // cpu(0)
  append(header, std::int32_t{0});
  for (const StoredType& type : kStoredTypes) {
    if (type.supported && type.dtype == array.dtype) append(header, type.flag);
  }
  return header;
}

Status checkStored(const std::string& path, const std::string& name, const ParameterArray& array) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalidInput, fmt::format("{}: {}: {}", path, escaped(name), what));
  };
  if (array.shape.rank() == 0) return refuse("a scalar cannot be stored; give it shape 1");
  const Bytes expected = array.shape.elements() * sizeOf(array.dtype);
  if (static_cast<Bytes>(array.values.size()) != expected)
    return refuse(fmt::format("{} of {} take {} bytes, {} given", array.shape.toString(),
                              toString(array.dtype), expected, array.values.size()));
  return {};
}

}  // namespace

Result<ParameterArrays> loadParameters(const std::string& path) {
  graph::ModelInput input = PITWALL_TRY(graph::ModelInput::open(path));
  return ParameterReader(input).read();
}

Status saveParameters(const std::string& path, const ParameterArrays& arrays) {
  for (const auto& [name, array] : arrays) PITWALL_TRY(checkStored(path, name, array));
  NewFile output = PITWALL_TRY(NewFile::create(path));
  std::string names, start;
  append(start, kListMagic);
  append(start, std::uint64_t{0});
  append(start, static_cast<std::uint64_t>(arrays.size()));
  PITWALL_TRY(output.write(start));
  append(names, static_cast<std::uint64_t>(arrays.size()));
  for (const auto& [name, array] : arrays) {
    PITWALL_TRY(output.write(headerOf(array)));
    PITWALL_TRY(output.write({reinterpret_cast<const char*>(array.values.data()), array.values.size()}));
    append(names, static_cast<std::uint64_t>(name.size()));
    names += name;
  }
  PITWALL_TRY(output.write(names));
  return output.finish();
}

}  // namespace pitwall
