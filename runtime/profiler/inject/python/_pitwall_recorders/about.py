"""What the merge of a recording has to know of a profile that a framework writes: a file NAME.about in the folder of parts.

The reader is db/profile_origin.h.
"""

import itertools
import os

FIRST_LINE = "pitwall: about a profile"
_numbers = itertools.count()


def parts_folder():
    """The folder of this recording's parts. None when the program is not recorded by `pitwall record`."""
    folder = os.path.dirname(os.environ.get("PITWALL_TRACE", ""))
    if "%" in folder.replace("%%", ""):
        return None
    folder = folder.replace("%%", "%")
    return folder if folder.endswith(".parts") and os.access(folder, os.W_OK) else None


def text_of(error):
    return "%s: %s" % (type(error).__name__, error)


class About:
    """`stem` is the beginning of the names of both files, the profile's and this one's."""

    def __init__(self, framework, folder):
        self._lines = ["framework %s" % framework, "process %d" % os.getpid()]
        self.stem = os.path.join(folder, "%s-%d-%d" % (framework.replace(" ", ""), os.getpid(), next(_numbers)))
        while os.path.exists(self.stem + ".about"):  # of the program that this process ran before an exec
            self.stem = os.path.join(folder, "%s-%d-%d" % (framework.replace(" ", ""), os.getpid(), next(_numbers)))
        self.write()

    def write(self, **values):
        """Adds the values. The file is complete at any moment."""
        self._lines += ["%s %s" % (key, str(value).replace("\n", " ")) for key, value in values.items()]
        with open(self.stem + ".writing", "w", errors="replace") as file:
            file.write("\n".join([FIRST_LINE] + self._lines) + "\n")
        os.replace(self.stem + ".writing", self.stem + ".about")


def note(text, framework="note"):
    """A sentence for the recording's notes."""
    try:
        folder = parts_folder()
        if folder is not None:
            About(framework, folder).write(note=text)
    except Exception:
        pass  # the folder is gone: the recording has ended
