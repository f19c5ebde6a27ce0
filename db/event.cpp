#include "db/event.h"

namespace pitwall {

const char* toString(EventKind kind) {
  switch (kind) {
    case EventKind::operatorRun: return "operator";
    case EventKind::bulk: return "bulk";
    case EventKind::scope: return "scope";
    case EventKind::wait: return "wait";
    case EventKind::dataWait: return "data_wait";
    case EventKind::dataWork: return "data_work";
    case EventKind::instant: return "instant";
    case EventKind::recorder: return "recorder";
    case EventKind::api: return "api";
    case EventKind::kernel: return "kernel";
    case EventKind::copy: return "copy";
    case EventKind::communication: return "communication";
  }
  return "unknown";
}

const char* toString(Phase phase) {
  switch (phase) {
    case Phase::none: return "none";
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::update: return "update";
    case Phase::data: return "data";
  }
  return "unknown";
}

}  // namespace pitwall
