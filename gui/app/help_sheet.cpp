#include "gui/app/help_sheet.h"

#include <QDialogButtonBox>
#include <QVBoxLayout>

#include "gui/app/actions.h"
#include "gui/views/clear_button.h"

namespace pitwall::gui {
namespace {

// Gesture and what it does, as the timeline and the flame graph understand them.
constexpr const char* kMouse[][2] = {
    {QT_TRANSLATE_NOOP("HelpSheet", "Ctrl+wheel"),
     QT_TRANSLATE_NOOP("HelpSheet", "Zoom, the time under the mouse stays")},
    {QT_TRANSLATE_NOOP("HelpSheet", "Wheel, Shift+wheel"),
     QT_TRANSLATE_NOOP("HelpSheet", "Scroll rows; pan in time")},
    {QT_TRANSLATE_NOOP("HelpSheet", "Drag"),
     QT_TRANSLATE_NOOP("HelpSheet", "Select a range; Shift+click extends it")},
    {QT_TRANSLATE_NOOP("HelpSheet", "Alt+drag"), QT_TRANSLATE_NOOP("HelpSheet", "Zoom to a range")},
    {QT_TRANSLATE_NOOP("HelpSheet", "Middle button, Space+drag"), QT_TRANSLATE_NOOP("HelpSheet", "Pan")},
    {QT_TRANSLATE_NOOP("HelpSheet", "Double click"),
     QT_TRANSLATE_NOOP("HelpSheet", "Fit an event; on the ruler: the whole trace")},
};

QString row(const QString& what, const QString& keys) {
  return "<tr><td>" + what.toHtmlEscaped() + "&nbsp;&nbsp;&nbsp;</td><td><b>" + keys.toHtmlEscaped() +
         "</b></td></tr>";
}

}  // namespace

HelpSheet::HelpSheet(const ActionRegistry& actions, QWidget* parent)
    : QDialog(parent), actions_(actions), filter_(new QLineEdit), page_(new QTextBrowser) {
  setWindowTitle(tr("Keys and mouse"));
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setAccessibleName(tr("Filter keys"));
  addClearButton(*filter_);
  page_->setAccessibleName(tr("Keys and mouse"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(filter_);
  layout->addWidget(page_);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(filter_, &QLineEdit::textChanged, this, &HelpSheet::fill);
  resize(fontMetrics().averageCharWidth() * 80, fontMetrics().height() * 36);
  fill();
}

void HelpSheet::fill() {
  const QString words = filter_->text();
  QString page;
  QString section;
  const auto flush = [&](const QString& title) {
    if (!section.isEmpty())
      page += "<h3>" + title.toHtmlEscaped() + "</h3><table cellpadding='2'>" + section + "</table>";
    section.clear();
  };
  for (int menu = 0; menu < kMenus; ++menu) {
    for (const ActionRegistry::Entry& entry : actions_.entries()) {
      const QString text = ActionRegistry::plainText(*entry.action),
                    keys = ActionRegistry::keysText(*entry.action);
      if (static_cast<int>(entry.menu) != menu || !(text + ' ' + keys).contains(words, Qt::CaseInsensitive))
        continue;
      section += row(text, keys.isEmpty() ? tr("(menu)") : keys);
    }
    flush(actions_.menu(static_cast<MenuId>(menu))->title().remove('&'));
  }
  for (const auto& [gesture, what] : kMouse) {
    if (QString("%1 %2").arg(tr(gesture), tr(what)).contains(words, Qt::CaseInsensitive))
      section += row(tr(what), tr(gesture));
  }
  flush(tr("Mouse"));
  page += tr("<p>Keys of the timeline work while it has the focus; F6 goes from pane to pane.</p>");
  page_->setHtml(page);
}

}  // namespace pitwall::gui
