"""package_test.py PITWALL PACKAGE_FOLDER: the Python package, alone and in a program that `pitwall record` runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

PITWALL, FOLDER = sys.argv[1], sys.argv[2]


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_python(self, program, record=False, python_path=FOLDER, succeeds=True, **environment):
        with open(os.path.join(self.folder, "program.py"), "w") as file:
            file.write("import os, sys\nimport pitwall\n" + textwrap.dedent(program))
        command = [sys.executable, "program.py"]
        if record:
            command = [PITWALL, "record", "-o", "run.pitwall", "--"] + command
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PITWALL_")}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=dict(inherited, PYTHONPATH=python_path, **environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=120,
        )
        if succeeds:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def query(self, sql, trace="run.pitwall"):
        done = subprocess.run(
            [PITWALL, "query", os.path.join(self.folder, trace), sql, "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [list(row.values()) if isinstance(row, dict) else row for row in json.loads(done.stdout)]

    MARKS = """
        @pitwall.zone
        def load(): pass
        @pitwall.zone("step", domain="train", value=7)
        def step():
            with pitwall.zone("inner") as zone:
                zone.value = 3
        def train():
            for i in range(4):
                load()
                step()
                pitwall.counter("queue", i, unit="items")
                pitwall.iteration(items=pitwall.tunable("batch", 32, 1, 100))
            pitwall.instant("done", 5)
    """

    def check_marks(self):
        self.assertEqual(
            self.query("SELECT name, count(*), max(value), min(depth) FROM event WHERE kind = 'scope' AND name IN"
                       " ('load', 'step', 'inner') GROUP BY name ORDER BY name"),
            [["inner", 4, 3, 1], ["load", 4, 0, 0], ["step", 4, 7, 0]],
        )
        self.assertEqual(self.query("SELECT count(*) FROM event WHERE name = 'step' AND args LIKE '%train%'"), [[4]])
        self.assertEqual(self.query("SELECT value FROM event WHERE name = 'done'"), [[5]])
        self.assertEqual(self.query("SELECT count(*), max(c.value), max(t.unit) FROM counter c JOIN track t"
                                    " ON t.id = c.track WHERE t.name = 'queue'"), [[4, 3, "items"]])
        self.assertEqual(self.query("SELECT count(*), max(items) FROM iteration_mark"), [[4, 32]])
        self.assertEqual(self.query("SELECT name, value, default_value FROM tunable"), [["batch", 32, 32]])

    def test_a_recording_may_end_during_a_mark(self):
        self.run_python("""
        site = pitwall._recorder.site
        def another_thread_stops_the_recording(*arguments):
            pitwall._quick = None
            return site(*arguments)
        with pitwall.profile("run.pitwall"):
            library = pitwall._quick
            pitwall._recorder.site = another_thread_stops_the_recording
            for mark in (lambda: pitwall.zone("a").__enter__().__exit__(), lambda: pitwall.counter("b", 1),
                         lambda: pitwall.instant("c")):
                pitwall._quick = library
                mark()
            class StopsAtOnce:
                def __index__(self):
                    pitwall._quick = None
                    return 1
            pitwall._quick = library
            pitwall.iteration(StopsAtOnce())
            pitwall.is_recording()
        """)

    def test_profile_records_what_is_marked_inside(self):
        self.run_python(self.MARKS + """
        with pitwall.zone("before"): pass
        with pitwall.profile("run.pitwall"):
            assert pitwall.is_recording()
            train()
        assert not pitwall.is_recording()
        with pitwall.zone("after"): pass
        """)
        self.check_marks()
        self.assertEqual(self.query("SELECT count(*) FROM event WHERE name IN ('before', 'after')"), [[0]])

    def test_marks_become_part_of_the_recording_of_the_command(self):
        self.run_python(self.MARKS + """
        with pitwall.profile("own.pitwall"):
            train()
        """, record=True)
        self.check_marks()
        self.assertFalse(os.path.exists(os.path.join(self.folder, "own.pitwall")))

    def test_forked_children_and_threads_are_recorded(self):
        self.run_python("""
        import multiprocessing, threading
        def work(name):
            pitwall.name_thread(name)
            with pitwall.zone(name): pass
        if __name__ == "__main__":
            work("parent")
            thread = threading.Thread(target=work, args=("thread",))
            thread.start()
            thread.join()
            for method in ("fork", "spawn"):
                child = multiprocessing.get_context(method).Process(target=work, args=(method,))
                child.start()
                child.join()
                assert child.exitcode == 0
        """, record=True)
        self.assertEqual(self.query("SELECT DISTINCT name FROM event WHERE kind = 'scope' AND name IN ('parent', 'thread',"
                                    " 'fork', 'spawn') ORDER BY name"), [["fork"], ["parent"], ["spawn"], ["thread"]])
        self.assertEqual(self.query("SELECT count(*) FROM thread WHERE name IN ('thread', 'fork')"), [[2]])

    def test_without_a_recording_marks_leave_nothing(self):
        done = self.run_python(self.MARKS + """
        train()
        assert not pitwall.is_recording()
        """)
        self.assertEqual(done.stderr, "")
        self.assertEqual(sorted(os.listdir(self.folder)), ["program.py"])

    def test_a_process_without_marks_leaves_no_part(self):
        done = self.run_python("pass", record=True)
        self.assertNotIn("recorded nothing", done.stderr)

    def test_tunables_come_from_the_environment(self):
        done = self.run_python("print(pitwall.tunable('batch', 8, 1, 64), pitwall.tunable('depth', 2, 1, 4))",
                               PITWALL_TUNE_batch="16", PITWALL_TUNE_depth="9")
        self.assertEqual(done.stdout, "16 2\n")
        self.assertIn("PITWALL_TUNE_depth=9: 1 to 4 are allowed; depth stays 2", done.stderr)

    def test_errors_name_the_remedy(self):
        done = self.run_python("""
        try: pitwall.profile("none/run.pitwall").start()
        except pitwall.PitwallError as error: assert "none/run.pitwall" in str(error), error
        else: raise AssertionError
        async def later(): pass
        def numbers(): yield 1
        for function in (later, numbers):
            try: pitwall.zone(function)
            except TypeError as error: assert "with pitwall.zone" in str(error), error
            else: raise AssertionError
        try: pitwall.tunable("batch", 0, minimum=1)
        except ValueError as error: assert "batch is 0" in str(error), error
        else: raise AssertionError
        """)
        self.assertEqual(done.stderr, "")

    def test_an_exception_ends_its_zones(self):
        self.run_python("""
        with pitwall.profile("run.pitwall"):
            try:
                with pitwall.zone("outer"), pitwall.zone("failing"): raise KeyError
            except KeyError: pass
            with pitwall.zone("next"): pass
        """)
        self.assertEqual(self.query("SELECT name, depth FROM event WHERE kind = 'scope' ORDER BY name"),
                         [["failing", 1], ["next", 0], ["outer", 0]])

    def test_without_the_library_programs_run(self):
        shutil.copytree(os.path.join(FOLDER, "pitwall"), os.path.join(self.folder, "alone", "pitwall"))
        done = self.run_python(self.MARKS + """
        train()
        try: pitwall.profile().start()
        except OSError as error: assert "libpitwall.so.0" in str(error), error
        else: raise AssertionError
        """, python_path=os.path.join(self.folder, "alone"), PITWALL_LIBRARY="/nonexistent/libpitwall.so.0")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
