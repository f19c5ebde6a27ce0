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

const char* toString(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::readAfterWrite: return "read_after_write";
    case DependencyKind::writeAfterRead: return "write_after_read";
    case DependencyKind::writeAfterWrite: return "write_after_write";
    case DependencyKind::launch: return "launch";
    case DependencyKind::batch: return "batch";
    case DependencyKind::flow: return "flow";
  }
  return "unknown";
}

const char* toString(TrackKind kind) {
  switch (kind) {
    case TrackKind::thread: return "thread";
    case TrackKind::stream: return "stream";
    case TrackKind::counter: return "counter";
  }
  return "unknown";
}

const char* toString(SettingSource source) {
  switch (source) {
    case SettingSource::byDefault: return "default";
    case SettingSource::environment: return "environment";
    case SettingSource::program: return "program";
  }
  return "unknown";
}

}  // namespace pitwall
