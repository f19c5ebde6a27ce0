// Ioffe, Szegedy: Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift.
#include "runtime/models/layers.h"

namespace pitwall::models {
namespace {

class InceptionBn {
 public:
  Symbol convolved(const std::string& name, const Symbol& data, const ConvolutionOptions& options) {
    const Symbol conv = net_.convolution("conv_" + name, data, options);
    const Symbol bn =
        net_.batchNorm("bn_" + name, conv, {.epsilon = "1.00001e-05", .momentum = "0.9", .fix_gamma = false});
    return net_.relu("relu_" + name, bn);
  }

  // Channels of the four branches; r: of the 1x1 convolution before the 3x3 ones.
  struct Widths {
    std::int64_t one, three_r, three, double_r, doubled, projection;
  };

  // Keeps the size of the image.
  Symbol keeping(const std::string& name, const Symbol& data, const char* pool, const Widths& w) {
    const Symbol one = convolved(name + "_1x1", data, {.channels = w.one});
    const Symbol three = threes(name, data, w, {1, 1});
    const Symbol doubled = doubles(name, data, w, {1, 1});
    const Symbol pooled = net_.pooling(pool + ("_pool_" + name) + "_pool", data,
                                       {.type = pool, .kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}});
    const Symbol projection = convolved(name + "_proj", pooled, {.channels = w.projection});
    return net_.concat("ch_concat_" + name + "_chconcat", {one, three, doubled, projection});
  }

  // Halves the image.
  Symbol halving(const std::string& name, const Symbol& data, const Widths& w) {
    const Symbol three = threes(name, data, w, {2, 2});
    const Symbol doubled = doubles(name, data, w, {2, 2});
    const Symbol pooled =
        net_.pooling("max_pool_" + name + "_pool", data, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}});
    return net_.concat("ch_concat_" + name + "_chconcat", {three, doubled, pooled});
  }

  Layers& net() { return net_; }

 private:
  Symbol threes(const std::string& name, const Symbol& data, const Widths& w, const Extent2& stride) {
    const Symbol reduced = convolved(name + "_3x3_reduce", data, {.channels = w.three_r});
    return convolved(name + "_3x3", reduced,
                     {.channels = w.three, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}});
  }
  Symbol doubles(const std::string& name, const Symbol& data, const Widths& w, const Extent2& stride) {
    const Symbol reduced = convolved(name + "_double_3x3_reduce", data, {.channels = w.double_r});
    const Symbol first =
        convolved(name + "_double_3x3_0", reduced, {.channels = w.doubled, .kernel = {3, 3}, .pad = {1, 1}});
    return convolved(name + "_double_3x3_1", first,
                     {.channels = w.doubled, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}});
  }

  Layers net_;
};

}  // namespace

Result<Symbol> inceptionBn(std::int64_t classes) {
  InceptionBn parts;
  Layers& net = parts.net();
  const PoolingOptions halved{.kernel = {3, 3}, .stride = {2, 2}};
  Symbol body = Symbol::variable("data");
  body = parts.convolved("1", body, {.channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}});
  body = net.pooling("pool_1", body, halved);
  body = parts.convolved("2_red", body, {.channels = 64});
  body = parts.convolved("2", body, {.channels = 192, .kernel = {3, 3}, .pad = {1, 1}});
  body = net.pooling("pool_2", body, halved);
  body = parts.keeping("3a", body, "avg", {64, 64, 64, 64, 96, 32});
  body = parts.keeping("3b", body, "avg", {64, 64, 96, 64, 96, 64});
  body = parts.halving("3c", body, {0, 128, 160, 64, 96, 0});
  body = parts.keeping("4a", body, "avg", {224, 64, 96, 96, 128, 128});
  body = parts.keeping("4b", body, "avg", {192, 96, 128, 96, 128, 128});
  body = parts.keeping("4c", body, "avg", {160, 128, 160, 128, 160, 128});
  body = parts.keeping("4d", body, "avg", {96, 128, 192, 160, 192, 128});
  body = parts.halving("4e", body, {0, 128, 192, 192, 256, 0});
  body = parts.keeping("5a", body, "avg", {352, 192, 320, 160, 224, 128});
  body = parts.keeping("5b", body, "max", {352, 192, 320, 192, 224, 128});
  body = net.pooling("global_pool", body, {.type = "avg", .kernel = {7, 7}, .stride = {1, 1}});
  body = net.apply("Flatten", "flatten0", {body});
  return net.softmax(net.dense("fullyconnected0", body, classes));
}

}  // namespace pitwall::models
