// Krizhevsky, Sutskever, Hinton: ImageNet Classification with Deep Convolutional Neural Networks, on one device.
#include "runtime/models/layers.h"

namespace pitwall::models {

Result<Symbol> alexnet(std::int64_t classes) {
  Layers net;
  const auto convolved = [&net](const std::string& number, const Symbol& data,
                                const ConvolutionOptions& options) {
    return net.relu("relu" + number, net.convolution("conv" + number, data, options));
  };
  const auto normalised = [&net](const std::string& number, const Symbol& data) {
    return net.apply("LRN", "lrn" + number, {data},
                     {{"alpha", "0.0001"}, {"beta", "0.75"}, {"knorm", "2"}, {"nsize", "5"}});
  };
  const PoolingOptions halved{.kernel = {3, 3}, .stride = {2, 2}};

  Symbol body = Symbol::variable("data");
  body = convolved("1", body, {.channels = 96, .kernel = {11, 11}, .stride = {4, 4}});
  body = net.pooling("pool1", normalised("1", body), halved);
  body = convolved("2", body, {.channels = 256, .kernel = {5, 5}, .pad = {2, 2}});
  body = net.pooling("pool2", normalised("2", body), halved);
  body = convolved("3", body, {.channels = 384, .kernel = {3, 3}, .pad = {1, 1}});
  body = convolved("4", body, {.channels = 384, .kernel = {3, 3}, .pad = {1, 1}});
  body = convolved("5", body, {.channels = 256, .kernel = {3, 3}, .pad = {1, 1}});
  body = net.pooling("pool3", body, halved);

  body = net.apply("Flatten", "flatten0", {body});
  body = net.dropout("dropout0", net.relu("relu6", net.dense("fc1", body, 4096)));
  body = net.dropout("dropout1", net.relu("relu7", net.dense("fc2", body, 4096)));
  return net.softmax(net.dense("fc3", body, classes));
}

}  // namespace pitwall::models
