// Simonyan, Zisserman: Very Deep Convolutional Networks for Large-Scale Image Recognition.
#include <fmt/format.h>

#include <array>

#include "runtime/models/zoo_layers.h"

namespace pitwall::models {
namespace {

// Convolutions before each of the five poolings.
std::array<int, 5> vggBlocks(int layers) {
  switch (layers) {
    case 11: return {1, 1, 2, 2, 2};
    case 13: return {2, 2, 2, 2, 2};
    case 16: return {2, 2, 3, 3, 3};
    default: return {2, 2, 4, 4, 4};
  }
}

constexpr std::array<std::int64_t, 5> kChannels{64, 128, 256, 512, 512};  // of each block

}  // namespace

Result<Symbol> vgg(int layers, std::int64_t classes) {
  const std::array<int, 5> blocks = vggBlocks(layers);
  Layers net;
  Symbol body = Symbol::variable("data");
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (int i = 1; i <= blocks[block]; ++i) {
      const std::string place = fmt::format("{}_{}", block + 1, i);
      body = net.convolution("conv" + place, body,
                             {.channels = kChannels[block], .kernel = {3, 3}, .pad = {1, 1}});
      body = net.relu("relu" + place, body);
    }
    body = net.pooling(fmt::format("pool{}", block + 1), body, {.kernel = {2, 2}, .stride = {2, 2}});
  }
  body = net.apply("Flatten", "flatten", {body});
  body = net.dropout("drop6", net.relu("relu6", net.dense("fc6", body, 4096)));
  body = net.dropout("drop7", net.relu("relu7", net.dense("fc7", body, 4096)));
  return net.softmax(net.dense("fc8", body, classes));
}

// As MXNet's model zoo has it.
Result<Symbol> vggNormalised(int layers, std::int64_t classes) {
  const std::array<int, 5> blocks = vggBlocks(layers);
  ZooLayers net("vgg0_");
  Symbol body = Symbol::variable("data");
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (int i = 0; i < blocks[block]; ++i) {
      const ConvolutionOptions options{.channels = kChannels[block], .kernel = {3, 3}, .pad = {1, 1}};
      body = net.relu(net.batchNorm(net.convolution(body, options)));
    }
    body = net.pooling(body, {.kernel = {2, 2}, .stride = {2, 2}});
  }
  for (int i = 0; i < 2; ++i) body = net.dropout(net.relu(net.dense(body, 4096)));
  return net.net().softmax(net.dense(body, classes));
}

}  // namespace pitwall::models
