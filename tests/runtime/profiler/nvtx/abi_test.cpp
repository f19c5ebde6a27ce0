// Our declaration of NVTX's binary interface compared with NVTX's own headers, where they are installed.
#include "runtime/profiler/nvtx/abi.h"

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

namespace pitwall::nvtx::abi::abi_test {
namespace {

#define SAME_PLACE(ours, field, theirs, their_field) \
  EXPECT_EQ(offsetof(ours, field), offsetof(theirs, their_field)) << #their_field

TEST(NvtxAbi, Numbers) {
  EXPECT_EQ(+kCallbacksTable, +NVTX_ETID_CALLBACKS);
  EXPECT_EQ(+kCore, +NVTX_CB_MODULE_CORE);
  EXPECT_EQ(+kCore2, +NVTX_CB_MODULE_CORE2);
  EXPECT_EQ(+kMarkEx, +NVTX_CBID_CORE_MarkEx);
  EXPECT_EQ(+kRangeStartA, +NVTX_CBID_CORE_RangeStartA);
  EXPECT_EQ(+kRangePushA, +NVTX_CBID_CORE_RangePushA);
  EXPECT_EQ(+kRangePop, +NVTX_CBID_CORE_RangePop);
  EXPECT_EQ(+kNameOsThreadW, +NVTX_CBID_CORE_NameOsThreadW);
  EXPECT_EQ(+kDomainMarkEx, +NVTX_CBID_CORE2_DomainMarkEx);
  EXPECT_EQ(+kDomainRangePop, +NVTX_CBID_CORE2_DomainRangePop);
  EXPECT_EQ(+kDomainRegisterStringA, +NVTX_CBID_CORE2_DomainRegisterStringA);
  EXPECT_EQ(+kDomainDestroy, +NVTX_CBID_CORE2_DomainDestroy);
  EXPECT_EQ(+kRegistered, +NVTX_MESSAGE_TYPE_REGISTERED);
  EXPECT_EQ(+kFloat, +NVTX_PAYLOAD_TYPE_FLOAT);
  EXPECT_EQ(+kExtendedPayload, +NVTX_PAYLOAD_TYPE_EXT);
  EXPECT_EQ(+kColorArgb, +NVTX_COLOR_ARGB);
  EXPECT_EQ(+kNativeThread, +NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
  EXPECT_EQ(+kPosixThread, +NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX);
  EXPECT_EQ(+kPayloadModule, +NVTX_EXT_PAYLOAD_MODULEID);
  EXPECT_EQ(+kDomainIsEnabled, +NVTX3EXT_CBID_nvtxDomainIsEnabled);
  EXPECT_EQ(+kRangeStartPayload, +NVTX3EXT_CBID_nvtxRangeStartPayload);
  EXPECT_EQ(+kTypeInt32, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_INT32});
  EXPECT_EQ(+kTypeDouble, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE});
  EXPECT_EQ(+kTypeBf16, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_BF16});
  EXPECT_EQ(+kTypeCstring, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING});
  EXPECT_EQ(+kTypeRegisteredString, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE});
  EXPECT_EQ(kEntryMessage, std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE});
  EXPECT_EQ(kEntryFixedArray, std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE});
  EXPECT_EQ(kSchemaHasId, std::uint64_t{NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID});
  EXPECT_EQ(kEnumHasId, std::uint64_t{NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID});
}

TEST(NvtxAbi, Layouts) {
  EXPECT_EQ(sizeof(EventAttributes), sizeof(nvtxEventAttributes_t));
  SAME_PLACE(EventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
  SAME_PLACE(EventAttributes, payload, nvtxEventAttributes_t, payload);
  SAME_PLACE(EventAttributes, message, nvtxEventAttributes_t, message);
  EXPECT_EQ(sizeof(ResourceAttributes), sizeof(nvtxResourceAttributes_t));
  SAME_PLACE(ResourceAttributes, identifier, nvtxResourceAttributes_t, identifier);
  EXPECT_EQ(sizeof(CallbacksTable), sizeof(NvtxExportTableCallbacks));
  EXPECT_EQ(sizeof(ExtensionModule), sizeof(nvtxExtModuleInfo_t));
  SAME_PLACE(ExtensionModule, segments, nvtxExtModuleInfo_t, segments);
  EXPECT_EQ(sizeof(ExtensionSegment), sizeof(nvtxExtModuleSegment_t));
  EXPECT_EQ(sizeof(PayloadData), sizeof(nvtxPayloadData_t));
  EXPECT_EQ(sizeof(SchemaEntry), sizeof(nvtxPayloadSchemaEntry_t));
  SAME_PLACE(SchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
  EXPECT_EQ(sizeof(SchemaAttributes), sizeof(nvtxPayloadSchemaAttr_t));
  SAME_PLACE(SchemaAttributes, entries, nvtxPayloadSchemaAttr_t, entries);
  SAME_PLACE(SchemaAttributes, id, nvtxPayloadSchemaAttr_t, schemaId);
  EXPECT_EQ(sizeof(EnumAttributes), sizeof(nvtxPayloadEnumAttr_t));
  EXPECT_EQ(sizeof(EnumEntry), sizeof(nvtxPayloadEnum_t));
}

}  // namespace
}  // namespace pitwall::nvtx::abi::abi_test
