// What the command palette offers for a text: actions, rows of the timeline, names of events; or, after ":",
// an SQL query. Best first.
#pragma once

#include <QAbstractListModel>
#include <memory>
#include <vector>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// How well `typed` fits `text`, ignoring case: its letters in this order, better when they are together
// or begin a word; 0: not at all.
int fuzzyScore(const QString& text, const QString& typed);

struct Command {
  enum class Kind { action, row, name, sql };
  Kind kind = Kind::action;
  std::size_t index = 0;  // of the action as given; of the track; StringId.value
  QString text;
  QString keys;   // of an action
  QString where;  // its menu; the row's process; "event"
};

class CommandModel final : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role { kKeys = Qt::UserRole, kWhere };
  static constexpr std::size_t kMostShown = 60;

  using QAbstractListModel::QAbstractListModel;
  void setActions(std::vector<Command> actions);
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  void setText(const QString& typed);
  const Command& command(int row) const { return shown_[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<Command> actions_;
  std::shared_ptr<const Timeline> timeline_;
  std::vector<Command> shown_;
};

}  // namespace pitwall::gui
