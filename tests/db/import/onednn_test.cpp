// Verbose lines of every version, on lines written for this test.
#include <gtest/gtest.h>

#include "db/import/onednn/onednn_line.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::onednn_test {
namespace {

using import::parseVerbose;
using import::VerboseLine;
using Kind = import::VerboseLine::Kind;

TEST(ImportOneDnn, LinesOfEveryVersion) {
  struct Case {
    const char* line;
    const char* primitive;
    std::int64_t dur_ns;
    const char* problem;
    const char* dtype;
  };
  const Case cases[] = {
      {"exec,convolution,jit:avx2,forward_training,fsrc:nchw fwei:Ohwi8o "
       "fdst:nChw8c,alg:convolution_direct,mb64_ic3oc64,15.6321",
       "convolution", 15632100, "mb64_ic3oc64", ""},
      {"exec,reorder,simple:any,undef,in:f32_oihw out:f32_Ohwi8o,num:1,64x3x11x11,0.25", "reorder", 250000,
       "64x3x11x11", "f32"},
      {"exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 "
       "dst_f32::blocked:aBcd8b:f0,,,32x32x8x8,7.43701",
       "reorder", 7437010, "32x32x8x8", "f32"},
      {"1795248844144.818115,exec,cpu,rnn,ref,forward_training,src_layer_f32::blocked:abc:f0,,alg:vanilla_"
       "lstm,l4t6mb26,174.13",
       "rnn", 174130000, "l4t6mb26", "f32"},
      {"exec,cpu,matmul,gemm:jit:f32,undef,src_bf16::blocked:abc::f0 "
       "dst_f32::blocked:abc::f0,attr-post-ops:eltwise_relu:1.2 ,,1x8:8x4,18",
       "matmul", 18000000, "1x8:8x4", "bf16"},
      {"primitive,exec,cpu,eltwise,jit:avx2,forward_inference,data_u8::blocked:a::f0 "
       "diff_undef::undef:::,,alg:eltwise_relu,64,1e-3",
       "eltwise", 1000, "64", "u8"},
      {"1702442956104.304932,primitive,exec,cpu,eltwise,jit:avx2,forward_inference,data_f32::blocked:a::f0,,"
       "alg:x,64,0.5",
       "eltwise", 500000, "64", "f32"},
      {"v1,1702442956104.304932,primitive,exec,gpu:0,matmul,jit:a|b:c,undef,src:s8:a:blocked:ab::f0 "
       "dst:s32::blocked:ab::f0,attr-zero-points:'src:0:-2,wei:0:2',,8x8:8x8,0.5",
       "matmul", 500000, "8x8:8x8", "s8"},
      {"v0,primitive,exec,cpu,matmul,brg,undef,src_f32:a:blocked:ab::f0,attr-scales:src0:0:1,dst:0:2,,8x8:"
       "8x8,0.5",
       "matmul", 500000, "8x8:8x8", "f32"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.line);
    const VerboseLine line = parseVerbose(test.line);
    EXPECT_EQ(line.kind, Kind::execution);
    EXPECT_EQ(line.primitive, test.primitive);
    EXPECT_EQ(line.dur_ns, test.dur_ns);
    EXPECT_EQ(line.problem, test.problem);
    EXPECT_EQ(import::dataTypeOf(line.memory), test.dtype);
  }
}

TEST(ImportOneDnn, LinesThatAreNoExecutions) {
  EXPECT_EQ(parseVerbose("info,cpu,isa:Intel AVX2").kind, Kind::information);
  EXPECT_EQ(parseVerbose("v1,primitive,info,template:operation,engine").kind, Kind::information);
  EXPECT_EQ(parseVerbose("primitive,create:dispatch,matmul,cpu,matmul,brg,undef,src_u8:a::f0,,,2x2:2x2,"
                         "unsupported isa,src/cpu/x.cpp:97")
                .kind,
            Kind::dispatch);
  EXPECT_EQ(
      parseVerbose(
          "graph,exec,cpu,100002,matmul_post_ops,mm;relu,,in0_f32:1:strided,fpm:strict,dnnl_backend,1.25")
          .kind,
      Kind::graph);
  EXPECT_EQ(
      parseVerbose(
          "graph,exec,cpu,100002,matmul_post_ops,mm;relu,,in0_f32:1:strided,fpm:strict,dnnl_backend,1.25")
          .dur_ns,
      1250000);
  EXPECT_EQ(parseVerbose("create:cache_hit,cpu,reorder,jit:uni,undef,src_f32::blocked:a:f0,,,64,0.01").kind,
            Kind::creation);
}

TEST(ImportOneDnn, ALineWithoutTimeIsNotReadAsOne) {
  const VerboseLine line =
      parseVerbose("exec,gpu,reorder,ocl:any,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,1000");
  EXPECT_EQ(line.kind, Kind::execution);
  EXPECT_FALSE(line.dur_ns);
  EXPECT_EQ(line.problem, "1000");
}

TEST(ImportOneDnn, DecimalComma) {
  const VerboseLine line =
      parseVerbose("exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,2x2,9,53296\r");
  EXPECT_EQ(line.dur_ns, 9532960);
  EXPECT_TRUE(line.decimal_comma);
  EXPECT_EQ(line.problem, "2x2");
}

TEST(ImportOneDnn, CutLinesAreTorn) {
  const std::string whole =
      "exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,32x64,0.25";
  for (std::size_t length = 0; length + 5 < whole.size(); ++length) {
    const VerboseLine line = parseVerbose(whole.substr(0, length));
    EXPECT_FALSE(line.dur_ns) << whole.substr(0, length);
  }
}

const char kLog[] =
    "Starting up, epoch 1\n"
    "[w-0] INFO onednn_verbose,info,oneDNN v2.6.3 (commit N/A)\n"
    "[w-0] INFO onednn_verbose,info,cpu,runtime:OpenMP,nthr:2\r\n"
    "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,2x2,0.25\n"
    "onednn_verbose,create:cache_miss,cpu,matmul,jit,undef,src_f32::blocked:ab:f0,,,2x2:2x2,1.5\n"
    "loss 0.5 onednn_verbose,exec,cpu,matmul,jit,forward_training,src_f32::blocked:ab:f0,,,2x2:2x2,0.5\n"
    "onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_onednn_verbose,exec,cpu,lrn,jit:avinference,data_f32::"
    "blocked:a:f0,,,8,0.5\n"
    "onednn_acl_verbose,acl_kernel,NAME,exec_time,0.43\n"
    "MKL_VERBOSE SGEMM(T,N,12,10,8,0x7f,0x1b,8) 8.93us CNR:OFF Dyn:1 FastMM:1 TID:0  NThr:40\n"
    "onednn_verbose,exec,cpu,pooling_v2,jit,backward_data,src_f32::block";

TEST(ImportOneDnn, InTheMiddleOfOtherOutput) {
  const auto imported = importText(kLog);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "oneDNN verbose log");
  EXPECT_EQ(imported->summary.inputs[0].version, "2.6.3");
  EXPECT_EQ(imported->records("lines exec"), 2);
  EXPECT_EQ(imported->records("lines torn"), 3);
  EXPECT_EQ(imported->records("lines other"), 2);
  EXPECT_EQ(imported->events("operator"), 3);
  EXPECT_EQ(imported->only("reorder").start_ns, 0);
  EXPECT_EQ(imported->only("create:cache_miss matmul").start_ns, 250'000);
  EXPECT_EQ(imported->only("matmul").start_ns, 1'750'000);
  EXPECT_EQ(imported->sink.facts.at(imported->only("matmul").op.value - 1).phase, Phase::forward);
  EXPECT_EQ(imported->sink.facts.at(imported->only("SGEMM").op.value - 1).backend, "mkl");
  EXPECT_EQ(imported->only("SGEMM").dur_ns, 8930);
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "order only");
  EXPECT_EQ(imported->sink.meta_values.at("library.onednn"), "2.6.3");
  EXPECT_EQ(imported->sink.meta_values.at("process.openmp_threads"), "2");
  EXPECT_NE(imported->summary.dropped.begin()->second.example.find("line 7"), std::string::npos);
}

TEST(ImportOneDnn, TimestampsPlaceTheLines) {
  const auto imported = importText(
      "onednn_verbose,1700000000000.5,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,2x2,0.25\n"
      "onednn_verbose,1700000000003.25,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,4x4,0.25\n");
  ASSERT_EQ(imported->sink.all_events.size(), 2U);
  EXPECT_EQ(imported->sink.all_events[1].second.start_ns, 2'750'000);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000500000");
  EXPECT_EQ(imported->sink.meta_values.count("import.timeline"), 0U);
}

TEST(ImportOneDnn, MarkersFarBehindOtherOutput) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "epoch " + std::to_string(i) + " and some words\n";
  text += std::string(300000, 'x') + " onednn_verbose,exec,cpu,cut away,it is too far in the line\n";
  text += "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,2x2,0.25\n";
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->records("lines exec"), 1);
}

}  // namespace
}  // namespace pitwall::test::onednn_test
