// Huang, Liu, van der Maaten, Weinberger: Densely Connected Convolutional Networks. As MXNet's model zoo has them.
#include <array>

#include "runtime/models/zoo_layers.h"

namespace pitwall::models {
namespace {

struct DenseDepth {
  std::int64_t first, growth;  // channels
  std::array<int, 4> layers;   // of each block
};

DenseDepth denseDepthOf(int layers) {
  switch (layers) {
    case 121: return {64, 32, {6, 12, 24, 16}};
    case 161: return {96, 48, {6, 12, 36, 24}};
    case 169: return {64, 32, {6, 12, 32, 32}};
    default: return {64, 32, {6, 12, 48, 32}};  // 201
  }
}

Symbol denseActivated(ZooLayers& net, const Symbol& data) { return net.relu(net.batchNorm(data)); }

// Adds `growth` channels to those of the data.
Symbol denseLayer(ZooLayers& net, const Symbol& data, std::int64_t growth) {
  const Symbol narrow = net.convolution(denseActivated(net, data), {.channels = 4 * growth, .bias = false});
  const Symbol fresh = net.convolution(denseActivated(net, narrow),
                                       {.channels = growth, .kernel = {3, 3}, .pad = {1, 1}, .bias = false});
  return net.concat({data, fresh});
}

}  // namespace

Result<Symbol> densenet(int layers, std::int64_t classes) {
  const DenseDepth depth = denseDepthOf(layers);
  ZooLayers net("densenet0_");
  Symbol body = net.convolution(
      Symbol::variable("data"),
      {.channels = depth.first, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .bias = false});
  body = net.pooling(denseActivated(net, body), {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}});
  std::int64_t channels = depth.first;
  for (std::size_t block = 0; block < depth.layers.size(); ++block) {
    net.enter("stage" + std::to_string(block + 1) + "_");
    for (int i = 0; i < depth.layers[block]; ++i) body = denseLayer(net, body, depth.growth);
    channels += depth.layers[block] * depth.growth;
    net.enter("");
    if (block + 1 == depth.layers.size()) break;
    channels /= 2;
    body = net.convolution(denseActivated(net, body), {.channels = channels, .bias = false});
    body = net.pooling(body, {.type = "avg", .kernel = {2, 2}, .stride = {2, 2}});
  }
  body = net.pooling(denseActivated(net, body), {.type = "avg", .kernel = {7, 7}, .stride = {7, 7}});
  return net.net().softmax(net.dense(net.flatten(body), classes));
}

}  // namespace pitwall::models
