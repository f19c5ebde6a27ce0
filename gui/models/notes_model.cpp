#include "gui/models/notes_model.h"

#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {

void NotesModel::setNotes(std::vector<Note> notes) {
  beginResetModel();
  notes_ = std::move(notes);
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const Note& a, const Note& b) { return a.from_ns < b.from_ns; });
  endResetModel();
  emit changed();
}

int NotesModel::add(TimeNs from_ns, TimeNs to_ns) {
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].from_ns == from_ns && notes_[i].to_ns == to_ns) return static_cast<int>(i);
  }
  const auto at = std::upper_bound(notes_.begin(), notes_.end(), from_ns,
                                   [](TimeNs time, const Note& note) { return time < note.from_ns; });
  const auto row = static_cast<int>(at - notes_.begin());
  beginInsertRows({}, row, row);
  notes_.insert(at, Note{from_ns, to_ns, {}});
  endInsertRows();
  emit changed();
  return row;
}

void NotesModel::remove(int row) {
  if (row < 0 || row >= rowCount()) return;
  beginRemoveRows({}, row, row);
  notes_.erase(notes_.begin() + row);
  endRemoveRows();
  emit changed();
}

int NotesModel::at(TimeNs time_ns, TimeNs slack_ns) const {
  int found = -1;
  TimeNs shortest = 0;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (time_ns < note.from_ns - slack_ns || time_ns > note.to_ns + slack_ns) continue;
    const TimeNs length = note.to_ns - note.from_ns;
    if (found >= 0 && length >= shortest) continue;
    found = static_cast<int>(i);
    shortest = length;
  }
  return found;
}

int NotesModel::next(TimeNs from_ns, bool forward) const {
  if (notes_.empty()) return -1;
  const int last = rowCount() - 1;
  if (forward) {
    const auto at = std::upper_bound(notes_.begin(), notes_.end(), from_ns,
                                     [](TimeNs time, const Note& note) { return time < note.from_ns; });
    return at == notes_.end() ? 0 : static_cast<int>(at - notes_.begin());
  }
  const auto at = std::lower_bound(notes_.begin(), notes_.end(), from_ns,
                                   [](const Note& note, TimeNs time) { return note.from_ns < time; });
  return at == notes_.begin() ? last : static_cast<int>(at - notes_.begin()) - 1;
}

int NotesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(notes_.size());
}

int NotesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant NotesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Note& note = notes_[static_cast<std::size_t>(index.row())];
  const TimeNs length = note.to_ns - note.from_ns;
  if (role == Qt::UserRole) {
    if (index.column() == kText) return note.text;
    return QVariant::fromValue<qlonglong>(index.column() == kTime ? note.from_ns : length);
  }
  if (role == Qt::ToolTipRole && index.column() == kText) return note.text;
  if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
  switch (index.column()) {
    case kTime: return QString::fromStdString(showMoment(static_cast<double>(note.from_ns), 1000));
    case kLength:
      return length == 0 ? tr("moment") : QString::fromStdString(showDuration(static_cast<double>(length)));
    case kText:
      return role == Qt::DisplayRole && note.text.isEmpty() ? tr("(no text; F2 writes one)") : note.text;
    default: return {};
  }
}

QVariant NotesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kTime: return tr("Time");
    case kLength: return tr("Length");
    case kText: return tr("Note");
    default: return {};
  }
}

bool NotesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::EditRole || index.column() != kText) return false;
  notes_[static_cast<std::size_t>(index.row())].text = value.toString();
  emit dataChanged(index, index);
  emit changed();
  return true;
}

Qt::ItemFlags NotesModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags plain = QAbstractTableModel::flags(index);
  return index.column() == kText ? plain | Qt::ItemIsEditable : plain;
}

}  // namespace pitwall::gui
