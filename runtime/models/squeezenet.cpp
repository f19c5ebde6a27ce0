// Iandola et al.: SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size. As MXNet's model zoo has
// them.
#include "runtime/models/zoo_layers.h"

namespace pitwall::models {
namespace {

Symbol fireConvolution(ZooLayers& net, const Symbol& data, std::int64_t channels, std::int64_t kernel) {
  const std::int64_t pad = kernel / 2;
  return net.relu(
      net.convolution(data, {.channels = channels, .kernel = {kernel, kernel}, .pad = {pad, pad}}));
}

// `squeezed` channels, then four times as many of each of two kernels.
Symbol fire(ZooLayers& net, const Symbol& data, std::int64_t squeezed) {
  const Symbol narrow = fireConvolution(net, data, squeezed, 1);
  const Symbol small = fireConvolution(net, narrow, 4 * squeezed, 1);
  return net.concat({small, fireConvolution(net, narrow, 4 * squeezed, 3)});
}

Symbol squeezePooling(ZooLayers& net, const Symbol& data) {
  return net.pooling(data, {.kernel = {3, 3}, .stride = {2, 2}, .full = true});
}

// Squeezed channels of the layers in a row; 0: the image is halved.
Result<Symbol> squeezenet(std::initializer_list<std::int64_t> layers, const ConvolutionOptions& first,
                          std::int64_t classes) {
  ZooLayers net("squeezenet0_");
  Symbol body = net.relu(net.convolution(Symbol::variable("data"), first));
  for (const std::int64_t squeezed : layers)
    body = squeezed == 0 ? squeezePooling(net, body) : fire(net, body, squeezed);
  body = net.relu(net.convolution(net.dropout(body), {.channels = classes}));
  body = net.pooling(body, {.type = "avg", .kernel = {13, 13}, .stride = {13, 13}});
  return net.net().softmax(net.flatten(body));
}

}  // namespace

Result<Symbol> squeezenet10(std::int64_t classes) {
  return squeezenet({0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64},
                    {.channels = 96, .kernel = {7, 7}, .stride = {2, 2}}, classes);
}

Result<Symbol> squeezenet11(std::int64_t classes) {
  return squeezenet({0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64},
                    {.channels = 64, .kernel = {3, 3}, .stride = {2, 2}}, classes);
}

}  // namespace pitwall::models
