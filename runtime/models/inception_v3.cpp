// Szegedy et al.: Rethinking the Inception Architecture for Computer Vision.
#include "runtime/models/layers.h"

namespace pitwall::models {
namespace {

class InceptionV3 {
 public:
  // `name` and `suffix` as in "mixed_tower" and "_conv_1".
  Symbol convolved(const std::string& name, const Symbol& data, std::int64_t channels,
                   const Extent2& kernel = {1, 1}, const Extent2& stride = {1, 1},
                   const Extent2& pad = {0, 0}) {
    const Symbol conv = net_.convolution(
        name + "_conv2d", data,
        {.channels = channels, .kernel = kernel, .stride = stride, .pad = pad, .bias = false});
    return net_.relu(name + "_relu", net_.batchNorm(name + "_batchnorm", conv, {}));
  }

  Symbol a(const std::string& name, const Symbol& data, std::int64_t projection) {
    const Symbol one = convolved(name + "_conv", data, 64);
    Symbol five = convolved(name + "_tower_conv", data, 48);
    five = convolved(name + "_tower_conv_1", five, 64, {5, 5}, {1, 1}, {2, 2});
    Symbol three = convolved(name + "_tower_1_conv", data, 64);
    three = convolved(name + "_tower_1_conv_1", three, 96, {3, 3}, {1, 1}, {1, 1});
    three = convolved(name + "_tower_1_conv_2", three, 96, {3, 3}, {1, 1}, {1, 1});
    return joined(name, {one, five, three, projected(name, data, "avg", projection)});
  }

  Symbol b(const std::string& name, const Symbol& data) {
    const Symbol three = convolved(name + "_conv", data, 384, {3, 3}, {2, 2});
    Symbol doubled = convolved(name + "_tower_conv", data, 64);
    doubled = convolved(name + "_tower_conv_1", doubled, 96, {3, 3}, {1, 1}, {1, 1});
    doubled = convolved(name + "_tower_conv_2", doubled, 96, {3, 3}, {2, 2});
    return joined(name, {three, doubled, halved(name, data)});
  }

  Symbol c(const std::string& name, const Symbol& data, std::int64_t width) {
    const Symbol one = convolved(name + "_conv", data, 192);
    Symbol d7 = convolved(name + "_tower_conv", data, width);
    d7 = wide(name + "_tower_conv_1", d7, width);
    d7 = tall(name + "_tower_conv_2", d7, 192);
    Symbol q7 = convolved(name + "_tower_1_conv", data, width);
    q7 = tall(name + "_tower_1_conv_1", q7, width);
    q7 = wide(name + "_tower_1_conv_2", q7, width);
    q7 = tall(name + "_tower_1_conv_3", q7, width);
    q7 = wide(name + "_tower_1_conv_4", q7, 192);
    return joined(name, {one, d7, q7, projected(name, data, "avg", 192)});
  }

  Symbol d(const std::string& name, const Symbol& data) {
    Symbol three = convolved(name + "_tower_conv", data, 192);
    three = convolved(name + "_tower_conv_1", three, 320, {3, 3}, {2, 2});
    Symbol d7 = convolved(name + "_tower_1_conv", data, 192);
    d7 = wide(name + "_tower_1_conv_1", d7, 192);
    d7 = tall(name + "_tower_1_conv_2", d7, 192);
    d7 = convolved(name + "_tower_1_conv_3", d7, 192, {3, 3}, {2, 2});
    return joined(name, {three, d7, halved(name, data)});
  }

  Symbol e(const std::string& name, const Symbol& data, const char* pool) {
    const Symbol one = convolved(name + "_conv", data, 320);
    const Symbol d3 = convolved(name + "_tower_conv", data, 384);
    const Symbol d3_wide = convolved(name + "_tower_mixed_conv", d3, 384, {1, 3}, {1, 1}, {0, 1});
    const Symbol d3_tall = convolved(name + "_tower_mixed_conv_1", d3, 384, {3, 1}, {1, 1}, {1, 0});
    Symbol three = convolved(name + "_tower_1_conv", data, 448);
    three = convolved(name + "_tower_1_conv_1", three, 384, {3, 3}, {1, 1}, {1, 1});
    const Symbol wide3 = convolved(name + "_tower_1_mixed_conv", three, 384, {1, 3}, {1, 1}, {0, 1});
    const Symbol tall3 = convolved(name + "_tower_1_mixed_conv_1", three, 384, {3, 1}, {1, 1}, {1, 0});
    return joined(name, {one, d3_wide, d3_tall, wide3, tall3, projected(name, data, pool, 192)});
  }

  Layers& net() { return net_; }

 private:
  Symbol wide(const std::string& name, const Symbol& data, std::int64_t channels) {
    return convolved(name, data, channels, {1, 7}, {1, 1}, {0, 3});
  }
  Symbol tall(const std::string& name, const Symbol& data, std::int64_t channels) {
    return convolved(name, data, channels, {7, 1}, {1, 1}, {3, 0});
  }
  Symbol projected(const std::string& name, const Symbol& data, const char* pool, std::int64_t channels) {
    const Symbol pooled = net_.pooling(pool + ("_pool_" + name) + "_pool", data,
                                       {.type = pool, .kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}});
    return convolved(name + "_tower_2_conv", pooled, channels);
  }
  Symbol halved(const std::string& name, const Symbol& data) {
    return net_.pooling("max_pool_" + name + "_pool", data, {.kernel = {3, 3}, .stride = {2, 2}});
  }
  Symbol joined(const std::string& name, const std::vector<Symbol>& parts) {
    return net_.concat("ch_concat_" + name + "_chconcat", parts);
  }

  Layers net_;
};

}  // namespace

Result<Symbol> inceptionV3(std::int64_t classes) {
  InceptionV3 parts;
  Layers& net = parts.net();
  const PoolingOptions halved{.kernel = {3, 3}, .stride = {2, 2}};
  Symbol body = net.apply("_copy", "id", {Symbol::variable("data")});
  body = parts.convolved("conv", body, 32, {3, 3}, {2, 2});
  body = parts.convolved("conv_1", body, 32, {3, 3});
  body = parts.convolved("conv_2", body, 64, {3, 3}, {1, 1}, {1, 1});
  body = net.pooling("pool", body, halved);
  body = parts.convolved("conv_3", body, 80);
  body = parts.convolved("conv_4", body, 192, {3, 3});
  body = net.pooling("pool1", body, halved);
  body = parts.a("mixed", body, 32);
  body = parts.a("mixed_1", body, 64);
  body = parts.a("mixed_2", body, 64);
  body = parts.b("mixed_3", body);
  body = parts.c("mixed_4", body, 128);
  body = parts.c("mixed_5", body, 160);
  body = parts.c("mixed_6", body, 160);
  body = parts.c("mixed_7", body, 192);
  body = parts.d("mixed_8", body);
  body = parts.e("mixed_9", body, "avg");
  body = parts.e("mixed_10", body, "max");
  body = net.pooling("global_pool", body, {.type = "avg", .kernel = {8, 8}, .stride = {1, 1}});
  body = net.apply("Flatten", "flatten", {body});
  return net.softmax(net.dense("fc1", body, classes));
}

}  // namespace pitwall::models
