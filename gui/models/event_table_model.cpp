#include "gui/models/event_table_model.h"

#include <QSaveFile>
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/palette.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {
namespace {

// Plain names of the columns, for files and the clipboard.
constexpr const char* kPlainTitles[] = {"name", "category", "track", "start_ns", "dur_ns", "depth"};

QByteArray csvCell(const QVariant& value) {
  QByteArray text = value.toString().toUtf8();
  if (text.contains(',') || text.contains('"') || text.contains('\n') || text.contains('\r')) {
    text.replace("\"", "\"\"");
    text = '"' + text + '"';
  }
  return text;
}

}  // namespace

void EventTableModel::setTimeline(std::shared_ptr<const Timeline> timeline) {
  background_.cancel();
  beginResetModel();
  numbers_ = timeline ? std::make_shared<const EventNumbers>(std::move(timeline)) : nullptr;
  order_.reset();
  question_.range.reset();
  endResetModel();
  if (numbers_) ask();
}

void EventTableModel::setFilter(const std::string& words, std::optional<std::pair<TimeNs, TimeNs>> range) {
  question_.words = words;
  question_.range = range;
  if (numbers_) ask();
}

void EventTableModel::sort(int column, Qt::SortOrder order) {
  static constexpr EventKey kKeys[] = {EventKey::name,  EventKey::category, EventKey::track,
                                       EventKey::start, EventKey::dur,      EventKey::depth};
  if (column < 0 || column >= kColumns) return;
  question_.key = kKeys[column];
  question_.descending = order == Qt::DescendingOrder;
  if (numbers_) ask();
}

void EventTableModel::ask() {
  using Order = std::shared_ptr<const std::vector<std::uint32_t>>;
  background_.ask(
      [numbers = numbers_, question = question_](const std::atomic<bool>& cancel) -> Order {
        return std::make_shared<const std::vector<std::uint32_t>>(orderOf(*numbers, question, &cancel));
      },
      [this](Order order) {
        beginResetModel();
        order_ = std::move(order);
        endResetModel();
        emit ordered();
      });
  emit asked();
}

EventRef EventTableModel::refAt(int row) const {
  return numbers_->at((*order_)[static_cast<std::size_t>(row)]);
}

int EventTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(std::min(found(), kMostRows));
}

int EventTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant EventTableModel::value(const Timeline& timeline, const EventRef& ref, int column) {
  const TimelineTrack& track = timeline.tracks[ref.track];
  const Lane& lane = track.lanes[ref.lane];
  switch (column) {
    case kName: return QString::fromStdString(timeline.name(lane.name(ref.index)));
    case kCategory: return QString::fromLatin1(meaningOf(lane.color(ref.index)));
    case kTrack: return QString::fromStdString(track.title);
    case kStart: return QVariant::fromValue<qlonglong>(lane.startNs(ref.index));
    case kDuration: return QVariant::fromValue<qlonglong>(lane.durNs(ref.index));
    case kDepth: return QVariant::fromValue<qlonglong>(static_cast<qlonglong>(ref.lane));
    default: return {};
  }
}

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !order_) return {};
  const bool is_text = index.column() <= kTrack;
  if (role == Qt::TextAlignmentRole)
    return QVariant(is_text ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::UserRole && role != Qt::ToolTipRole) return {};
  const QVariant plain = value(numbers_->timeline(), refAt(index.row()), index.column());
  if (role == Qt::UserRole) return plain;
  switch (index.column()) {
    case kStart: return QString::fromStdString(showMoment(plain.toDouble(), 1));
    case kDuration: return QString::fromStdString(showDuration(plain.toDouble()));
    case kName: return plain.toString().isEmpty() ? tr("(no name)") : plain.toString().left(500);
    default: return plain;
  }
}

QString EventTableModel::title(int column) {
  switch (column) {
    case kName: return tr("Name");
    case kCategory: return tr("Category");
    case kTrack: return tr("Row");
    case kStart: return tr("Start");
    case kDuration: return tr("Duration");
    case kDepth: return tr("Depth");
    default: return {};
  }
}

QVariant EventTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::DisplayRole) return title(section);
  if (role == Qt::InitialSortOrderRole)  // the longest and deepest first
    return section == kDuration || section == kDepth ? Qt::DescendingOrder : Qt::AscendingOrder;
  if (role == Qt::UserRole) return QString::fromLatin1(kPlainTitles[section]);
  return {};
}

QString writeEventsCsv(const QString& path, const EventNumbers& numbers,
                       const std::vector<std::uint32_t>& order, const std::atomic<bool>& cancel) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly))
    return QObject::tr("%1 cannot be written: %2").arg(path, file.errorString());
  QByteArray line;
  for (int column = 0; column < EventTableModel::kColumns; ++column)
    line += (column > 0 ? "," : "") + QByteArray(kPlainTitles[column]);
  file.write(line + '\n');
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % 4096 == 0 && cancel.load()) return QObject::tr("%1 was not written: cancelled").arg(path);
    const EventRef ref = numbers.at(order[i]);
    line.clear();
    for (int column = 0; column < EventTableModel::kColumns; ++column) {
      if (column > 0) line += ',';
      line += csvCell(EventTableModel::value(numbers.timeline(), ref, column));
    }
    line += '\n';
    file.write(line);
  }
  if (!file.commit()) return QObject::tr("%1 cannot be written: %2").arg(path, file.errorString());
  return {};
}

}  // namespace pitwall::gui
