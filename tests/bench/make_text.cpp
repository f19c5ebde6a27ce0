#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "tests/bench/make_trace.h"

namespace pitwall::bench {
namespace {

// Buffered output of text to a file.
class Out {
 public:
  explicit Out(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() {
    if (file_ != nullptr) std::fclose(file_);
  }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() > kPiece) write();
  }
  std::int64_t bytes() const { return written_ + static_cast<std::int64_t>(text_.size()); }
  std::string finish() {
    write();
    if (file_ != nullptr && std::fclose(file_) != 0) good_ = false;
    const bool opened = file_ != nullptr;
    file_ = nullptr;
    return opened && good_ ? std::string() : path_ + ": cannot be written";
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  void write() {
    if (file_ != nullptr && std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size()) good_ = false;
    written_ += static_cast<std::int64_t>(text_.size());
    text_.clear();
  }

  const std::string path_;
  std::FILE* file_;
  std::string text_;
  std::int64_t written_ = 0;
  bool good_ = true;
};

class Random {
 public:
  unsigned below(unsigned limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 42;
};

struct Operator {
  std::string_view name;
  std::string_view dims;
  std::string_view types;
  int inner;  // operators that it calls
};

constexpr std::array kOperators = {
    Operator{"aten::linear", "[[64, 512, 768], [768, 768], [768]]", R"(["float", "float", "float"])", 2},
    Operator{"aten::conv2d", "[[64, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]",
             R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])", 3},
    Operator{"aten::layer_norm", "[[64, 512, 768], [], [768], [768], [], []]",
             R"(["float", "ScalarList", "float", "float", "Scalar", "Scalar"])", 1},
    Operator{"aten::add", "[[64, 512, 768], [64, 512, 768], []]", R"(["float", "float", "Scalar"])", 0},
    Operator{"aten::mm", "[[32768, 768], [768, 3072]]", R"(["float", "float"])", 0},
    Operator{"aten::gelu", "[[64, 512, 3072], []]", R"(["float", "Scalar"])", 0},
    Operator{"autograd::engine::evaluate_function: AddmmBackward0", "[]", "[]", 2},
    Operator{"AddmmBackward0", "[[32768, 768]]", R"(["float"])", 1},
};

constexpr std::array<std::string_view, 8> kKernels = {
    "ampere_sgemm_128x64_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(cudnnTensorStruct, float "
    "const*, "
    "cudnnTensorStruct, float*, float const*, float const*, float, float, float*, float*, float*, float*)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float "
    "const*, float const*, float const*, float*, float*, float*)",
    "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_warpsize2x2x1_ffma_aligna4_alignc4_"
    "execute_kernel__5x_cublas",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x3_nt_align4>(cutlass_80_tensorop_"
    "s1688gemm_128x256_16x3_nt_align4::Params)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
    "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, "
    "float)#1}>, "
    "unsigned int, float, 4> >(at::native::ReduceOp<float, unsigned int, float, 4>)",
    "void "
    "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#2}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}>(int)",
};

constexpr std::array<int, 4> kBlocks = {128, 256, 512, 1024};

class Kineto {
 public:
  explicit Kineto(Out& out) : out_(out) {}

  void head() {
    out_.put(R"json({{
  "schemaVersion": 1,
  "deviceProperties": [
    {{
      "id": 0, "name": "A GPU", "totalGlobalMem": 42297786368, "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 108, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912, "sharedMemPerMultiprocessor": 167936
    }}
  ],
  "distributedInfo": {{"backend": "nccl", "rank": 0, "world_size": 8}},
  "record_shapes": 1, "profile_memory": 1, "with_stack": 0,
  "traceEvents": [
)json");
    metadata("process_name", kPid, 0, "\"name\": \"python\"");
    metadata("thread_name", kPid, kPid, "\"name\": \"thread 4000 (python)\"");
    metadata("process_name", 0, 0, "\"name\": \"python\"");
    metadata("process_labels", 0, 0, "\"labels\": \"GPU 0\"");
    metadata("thread_name", 0, 7, "\"name\": \"stream 7 \"");
  }

  void step() {
    const double begin = now_;
    const int first = correlation_;
    for (int i = 0; i < 120; ++i) {
      hostOperator(kOperators[random_.below(kOperators.size())]);
      now_ += random_.below(9000) / 1000.0;
    }
    double launch = begin + 5;
    for (int i = 0; i < 200; ++i) {
      launchAndKernel(launch);
      launch += 4 + random_.below(4000) / 1000.0;
    }
    device_ = launch > device_ ? launch : device_;
    out_.put(
        "  {{\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#{}\", \"pid\": {}, "
        "\"tid\": {},\n"
        "    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\"Record function "
        "id\": 0, "
        "\"Ev Idx\": {}\n    }}\n  }},\n",
        step_++, kPid, kPid, begin - 1, now_ - begin + 1, first, index_++);
    now_ += 20;
  }

  void tail() {
    out_.put(
        "  {{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", "
        "\"tid\": \"\", "
        "\"ts\": {:.3f}\n  }}\n  ],\n  \"traceName\": \"made_up.json\",\n  \"displayTimeUnit\": \"ms\",\n"
        "  \"baseTimeNanoseconds\": 1700000000000000000\n}}\n",
        now_);
  }

 private:
  static constexpr int kPid = 4000;

  void metadata(std::string_view what, int pid, int tid, std::string_view args) {
    out_.put(
        "  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": {:.3f}, \"pid\": {}, \"tid\": {},\n    \"args\": "
        "{{\n"
        "      {}\n    }}\n  }},\n",
        what, now_, pid, tid, args);
  }

  void hostOperator(const Operator& op) {
    const double begin = now_;
    const int external = external_++;
    double length = 3 + random_.below(20000) / 1000.0;
    range(op, begin, length, external);
    for (int i = 0; i < op.inner; ++i) {
      range(kOperators[random_.below(kOperators.size())], begin + length * (i + 0.1) / (op.inner + 1),
            length * 0.8 / (op.inner + 1), external_++);
    }
    if (random_.below(8) == 0) memory(begin + length / 2);
    if (random_.below(8) == 0) arrow("fwdbwd", 's', external, kPid, kPid, begin);
    now_ = begin + length;
  }

  void range(const Operator& op, double begin, double length, int external) {
    out_.put(
        "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n"
        "    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\"Record function "
        "id\": 0, "
        "\"Sequence number\": {}, \"Fwd thread id\": 0, \"Input Dims\": {}, \"Input type\": {}, \"Ev Idx\": "
        "{}\n    "
        "}}\n  }},\n",
        op.name, kPid, kPid, begin, length, external, external / 3, op.dims, op.types, index_++);
  }

  void memory(double at) {
    const int bytes = 512 * (1 + static_cast<int>(random_.below(4096)));
    total_ = total_ > 1'000'000'000 ? 0 : total_ + bytes;
    out_.put(
        "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
        "\"pid\": {}, "
        "\"tid\": {},\n    \"ts\": {:.3f},\n    \"args\": {{\n      \"Total Reserved\": 2147483648, \"Total "
        "Allocated\": "
        "{}, \"Bytes\": {}, \"Addr\": {}, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": {}\n    }}\n  "
        "}},\n",
        kPid, kPid, at, total_, bytes, 139908000000000 + total_, index_++);
  }

  void arrow(std::string_view category, char ph, int id, int pid, int tid, double at) {
    out_.put(
        "  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {:.3f},\n    \"cat\": "
        "\"{}\", \"name\": "
        "\"{}\"{}\n  }},\n",
        ph, id, pid, tid, at, category, category, ph == 'f' ? ", \"bp\": \"e\"" : "");
  }

  void launchAndKernel(double at) {
    const int correlation = correlation_++;
    const double launch = 2 + random_.below(2000) / 1000.0;
    const double length = 2 + random_.below(9000) / 1000.0;
    const double begin = device_ > at + launch ? device_ : at + launch;
    const bool copy = random_.below(16) == 0;
    out_.put(
        "  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n   "
        " \"ts\": "
        "{:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},      \"cbid\": 211, "
        "\"correlation\": "
        "{}\n    }}\n  }},\n",
        copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", kPid, kPid, at, launch, correlation / 2, correlation);
    arrow("ac2g", 's', correlation, kPid, kPid, at);
    if (copy) {
      out_.put(
          "  {{\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", "
          "\"pid\": 0, "
          "\"tid\": 7,\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},   "
          "   "
          "\"device\": 0, \"context\": 1,      \"stream\": 7, \"correlation\": {},      \"bytes\": {}, "
          "\"memory "
          "bandwidth (GB/s)\": {:.6f}\n    }}\n  }},\n",
          begin, length, correlation / 2, correlation, 4096 * (1 + random_.below(64)), length * 1.37);
    } else {
      kernel(begin, length, correlation);
    }
    arrow("ac2g", 'f', correlation, 0, 7, begin);
    device_ = begin + length + 0.6;
  }

  void kernel(double begin, double length, int correlation) {
    const int grid = 16 << random_.below(8);
    const int block = kBlocks[random_.below(kBlocks.size())];
    out_.put(
        "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7,\n    "
        "\"ts\": {:.3f}, "
        "\"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},      \"queued\": 0, \"device\": 0, "
        "\"context\": 1,      \"stream\": 7, \"correlation\": {},      \"registers per thread\": {},      "
        "\"shared "
        "memory\": {},      \"blocks per SM\": {:.6f},      \"warps per SM\": {:.6f},      \"grid\": [{}, 1, "
        "1],   "
        "   \"block\": [{}, 1, 1],      \"est. achieved occupancy %\": {}\n    }}\n  }},\n",
        kKernels[random_.below(kKernels.size())], begin, length, correlation / 2, correlation,
        32 + 8 * random_.below(4), 4096 * random_.below(4), grid / 108.0, grid * block / 32 / 108.0, grid,
        block, 25 * (1 + random_.below(4)));
  }

  Out& out_;
  Random random_;
  double now_ = 4458676522690.655;
  double device_ = 4458676522690.655;
  int external_ = 2049;
  int index_ = 0;
  int correlation_ = 57541;
  int step_ = 0;
  std::int64_t total_ = 0;
};

constexpr std::array<std::string_view, 6> kMxNetOperators = {
    "Convolution", "_backward_Convolution", "BatchNorm", "FullyConnected", "sgd_mom_update", "_mul_scalar"};

}  // namespace

std::string makeKineto(const std::string& path, std::int64_t bytes) {
  Out out(path);
  Kineto trace(out);
  trace.head();
  while (out.bytes() < bytes) trace.step();
  trace.tail();
  return out.finish();
}

std::string makeMxNet(const std::string& path, std::int64_t bytes) {
  Out out(path);
  Random random;
  out.put("{{\n    \"traceEvents\": [\n");
  for (int device = 0; device < 2; ++device) {
    out.put(
        "        {{\"ph\": \"M\", \"args\": {{\"name\": \"{}/0\"}}, \"pid\": {}, \"name\": "
        "\"process_name\"}},\n",
        device == 0 ? "cpu" : "gpu", device);
  }
  out.put(
      "        {{\"ph\": \"M\", \"args\": {{\"name\": \"operator\"}}, \"pid\": 3060606181218273969, "
      "\"name\": "
      "\"process_name\"}}");
  std::int64_t now = 1559670569136168;
  const auto event = [&](std::string_view name, std::string_view category, char ph, std::int64_t at,
                         std::string_view rest) {
    out.put(
        ",\n    {{\n        \"name\": \"{}\",\n        \"cat\": \"{}\",\n        \"ph\": \"{}\",\n        "
        "\"ts\": {},"
        "\n{}\n    }}\n",
        name, category, ph, at, rest);
  };
  while (out.bytes() < bytes) {
    const auto name = kMxNetOperators[random.below(kMxNetOperators.size())];
    const std::int64_t length = 20 + random.below(200);
    constexpr std::string_view kRange = "        \"pid\": 1,\n        \"tid\": 17343844709549807314";
    constexpr std::string_view kTwin =
        "        \"id\": 17343844709549807314,\n        \"pid\": 3060606181218273969,\n        \"tid\": "
        "17343844709549807314";
    constexpr std::string_view kCall =
        "        \"id\": 8261734019283746511,\n        \"pid\": 13084354670121613409,\n        \"tid\": "
        "8261734019283746511";
    event("MXImperativeInvokeEx", "MXNET_C_API", 'b', now, kCall);
    event(name, "operator", 'B', now + 5, kRange);
    event(name, "operator", 'b', now + 5, kTwin);
    event("MXImperativeInvokeEx", "MXNET_C_API", 'e', now + 15, kCall);
    event(name, "operator", 'E', now + length, kRange);
    event(name, "operator", 'e', now + length, kTwin);
    event(
        "Memory: gpu/0", "Device Storage", 'C', now + 2,
        fmt::format(
            "        \"args\": {{ \"Memory: gpu/0\": {} }},\n        \"pid\": 9785678402843609691,\n        "
            "\"tid\": 17343844709549807314",
            201320 + 512 * random.below(4096)));
    now += length + 3;
  }
  out.put("\n\n    ],\n    \"displayTimeUnit\": \"ms\"\n}}\n");
  return out.finish();
}

std::string makeOneDnn(const std::string& path, std::int64_t bytes) {
  Out out(path);
  Random random;
  out.put(
      "onednn_verbose,info,oneDNN v3.4.1 (commit abc)\nonednn_verbose,info,cpu,runtime:OpenMP,nthr:16\n"
      "onednn_verbose,info,cpu,isa:Intel AVX-512 with Intel DL Boost\n"
      "onednn_verbose,primitive,info,template:timestamp,operation,engine,primitive,implementation,prop_kind,"
      "memory_"
      "descriptors,attributes,auxiliary,problem_desc,exec_time\n");
  double now = 1702442956104.304932;
  for (int line = 0; out.bytes() < bytes; ++line) {
    const double length = 0.01 + random.below(4000) / 1000.0;
    switch (random.below(4)) {
      case 0:
        out.put(
            "onednn_verbose,{:.6f},primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src_f32::"
            "blocked:"
            "aBcd16b::f0 wei_f32::blocked:ABcd16b16a::f0 bia_f32::blocked:a::f0 "
            "dst_f32::blocked:aBcd16b::f0,attr-"
            "post-ops:eltwise_relu,alg:convolution_direct,mb64_ic64oc64_ih56oh56kh3sh1dh0ph1_"
            "iw56ow56kw3sw1dw0pw1,{:"
            ".6g}\n",
            now, length);
        break;
      case 1:
        out.put(
            "onednn_verbose,{:.6f},primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd::f0 "
            "dst_f32::"
            "blocked:aBcd16b::f0,,,{}x64x56x56,{:.6g}\n",
            now, 1 + random.below(64), length);
        break;
      case 2:
        out.put(
            "onednn_verbose,{:.6f},primitive,exec,cpu,inner_product,brgemm:avx512_core,forward_inference,src_"
            "f32::"
            "blocked:ab::f0 wei_f32::blocked:AB16b64a::f0 bia_f32::blocked:a::f0 "
            "dst_f32::blocked:ab::f0,attr-scratchpad"
            ":user,,mb64ic768oc3072,{:.6g}\n",
            now, length);
        break;
      default:
        out.put(
            "onednn_verbose,{:.6f},primitive,exec,cpu,eltwise,jit:avx512_core,forward_training,data_f32::"
            "blocked:"
            "aBcd16b::f0 diff_undef::undef:::,,alg:eltwise_relu alpha:0 beta:0,64x64x56x56,{:.6g}\n",
            now, length);
        break;
    }
    now += length + 0.02;
    if (line % 100 == 99)
      out.put("Epoch[0] Batch [{}]  Speed: 1234.5 samples/sec  accuracy=0.93\n", line / 100);
  }
  return out.finish();
}

}  // namespace pitwall::bench
