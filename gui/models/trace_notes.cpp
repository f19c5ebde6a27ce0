#include "gui/models/trace_notes.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kLargestFile = 16 << 20;

// Times are texts: a JSON number keeps 53 bits only.
QString timeText(TimeNs time) { return QString::number(time); }
TimeNs timeFrom(const QJsonValue& value) { return value.toString().toLongLong(); }

QJsonArray idsOf(const std::vector<std::uint32_t>& ids) {
  QJsonArray array;
  for (const std::uint32_t id : ids) array.append(static_cast<qint64>(id));
  return array;
}

std::vector<std::uint32_t> idsFrom(const QJsonValue& value) {
  std::vector<std::uint32_t> ids;
  for (const QJsonValue& id : value.toArray()) ids.push_back(static_cast<std::uint32_t>(id.toInteger()));
  return ids;
}

}  // namespace

QString identityOf(const Timeline& timeline) {
  QCryptographicHash hash(QCryptographicHash::Sha1);
  const auto add = [&](const QByteArray& text) { hash.addData(text + '\n'); };
  if (!timeline.complete) {
    add(QFileInfo(QString::fromStdString(timeline.path)).absoluteFilePath().toUtf8());
  } else {
    add(QByteArray::number(static_cast<qlonglong>(timeline.begin_ns)));
    add(QByteArray::number(static_cast<qlonglong>(timeline.end_ns)));
    add(QByteArray::number(static_cast<qulonglong>(timeline.events)));
    add(QByteArray::number(static_cast<qulonglong>(timeline.tracks.size())));
    for (const TimelineProcess& process : timeline.processes) add(QByteArray::fromStdString(process.title));
  }
  return QString::fromLatin1(hash.result().toHex());
}

QString memoryPath(const QString& identity) {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  return folder.isEmpty() ? QString() : folder + "/traces/" + identity + ".json";
}

QJsonObject toJson(const TraceMemory& memory) {
  QJsonArray notes;
  for (const Note& note : memory.notes)
    notes.append(QJsonObject{
        {"from_ns", timeText(note.from_ns)}, {"to_ns", timeText(note.to_ns)}, {"text", note.text}});
  const QJsonObject rows{{"order", idsOf(memory.rows.order)},
                         {"pinned", idsOf(memory.rows.pinned)},
                         {"hidden", idsOf(memory.rows.hidden)},
                         {"closed", idsOf(memory.rows.closed)},
                         {"closed_processes", idsOf(memory.rows.closed_processes)}};
  return {{"version", kVersion},
          {"notes", notes},
          {"rows", rows},
          {"view", QJsonObject{{"start_ns", memory.view_start_ns}, {"end_ns", memory.view_end_ns}}},
          {"lane_height", memory.lane_height},
          {"page", memory.page}};
}

TraceMemory fromJson(const QJsonObject& json) {
  TraceMemory memory;
  for (const QJsonValue& value : json["notes"].toArray()) {
    const QJsonObject note = value.toObject();
    if (!note["from_ns"].isString() || !note["to_ns"].isString()) continue;
    memory.notes.push_back({timeFrom(note["from_ns"]), timeFrom(note["to_ns"]), note["text"].toString()});
    if (memory.notes.back().to_ns < memory.notes.back().from_ns) memory.notes.pop_back();
  }
  const QJsonObject rows = json["rows"].toObject();
  memory.rows = {idsFrom(rows["order"]), idsFrom(rows["pinned"]), idsFrom(rows["hidden"]),
                 idsFrom(rows["closed"]), idsFrom(rows["closed_processes"])};
  memory.view_start_ns = json["view"]["start_ns"].toDouble();
  memory.view_end_ns = json["view"]["end_ns"].toDouble();
  memory.lane_height = json["lane_height"].toInt();
  memory.page = json["page"].toInt();
  return memory;
}

std::optional<TraceMemory> loadMemory(const QString& identity) {
  QFile file(memoryPath(identity));
  if (!file.open(QIODevice::ReadOnly) || file.size() > kLargestFile) return std::nullopt;
  const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
  if (!document.isObject() || document["version"].toInt() != kVersion) return std::nullopt;
  return fromJson(document.object());
}

QString saveMemory(const QString& identity, const QString& trace_path, const TraceMemory& memory) {
  const QString path = memoryPath(identity);
  if (path.isEmpty() || !QDir().mkpath(QFileInfo(path).path()))
    return QObject::tr("Notes and view cannot be saved: the folder of %1 cannot be created").arg(path);
  QJsonObject json = toJson(memory);
  json["trace"] = trace_path;  // for users who read the folder
  QSaveFile file(path);
  const QByteArray text = QJsonDocument(json).toJson();
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
    return QObject::tr("Notes and view cannot be saved: %1: %2").arg(path, file.errorString());
  return {};
}

}  // namespace pitwall::gui
