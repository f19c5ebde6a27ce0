#include "runtime/profiler/torch/layers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace pitwall::torch {
namespace {

constexpr std::size_t kMostLayers = std::size_t{1} << 16U;
constexpr std::size_t kDeepest = 4096;

// Without a lock, which a fork could leave locked. The names stay to the end of the process.
std::array<std::atomic<const std::string*>, kMostLayers> g_names;

std::vector<LayerNumber>& entered() {
  thread_local const auto layers = std::make_unique<std::vector<LayerNumber>>();
  return *layers;
}

}  // namespace

void nameLayer(LayerNumber layer, const char* name) {
  if (layer <= 0 || static_cast<std::size_t>(layer) >= kMostLayers) return;
  auto text = std::make_unique<const std::string>(name);
  const std::string* none = nullptr;
  if (g_names[static_cast<std::size_t>(layer)].compare_exchange_strong(none, text.get())) text.release();
}

std::string nameOfLayer(LayerNumber layer) {
  if (layer <= 0 || static_cast<std::size_t>(layer) >= kMostLayers) return {};
  const std::string* const name = g_names[static_cast<std::size_t>(layer)].load(std::memory_order_acquire);
  return name == nullptr ? std::string() : *name;
}

void enterLayer(LayerNumber layer) {
  std::vector<LayerNumber>& layers = entered();
  // Deeper than any program's: layers that were never left.
  if (layers.size() >= kDeepest) layers.clear();
  layers.push_back(layer);
}

void leaveLayer(LayerNumber layer) {
  std::vector<LayerNumber>& layers = entered();
  const auto last = std::find(layers.rbegin(), layers.rend(), layer);
  if (last != layers.rend()) layers.erase(last.base() - 1, layers.end());
}

LayerNumber currentLayer() {
  const std::vector<LayerNumber>& layers = entered();
  return layers.empty() ? 0 : layers.back();
}

}  // namespace pitwall::torch
