// Facts of the selected event, name and value, and what it waited for and what waited for it.
#pragma once

#include <QTreeWidget>

#include "gui/models/trace_session.h"

namespace pitwall::gui {

class DetailsView final : public QTreeWidget {
  Q_OBJECT
 public:
  explicit DetailsView(QWidget* parent = nullptr);
  void setDetails(const Details& details, std::vector<EventLink> links = {});
  void copyAll() const;  // as text with tabs

 signals:
  void eventWanted(const EventRef& event);  // Return or a double click on what waited

 private:
  std::vector<EventLink> links_;
  int first_link_ = 0;  // their first row
};

}  // namespace pitwall::gui
