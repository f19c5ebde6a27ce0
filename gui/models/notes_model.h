// Notes and bookmarks of a trace as a table whose texts can be edited.
#pragma once

#include <QAbstractTableModel>

#include "gui/models/trace_notes.h"

namespace pitwall::gui {

class NotesModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kTime, kLength, kText, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setNotes(std::vector<Note> notes);
  const std::vector<Note>& notes() const { return notes_; }
  // The row it has got; that of the same times when there is one.
  int add(TimeNs from_ns, TimeNs to_ns);
  void remove(int row);
  // The shortest note that holds this time, or a bookmark nearer than `slack_ns`; -1: none.
  int at(TimeNs time_ns, TimeNs slack_ns) const;
  // The next or previous note by its start; begins again at the other end; -1: there are none.
  int next(TimeNs from_ns, bool forward) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 signals:
  void changed();

 private:
  std::vector<Note> notes_;  // by start
};

}  // namespace pitwall::gui
