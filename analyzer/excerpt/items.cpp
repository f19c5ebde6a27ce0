#include "analyzer/excerpt/items.h"

#include <utility>

namespace pitwall::excerpt {
namespace {

const char* categoryOf(EventKind kind, Phase phase) {
  switch (kind) {
    case EventKind::operatorRun:
      switch (phase) {
        case Phase::forward: return "forward";
        case Phase::backward: return "backward";
        case Phase::update: return "update";
        case Phase::data: return "data";
        case Phase::none: return "operator";
      }
      return "operator";
    case EventKind::wait: return "wait";
    case EventKind::dataWait: return "data wait";
    case EventKind::dataWork: return "data";
    case EventKind::api: return "call";
    case EventKind::kernel: return "kernel";
    case EventKind::copy: return "copy";
    case EventKind::communication: return "communication";
    case EventKind::bulk:
    case EventKind::scope:
    case EventKind::instant: return "section";
    case EventKind::recorder: return "recorder";
  }
  return "section";
}

// Parts of the critical path have names of categories, but for the delays.
std::string categoryOfPart(const std::string& part) {
  const bool is_delay = part == "launch delay" || part == "device delay" || part == "engine overhead";
  return is_delay ? "delay" : part;
}

void append(std::string& text, const std::string& part) {
  if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
}

}  // namespace

std::size_t Items::add(ReportTimeline::Item item, OperatorId op) {
  items_.push_back(std::move(item));
  operators_.push_back(op);
  return items_.size() - 1;
}

std::size_t Items::of(EventKind kind, OperatorId op, StringId name) {
  const auto [at, is_new] = of_event_.try_emplace({kind, op.value, name.value}, 0);
  if (!is_new) return at->second;
  ReportTimeline::Item item{trace_.string(name), categoryOf(kind, Phase::none), ""};
  if (op && op.value <= trace_.operatorFacts().size()) {
    const OperatorFacts& facts = trace_.operatorFacts()[op.value - 1];
    item.text = facts.layer.empty() ? facts.name : facts.layer + " " + facts.name;
    item.category = categoryOf(kind, facts.phase);
    if (facts.phase != Phase::none) append(item.detail, toString(facts.phase));
    append(item.detail, facts.shapes);
    append(item.detail, facts.dtype);
    append(item.detail, facts.implementation);
  }
  if (item.text.empty()) item.text = toString(kind);
  if (op) category_of_operator_.insert_or_assign(item.text, item.category);
  return at->second = add(std::move(item), op);
}

std::size_t Items::ofStep(const std::string& part, const std::string& title) {
  const auto [at, is_new] = of_step_.try_emplace({part, title}, 0);
  if (!is_new) return at->second;
  const auto known = category_of_operator_.find(title);
  const std::string category =
      part == "operator" && known != category_of_operator_.end() ? known->second : categoryOfPart(part);
  return at->second = add({title, category, part == title ? "" : part}, {});
}

bool Items::is(std::size_t item, std::int64_t op, const std::string& name) const {
  const OperatorId own = operators_[item];
  if (op != 0) return std::int64_t{own.value} == op;
  if (items_[item].text == name) return true;
  return own && own.value <= trace_.operatorFacts().size() &&
         trace_.operatorFacts()[own.value - 1].name == name;
}

}  // namespace pitwall::excerpt
