// The binary interface between a program that uses NVTX 3 and a tool that records it: numbers and layouts of
// the program's compiled-in copy of NVTX's headers. Declared separately here, so that the injection library
// builds without those headers; tests compare the declarations with the headers where they are installed.
//
// Every shared object that includes NVTX's headers has its own copy of NVTX's tables. At its first call a
// copy loads the tool and calls InitializeInjectionNvtx2(getExportTable); the tool asks for the table of
// callbacks and writes its functions over the program's slots. An extension does the same with its own slots,
// through InitializeInjectionNvtxExtension.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pitwall::nvtx::abi {

using GetExportTable = const void* (*)(std::uint32_t table);
using Function = void (*)();
using FunctionTable = Function**;  // [callback id] -> the program's function pointer; may be null

inline constexpr std::uint32_t kCallbacksTable = 1;

struct CallbacksTable {
  std::size_t size;  // of this struct
  int (*getModule)(std::uint32_t module, FunctionTable* table, unsigned* count);
};

enum Module : std::uint32_t { kCore = 1, kCuda = 2, kCudaRuntime = 4, kCore2 = 5 };

enum CoreId : std::uint32_t {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameCategoryA = 12,
  kNameCategoryW = 13,
  kNameOsThreadA = 14,
  kNameOsThreadW = 15,
};

enum Core2Id : std::uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainResourceCreate = 6,
  kDomainResourceDestroy = 7,
  kDomainNameCategoryA = 8,
  kDomainNameCategoryW = 9,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
};

enum MessageType : std::int32_t { kNoMessage = 0, kAscii = 1, kUnicode = 2, kRegistered = 3 };

enum PayloadType : std::int32_t {
  kNoPayload = 0,
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
};
// reserved0 is then a count, and the payload the address of that many PayloadData.
inline constexpr std::int32_t kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009U);

inline constexpr std::int32_t kColorArgb = 1;

union Message {
  const char* ascii;
  const wchar_t* unicode;
  const void* registered;  // a handle that this library returned
};

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved0;
  union {
    std::uint64_t u64;
    std::int64_t i64;
    double f64;
    std::uint32_t u32;
    std::int32_t i32;
    float f32;
  } payload;
  std::int32_t message_type;
  Message message;
};
static_assert(sizeof(EventAttributes) == 48);

// The kind of a named resource; its identifier is then an OS thread id, a pthread_t or an address.
enum ResourceType : std::int32_t {
  kPointer = 0x10001,
  kHandle = 0x10002,
  kNativeThread = 0x10003,
  kPosixThread = 0x10004,
};

struct ResourceAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::int32_t type;
  union {
    const void* pointer;
    std::uint64_t number;
  } identifier;
  std::int32_t message_type;
  Message message;
};
static_assert(sizeof(ResourceAttributes) == 32);

// --- extensions ----------------------------------------------------------------------------------------

struct ExtensionSegment {
  std::size_t id;
  std::size_t slot_count;
  std::intptr_t* slots;  // [callback id]; 0 = not taken
};

struct ExtensionModule {
  std::uint16_t nvtx_version;
  std::uint16_t size;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
  std::intptr_t (*get_export)(std::uint32_t);
  const void* info;
};

inline constexpr std::uint16_t kPayloadModule = 2;

enum PayloadId : std::uint32_t {
  kSchemaRegister = 0,
  kEnumRegister = 1,
  kMarkPayload = 2,
  kRangePushPayload = 3,
  kRangePopPayload = 4,
  kRangeStartPayload = 5,
  kRangeEndPayload = 6,
  kDomainIsEnabled = 7,
};

struct PayloadData {
  std::uint64_t schema;
  std::size_t size;  // SIZE_MAX: given by the schema, or zero-terminated
  const void* data;
};

struct SchemaEntry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t array_detail;
  std::uint64_t offset;  // 0, except for the first: after the previous entry, aligned
  const void* semantics;
  const void* reserved;
};
static_assert(sizeof(SchemaEntry) == 64);

inline constexpr std::uint64_t kEntryPointer = 1U << 1U;
inline constexpr std::uint64_t kEntryArrayMask = 7U << 4U;
inline constexpr std::uint64_t kEntryHidden = 1U << 9U;
inline constexpr std::uint64_t kEntryMessage = 1U << 10U;
inline constexpr std::uint64_t kEntryFixedArray = 1U << 4U;

enum EntryType : std::uint64_t {
  kTypeChar = 1,
  kTypeUchar = 2,
  kTypeShort = 3,
  kTypeUshort = 4,
  kTypeInt = 5,
  kTypeUint = 6,
  kTypeLong = 7,
  kTypeUlong = 8,
  kTypeLonglong = 9,
  kTypeUlonglong = 10,
  kTypeInt8 = 11,
  kTypeUint8 = 12,
  kTypeInt16 = 13,
  kTypeUint16 = 14,
  kTypeInt32 = 15,
  kTypeUint32 = 16,
  kTypeInt64 = 17,
  kTypeUint64 = 18,
  kTypeFloat = 19,
  kTypeDouble = 20,
  kTypeSize = 22,
  kTypeAddress = 23,
  kTypeByte = 32,
  kTypeFloat16 = 42,
  kTypeFloat32 = 43,
  kTypeFloat64 = 44,
  kTypeBf16 = 50,
  kTypeTf32 = 52,
  kTypeCategory = 68,
  kTypeColor = 69,
  kTypeScope = 70,
  kTypePid32 = 71,
  kTypePid64 = 72,
  kTypeTid32 = 73,
  kTypeTid64 = 74,
  kTypeCstring = 75,
  kTypeCstringUtf8 = 76,
  kTypeRegisteredString = 80,
};

struct SchemaAttributes {
  std::uint64_t fields;  // mask of the fields below that are set
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const SchemaEntry* entries;
  std::size_t entry_count;
  std::size_t static_size;
  std::size_t pack_align;
  std::uint64_t id;
  void* extension;
};
static_assert(sizeof(SchemaAttributes) == 80);

inline constexpr std::uint64_t kSchemaHasName = 1U << 1U;
inline constexpr std::uint64_t kSchemaHasStaticSize = 1U << 6U;
inline constexpr std::uint64_t kSchemaHasAlignment = 1U << 7U;
inline constexpr std::uint64_t kSchemaHasId = 1U << 8U;

struct EnumEntry {
  const char* name;
  std::uint64_t value;
  std::int8_t is_flag;
};

struct EnumAttributes {
  std::uint64_t fields;
  const char* name;
  const EnumEntry* entries;
  std::size_t entry_count;
  std::size_t size_of_enum;
  std::uint64_t id;
  void* extension;
};
inline constexpr std::uint64_t kEnumHasId = 1U << 5U;

}  // namespace pitwall::nvtx::abi
