#include "analyzer/record/capture/verbose_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pitwall::record::verbose_filter_test {
namespace {

const std::string kExec = "onednn_verbose,exec,cpu,convolution,jit:avx2,forward_training,src,,,mb64,0.5\n";
const std::string kOld = "mkldnn_verbose,exec,reorder,simple,undef,in:f32,num:1,2x3,0.1\n";
const std::string kTimed = "dnnl_verbose,1700000000000.25,exec,cpu,pool,jit,forward,src,,,mb1,0.02\n";
const std::string kThird = "onednn_verbose,v1,exec,cpu,matmul,gemm:jit,undef,src,,,2x3:3x4,0.01\n";

struct Split {
  std::string passed, lines;
};

// The stream in pieces of `size` bytes.
Split filtered(const std::string& stream, std::size_t size) {
  VerboseFilter filter;
  Split split;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    filter.take(std::string_view(stream).substr(at, size), split.passed, split.lines);
  }
  filter.finish(split.passed, split.lines);
  return split;
}

TEST(VerboseFilter, TakesVerboseLinesAndNothingElseHoweverTheStreamIsCut) {
  const std::string own = "epoch 1\nmood onednn and dnnl_verbose, but no more\nend without newline";
  const std::string stream = "epoch 1\n" + kExec + "mood on" + kOld + "ednn and dnnl_verbose, but no more\n" +
                             kTimed + kThird + "end without newline";
  for (std::size_t size : {1, 2, 3, 7, 16, 64, 4096}) {
    const Split split = filtered(stream, size);
    EXPECT_EQ(split.passed, own) << size;
    EXPECT_EQ(split.lines, kExec + kOld + kTimed + kThird) << size;
  }
}

TEST(VerboseFilter, LetsEveryByteOfOtherOutputPass) {
  std::string binary = "onednn_verbose,\nonednn_verbose onednn_verbosity,exec mkldnn_verbose,x\n";
  for (int i = 0; i < 70000; ++i) binary += static_cast<char>((i * 7919 + i / 256) & 0xff);
  for (std::size_t size : {1, 13, 65536}) {
    const Split split = filtered(binary, size);
    EXPECT_EQ(split.passed, binary) << size;
    EXPECT_EQ(split.lines, "");
  }
}

TEST(VerboseFilter, HoldsBackOnlyWhatMayBeginAMarker) {
  VerboseFilter filter;
  Split split;
  filter.take("Continue? [y/N] ", split.passed, split.lines);
  EXPECT_EQ(split.passed, "Continue? [y/N] ");
  EXPECT_FALSE(filter.holds());
  filter.take("password", split.passed, split.lines);  // ends like the beginning of dnnl_verbose
  EXPECT_EQ(split.passed, "Continue? [y/N] passwor");
  EXPECT_TRUE(filter.holds());
  filter.flush(split.passed);
  EXPECT_EQ(split.passed, "Continue? [y/N] password");
  EXPECT_FALSE(filter.holds());
}

TEST(VerboseFilter, KeepsALineThatHasBegunWhileThePipeIsQuiet) {
  VerboseFilter filter;
  Split split;
  filter.take(kExec.substr(0, 30), split.passed, split.lines);
  filter.flush(split.passed);
  filter.take(kExec.substr(30) + "x", split.passed, split.lines);
  EXPECT_EQ(split.passed, "x");
  EXPECT_EQ(split.lines, kExec);
}

TEST(VerboseFilter, ALineThatIsCutByTheEndIsKept) {
  const Split split = filtered("a\nonednn_verbose,exec,cpu", 5);
  EXPECT_EQ(split.passed, "a\n");
  EXPECT_EQ(split.lines, "onednn_verbose,exec,cpu\n");
}

TEST(VerboseFilter, ALineWithoutEndDoesNotFillMemory) {
  VerboseFilter filter;
  Split split;
  filter.take("onednn_verbose,exec,", split.passed, split.lines);
  for (int i = 0; i < 64; ++i) filter.take(std::string(1 << 16, 'x'), split.passed, split.lines);
  EXPECT_GE(split.lines.size(), std::size_t{3} << 20);
}

}  // namespace
}  // namespace pitwall::record::verbose_filter_test
